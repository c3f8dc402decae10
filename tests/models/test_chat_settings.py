"""What is sent is what is recorded, and nothing is set twice."""

import base64

import pytest
from models.asks import ask, picture

from eyechart.errors import UsageError
from eyechart.kinds import ModelOptions
from eyechart.models._chat_settings import ChatSettings, chat_body, merged, read_sent_settings, recorded_settings
from eyechart.models.dashscope import DashScopeKind
from eyechart.models.openrouter import OpenRouterKind
from eyechart.models.vllm import VllmKind
from eyechart.opening import open_model
from eyechart.schema import Sampling


def body_of(kind, settings, question=None):
    read = read_sent_settings(kind.settings, ModelOptions(settings=settings), "m")
    return chat_body("m", question or ask(picture()), read, {})


def test_pictures_come_first_and_in_their_own_media_type():
    jpeg, png = picture(kind="JPEG"), picture()
    content = chat_body("m", ask(jpeg, png), ChatSettings(), {})["messages"][0]["content"]
    assert [part["type"] for part in content] == ["image_url", "image_url", "text"]
    assert content[0]["image_url"]["url"] == f"data:image/jpeg;base64,{base64.b64encode(jpeg.payload).decode()}"
    assert content[1]["image_url"] == {"url": content[1]["image_url"]["url"], "detail": "high"}
    assert content[2]["text"] == ask().prompt


def test_a_parameter_that_is_none_is_not_sent():
    sampling = Sampling(temperature=None, top_p=None, seed=None, max_tokens=None)
    body = chat_body("m", ask(sampling=sampling), ChatSettings(), {})
    assert sorted(body) == ["messages", "model"]
    assert chat_body("m", ask(), ChatSettings(), {})["temperature"] == 0
    assert chat_body("m", ask(), ChatSettings(length_parameter="max_tokens"), {})["max_tokens"] == 1024


def test_not_sent_leaves_an_optional_setting_out():
    assert read_sent_settings(ChatSettings, ModelOptions(settings={"top_k": "not-sent"}), "m") == ChatSettings()
    body = chat_body("m", ask(picture()), ChatSettings(detail="not-sent"), {})
    assert "detail" not in body["messages"][0]["content"][0]["image_url"]


def test_a_setting_that_must_be_sent_cannot_be_left_out():
    with pytest.raises(UsageError, match="length_parameter"):
        read_sent_settings(ChatSettings, ModelOptions(settings={"length_parameter": "not-sent"}), "m")


def test_an_unknown_setting_names_the_nearest():
    with pytest.raises(UsageError, match="detial") as caught:
        open_model("openai/m", ModelOptions(settings={"detial": "low"}))
    assert caught.value.hint == "did you mean detail?"


PROVIDERS = ("openai", "azure", "openrouter", "together", "dashscope", "vllm", "sglang", "ollama", "lmstudio")
PROVIDERS += ("anthropic", "google")
# Every model setting that some provider takes, and who takes it; a parameter of sampling has a flag of its own.
COMPATIBLE = set(PROVIDERS) - {"anthropic", "google"}
TAKEN_BY = {
    "detail": COMPATIBLE,
    "media_resolution": {"google"},
    "vl_high_resolution_images": {"dashscope"},
    "reasoning_effort": COMPATIBLE,
    "effort": {"anthropic"},
    "thinking": {"anthropic"},
    "thinking_budget": {"anthropic", "google"},
    "thinking_level": {"google"},
    "enable_thinking": {"dashscope", "vllm", "sglang"},
    "min_pixels": {"dashscope", "vllm"},
    "max_pixels": {"dashscope", "vllm"},
    "mm_processor_kwargs": set(),
    "chat_template_kwargs": set(),
    "top_k": set(PROVIDERS),
    "presence_penalty": set(PROVIDERS) - {"anthropic"},
    "system_prompt": set(PROVIDERS),
    "host": {"openrouter"},
    "top_p": set(),
    "seed": set(),
    "max_tokens": set(),
}
VALUES = {"detail": "low", "media_resolution": "low", "thinking": "enabled", "enable_thinking": "true"}
VALUES |= {"vl_high_resolution_images": "true"}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("setting", TAKEN_BY)
def test_every_setting_is_taken_or_refused_with_a_way(provider, setting):
    if provider in {"anthropic", "google"}:
        pytest.importorskip({"anthropic": "anthropic", "google": "google.genai"}[provider])
    options = ModelOptions(base_url="http://host.example", settings={setting: VALUES.get(setting, "2048")})
    if provider in TAKEN_BY[setting]:
        assert setting in open_model(f"{provider}/m", options).identity.settings
        return
    with pytest.raises(UsageError, match=f"no setting of {provider}/m named '{setting}'") as caught:
        open_model(f"{provider}/m", options)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("provider", "setting", "way"),
    [
        ("openai", "effort", "--set reasoning_effort=…"),
        ("openai", "max_pixels", "--set detail=…"),
        ("vllm", "thinking", "--set reasoning_effort=…, --set enable_thinking=…"),
        ("dashscope", "media_resolution", "--set detail=…, --set vl_high_resolution_images=…"),
        ("vllm", "mm_processor_kwargs", "--extra-body FILE.json"),
        ("sglang", "chat_template_kwargs", "--extra-body FILE.json"),
        ("openrouter", "seed", "--sampling-seed"),
    ],
)
def test_the_name_of_another_provider_is_told_the_way_here(provider, setting, way):
    with pytest.raises(UsageError) as caught:
        open_model(f"{provider}/m", ModelOptions(settings={setting: "1"}))
    assert caught.value.hint.startswith(f"{setting} is set by {way}")


def test_a_system_prompt_is_a_message_of_its_own():
    messages = chat_body("m", ask(), ChatSettings(system_prompt="Be brief."), {})["messages"]
    assert messages[0] == {"role": "system", "content": "Be brief."}


def test_vllm_pixel_limits_and_thinking_go_where_vllm_reads_them():
    body = body_of(VllmKind, {"min_pixels": "1000", "max_pixels": "2000", "enable_thinking": "false"})
    assert body["mm_processor_kwargs"] == {"min_pixels": 1000, "max_pixels": 2000}
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert "detail" not in body["messages"][0]["content"][0]["image_url"]


def test_dashscope_pixel_limits_stand_beside_the_picture():
    body = body_of(DashScopeKind, {"max_pixels": 2000, "vl_high_resolution_images": True})
    assert body["messages"][0]["content"][0]["max_pixels"] == 2000
    assert body["vl_high_resolution_images"] is True


def test_a_pinned_host_has_no_fallback():
    assert body_of(OpenRouterKind, {"host": "DeepInfra"})["provider"] == {
        "order": ["DeepInfra"],
        "allow_fallbacks": False,
    }
    assert "provider" not in body_of(OpenRouterKind, {})


def test_identity_records_what_is_sent_and_no_address():
    options = ModelOptions(
        base_url="http://host.example/v1", revision="2026-01", settings={"top_k": "5"}, extra_body={"foo": 1}
    )
    identity = open_model("vllm/org/m", options).identity
    assert (identity.provider, identity.name, identity.revision) == ("vllm", "org/m", "2026-01")
    assert identity.settings["top_k"] == 5
    assert identity.settings["extra_body"] == {"foo": 1}
    assert "host.example" not in repr(identity)


def test_unset_options_leave_no_trace_in_the_identity():
    assert sorted(recorded_settings(ChatSettings(), {})) == ["detail", "interface", "length_parameter"]


def test_extra_body_joins_objects():
    assert merged({"a": {"b": 1}, "c": 2}, {"a": {"d": 3}, "e": 4}) == {"a": {"b": 1, "d": 3}, "c": 2, "e": 4}


@pytest.mark.parametrize("field", ["model", "messages", "temperature", "max_tokens", "stream"])
def test_extra_body_cannot_contradict_what_eyechart_sends(field):
    with pytest.raises(UsageError, match=f"--extra-body sets {field}"):
        open_model("openai/m", ModelOptions(extra_body={field: 1}))


def test_extra_body_cannot_contradict_a_setting():
    options = ModelOptions(settings={"max_pixels": 5}, extra_body={"mm_processor_kwargs": {"max_pixels": 7}})
    with pytest.raises(UsageError, match=r"--extra-body sets mm_processor_kwargs\.max_pixels"):
        open_model("vllm/m", options)

"""Local models of real architectures on a CPU: they look, batch, refuse, run out of memory, and never end a run."""

import asyncio
import datetime
import math
import shutil

import msgspec
import pytest
from models.asks import ask, picture
from models.tiny_vlm import ARCHITECTURES, build

from eyechart.contracts import check_model
from eyechart.errors import BadRequestError, ModelError, OutOfMemoryError, RefusedInputError, UsageError
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.schema import Sampling, Size

pytestmark = pytest.mark.hf
SHORT = Sampling(max_tokens=5)
LOGPROB = Sampling(score_mode="logprob")


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory):
    """A function that returns the folder of a tiny checkpoint, built once."""
    home = tmp_path_factory.mktemp("checkpoints")
    return lambda name: home / name if (home / name).is_dir() else build(name, home / name)


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def opened(folder, **settings):
    options = {name: settings.pop(name) for name in ("extra_body", "revision") if name in settings}
    return open_model(f"hf/{folder}", ModelOptions(settings=settings, **options))


def answers(model, *asks):
    async def run():
        outcomes = await asyncio.gather(*map(model.answer, asks), return_exceptions=True)
        await model.close()
        return outcomes

    return asyncio.run(run())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_architecture_answers_pictures_of_any_number_and_size(checkpoints, architecture):
    model = opened(checkpoints(architecture))
    wide, tall = picture((200, 0, 0), 300, 100), picture((0, 0, 200), 90, 250)
    replies = answers(
        model,
        ask(wide, sampling=SHORT),
        ask(tall, sampling=SHORT),
        ask(sampling=SHORT),
        ask(wide, tall, sampling=SHORT),
    )
    assert [reply.finish in {"stop", "length"} for reply in replies] == [True] * 4
    assert all(reply.usage.output_tokens <= 5 for reply in replies)
    (seen,) = replies[0].seen
    assert seen.evidence == "executed"
    assert seen.visual_tokens == replies[0].usage.image_tokens > 0
    assert replies[2].usage.image_tokens == 0
    assert replies[2].seen == ()
    assert sum(picture.visual_tokens for picture in replies[3].seen) == replies[3].usage.image_tokens
    # LLaVA-OneVision shows each of several pictures untiled, so two may cost less than one and one.
    assert 0 < replies[3].usage.image_tokens <= sum(reply.usage.image_tokens for reply in replies[:2])


def test_a_model_with_cross_attention_counts_no_picture_tokens(checkpoints):
    wide, tall = picture(width=300), picture(height=200)
    replies = answers(
        opened(checkpoints("mllama")), *(ask(*shown, sampling=SHORT) for shown in ((wide,), (wide, tall)))
    )
    assert [reply.usage.image_tokens for reply in replies] == [None, None]
    assert [[picture.visual_tokens for picture in reply.seen] for reply in replies] == [[None], [None, None]]
    assert all(picture.seen_size for reply in replies for picture in reply.seen)
    assert all(reply.finish in {"stop", "length"} for reply in replies)


@pytest.mark.parametrize("architecture", ["qwen2_vl", "idefics3", "llava_next", "llava_onevision"])
def test_a_batch_gives_the_answers_of_single_questions(checkpoints, architecture):
    asks = [ask(picture((40 * n, 250 - 40 * n, 60), 120 + 40 * n, 160), sampling=LOGPROB) for n in range(5)]
    alone = answers(opened(checkpoints(architecture)), *asks)
    together = answers(opened(checkpoints(architecture), batch_size=4), *asks)
    for one, other in zip(alone, together, strict=True):
        shares, others = (reply.extra["letter_probabilities"] for reply in (one, other))
        assert shares == pytest.approx(others, abs=1e-4)
        assert one.usage == other.usage


def test_the_picture_decides_the_answer(checkpoints):
    model = opened(checkpoints("qwen2_vl"))
    red, blue = answers(model, *(ask(picture(c, 200, 200), sampling=LOGPROB) for c in ((255, 0, 0), (0, 0, 255))))
    assert red.extra["letter_probabilities"] != blue.extra["letter_probabilities"]


def test_letter_shares_add_up_and_the_likeliest_is_the_answer(checkpoints):
    (reply,) = answers(opened(checkpoints("idefics3")), ask(picture(), sampling=LOGPROB, n_options=4))
    shares = reply.extra["letter_probabilities"]
    assert math.isclose(sum(shares.values()), 1, abs_tol=1e-6)
    assert reply.text == max(shares, key=shares.get)
    assert 0 < reply.extra["letter_mass"] < 1


def test_pixel_limits_reach_the_processor_and_the_identity(checkpoints):
    model = opened(checkpoints("qwen2_vl"), max_pixels=28 * 28 * 9)
    assert model.identity.settings["processor"] == {"max_pixels": 7056}
    (small,) = answers(model, ask(picture(width=400, height=400), sampling=SHORT))
    (whole,) = answers(opened(checkpoints("qwen2_vl")), ask(picture(width=400, height=400), sampling=SHORT))
    assert small.usage.image_tokens <= 9 < whole.usage.image_tokens
    assert small.seen[0].seen_size == (84, 84)
    assert whole.seen[0].seen_size == (392, 392)


@pytest.mark.parametrize("architecture", ["idefics3", "llava_next"])
def test_a_pixel_limit_that_the_processor_would_ignore_ends_the_run(checkpoints, architecture):
    (error,) = answers(opened(checkpoints(architecture), max_pixels=10_000), ask(picture()))
    assert isinstance(error, BadRequestError)
    assert error.parameter == "max_pixels"
    assert "ignores max_pixels" in error.message


def test_one_picture_that_the_processor_refuses_concerns_no_other(checkpoints):
    model = opened(checkpoints("qwen2_vl"), batch_size=4)
    thin = picture(width=2000, height=3)  # Qwen-VL takes no aspect ratio above 200
    outcomes = answers(model, *(ask(one, sampling=SHORT) for one in (picture(), thin, picture(), picture())))
    assert [type(outcome).__name__ for outcome in outcomes] == ["Reply", "RefusedInputError", "Reply", "Reply"]
    assert isinstance(outcomes[1], RefusedInputError)
    assert "aspect ratio" in outcomes[1].message


def test_out_of_memory_is_an_error_of_the_large_question_alone(checkpoints, monkeypatch):
    import torch
    from transformers import Qwen2VLForConditionalGeneration

    generate = Qwen2VLForConditionalGeneration.generate

    def generate_in_little_memory(self, **inputs):
        if inputs["pixel_values"].shape[0] > 400:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB")
        return generate(self, **inputs)

    monkeypatch.setattr(Qwen2VLForConditionalGeneration, "generate", generate_in_little_memory)
    model = opened(checkpoints("qwen2_vl"), batch_size=3)
    large, small = picture(width=420, height=420), picture(width=56, height=56)
    outcomes = answers(model, *(ask(one, sampling=SHORT) for one in (small, large, small)))
    assert [type(outcome).__name__ for outcome in outcomes] == ["Reply", "OutOfMemoryError", "Reply"]
    assert isinstance(outcomes[1], OutOfMemoryError)
    assert "max_pixels" in outcomes[1].message


def test_a_fault_inside_the_model_is_told_with_its_kind(checkpoints, monkeypatch):
    from transformers import LlavaNextForConditionalGeneration

    def fail(self, **inputs):
        raise IndexError("expert index out of range")

    monkeypatch.setattr(LlavaNextForConditionalGeneration, "generate", fail)
    (error,) = answers(opened(checkpoints("llava_next")), ask(picture()))
    assert type(error) is ModelError
    assert "IndexError: expert index" in error.message


def test_the_fingerprint_follows_the_weights_and_not_the_place(checkpoints, tmp_path):
    here = checkpoints("qwen2_vl")
    there = tmp_path / here.name
    shutil.copytree(here, there)
    assert opened(there).identity == opened(here).identity
    weights = next(there.glob("*.safetensors"))
    content = bytearray(weights.read_bytes())
    content[-3] ^= 1
    weights.write_bytes(bytes(content))
    assert opened(there).identity.fingerprint != opened(here).identity.fingerprint


def test_what_cannot_be_loaded_names_the_reason(tmp_path, checkpoints):
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (error,) = answers(opened(tmp_path), ask(picture()))
    assert isinstance(error, BadRequestError)
    assert error.parameter == "model"
    (missing,) = answers(open_model("hf/no/such-model"), ask(picture()))
    assert "cannot be loaded" in missing.message


def test_code_of_the_repository_is_run_only_when_allowed_and_that_is_recorded(checkpoints, tmp_path):
    folder = tmp_path / "own_code"
    shutil.copytree(checkpoints("qwen2_vl"), folder)
    config = msgspec.json.decode((folder / "config.json").read_bytes())
    config |= {"model_type": "of_their_own", "auto_map": {"AutoConfig": "theirs.TheirConfig"}}
    (folder / "config.json").write_bytes(msgspec.json.encode(config))
    planted = tmp_path / "ran"
    (folder / "theirs.py").write_text(
        f"from transformers import PretrainedConfig\nopen({str(planted)!r}, 'w').close()\n"
        "class TheirConfig(PretrainedConfig):\n    model_type = 'of_their_own'\n"
    )
    (error,) = answers(opened(folder), ask(picture()))
    assert "--trust-remote-code" in error.hint
    assert not planted.exists()
    allowed = opened(folder, trust_remote_code=True)
    assert allowed.identity.settings["trust_remote_code"] is True
    answers(allowed, ask(picture()))
    assert planted.exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"processor": "{size"}, "is not a JSON object"),
        ({"dtype": "int3"}, "dtype=int3 is not known"),
        ({"max_pixel": 3}, "there is no setting"),
        ({"extra_body": {"temperature": 1}}, "--extra-body of a local model holds 'temperature'"),
        ({"extra_body": {"processor_kwargs": 1}}, "is not an object"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_loaded(checkpoints, settings, message):
    with pytest.raises(UsageError, match=message):
        opened(checkpoints("qwen2_vl"), **settings)


def test_an_address_is_refused():
    with pytest.raises(UsageError, match="has no address"):
        open_model("hf/Org/Name", ModelOptions(base_url="http://localhost:8000/v1"))


def test_the_contract_of_models_is_kept(checkpoints):
    check_model(opened(checkpoints("idefics3")))


@pytest.mark.parametrize("architecture", ["qwen2_vl", "idefics3", "llava_next", "llava_onevision"])
def test_what_is_planned_to_be_seen_is_what_the_answer_observed(checkpoints, architecture):
    model = opened(checkpoints(architecture))
    rule = asyncio.run(model.seen_rule(datetime.date(2026, 11, 30)))
    wide, tall = picture((200, 0, 0), 500, 200), picture((0, 0, 200), 90, 250)
    alone, both = answers(model, ask(wide, sampling=SHORT), ask(wide, tall, sampling=SHORT))
    for reply, sizes in ((alone, [wide.size]), (both, [wide.size, tall.size])):
        planned = rule.apply_to_all(sizes)
        assert [one.visual_tokens for one in reply.seen] == [one.tokens for one in planned]
        assert [one.stages for one in reply.seen] == [one.stages for one in planned]
        assert {one.evidence for one in reply.seen} == {"executed"} == {rule.evidence}
        assert sum(one.visual_tokens for one in reply.seen) == reply.usage.image_tokens


def test_processor_is_asked_without_loading_the_weights(checkpoints):
    model = opened(checkpoints("qwen2_vl"), max_pixels=100_352)
    rule = asyncio.run(model.seen_rule(datetime.date(2026, 11, 30)))
    assert rule.apply(Size(4000, 3000)).size.n_px <= 100_352
    assert model._local._loaded is None

"""The engine of vLLM as far as no GPU is needed: what it is handed, how its outputs and failures are read.

vLLM itself is played by a module with the two classes that are used; no model was run here.
"""

import asyncio
import sys
import types
from types import SimpleNamespace

import pytest
from models.asks import ask, picture

from eyechart.errors import BadRequestError, UsageError
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.schema import Sampling


class Engine:
    """Answers B with its tokens, or does what ``fail`` says for a prompt."""

    made, asked, fail = [], [], None

    def __init__(self, **arguments):
        type(self).made.append(arguments)

    def chat(self, messages, sampling_params, **arguments):
        type(self).asked.append((messages, sampling_params, arguments))
        for conversation in messages:
            text = conversation[-1]["content"][-1]["text"]
            if type(self).fail and "bad" in text:
                raise type(self).fail
        likely = ((5, " B", -0.1), (6, "A", -2.5))
        top = {number: SimpleNamespace(logprob=value, decoded_token=text) for number, text, value in likely}
        completion = SimpleNamespace(text=" B", token_ids=[5], finish_reason="stop", logprobs=[top])
        return [SimpleNamespace(prompt_token_ids=[1, 2, 3], outputs=[completion]) for _ in messages]


@pytest.fixture(autouse=True)
def vllm(monkeypatch):
    module = types.ModuleType("vllm")
    module.__spec__ = types.SimpleNamespace(name="vllm")
    module.LLM, module.SamplingParams = Engine, dict
    Engine.made, Engine.asked, Engine.fail = [], [], None
    monkeypatch.setitem(sys.modules, "vllm", module)
    return module


def answers(*asks, revision=None, **settings):
    async def run():
        model = open_model("vllm_engine/Org/Name", ModelOptions(settings=settings, revision=revision))
        outcomes = await asyncio.gather(*map(model.answer, asks), return_exceptions=True)
        await model.close()
        return outcomes

    return asyncio.run(run())


def test_questions_are_handed_over_together_with_their_pictures():
    replies = answers(ask(picture()), ask(picture(), prompt="second"), system_prompt="Be brief.")
    assert [(reply.text, reply.finish, reply.usage.input_tokens) for reply in replies] == [(" B", "stop", 3)] * 2
    ((messages, sampling, _),) = Engine.asked
    assert len(messages) == 2
    assert messages[0][0] == {"role": "system", "content": "Be brief."}
    assert messages[0][1]["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")
    assert sampling == {"temperature": 0.0, "max_tokens": 1024}


def test_settings_reach_engine_and_identity():
    answers(ask(), max_pixels=1000, trust_remote_code=True, revision="abc")
    (made,) = Engine.made
    assert made["mm_processor_kwargs"] == {"max_pixels": 1000}
    assert (made["revision"], made["trust_remote_code"]) == ("abc", True)
    identity = open_model("vllm_engine/m", ModelOptions(settings={"max_pixels": 5})).identity
    assert identity.settings["max_pixels"] == 5


def test_letters_are_read_off_the_first_token():
    (reply,) = answers(ask(picture(), sampling=Sampling(score_mode="logprob")))
    assert reply.text == "B"
    assert reply.extra["letter_probabilities"]["B"] > 0.9
    assert Engine.asked[0][1]["logprobs"] == 20


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (ValueError("too many image tokens"), "RefusedInputError"),
        (RuntimeError("CUDA out of memory"), "OutOfMemoryError"),
        (RuntimeError("engine died"), "ModelError"),
    ],
)
def test_one_question_that_fails_concerns_no_other(fault, kind):
    Engine.fail = fault
    outcomes = answers(ask(prompt="one"), ask(prompt="bad"), ask(prompt="three"))
    assert [type(outcome).__name__ for outcome in outcomes] == ["Reply", kind, "Reply"]


def test_a_model_that_cannot_be_loaded_ends_the_run(vllm):
    def refuse(**arguments):
        raise RuntimeError("no GPU found")

    vllm.LLM = refuse
    (error,) = answers(ask())
    assert isinstance(error, BadRequestError)
    assert (error.parameter, "no GPU found" in error.message) == ("model", True)


def test_without_vllm_it_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "vllm")
    with pytest.raises(UsageError, match="vLLM is not installed"):
        open_model("vllm_engine/m")


def test_an_address_belongs_to_a_server():
    with pytest.raises(UsageError, match="has no address"):
        open_model("vllm_engine/m", ModelOptions(base_url="http://localhost:8000/v1"))

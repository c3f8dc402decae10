"""Letters by token probability through every interface: what is sent, what is read, and who is refused unasked."""

import math

import pytest
from models.asks import ask, picture
from models.interfaces import ANTHROPIC, GOOGLE, RESPONSES, Interface, answers
from servers.chat_server import ChatServer
from servers.dialects import Answer

from eyechart.errors import BadRequestError
from eyechart.schema import Sampling

CHAT = pytest.param(Interface("vllm", "/v1"), id="chat")
LOGPROB = Sampling(score_mode="logprob", max_tokens=500)
TOP = (("The", math.log(0.5)), (" B", math.log(0.2)), ("A", math.log(0.1)), ("B", math.log(0.1)))


@pytest.mark.parametrize("interface", [CHAT, GOOGLE])
def test_the_likeliest_letter_is_the_answer(interface):
    with ChatServer(answer=Answer(text="The", finish="length", top=TOP)) as server:
        (reply,) = answers(interface.open(server), ask(picture(), sampling=LOGPROB))
    assert (reply.text, reply.finish) == ("B", "stop")
    assert reply.extra["letter_probabilities"] == pytest.approx({"A": 0.25, "B": 0.75})
    assert reply.extra["letter_mass"] == pytest.approx(0.4)


def test_one_token_with_probabilities_is_asked_for():
    with ChatServer(answer=Answer(top=TOP)) as server:
        answers(Interface("vllm", "/v1").open(server), ask(picture(), sampling=LOGPROB))
    body = server.received[0].json
    assert (body["logprobs"], body["top_logprobs"], body["max_tokens"]) == (True, 20, 1)


@pytest.mark.parametrize("interface", [CHAT, GOOGLE])
def test_a_server_that_tells_no_probabilities_ends_the_run(interface):
    with ChatServer(answer="A") as server:
        (error,) = answers(interface.open(server), ask(picture(), sampling=LOGPROB))
    assert isinstance(error, BadRequestError)
    assert error.parameter == "score_mode"


@pytest.mark.parametrize("interface", [RESPONSES, ANTHROPIC])
def test_an_interface_without_probabilities_is_not_asked(interface):
    with ChatServer(answer="A") as server:
        (error,) = answers(interface.open(server), ask(picture(), sampling=LOGPROB))
        assert server.received == []
    assert "tells no token probabilities" in error.message

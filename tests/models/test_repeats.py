"""No honest reply is paid twice, whatever a server's ids are; a reply that a proxy repeats is still noticed."""

import asyncio
import gc
import itertools
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.asks import ask, picture
from models.interfaces import every_interface
from servers.chat_server import ChatServer
from servers.dialects import Answer, write_answer
from servers.faults import Script

from eyechart.errors import TransientModelError
from eyechart.kinds import ModelOptions
from eyechart.models._repeats import RepeatedReplies, request_mark
from eyechart.opening import open_model

N_QUESTIONS = 130


def constant(n, received):
    return {"id": "chatcmpl-local", "created": 1}


def empty(n, received):
    return {"id": "", "created": 1_764_547_200 + n // 40}


def absent(n, received):
    return {}


def null(n, received):
    return {"id": None, "created": 1_764_547_200}


def whole_seconds(n, received):
    """The id is made of the second, and 40 replies fall into each."""
    return {"id": f"chatcmpl-{1_764_547_200 + n // 40}", "created": 1_764_547_200 + n // 40}


def date_and_time(n, received):
    return {"id": f"chat-{20261201120000 + n // 40}", "created": 1_764_547_200 + n // 40}


def drawn_from_few(n, received):
    """As Ollama does, whose ids are drawn from 999; here from fewer, so that they meet often."""
    drawn = random.Random(n).randrange(5)  # noqa: S311 -- no secret
    return {"id": f"chatcmpl-{drawn}", "created": 1, "system_fingerprint": "fp_ollama"}


def of_the_question(n, received):
    """A cache answers equal questions with the stored reply, id and all."""
    return {"id": f"chatcmpl-{received.prompt}", "created": 1}


def changed_once(n, received):
    """A server that is restarted in the middle: each of its lives has one id."""
    return {"id": "first-life" if n < N_QUESTIONS // 2 else "second-life"}


HONEST = (constant, empty, absent, null, whole_seconds, date_and_time, drawn_from_few, changed_once)


def asked_at_once(server, questions, concurrency):
    """Ask all questions, so many at once, and return what came of each."""

    async def run():
        model = open_model("vllm/m", ModelOptions(base_url=server.base_url, timeout_seconds=20))
        places = asyncio.Semaphore(concurrency)

        async def one(question):
            async with places:
                try:
                    return (await model.answer(question)).text
                except TransientModelError as error:
                    return error.message

        try:
            return await asyncio.gather(*map(one, questions))
        finally:
            await model.close()

    return asyncio.run(run())


def one_letter(identify):
    """Return what a server says that answers A to everything, with ids of one kind."""
    counter = itertools.count()

    def say(received):
        body = write_answer("chat", Answer(text="A"), "m", 0)
        body.pop("id")
        body.pop("system_fingerprint")
        return 200, {**body, **identify(next(counter), received)}

    return say


@pytest.mark.parametrize("concurrency", [1, 64])
@pytest.mark.parametrize("identify", HONEST)
def test_honest_equal_replies_are_asked_once_each(identify, concurrency):
    with ChatServer(say=one_letter(identify)) as server:
        told = asked_at_once(server, [ask(prompt=f"question {n}") for n in range(N_QUESTIONS)], concurrency)
    assert told == ["A"] * N_QUESTIONS
    assert len(server.received) == N_QUESTIONS


@pytest.mark.parametrize("concurrency", [1, 64])
def test_a_cache_that_repeats_its_reply_to_an_equal_question_is_paid_once_each(concurrency):
    questions = [ask(prompt=f"question {n // 3}") for n in range(60)]
    with ChatServer(say=one_letter(of_the_question)) as server:
        assert asked_at_once(server, questions, concurrency) == ["A"] * 60
    assert len(server.received) == 60


@every_interface
def test_equal_answers_of_every_interface_are_asked_once_each(interface):
    """The test server's ids vary, as those of the real ones do; its answers are one letter."""
    with ChatServer() as server:
        model = interface.open(server)

        async def run():
            try:
                return [(await model.answer(ask(prompt=f"question {n}"))).text for n in range(12)]
            finally:
                await model.close()

        assert asyncio.run(run()) == ["A"] * 12
    assert len(server.received) == 12


@pytest.mark.parametrize("concurrency", [1, 64])
def test_a_proxy_that_repeats_every_ninth_reply_answers_no_other_question(concurrency):
    faults = (*(None,) * 8, "duplicate")
    with ChatServer(answer=lambda received: received.prompt, script=Script(faults=faults, repeat=True)) as server:
        questions = [ask(prompt=f"question {n}") for n in range(N_QUESTIONS)]
        told = asked_at_once(server, questions, concurrency)
    # A question that was sent on the connection of a copy before the copy was noticed is asked again on another one.
    asked_again = ("sent one reply twice",) if concurrency == 1 else ("sent one reply twice", "the connection broke")
    wrong = [text for n, text in enumerate(told) if text != f"question {n}" and not any(e in text for e in asked_again)]
    assert wrong == []
    if concurrency == 1:  # at once, most connections are not used again after the copy
        assert sum("sent one reply twice" in text for text in told) >= N_QUESTIONS // 12


def test_a_copy_closes_its_connection_and_opens_no_second_client():
    async def run():
        model = open_model("vllm/m", ModelOptions(base_url=server.base_url))
        try:
            for n in range(30):
                try:
                    await model.answer(ask(prompt=f"question {n}"))
                except TransientModelError:
                    continue
            return len(model._clients)
        finally:
            await model.close()

    script = Script(faults=(None, None, "duplicate"), repeat=True)
    with ChatServer(answer=lambda received: received.prompt, script=script) as server:
        assert asyncio.run(run()) == 1


class Connection:
    """Stands for the stream of a connection."""


def judged(told, connections=None):
    """Return what is said of ids and texts that come one after the other, each to a request of its own."""
    line = Connection()
    replies = RepeatedReplies()
    verdicts = []
    for index, (reply_id, text) in enumerate(told):
        body = {"id": reply_id, "text": text}
        stream = line if connections is None else connections[index]
        verdicts.append(replies.judge(stream, body, json.dumps(body).encode(), index))
    return verdicts


few_texts = st.sampled_from("AB")


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["", None, False, "same"]), few_texts), max_size=30))
def test_ids_that_never_vary_prove_nothing(told):
    assert "copy" not in judged(told)


@settings(max_examples=60)
@given(st.lists(few_texts, min_size=2, max_size=20), st.data())
def test_a_copy_after_two_ids_is_always_noticed(texts, data):
    told = [(f"reply-{n}", text) for n, text in enumerate(texts)]
    place = data.draw(st.integers(1, len(told) - 1))
    told.insert(place + 1, told[place])
    verdicts = judged(told)
    assert verdicts[place + 1] == "copy"
    assert verdicts.count("new") == len(texts)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), few_texts, st.integers(0, 3)), max_size=40))
def test_ids_that_came_with_two_requests_prove_nothing_from_then_on(told):
    streams = [Connection() for _ in range(4)]
    verdicts = judged([(one, text) for one, text, _ in told], [streams[place] for _, _, place in told])
    seen: dict[str, int] = {}
    shared_from = len(told)
    last: dict[int, tuple] = {}
    for index, (one, text, place) in enumerate(told):
        is_equal = last.get(place) == (one, text)
        if not is_equal and one in seen:
            shared_from = min(shared_from, index)
        if not is_equal:
            seen[one] = index
        last[place] = (one, text)
    assert set(verdicts[shared_from:]) <= {"new"}


def test_equal_replies_of_two_connections_are_no_copies():
    assert judged([("a", "A"), ("b", "A"), ("b", "A")], [Connection() for _ in range(3)])[2] == "new"


def test_a_connection_that_is_gone_is_forgotten():
    replies = RepeatedReplies()
    replies.judge(Connection(), {"id": "a"}, b"a", 0)
    gc.collect()
    assert len(replies._last) == 0


def test_the_mark_of_a_request_tells_prompts_and_pictures_apart():
    red, blue = picture((255, 0, 0)), picture((0, 0, 255))
    asks = [ask(), ask(red), ask(blue), ask(red, blue), ask(blue, red), ask(red, prompt="x"), ask(picture(kind="JPEG"))]
    assert len({request_mark(one) for one in asks}) == len(asks)
    assert request_mark(ask(red)) == request_mark(ask(picture((255, 0, 0))))

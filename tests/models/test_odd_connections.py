"""However a server sends its replies, each question has its own answer, and no honest reply is paid twice."""

import asyncio
import dataclasses

import pytest
from models.asks import ask
from models.interfaces import ANTHROPIC, GOOGLE, Interface
from servers.odd_connections import IDS, Odd, OddServer

from eyechart.errors import BadRequestError, TransientModelError

CHAT = pytest.param(Interface("vllm", "/v1"), id="chat")
every_dialect = pytest.mark.parametrize("interface", [CHAT, ANTHROPIC, GOOGLE])
at_once = pytest.mark.parametrize("n_at_once", [1, 64])
MOST_ATTEMPTS = 30


def asked_until_answered(server, interface, n_at_once, prompts):
    """Return the answer to each prompt, or the message of its final error; transient errors are asked again."""

    async def run():
        model = interface.open(server)
        places = asyncio.Semaphore(n_at_once)

        async def one(prompt):
            async with places:
                for _ in range(MOST_ATTEMPTS):
                    try:
                        return (await model.answer(ask(prompt=prompt))).text
                    except TransientModelError:
                        continue
                    except BadRequestError as error:
                        return error.message
            return "gave up"

        try:
            return await asyncio.gather(*map(one, prompts))
        finally:
            await model.close()

    return asyncio.run(run())


def prompts_of(n):
    return [f"question {place}" for place in range(n)]


def enough(n_at_once):
    """Return so many questions that each connection gets some."""
    return prompts_of(12 if n_at_once == 1 else 70)


WAYS = {
    "plain": Odd(),
    "packed chunks": Odd(framing="chunked", is_packed=True),
    "1.0": Odd(framing="1.0", is_packed=True, is_trickled=True),
    "closed each time": Odd(closes_every=1, is_trickled=True),
    "closed each third time": Odd(closes_every=3, framing="chunked", is_continued=True),
    "continued": Odd(is_continued=True, is_packed=True, is_trickled=True),
}


@every_dialect
@at_once
@pytest.mark.parametrize("ids", IDS)
def test_an_honest_server_of_any_ids_is_asked_once_for_each_question(interface, n_at_once, ids):
    """Its answers are one letter, so that with such ids replies are equal byte for byte."""
    prompts = enough(n_at_once)
    with OddServer(Odd(ids=ids), answer=lambda received: "A") as server:
        assert asked_until_answered(server, interface, n_at_once, prompts) == ["A"] * len(prompts)
    assert len(server.received) == len(prompts)


@every_dialect
@at_once
@pytest.mark.parametrize("way", WAYS)
def test_an_honest_server_of_any_framing_is_asked_once_for_each_question(interface, n_at_once, way):
    prompts = enough(n_at_once)
    with OddServer(WAYS[way]) as server:
        assert asked_until_answered(server, interface, n_at_once, prompts) == prompts
    assert len(server.received) == len(prompts)


@every_dialect
@at_once
@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("ids", ["vary", "constant", "absent"])
def test_a_copied_reply_answers_no_other_question_whatever_the_ids(interface, n_at_once, is_late, ids):
    prompts = enough(n_at_once)
    with OddServer(Odd(ids=ids, copies_every=3, is_late=is_late)) as server:
        assert asked_until_answered(server, interface, n_at_once, prompts) == prompts
    assert server.n_copies >= len(prompts) // 3
    assert len(server.received) <= len(prompts) + server.n_copies


@every_dialect
@pytest.mark.parametrize("is_late", [False, True])
def test_the_copy_of_the_very_first_reply_answers_no_other_question(interface, is_late):
    with OddServer(Odd(copies_every=1000, is_late=is_late)) as server:
        assert asked_until_answered(server, interface, 1, prompts_of(5)) == prompts_of(5)
    assert (server.n_copies, len(server.received)) == (1, 5)


@every_dialect
@at_once
@pytest.mark.parametrize("is_late", [False, True])
def test_a_copied_error_ends_no_other_question(interface, n_at_once, is_late):
    """Every second reply is sent twice, so that an error is among them at once."""
    prompts = [f"refuse this {place}" if place % 3 == 1 else one for place, one in enumerate(enough(n_at_once))]
    with OddServer(Odd(copies_every=2, is_late=is_late, refuses="refuse this")) as server:
        told = asked_until_answered(server, interface, n_at_once, prompts)
    wrong = [
        (prompt, text)
        for prompt, text in zip(prompts, told, strict=True)
        if text != prompt and not ("refuse this" in prompt and "this is refused" in text)
    ]
    assert wrong == []


@every_dialect
def test_a_connection_is_used_again_only_where_ids_tell_replies_apart(interface):
    n_connections = {}
    for ids in ("vary", "constant", "absent"):
        with OddServer(Odd(ids=ids)) as server:
            asked_until_answered(server, interface, 1, prompts_of(12))
            n_connections[ids] = len(server._n_replies)
    assert n_connections == {"vary": 2, "constant": 12, "absent": 12}


@pytest.mark.full
@every_dialect
@at_once
def test_every_combination_of_ids_framing_and_ends(interface, n_at_once):
    ways = [
        Odd(ids, framing, is_packed, is_trickled, is_continued, closes_every)
        for ids in IDS
        for framing in ("length", "chunked", "1.0")
        for is_packed in (False, True)
        for is_trickled in (False, True)
        for is_continued in (False, True)
        for closes_every in (0, 1, 3)
    ]
    for way in ways:
        with OddServer(way) as server:
            assert asked_until_answered(server, interface, n_at_once, prompts_of(12)) == prompts_of(12), way
        assert len(server.received) == 12, way
        copied = dataclasses.replace(way, copies_every=2, is_late=way.is_packed)
        with OddServer(copied) as server:
            assert asked_until_answered(server, interface, n_at_once, prompts_of(12)) == prompts_of(12), copied

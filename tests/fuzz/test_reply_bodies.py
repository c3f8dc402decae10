"""Whatever a server sends as a good reply: an answer that says something, or one of our errors; never a traceback."""

import asyncio
import json

import pytest
from fuzz_cases import changed_bytes, changed_value, n_cases, random_of
from models.asks import KEY, ask, picture
from servers.dialects import Answer, write_answer, write_error

from eyechart.errors import ModelError
from eyechart.kinds import ModelOptions
from eyechart.models._hosted import Exchange
from eyechart.opening import open_model
from eyechart.runs.replies import Asking, error_row, reply_row
from eyechart.schema import Response, ResponseState, Sampling, decode_record, encode_record

pytestmark = pytest.mark.fuzz

DIALECTS = {
    "chat": ("openai", {}),
    "responses": ("openai", {"interface": "responses"}),
    "messages": ("anthropic", {}),
    "generate": ("google", {}),
}
ANSWERS = [
    Answer(),
    Answer(text="The answer is B.", reasoning="A or B?"),
    Answer(text="<think>A?</think>B", finish="length"),
    Answer(text=None, reasoning="A?"),
    Answer(text=None, refusal="I cannot."),
    Answer(text="", finish="content_filter"),
    Answer(top=(("A", -0.1), ("B", -3.0))),
]
TYPES = ["application/json"] * 6 + [
    "",
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "text/plain",
    "text/html",
]
ASKING = Asking(request_id="r", seconds=1.0, finished_at="2026-12-01T00:00:00+00:00")


def bodies(dialect):
    """Return valid bodies of a dialect: answers of every kind, and errors that some gateways send with status 200."""
    found = [write_answer(dialect, answer, "m", n) for n, answer in enumerate(ANSWERS)]
    if dialect == "chat":
        parts = json.loads(json.dumps(found[0]))
        parts["choices"][0]["message"]["content"] = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "A?"}]},
            {"type": "text", "text": "B"},
        ]
        found.append(parts)
    errors = [(429, "slow down"), (400, "unknown parameter"), (401, "bad key"), (500, "oh"), (413, "too large")]
    return found + [write_error(dialect, status, text, code=None, parameter="top_p") for status, text in errors]


def payload_of(rng, dialect):
    """Return a body that a server might send, and what it declares it as."""
    body = changed_value(rng, rng.choice(bodies(dialect)), rng.choice([0, 1, 1, 2, 3, 6]))
    text = json.dumps(body, ensure_ascii=rng.random() < 0.5)
    encoded = text.encode(rng.choice(["utf-8"] * 9 + ["utf-16", "latin-1"]), errors="replace")
    if rng.random() < 0.1:
        encoded = b"\xef\xbb\xbf" + encoded
    if rng.random() < 0.2:
        encoded = changed_bytes(rng, encoded, rng.choice([1, 2, 5]))
    if rng.random() < 0.01:
        encoded = rng.choice([b"", b"[" * 100_000, b'{"a":' * 100_000, b"<html>", b"data: {}\n\n"])
    return rng.choice(TYPES), encoded


class Told:
    """Stands for the network: the next reply of the server."""

    content_type, payload = "", b""

    async def exchange(self, client, asked):
        return Exchange(content_type=self.content_type, payload=self.payload)


@pytest.fixture
def rows(monkeypatch):
    """A function that yields what came and the row that is stored of it, for every case of a dialect."""
    for provider in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{provider}_API_KEY", KEY)

    async def outcomes(dialect):
        provider, settings = DIALECTS[dialect]
        model, told, found = open_model(f"{provider}/m", ModelOptions(settings=settings)), Told(), []
        model._exchange = told.exchange
        for number in range(n_cases(1 / len(DIALECTS))):
            rng = random_of(dialect, number)
            told.content_type, told.payload = payload_of(rng, dialect)
            is_letter = rng.random() < 0.2 and model.reads_letters
            question = ask(picture(), sampling=Sampling(score_mode="logprob" if is_letter else "text"))
            try:
                row = reply_row(await model.answer(question), ASKING)
            except ModelError as error:
                row = error_row(error, ASKING)
            except Exception as error:
                error.add_note(f"{dialect} {number}, {told.content_type!r}: {told.payload[:2000]!r}")
                raise
            found.append((number, told.payload[:2000], row))
        await model.close()
        return found

    return lambda dialect: asyncio.run(outcomes(dialect))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_reply_is_a_row_that_can_be_stored_or_one_of_our_errors(rows, dialect):
    for number, payload, row in rows(dialect):
        stored = encode_record(row)
        assert decode_record(stored, Response, "row") == row, (number, payload)
        assert row.state.is_error == (row.error is not None), (number, payload)
        assert not row.state.is_error or row.text is None, (number, payload)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_reply_that_says_nothing_is_an_answer(rows, dialect):
    for number, payload, row in rows(dialect):
        assert row.state is not ResponseState.ANSWERED or row.text.strip(), (number, payload)

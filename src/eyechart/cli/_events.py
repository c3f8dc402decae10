"""With ``--json``, long work tells its progress on stderr as events: one JSON object per line, and nothing else.

The result goes to stdout as it does without events. docs/progress.md describes every event.
"""

import json
import re
import sys
from contextvars import ContextVar
from pathlib import PurePath

import msgspec

from eyechart.runs.files import text_of_name

_IS_ON = ContextVar("eyechart_events", default=False)
_NOT_ASCII = re.compile("[^\\x00-\\x7f]")


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """What all events have in common: ``event`` names the kind."""


class Began(_Event, frozen=True, kw_only=True, tag="began"):
    """Work began.

    Args:
        work: What is done: run, judge, probe, build, verify, fetch, report, explore or site.
        folder: Where, empty where there is no folder.
        planned: Requests per view; empty for other work.
        settled: How many of these were there before.
        expected_dollars: What the whole run is expected to cost, None where no price is known.
    """

    work: str
    folder: str = ""
    planned: dict[str, int] = msgspec.field(default_factory=dict)
    settled: dict[str, int] = msgspec.field(default_factory=dict)
    expected_dollars: float | None = None


class PartProgress(msgspec.Struct, frozen=True, kw_only=True):
    """One view: ``accuracy`` in [0, 1] of the answers scored so far with its 95 % interval, None before the first."""

    name: str
    n_all: int
    n_done: int
    n_failed: int
    n_scored: int = 0
    accuracy: float | None = None
    low: float | None = None
    high: float | None = None


class Progressed(_Event, frozen=True, kw_only=True, tag="progress"):
    """How far the work is; at most one a second, and one at the end.

    Args:
        work: As in ``Began``.
        unit: What is counted: answers, images, questions, rows, bytes, files, runs or pages.
        n_all: How many there will be, None while that is not known.
        n_done: How many are done, those from before included.
        n_failed: How many of these failed.
        seconds: Since the work began.
        per_second: Rate of the last minute, None at first.
        seconds_left: By that rate, None where it is not known.
        dollars: Spent since the work began, None where no cost is known.
        parts: One per view of a run.
    """

    work: str
    unit: str
    n_all: int | None
    n_done: int
    n_failed: int = 0
    seconds: float
    per_second: float | None = None
    seconds_left: float | None = None
    dollars: float | None = None
    parts: tuple[PartProgress, ...] = ()


class Waiting(_Event, frozen=True, kw_only=True, tag="waiting"):
    """A request failed and is asked again after a wait."""

    seconds: float
    cause: str


class Checked(_Event, frozen=True, kw_only=True, tag="checked"):
    """One of the first answers of a run, looked at before the rest is asked."""

    question: str
    view: str
    text: str | None
    answer: str | None
    state: str | None
    is_bad: bool


class Note(_Event, frozen=True, kw_only=True, tag="note"):
    """One sentence for the reader; without ``--json`` it is a line on stderr."""

    text: str


class Failed(_Event, frozen=True, kw_only=True, tag="error"):
    """The command ended with an error."""

    message: str
    hint: str = ""


class Ended(_Event, frozen=True, kw_only=True, tag="ended"):
    """The work ended, early or not; whether all is done says the exit code."""

    work: str


Event = Began | Progressed | Waiting | Checked | Note | Failed | Ended


def switch_events(is_on: bool) -> None:
    """Tell progress, notes and errors as events from now on, or as text."""
    _IS_ON.set(is_on)


def has_events() -> bool:
    """Whether progress, notes and errors are told as events."""
    return _IS_ON.get()


def encode_json(value: object) -> bytes:
    """Return a value as one line of JSON; paths are text, also those that a locale without UTF-8 keeps as bytes.

    Raises:
        NotImplementedError: If it holds what JSON does not know.
    """
    try:
        return msgspec.json.encode(value, enc_hook=_plain)
    except UnicodeEncodeError:
        content = json.dumps(msgspec.to_builtins(value, enc_hook=_plain), ensure_ascii=False)
        return text_of_name(content).encode()


def _plain(value: object) -> str:
    """Return a path as text; nothing else that JSON does not know is printed."""
    if isinstance(value, PurePath):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no form in JSON")


def emit(event: Event) -> None:
    """Write one event, in ASCII alone: what a terminal's encoding lacks would be escaped in a way that is not JSON."""
    line = encode_json(event).decode()
    sys.stderr.write(_NOT_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], line) + "\n")
    sys.stderr.flush()

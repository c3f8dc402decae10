"""Failures by cause: which answers are missing or unreadable, why, and under which conditions."""

import re
from collections.abc import Iterable

from eyechart.runs.cells import Cell, RunTable
from eyechart.schema import Failure, ResponseState

NOT_RELEASED = "not_released"
NOT_ASKED = "not_asked"

# Numbers and names with digits differ between occurrences of one cause: waits, sizes, ids of requests, addresses.
_NUMBER = re.compile(r"\b[0-9a-f]{16,}\b|\b(?=\w{0,40}\d)(?=\w{0,40}[A-Za-z])\w{12,}\b|\d[\d.,:]*")
_MAX_CAUSE = 160


def group_failures(table: RunTable) -> tuple[Failure, ...]:
    """Return the causes of missing and unreadable answers, the most frequent first.

    Args:
        table: The run.

    Returns:
        One record per state and cause. Causes that differ in their numbers only are one; the example is the first.
    """
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for condition, state, cause, example in _struck(table):
        groups.setdefault((state, common_cause(cause)), []).append((condition, example))
    failures = [
        Failure(
            state=state,
            cause=cause,
            n=len(struck),
            conditions={name: count for name in table.conditions if (count := _count(struck, name))},
            example=struck[0][1],
        )
        for (state, cause), struck in groups.items()
    ]
    return tuple(sorted(failures, key=lambda failure: (-failure.n, failure.state, failure.cause)))


def common_cause(message: str) -> str:
    """Return a message without what differs between its occurrences.

    Example:
        >>> common_cause("HTTP 429: try again in 1.25 s (request 00ab34cd00ab34cd00)")
        'HTTP 429: try again in # s (request #)'
    """
    line = message.strip().splitlines()[0] if message.strip() else "no message"
    status = re.match(r"HTTP \d{3}", line)
    kept = status.group() if status else ""
    return (kept + _NUMBER.sub("#", line[len(kept) :]))[:_MAX_CAUSE]


def _struck(table: RunTable) -> Iterable[tuple[str, str, str, str]]:
    """Yield condition, state, cause and example of every failure, by question and condition."""
    for question_index, question in enumerate(table.questions):
        slots = table.slots_of(question)
        for index, condition in enumerate(table.conditions):
            for slot in slots:
                cell = table.cells.get((question_index, index, slot))
                found = _failure_of(cell)
                if found is not None:
                    yield condition, found[0], found[1], found[2] or question.id


def _failure_of(cell: Cell | None) -> tuple[str, str, str] | None:
    """Return state, cause and example of a cell, None if it holds a readable answer."""
    if cell is None:
        return NOT_RELEASED, "the release does not hold this picture", ""
    if cell.ending is None:
        return NOT_ASKED, "the run ended before this was answered", ""
    if cell.ending.state.is_error:
        message = cell.ending.error or "no message"
        # Each file has a name of its own; what is wrong with it is the cause.
        is_picture = cell.ending.state is ResponseState.UNREADABLE_IMAGE
        cause = message.partition(": ")[2] or message if is_picture else message
        return cell.ending.state.value, cause, message
    if cell.is_unparsed:
        return cell.ending.state.value, cell.reason or "no_option_letter", ""
    return None


def _count(struck: list[tuple[str, str]], condition: str) -> int:
    return sum(name == condition for name, _ in struck)

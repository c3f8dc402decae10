"""Final errors that the reader wants asked again, and what that costs."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from eyechart.errors import UsageError
from eyechart.runs.answers import AnswerIndex
from eyechart.runs.store import RunStore
from eyechart.schema import ResponseState
from eyechart.seen.costs import estimate_dollars, token_price

_FILTERED = "filtered"
ASKABLE = (
    ResponseState.BAD_REQUEST,
    ResponseState.EMPTY_REPLY,
    ResponseState.FILTERED,
    ResponseState.REFUSED_INPUT,
    ResponseState.UNREADABLE_IMAGE,
)
"""States in which a request stays unless it is wanted again."""


def read_states(text: str) -> tuple[ResponseState, ...]:
    """Return the states that are to be asked again, written with commas; ``filtered`` and ``content_filter`` are one.

    Raises:
        UsageError: If a state is unknown, or is none that can be asked again.

    Example:
        >>> [state.value for state in read_states("filtered,bad_request")]
        ['content_filter', 'bad_request']
    """
    names = {state.value: state for state in ASKABLE} | {_FILTERED: ResponseState.FILTERED}
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in names]
    if unknown or not wanted:
        what = f"{unknown[0]!r} is not a state" if unknown else "no state is named"
        raise UsageError(
            f"--ask-again: {what} that can be asked again",
            hint=f"one or more of {', '.join(sorted({*names} - {ResponseState.FILTERED.value}))}; what was not "
            "answered is asked again without it",
        )
    return tuple(dict.fromkeys(names[name] for name in wanted))


def states_again(index: AnswerIndex, states: tuple[ResponseState, ...]) -> dict[str, ResponseState]:
    """Return the requests that ended in one of these states, with the state."""
    return {request_id: row.state for request_id, row in index.rows.items() if row.state in states}


def generations_again(index: AnswerIndex, again: Mapping[str, ResponseState]) -> dict[str, int]:
    """Return the generation that the new answers to such requests must carry, so that they count before the old."""
    return {request_id: index.rows[request_id].generation + 1 for request_id in again}


class AskedAgain(msgspec.Struct, frozen=True):
    """What asking again means for a run.

    Args:
        states: Requests by the state in which they ended, those of the wanted states alone.
        n: All of these.
        dollars: What they are expected to cost, None where no price is known.
    """

    states: dict[str, int]
    n: int
    dollars: float | None


def foresee_again(store: RunStore, states: tuple[ResponseState, ...]) -> AskedAgain:
    """Return how many requests of a run would be asked again, and what they would cost; nothing is asked.

    Raises:
        StoreError: If the folder cannot be read.
    """
    run, again = store.run, states_again(store.index(), states)
    price = run.price or token_price(run.model)
    requests = [request for request in store.requests() if request.id in again]
    counts = Counter(state.value for state in again.values())
    return AskedAgain(
        states={state.value: counts[state.value] for state in states},
        n=len(again),
        dollars=None if price is None else round(estimate_dollars(requests, run.model, price), 6),
    )

"""How a run ended, or one shard of it."""

import msgspec

from eyechart.runs.retrying import Stop
from eyechart.runs.store import RunStore
from eyechart.schema import ResponseState, Summary

EXIT_DONE, EXIT_MISSING = 0, 3
# A picture that the provider refuses is a finding; these are gaps.
UNANSWERABLE = (ResponseState.BAD_REQUEST, ResponseState.EMPTY_REPLY, ResponseState.UNREADABLE_IMAGE)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended.

    Args:
        store: The run folder.
        summary: What was estimated, also stored in ``estimates.json``.
        n_planned: All requests of the plan.
        n_reused: Of these, settled before this process began.
        n_asked: Requests that this process asked.
        n_missing: Requests without an answer or final error.
        n_missing_pictures: Released pictures that do not exist; not asked, and no failure of the run.
        stop: Why the run ended early; None if it did not.
    """

    store: RunStore
    summary: Summary
    n_planned: int
    n_reused: int
    n_asked: int
    n_missing: int
    n_missing_pictures: int = 0
    stop: Stop | None = None

    @property
    def n_unanswerable(self) -> int:
        """Requests that ended in a final error other than a refused picture, such as pictures that cannot be read."""
        return sum(one.states.get(state, 0) for one in self.summary.conditions for state in UNANSWERABLE)

    @property
    def n_unreadable(self) -> int:
        """Of these, requests whose picture cannot be read."""
        return sum(one.states.get(ResponseState.UNREADABLE_IMAGE, 0) for one in self.summary.conditions)

    @property
    def exit_code(self) -> int:
        """0 if every request has an answer or its picture was refused, which is a finding and no gap; else 3."""
        return EXIT_MISSING if self.n_missing or self.n_unanswerable else EXIT_DONE


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of a plan, or of one shard of it, once it was asked: counts, and no request in memory.

    ``n_missing_in_all`` counts over the whole run, whoever asks it; ``n_unanswerable`` what ended in a final error that
    is not a refused picture.
    """

    store: RunStore
    n_planned: int
    n_open: int
    n_asked: int
    n_missing: int
    n_missing_in_all: int
    n_missing_pictures: int
    stop: Stop | None
    n_unanswerable: int = 0

    @property
    def exit_code(self) -> int:
        """0 if every request that was to be asked has an answer or its picture was refused, else 3."""
        return EXIT_MISSING if self.n_missing or self.n_unanswerable else EXIT_DONE

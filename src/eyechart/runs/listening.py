"""What a run tells whoever watches it; the command line draws it, tests record it."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import msgspec

from eyechart.schema import Request, Response, Score, TokenPrice, Value


class Beginning(Value, frozen=True):
    """Where a run stands when it begins or resumes.

    Args:
        folder: The run folder.
        is_resumed: Whether it was there before.
        n_planned: Requests per condition, in the order of the views.
        n_settled: How many of these need not be asked any more, per condition.
        n_stale: Answers too old to be reused.
        n_again: Final errors that are asked again, because the reader wants it.
        n_missing_pictures: Released pictures that do not exist, so that they are not asked.
        predicts_seen: Whether what the model sees is known beforehand.
        estimated_dollars: What the whole run is expected to cost, None where no price is known.
        price: The price behind that.
    """

    folder: str
    is_resumed: bool
    n_planned: dict[str, int]
    n_settled: dict[str, int]
    n_stale: int = 0
    n_again: int = 0
    n_missing_pictures: int = 0
    predicts_seen: bool = False
    estimated_dollars: float | None = None
    price: TokenPrice | None = None


class CheckedAnswer(msgspec.Struct, frozen=True):
    """One of the first answers, raw, beside what was read from it.

    ``score`` is None if the request got no answer at all; ``is_planned_size`` where no reply but a rule tells the size.
    """

    request: Request
    response: Response | None
    score: Score | None
    seen_size: tuple[int, int] | None
    is_bad: bool
    is_planned_size: bool = False


class Listener(Protocol):
    """Follows a run. Every method returns at once and raises nothing."""

    def began(self, beginning: Beginning) -> None:
        """The plan is stored and asking begins."""
        ...

    def answered(self, request: Request, response: Response) -> None:
        """A request ended and its row is stored."""
        ...

    def waiting(self, seconds: float, cause: str) -> None:
        """A request failed and is asked again after a wait."""
        ...

    def checked(self, answers: Sequence[CheckedAnswer]) -> None:
        """The first answers are in and were checked."""
        ...

    def noted(self, message: str) -> None:
        """Something that the reader should know, in one sentence."""
        ...


@runtime_checkable
class FollowsScores(Listener, Protocol):
    """A listener that is also told what each answer scored, as far as a scorer can tell at once."""

    def scored(self, request: Request, score: Score) -> None:
        """An answer was judged; comes before ``answered``, and for answers of earlier starts without it."""
        ...


class Silent:
    """A listener that ignores everything."""

    def began(self, beginning: Beginning) -> None:
        """Ignore it."""

    def answered(self, request: Request, response: Response) -> None:
        """Ignore it."""

    def waiting(self, seconds: float, cause: str) -> None:
        """Ignore it."""

    def checked(self, answers: Sequence[CheckedAnswer]) -> None:
        """Ignore it."""

    def noted(self, message: str) -> None:
        """Ignore it."""

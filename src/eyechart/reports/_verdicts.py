"""The verdict on a comparison, in one of a few fixed phrases."""

from typing import Literal

from eyechart.runs.findings import BLOCKED, CANNOT_TELL, CONDITIONAL
from eyechart.schema import Contrast, Value

VerdictKind = Literal["holds", "open", "untested", "blocked"]


class Verdict(Value, frozen=True):
    """What became of a comparison: a kind for the look, and the words."""

    kind: VerdictKind
    words: str


_UNCLAIMED = {
    "interim": Verdict("untested", "interim: the run is not finished"),
    "conditional": Verdict("open", "holds only if the missing answers are like the others"),
}
_SECONDARY = Verdict("untested", "secondary: outside the headline family")


def verdict_of(contrast: Contrast) -> Verdict:
    """Return the verdict on one contrast.

    ``holds``: the record says that it is claimed. ``cannot be told apart``: it was tested
    and does not hold. ``cannot be told apart: too few to test``: it has an interval only. ``blocked: CODE``: a rule
    forbids the comparison.

    Example:
        >>> verdict_of(Contrast(name="", condition="crop_3x", baseline="original", value=0.1, low=0, high=0.2,
        ...     n_questions=9, n_clusters=9, gained=1, lost=0, method="")).words
        'cannot be told apart: too few to test'
    """
    if contrast.blocked_by:
        return Verdict("blocked", f"blocked: {', '.join(contrast.blocked_by)}")
    if contrast.claimed:
        return Verdict("holds", "holds")
    if contrast.standing in _UNCLAIMED:
        return _UNCLAIMED[contrast.standing]
    if contrast.secondary:
        return _SECONDARY
    if contrast.p_adjusted is None:
        return Verdict("untested", "cannot be told apart: too few to test")
    return Verdict("open", "cannot be told apart")


def verdict_of_code(code: str) -> Verdict:
    """Return the verdict on a finding that no contrast gives, by its code.

    Example:
        >>> verdict_of_code("CANNOT_TELL").words
        'cannot be told apart'
    """
    if code == BLOCKED:
        return Verdict("blocked", "blocked")
    if code == CONDITIONAL:
        return _UNCLAIMED["conditional"]
    return Verdict("open", "cannot be told apart") if code == CANNOT_TELL else Verdict("holds", "holds")

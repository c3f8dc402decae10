"""Sentences about contrasts, each made from one record and saying no more than it holds."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from eyechart.schema import ConditionSummary, Contrast, Finding
from eyechart.stats.conditions import Pair

HIGHER = "HIGHER"
LOWER = "LOWER"
CROSSOVER = "CROSSOVER"
CANNOT_TELL = "CANNOT_TELL"
BLOCKED = "BLOCKED"
CONDITIONAL = "CONDITIONAL"

_SMALLEST_PRINTED_P = 0.0001
_ASK_AGAIN = "the same run command asks what is missing, --ask-again also what failed for good"
_UNBLOCKED_BY = {
    "MISSING_BY_VIEW": _ASK_AGAIN,
    "SUBSET_MISMATCH": "ask the same questions under both views",
    "UNREADABLE_BY_VIEW": "read the answers with another scorer, or ask for an answer that can be read",
    "SAME_PICTURE": "choose views whose pictures differ more",
    "DIFFERENT_PROMPTS": "ask both sides in the same words",
    "RANDOM_FILL": "score the raw answers",
    "HETEROGENEOUS_SETTINGS": "ask both sides with the same settings",
    "JUDGE_DRIFT": "judge both sides by the same judge",
    "DUP_ROWS": "run again in a new folder",
}


class Statement(NamedTuple):
    """A sentence in two parts: what is claimed, or why nothing is, and the numbers for it."""

    code: str
    claim: str
    evidence: str


def find(
    contrasts: Iterable[Contrast], conditions: Iterable[ConditionSummary], controls: Iterable[Pair] = ()
) -> tuple[Finding, ...]:
    """Return one sentence per contrast of the headline family, claims before what cannot be told apart.

    A difference is claimed where its record says so (``Contrast.claimed``, made by ``stats.claims``). One that would be
    claimed only if the missing answers are like the others is ``CONDITIONAL``. There is no sentence about a contrast
    outside the family, or of a run that is not finished. A picture with fewer pixels that does better than the whole
    original is a ``CROSSOVER``: the model loses by being shown more pixels than it can use. Where the difference cannot
    be claimed, the sentence still names such a picture.

    Args:
        contrasts: The contrasts, with what blocks them.
        conditions: What each condition shows.
        controls: Pairs of conditions that show the same pictures.

    Example:
        >>> contrast = Contrast(
        ...     name="paired difference", condition="downsample_0_5", baseline="original",
        ...     value=0.1, low=0.04, high=0.16, n_questions=200, n_clusters=180, gained=24, lost=4, method="",
        ...     p=0.0002, p_adjusted=0.0004, claimed=True,
        ... )
        >>> half = ConditionSummary("downsample_0_5", "downsample_0_5", "downsample", linear_scale=0.5)
        >>> find([contrast], [half])[0].code
        'CROSSOVER'
    """
    shown = {condition.condition: condition for condition in conditions}
    is_control = {frozenset(pair) for pair in controls}
    found = [
        _finding(one, shown)
        for one in contrasts
        if frozenset((one.condition, one.baseline)) not in is_control
        and not one.secondary
        and one.standing != "interim"
    ]
    return tuple(sorted(found, key=lambda finding: finding.code == CANNOT_TELL))


def _finding(contrast: Contrast, conditions: Mapping[str, ConditionSummary]) -> Finding:
    said = state(contrast, conditions)
    role = f" ({contrast.role})" if contrast.role else ""
    return Finding(
        code=said.code,
        text=f"{said.claim}: {said.evidence}{role}.",
        contrast=(contrast.condition, contrast.baseline),
    )


def state(contrast: Contrast, conditions: Mapping[str, ConditionSummary]) -> Statement:
    """Return what a contrast allows to say, and the numbers that it rests on.

    Args:
        contrast: The contrast, with what blocks it.
        conditions: What each condition shows, by name.

    Example:
        >>> contrast = Contrast(
        ...     name="paired difference", condition="crop_3x", baseline="original",
        ...     value=-0.1, low=-0.16, high=-0.04, n_questions=200, n_clusters=180, gained=4, lost=24, method="",
        ...     p=0.0002, p_adjusted=0.0004, claimed=True,
        ... )
        >>> state(contrast, {}).claim
        'crop_3x scores 10.0 points below original'
    """
    if contrast.blocked_by:
        names = f"{contrast.condition} and {contrast.baseline}"
        return Statement(BLOCKED, f"{names} are not compared", _blocked(contrast))
    if contrast.standing == "conditional":
        return _conditional(contrast)
    if not contrast.claimed:
        return _open(contrast, conditions)
    points = f"{abs(100 * contrast.value):.1f} points"
    if contrast.value < 0:
        claim = f"{contrast.condition} scores {points} below {contrast.baseline}"
        return Statement(LOWER, claim, _numbers(contrast))
    if is_crossover(contrast, conditions):
        claim = (
            f"Crossover: {contrast.condition} shows the same scene with fewer pixels and scores {points} above "
            f"{contrast.baseline}"
        )
        return Statement(CROSSOVER, claim, _numbers(contrast))
    return Statement(HIGHER, f"{contrast.condition} scores {points} above {contrast.baseline}", _numbers(contrast))


def _open(contrast: Contrast, conditions: Mapping[str, ConditionSummary]) -> Statement:
    """Return what is said of a difference that is not claimed; a smaller picture that scored higher is named."""
    names = f"{contrast.condition} and {contrast.baseline}"
    if is_crossover(contrast, conditions):
        names = (
            f"{contrast.condition} shows the same scene with fewer pixels and scored higher here than "
            f"{contrast.baseline}, but the two"
        )
    if contrast.p_adjusted is None:
        rule = "no test below 30 questions on 10 pictures of equal weight"
        few = "pictures" if contrast.interval is None else "questions"
        claim = f"{names} cannot be told apart on so few {few}"
        return Statement(CANNOT_TELL, claim, f"{_numbers(contrast)}, {rule}")
    note = ""
    if contrast.excludes_0:
        note = ", and the interval alone is not corrected for the number of contrasts"
    elif contrast.p_adjusted < round(1.0 - contrast.confidence, 10):
        note = ", and the interval reaches over 0, so that p alone claims nothing"
    return Statement(CANNOT_TELL, f"{names} cannot be told apart", f"{_numbers(contrast)}{note}")


def _blocked(contrast: Contrast) -> str:
    """Return what blocks a contrast, and what would unblock it."""
    parts = [", ".join(contrast.blocked_by)]
    ways = dict.fromkeys(_UNBLOCKED_BY[code] for code in contrast.blocked_by if code in _UNBLOCKED_BY)
    if contrast.n_missing and _ASK_AGAIN not in ways:
        ways[_ASK_AGAIN] = None
    if _ASK_AGAIN in ways:
        parts.append(f"{_count(contrast.n_missing, 'question')} without an answer on one side or both")
    return "; ".join([*parts, *ways])


def _conditional(contrast: Contrast) -> Statement:
    """Return what is said of a difference that only the missing answers could undo."""
    side = "above" if contrast.value > 0 else "below"
    points = f"{abs(100 * contrast.value):.1f} points"
    claim = (
        f"If the missing answers are like the others, {contrast.condition} scores {points} {side} {contrast.baseline}"
    )
    evidence = _numbers(msgspec.structs.replace(contrast, p_adjusted=contrast.p_if_like_others))
    if contrast.bound_low is not None and contrast.bound_high is not None:
        low, high = _points(contrast.bound_low), _points(contrast.bound_high)
        evidence += f"; whatever they are: {low} to {high} points, p {_p(contrast.p_adjusted or 1.0)}"
    missing = f"{_count(contrast.n_missing, 'question')} without an answer on one side or both"
    return Statement(CONDITIONAL, claim, f"{evidence}; {missing}; {_ASK_AGAIN}")


def is_crossover(contrast: Contrast, conditions: Mapping[str, ConditionSummary]) -> bool:
    """Whether the whole picture with fewer pixels scored higher, claimed or not.

    Args:
        contrast: The contrast.
        conditions: What each condition shows, by name.
    """
    if contrast.value <= 0:
        return False
    condition, baseline = conditions.get(contrast.condition), conditions.get(contrast.baseline)
    if condition is None or condition.family != "downsample":
        return False
    baseline_scale = 1.0 if baseline is None or baseline.linear_scale is None else baseline.linear_scale
    return (condition.linear_scale or 1.0) < baseline_scale


def _numbers(contrast: Contrast) -> str:
    """Return difference, interval, p and n as they stand in the record."""
    level = f"{100 * contrast.confidence:g} %"
    parts = [
        f"difference {_points(contrast.value)} points",
        "too few pictures for an interval"
        if contrast.interval is None
        else f"{level} interval {_points(contrast.interval[0])} to {_points(contrast.interval[1])}",
        f"n = {_count(contrast.n_questions, 'question')} on {_count(contrast.n_clusters, 'picture')}",
    ]
    if contrast.p_adjusted is not None:
        parts.append(f"p {_p(contrast.p_adjusted)} after {(contrast.correction or 'no').capitalize()} correction")
    return ", ".join(parts)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _points(share: float) -> str:
    """Return a share as signed points, with a true minus sign.

    Example:
        >>> _points(-0.0312), _points(0.0)
        ('−3.1', '0.0')
    """
    text = f"{100 * share:+.1f}"
    return "0.0" if text in {"+0.0", "-0.0"} else text.replace("-", "−")


def _p(p: float) -> str:
    return f"< {_SMALLEST_PRINTED_P:g}" if p < _SMALLEST_PRINTED_P else f"= {p:.4f}"

"""What may be claimed of a contrast: the one rule behind every star, sentence, figure and table."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from eyechart.schema import Contrast
from eyechart.stats.corrections import Correction, adjust

Made = Literal["confirmatory", "exploratory", "interim"]
"""How a run was made: with a plan that was kept; finished otherwise; or not finished."""


class Family(NamedTuple):
    """One family, adjusted: its contrasts, and the p-values of what stands in it beside them."""

    contrasts: tuple[Contrast, ...]
    others: tuple[float, ...]


def adjust_family(
    contrasts: Iterable[Contrast], correction: Correction, family: str, *, others: Sequence[float] = ()
) -> Family:
    """Return the contrasts with both p-values adjusted over all of them that have one.

    ``p_adjusted`` corrects the largest p over all fillings of what is missing, ``p_if_like_others`` the p of the
    answers that came back; they are the same where nothing is missing.

    Args:
        contrasts: One family; those without a p stay as they are.
        correction: Name of the correction.
        family: Name of the family.
        others: p-values of claims that are not contrasts and belong to the same family.

    Example:
        >>> adjust_family((), "holm", "two tests", others=(0.01, 0.04)).others
        (0.02, 0.04)
    """
    every = tuple(contrasts)
    tested = [one for one in every if one.p is not None]
    observed = np.array([one.p for one in tested], dtype=np.float64)
    worst = np.array([one.p if one.p_worst is None else one.p_worst for one in tested], dtype=np.float64)
    beside = np.array(others, dtype=np.float64)
    both = [adjust(np.concatenate([p, beside]), correction).tolist() for p in (worst, observed)]
    rows = iter(zip(*both, strict=True))
    found = []
    for one in every:
        if one.p is None:
            found.append(one)
            continue
        p_adjusted, p_if_like_others = next(rows)
        found.append(
            msgspec.structs.replace(
                one,
                p_adjusted=p_adjusted,
                p_if_like_others=p_if_like_others,
                correction=correction,
                family=family,
            )
        )
    return Family(tuple(found), tuple(both[0][len(tested) :]))


def decide(contrast: Contrast, made: Made, *, secondary: bool = False) -> Contrast:
    """Return the contrast with what may be claimed of it; call it last, when all that blocks a contrast is known.

    Claimed is a difference of the headline family of a finished run whose adjusted p lies below 1 − confidence, whose
    interval excludes 0, and that nothing blocks. A difference that would be claimed only if the missing answers are
    like the others is ``conditional``.

    Args:
        contrast: The contrast, adjusted within its family.
        made: How the run was made.
        secondary: Whether it stands outside the headline family.

    Example:
        >>> contrast = Contrast(name="", condition="crop_3x", baseline="original", value=0.1, low=0.04, high=0.16,
        ...     n_questions=200, n_clusters=180, gained=24, lost=4, method="", p_adjusted=0.4, p_if_like_others=0.01)
        >>> decided = decide(contrast, "exploratory")
        >>> decided.claimed, decided.standing
        (False, 'conditional')
    """
    is_secondary = secondary or contrast.secondary
    may_claim = made != "interim" and not is_secondary and not contrast.blocked_by
    alpha = round(1.0 - contrast.confidence, 10)  # 1 - 0.95 is a little more than 0.05
    claimed, in_part = (
        may_claim and contrast.excludes_0 and p is not None and p < alpha
        for p in (contrast.p_adjusted, contrast.p_if_like_others)
    )
    return msgspec.structs.replace(
        contrast,
        claimed=claimed,
        secondary=is_secondary,
        standing="conditional" if in_part and not claimed else made,
    )


def decide_all(contrasts: Iterable[Contrast], made: Made, *, secondary: bool = False) -> tuple[Contrast, ...]:
    """Return every contrast with what may be claimed of it, see ``decide``."""
    return tuple(decide(one, made, secondary=secondary) for one in contrasts)


def take_record(contrast: Contrast, headline: Sequence[Contrast]) -> Contrast:
    """Return a contrast as the headline family has it, where it is the same one; else as secondary.

    The same pair on the same questions has one p and one verdict wherever it stands, also the other way round. On other
    questions, such as those scored in a third view too, it is another contrast, and has no p beside the first one's.

    Args:
        contrast: A contrast outside the family, under its own name.
        headline: The headline family.

    Example:
        >>> one = Contrast(name="", condition="a", baseline="b", value=0.1, low=0.04, high=0.16, n_questions=200,
        ...     n_clusters=180, gained=24, lost=4, method="", p=0.01, p_adjusted=0.02, claimed=True)
        >>> other = msgspec.structs.replace(one, name="total gain", p_adjusted=0.5, claimed=False)
        >>> take_record(other, [one]).p_adjusted
        0.02
    """
    pair = {contrast.condition, contrast.baseline}
    same = [one for one in headline if {one.condition, one.baseline} == pair and one.subset == contrast.subset]
    if not same:
        return msgspec.structs.replace(contrast, secondary=True, claimed=False)
    one = same[0]
    if (one.n_questions, one.n_missing) != (contrast.n_questions, contrast.n_missing):
        return msgspec.structs.replace(
            contrast,
            secondary=True,
            claimed=False,
            p=None,
            p_adjusted=None,
            p_if_like_others=None,
            p_worst=None,
            p_method=None,
            correction=None,
            family=None,
        )
    bounds = (one.low, one.high)
    if one.condition != contrast.condition:
        bounds = (None, None) if one.interval is None else (-one.interval[1], -one.interval[0])
    return msgspec.structs.replace(
        contrast,
        low=bounds[0],
        high=bounds[1],
        confidence=one.confidence,
        method=one.method,
        p=one.p,
        p_worst=one.p_worst,
        p_method=one.p_method,
        p_adjusted=one.p_adjusted,
        p_if_like_others=one.p_if_like_others,
        correction=one.correction,
        family=one.family,
        blocked_by=one.blocked_by,
        claimed=one.claimed,
        secondary=one.secondary,
        standing=one.standing,
        role=one.role,
        detectable=one.detectable,
    )

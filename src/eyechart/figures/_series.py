"""Which estimates of a summary belong on which figure: selection only, no drawing."""

from collections.abc import Iterable, Sequence

from eyechart.figures._numbers import format_count, format_label, format_level, format_n
from eyechart.runs.baselines import baselines, level_of
from eyechart.schema import ConditionSummary, Contrast, Estimate, Summary, Value

CONTEXT_FAMILIES = ("crop", "whiteground", "target_only")
_MOST_NAMES = 3


class Point(Value, frozen=True):
    """One condition on a curve: ``x`` is a linear scale, an area ratio or a length in pixels; None for none."""

    x: float | None
    condition: ConditionSummary
    estimate: Estimate


def accuracies(summary: Summary) -> dict[str, Estimate]:
    """Return the accuracy on all questions of every condition that has one, in the order of the summary."""
    found: dict[str, Estimate] = {}
    for estimate in summary.estimates:
        if estimate.name == "accuracy" and estimate.subset is None:
            found.setdefault(estimate.condition, estimate)
    return found


def main_baseline(summary: Summary) -> str | None:
    """Return the condition that the others are compared with: the one most contrasts share, the first on a tie."""
    baselines = [contrast.baseline for contrast in summary.contrasts if contrast.subset is None]
    return max(baselines, key=baselines.count, default=None)


def main_contrasts(summary: Summary) -> dict[str, Contrast]:
    """Return the contrast of every condition with its baseline, on all questions.

    That is the main baseline, and in a matched design of several levels the original of its own level.
    """
    main = main_baseline(summary)
    # A needle grid that stands as one row is named otherwise than its view, too.
    compared = [condition for condition in summary.conditions if condition.family != "grid"]
    view_of = {one.condition: one.view for one in compared}
    is_matched = not all(is_plain(condition) for condition in compared)
    own = baselines(tuple(view_of), view_of) if is_matched else {}
    return {
        contrast.condition: contrast
        for contrast in summary.contrasts
        if contrast.subset is None and contrast.baseline == own.get(contrast.condition, main)
    }


def name_baseline(summary: Summary) -> str | None:
    """Say what the main contrasts are differences from, None if there is none."""
    names = {contrast.baseline for contrast in main_contrasts(summary).values()}
    return "the original of the level" if len(names) > 1 else next(iter(names), None)


def name_difference(contrast: Contrast, summary: Summary) -> str:
    """Name a main contrast by its condition, and by its baseline too where that is not what ``name_baseline`` says."""
    is_of_level = contrast.condition.startswith(f"{contrast.baseline}_")
    if contrast.baseline == name_baseline(summary) or is_of_level:
        return contrast.condition
    return f"{contrast.condition} − {contrast.baseline}"


def resolution_points(summary: Summary) -> tuple[Point, ...]:
    """Return original (at 1) and the downsampled views by linear scale, empty without a downsampled one."""
    found = accuracies(summary)
    points = [
        Point(condition.linear_scale or 1.0, condition, found[condition.condition])
        for condition in summary.conditions
        if condition.family in {"original", "downsample"} and condition.condition in found and is_plain(condition)
    ]
    if all(point.condition.family == "original" for point in points):
        return ()
    return tuple(sorted(points, key=lambda point: point.x or 0.0))


class Level(Value, frozen=True):
    """The views that surround the target by more or less, at one level of a matched design or as they are.

    ``name`` is what the names of its conditions begin with, empty for plain views; ``original`` the accuracy on the
    untouched pictures at this level, None if it was not asked or not scored; ``families`` its points by area ratio,
    where the whole canvas, which has no ratio, comes last; ``unscored`` the conditions asked that have no score.
    """

    name: str
    original: Estimate | None
    families: dict[str, tuple[Point, ...]]
    unscored: tuple[str, ...]


def context_levels(summary: Summary) -> tuple[Level, ...]:
    """Return every level at which a crop, whiteground or target-only view has a score, in the order of the summary."""
    names = dict.fromkeys(level_of(one.condition, one.view) for one in summary.conditions)
    levels = (_level(name, summary) for name in names)
    return tuple(level for level in levels if level.families)


def _level(name: str, summary: Summary) -> Level:
    found = accuracies(summary)
    own = [one for one in summary.conditions if level_of(one.condition, one.view) == name]
    families = {}
    for family in CONTEXT_FAMILIES:
        points = [
            Point(condition.area_ratio, condition, found[condition.condition])
            for condition in own
            if condition.family == family and condition.condition in found
        ]
        if points:
            families[family] = tuple(sorted(points, key=lambda point: (point.x is None, point.x or 0.0)))
    originals = [one.condition for one in own if one.family == "original" and one.condition in found]
    asked = [one.condition for one in own if one.family in CONTEXT_FAMILIES]
    return Level(
        name=name,
        original=found[originals[0]] if originals else None,
        families=families,
        unscored=tuple(condition for condition in asked if condition not in found),
    )


def is_plain(condition: ConditionSummary) -> bool:
    """Tell whether a condition is a view as it is, and not a level of a matched design."""
    return condition.condition == condition.view


def unscored(summary: Summary, families: Iterable[str]) -> tuple[str, ...]:
    """Return the conditions of these families that were asked and have no scored answer."""
    found, wanted = accuracies(summary), set(families)
    return tuple(
        condition.condition
        for condition in summary.conditions
        if condition.family in wanted and condition.condition not in found
    )


def count_note(records: Iterable[Estimate | Contrast]) -> str:
    r"""Write n and the coverage once for a whole figure, as ranges where the records differ.

    Example:
        >>> count_note([Estimate(name="accuracy", condition="a", value=1, low=0, high=1, n_questions=40,
        ...     n_clusters=20, method="Wilson")])
        'n = 40 questions about 20 pictures, 95\xa0% intervals'
    """
    shown = list(records)
    questions = sorted({record.n_questions for record in shown})
    clusters = sorted({record.n_clusters for record in shown})
    levels = ", ".join(sorted({format_level(record.confidence) for record in shown}))
    if len(questions) == len(clusters) == 1:
        return f"{format_n(questions[0], clusters[0])}, {levels} intervals"
    pictures = "picture" if clusters == [1] else "pictures"
    return f"n = {_span(questions)} questions about {_span(clusters)} {pictures}, {levels} intervals"


def list_note(what: str, names: Sequence[str]) -> str:
    """Write a list of names for the note of a figure, cut after three; empty if there are none.

    Example:
        >>> list_note("not scored", ["crop_1x", "crop_3x", "crop_6x", "blank"]), list_note("blocked", [])
        ('not scored: crop_1x, crop_3x, crop_6x and 1 more', '')
    """
    if not names:
        return ""
    rest = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{what}: {', '.join(format_label(name) for name in names[:_MOST_NAMES])}{rest}"


def _span(counts: list[int]) -> str:
    """Write the smallest and the largest of sorted counts."""
    if counts[0] == counts[-1]:
        return format_count(counts[0])
    return f"{format_count(counts[0])}–{format_count(counts[-1])}"

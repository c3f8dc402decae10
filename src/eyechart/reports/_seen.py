"""The tables of half-accuracy target sizes and of views that the model can hardly tell apart, as words and digits."""

from eyechart.figures import (
    MISSING,
    format_contrast,
    format_count,
    format_estimate,
    format_level,
    format_p,
    format_px,
)
from eyechart.figures._numbers import format_points
from eyechart.reports._table import Row, Table, name_columns
from eyechart.schema import CloseViews, HalfAccuracySize, Summary

_MOST_NAMED = 5


def half_size_table(summary: Summary) -> Table:
    """Return the half-accuracy target size over all questions and per task, with its interval or why there is none."""
    found = summary.half_accuracy_sizes
    level = format_level(found[0].confidence) if found else ""
    columns = name_columns(
        "task", "n", "pictures", f"half-accuracy size, px [{level}]", "slope within a question", "sizes", words=1
    )
    rows = tuple(
        Row(
            one.task or "all",
            "",
            (
                one.task or "all",
                format_count(one.n_questions),
                format_count(one.n_clusters),
                _size_text(one),
                _slope_text(one),
                one.evidence or MISSING,
            ),
        )
        for one in found
    )
    caption = (
        "Half-accuracy target size: the shorter side of the target, in pixels the model saw, at which half of the "
        "chance-corrected plateau would be left if all targets had that size. Only changes within a question count, "
        "under views that show the same part of its picture at several sizes."
    )
    notes = (
        "Not reached: more than half is left even at the smallest targets, so the model reads smaller ones than asked.",
        "Not identified: the answers do not tell; the reason is given.",
        "Slope: points by which the score rises per octave of size within a question; without a clear one no number.",
        "Accuracy by bands of size is not a substitute: bands hold different questions.",
    )
    return Table(caption, columns, rows, notes)


def close_views_table(summary: Summary) -> Table:
    """Return the pairs of views at scales less than 1.25 apart, with the noise between those that are one picture."""
    columns = name_columns(
        "views", "scale ratio", "one picture", "difference by noise, points", "changed by noise, %", words=1
    )
    rows = tuple(
        Row(
            one.condition,
            "",
            (
                f"{one.baseline} and {one.condition}",
                f"{one.ratio:.2f}",
                f"{format_count(one.n_same)} of {format_count(one.n_both)}",
                *_noise_texts(one),
            ),
            contrast=one.noise,
        )
        for one in summary.close_views
    )
    notes = (
        "Scale ratio: how much more detail of the picture is left in one than in the other when the model sees them.",
        "One picture for every question: the two are repeats, and no effect of resolution.",
        "Noise: the difference and the changed answers that asking the same twice gives.",
        "Less than 1.25 apart, but not one picture: the two are not compared.",
    )
    return Table("Views that the model can hardly tell apart.", columns, rows, notes)


def matching_table(summary: Summary) -> Table:
    """Return what every condition of a matched design reaches; nothing for plain views."""
    matching = summary.run.matching
    columns = name_columns("condition", "n", "smallest", "median", "largest", "off by at most, %", words=1)
    if matching is None:
        return Table("", columns, (), ())
    rows = tuple(
        Row(
            one.condition,
            "",
            (
                one.condition,
                format_count(one.n_questions),
                f"{one.smallest:.2f}",
                f"{one.median:.2f}",
                f"{one.largest:.2f}",
                f"{100 * one.largest_error:.1f}",
            ),
        )
        for one in matching.conditions
    )
    unit = "tokens on the target" if matching.design.startswith("tokens") else "pixels of the target's shorter side"
    reasons = [f"{one.question_id}, {one.view}: {one.reason}" for one in matching.unmatched[:_MOST_NAMED]]
    left_out = f"{len(matching.unmatched)} questions could not be matched and were not asked"
    notes = (
        "As the model sees them, worked out before anything was asked.",
        *((f"{left_out}, such as {'; '.join(reasons)}.",) if reasons else ()),
    )
    return Table(f"Matched design {matching.design}: {unit} under every condition.", columns, rows, notes)


def _noise_texts(one: CloseViews) -> tuple[str, str]:
    if not one.is_one_picture:
        return (MISSING, MISSING)
    return (format_contrast(one.noise), MISSING if one.churn is None else format_estimate(one.churn))


def _size_text(one: HalfAccuracySize) -> str:
    if one.px is None:
        return f"{one.status}: {one.reason}"
    low = "below the smallest" if one.low is None else format_px(one.low)
    return f"{format_px(one.px)} [{low}, {format_px(one.high)}]"


def _slope_text(one: HalfAccuracySize) -> str:
    return MISSING if one.slope is None else f"{format_points(one.slope)} (p {format_p(one.slope_p)})"

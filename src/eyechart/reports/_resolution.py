"""The table of resolution thresholds, as words and digits."""

from eyechart.figures import MISSING, format_count, format_level, format_p
from eyechart.reports._table import Row, Table, name_columns
from eyechart.schema import Summary, Threshold


def thresholds_table(summary: Summary) -> Table:
    """Return the scales and sizes at which a share of the chance-corrected accuracy is left."""
    columns = name_columns("left of the accuracy", "in", "n", f"threshold [{_level(summary)}]", "smooth curve", words=2)
    rows = tuple(
        Row(
            one.unit,
            "",
            (
                f"{100 * one.fraction:g} %",
                one.unit,
                format_count(one.n_questions),
                _threshold_text(one),
                _smooth_text(one),
            ),
        )
        for one in summary.thresholds
    )
    return Table(
        "Where a share of the chance-corrected accuracy at full size is left: isotonic curve, cluster bootstrap.",
        columns,
        rows,
        _threshold_notes(summary),
    )


def _threshold_notes(summary: Summary) -> tuple[str, ...]:
    notes = ["The smooth curve is given only where it fits (misfit p of at least 0.05)."]
    if any(one.unit == "px of target seen" for one in summary.thresholds):
        notes.append("In px of target seen: the half-accuracy target size, from what changes within a question.")
    if any(one.is_flat for one in summary.thresholds):
        notes.append("Plateau: the curve is flat there, so that this threshold is not identified; read the others.")
    moved = summary.movement
    if moved is not None:
        notes.append(
            f"ACE {moved.ace:.3f} [{moved.ace_low:.3f}, {moved.ace_high:.3f}] (biased upward), by shuffled levels "
            f"{moved.ace_floor:.3f}, p = {format_p(moved.ace_p)}; roughness {moved.roughness:.3f}; RCE {moved.rce:.3f} "
            f"(shuffled {moved.rce_floor:.3f}); Spearman {moved.spearman:.2f} (shuffled {moved.spearman_floor:.2f}, "
            f"p = {format_p(moved.spearman_p)}); {moved.n_levels} levels, n = {format_count(moved.n_questions)}."
        )
    return tuple(notes)


def _threshold_text(one: Threshold) -> str:
    texts = [f"< {one.smallest:.3g}" if value is None else f"{value:.3g}" for value in (one.value, one.low, one.high)]
    return f"{texts[0]} [{texts[1]}, {texts[2]}]{' plateau' if one.is_flat else ''}"


def _smooth_text(one: Threshold) -> str:
    if one.misfit_p is None or one.fraction != 0.5:  # noqa: PLR2004 -- only the half level is fitted
        return MISSING
    return "does not fit" if one.smooth_value is None else f"{one.smooth_value:.3g} (misfit p {format_p(one.misfit_p)})"


def _level(summary: Summary) -> str:
    """Write the coverage of the intervals."""
    return ", ".join(sorted({format_level(one.confidence) for one in summary.thresholds}))

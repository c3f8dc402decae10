"""The table of views as words and digits, shared by every report and by the terminal."""

from collections.abc import Callable, Collection

from eyechart.figures import (
    MISSING,
    accuracies,
    format_contrast,
    format_count,
    format_estimate,
    format_level,
    format_n,
    format_p,
    format_percent,
    format_px,
    format_size,
    main_contrasts,
    name_baseline,
)
from eyechart.reports._codes import explain_codes
from eyechart.runs.grid_rows import collapse_grids
from eyechart.schema import ConditionSummary, Contrast, Estimate, Summary, Value

# The scorer's reason for an answer that says the model cannot tell; every other reason is an unreadable answer.
CANNOT_TELL = "cannot_tell"
SIGNIFICANT = "*"


class Column(Value, frozen=True):
    """One column: ``key`` for programs, ``heading`` for readers, ``is_number`` for alignment to the right."""

    key: str
    heading: str
    is_number: bool = True


def name_columns(*headings: str, words: int) -> tuple[Column, ...]:
    """Return columns, the first ``words`` of them text.

    Example:
        >>> name_columns("view", "n, all", words=1)[1]
        Column(key='n', heading='n, all', is_number=True)
    """
    return tuple(
        Column(heading.split(",")[0].replace(" ", "_"), heading, is_number=index >= words)
        for index, heading in enumerate(headings)
    )


class Row(Value, frozen=True):
    """One condition: ``cells`` stand in the order of the columns; the records behind them for drawing."""

    condition: str
    family: str
    cells: tuple[str, ...]
    estimate: Estimate | None = None
    contrast: Contrast | None = None
    is_significant: bool = False


class Table(Value, frozen=True):
    """The table of one run: what it shows in one sentence, its columns and rows, and what must be said below it."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """Return the table as aligned text with its caption above and its notes below."""
        lines = [tuple(column.heading for column in self.columns), *(row.cells for row in self.rows)]
        widths = [max(len(line[index]) for line in lines) for index in range(len(self.columns))]
        aligned = [
            "  ".join(
                cell.rjust(width) if column.is_number else cell.ljust(width)
                for column, cell, width in zip(self.columns, line, widths, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.caption, *aligned, *self.notes])


class _Facts(Value, frozen=True):
    """Everything known about one condition."""

    condition: ConditionSummary
    estimate: Estimate | None
    contrast: Contrast | None


Cell = Callable[[_Facts], str]


def render_table(summary: Summary) -> Table:
    """Return the table of a summary: one row per condition, in its order.

    A needle grid is one row: its Perf, and its difference from 1×1.

    Columns are view, pixels sent, n, accuracy with its interval, paired difference with its interval, "cannot tell" and
    missing. Target size as seen, the accuracy that counts missing as wrong, the n of the difference where it is
    another, p and unreadable answers are added only where at least one row has them. What is missing is written as
    words or a dash, never as 0.

    Args:
        summary: The summary of one run under one scorer.

    Returns:
        The table, as text that still has to be escaped for its medium.
    """
    summary = collapse_grids(summary)
    estimates, contrasts = accuracies(summary), main_contrasts(summary)
    facts = [
        _Facts(condition, estimates.get(condition.condition), contrasts.get(condition.condition))
        for condition in summary.conditions
    ]
    columns = _columns(summary, facts)
    rows = tuple(
        Row(
            condition=fact.condition.condition,
            family=fact.condition.family,
            cells=tuple(cell(fact) for _, cell in columns),
            estimate=fact.estimate,
            contrast=fact.contrast,
            is_significant=fact.contrast is not None and fact.contrast.claimed,
        )
        for fact in facts
    )
    return Table(_caption(summary), tuple(column for column, _ in columns), rows, _notes(summary, facts))


def render_further_contrasts(summary: Summary) -> Table:
    """Return the contrasts that the main table has no place for: other baselines, subsets, negative controls."""
    shown = main_contrasts(summary).values()
    further = [contrast for contrast in summary.contrasts if not any(contrast is main for main in shown)]
    level = format_level(further[0].confidence) if further else ""
    columns = (
        Column("contrast", "contrast", is_number=False),
        Column("n", "n"),
        Column("difference", f"difference, points [{level}]"),
        Column("p", "p"),
        Column("gained", "gained"),
        Column("lost", "lost"),
        Column("codes", "marks", is_number=False),
    )
    rows = tuple(
        Row(
            condition=contrast.condition,
            family="",
            cells=_further_cells(contrast),
            contrast=contrast,
            is_significant=contrast.claimed,
        )
        for contrast in further
    )
    codes = [code for contrast in further for code in (*contrast.warnings, *contrast.blocked_by)]
    caption = "Paired differences between other views, among subsets, and between identical pictures."
    return Table(caption, columns, rows, (*_p_notes(summary, further), *explain_codes(codes)))


def _further_cells(contrast: Contrast) -> tuple[str, ...]:
    """Return the cells of one further contrast."""
    subset = f" ({contrast.subset})" if contrast.subset else ""
    star = f" {SIGNIFICANT}" if contrast.claimed else ""
    return (
        f"{contrast.condition} − {contrast.baseline}{subset}",
        format_count(contrast.n_questions),
        f"{format_contrast(contrast)}{star}",
        _p_cell(contrast),
        format_count(contrast.gained),
        format_count(contrast.lost),
        ", ".join(contrast.warnings),
    )


def _columns(summary: Summary, facts: list[_Facts]) -> list[tuple[Column, Cell]]:
    """Return the columns that this summary fills, each with how to fill it."""
    compared = {fact.contrast.baseline for fact in facts if fact.contrast is not None}
    baseline = f" from {name_baseline(summary)}" if len(compared) == 1 else ""
    level = format_level(summary.estimates[0].confidence) if summary.estimates else "95 %"
    has_seen = any(fact.condition.target_px_seen is not None for fact in facts)
    has_p = any(fact.contrast is not None and fact.contrast.p is not None for fact in facts)
    chosen: list[tuple[bool, Column, Cell]] = [
        (True, Column("view", "view", is_number=False), lambda fact: fact.condition.condition),
        (True, Column("pixels_sent", "pixels sent"), lambda fact: format_size(fact.condition.median_sent_size)),
        (has_seen, Column("target_seen", "target seen, px"), lambda fact: format_px(fact.condition.target_px_seen)),
        (True, Column("n", "n"), _n_cell),
        (True, Column("accuracy", f"accuracy, % [{level}]"), lambda fact: format_estimate(fact.estimate)),
        (
            any(_accuracies_differ(fact) for fact in facts),
            Column("accuracy_sum", "missing as wrong, %"),
            _accuracy_sum_cell,
        ),
        (
            bool(compared),
            Column("difference", f"difference{baseline}, points [{level}]"),
            lambda fact: _difference_cell(fact, compared),
        ),
        (
            len(compared) > 1,
            Column("baseline", "from", is_number=False),
            lambda fact: MISSING if fact.contrast is None else fact.contrast.baseline,
        ),
        (
            any(_n_pairs_differ(fact) for fact in facts),
            Column("n_pairs", "n compared"),
            lambda fact: MISSING if fact.contrast is None else format_count(fact.contrast.n_questions),
        ),
        (has_p, Column("p", "p"), lambda fact: _p_cell(fact.contrast)),
        (True, Column("cannot_tell", "cannot tell"), lambda fact: _count_cell(fact, _n_cannot_tell(fact))),
        (
            any(_n_unreadable(fact) for fact in facts),
            Column("unreadable", "unreadable"),
            lambda fact: _count_cell(fact, _n_unreadable(fact)),
        ),
        (True, Column("missing", "missing"), lambda fact: format_count(fact.condition.n_missing)),
    ]
    return [(column, cell) for is_shown, column, cell in chosen if is_shown]


def _n_cell(fact: _Facts) -> str:
    """Write how many questions the accuracy stands on."""
    return MISSING if fact.estimate is None else format_count(fact.estimate.n_questions)


def _accuracies_differ(fact: _Facts) -> bool:
    """Tell whether counting missing answers as wrong gives another number as printed."""
    counted = fact.condition.accuracy_sum
    if counted is None or fact.estimate is None or fact.condition.n_missing == 0:
        return False
    return format_percent(counted) != format_percent(fact.estimate.value)


def _accuracy_sum_cell(fact: _Facts) -> str:
    """Write the accuracy over all questions asked, missing ones counted as wrong."""
    if fact.condition.accuracy_sum is None or fact.estimate is None:
        return MISSING
    return format_percent(fact.condition.accuracy_sum)


def _n_pairs_differ(fact: _Facts) -> bool:
    """Tell whether the difference stands on fewer questions than the accuracy beside it."""
    if fact.contrast is None or fact.estimate is None:
        return False
    return fact.contrast.n_questions != fact.estimate.n_questions


def _difference_cell(fact: _Facts, compared: Collection[str]) -> str:
    """Write the paired difference, starred where it holds after correction."""
    if fact.contrast is None and fact.condition.condition in compared:
        return "baseline"
    text = format_contrast(fact.contrast)
    return f"{text} {SIGNIFICANT}" if fact.contrast is not None and fact.contrast.claimed else text


def _p_cell(contrast: Contrast | None) -> str:
    """Write the adjusted p, or the plain one of a contrast that belongs to no family."""
    if contrast is None or contrast.p is None or contrast.blocked_by:
        return MISSING
    if contrast.p_adjusted is None:
        return f"{format_p(contrast.p)} (not adjusted)"
    return format_p(contrast.p_adjusted)


def _count_cell(fact: _Facts, count: int) -> str:
    """Write a count among scored answers; a dash where none was scored."""
    return MISSING if fact.condition.n_scored == 0 else format_count(count)


def _n_cannot_tell(fact: _Facts) -> int:
    """Return how many answers say that the model cannot tell."""
    return fact.condition.reasons.get(CANNOT_TELL, 0)


def _n_unreadable(fact: _Facts) -> int:
    """Return how many answers scored 0 because no option could be read from them."""
    return sum(count for reason, count in fact.condition.reasons.items() if reason != CANNOT_TELL)


def _caption(summary: Summary) -> str:
    """Say in one sentence what the table shows."""
    chance = "" if summary.chance is None else f" Chance is {format_percent(summary.chance)} %."
    n_views = len(summary.conditions)
    views = "1 view" if n_views == 1 else f"{n_views} views"
    return (
        f"Accuracy of {summary.run.model.spec} on {summary.run.benchmark.name} under {views}, "
        f"{format_n(summary.n_questions, summary.n_clusters)}, scored by {summary.scorer}.{chance}"
    )


def _notes(summary: Summary, facts: list[_Facts]) -> tuple[str, ...]:
    """Say how the numbers were made and what the words in the cells mean."""
    contrasts = [fact.contrast for fact in facts if fact.contrast is not None]
    faults = summary.run.allowed_faults
    notes = [f"Asked with --allow-faults of a collection that has errors: {'; '.join(faults)}."] if faults else []
    notes.append("Pixels sent and target seen are medians over questions; the target is measured by its shorter side.")
    if summary.estimates:
        methods = ", ".join(dict.fromkeys(estimate.method for estimate in summary.estimates))
        notes.append(f"Accuracy is over the answers that have a score; interval: {methods}.")
    if contrasts:
        methods = ", ".join(dict.fromkeys(contrast.method for contrast in contrasts))
        notes.append(
            "Differences are in percentage points, paired over the questions scored under both views; questions about "
            f"one picture are one cluster; interval: {methods}."
        )
    notes += _p_notes(summary, contrasts)
    if any(_accuracies_differ(fact) for fact in facts):
        notes.append("Missing as wrong: over all questions asked, a missing answer counted as 0.")
    if any(_n_cannot_tell(fact) for fact in facts):
        notes.append("Cannot tell: the model said that it cannot tell; scored 0.")
    if any(_n_unreadable(fact) for fact in facts):
        notes.append("Unreadable: no option could be read from the answer; scored 0.")
    if any(fact.condition.n_missing for fact in facts):
        notes.append("Missing: no answer came back; in no denominator and never counted as wrong in an interval.")
    codes = [code for estimate in summary.estimates for code in estimate.warnings]
    codes += [code for contrast in contrasts for code in (*contrast.warnings, *contrast.blocked_by)]
    return (*notes, *explain_codes(codes))


def _p_notes(summary: Summary, contrasts: list[Contrast]) -> list[str]:
    """Say where p comes from and what the star means, if there is a p."""
    tested = [contrast for contrast in contrasts if contrast.p_adjusted is not None]
    if not tested:
        return []
    methods = ", ".join(dict.fromkeys(contrast.p_method for contrast in tested if contrast.p_method))
    correction = ", ".join(dict.fromkeys(contrast.correction.title() for contrast in tested if contrast.correction))
    families = ", ".join(dict.fromkeys(contrast.family for contrast in tested if contrast.family))
    level = 1 - tested[0].confidence
    is_look = summary.registration is not None and summary.registration.look is not None
    adjusted, may = (
        ("adjusted for looks alone", "looked at as its plan allows") if is_look else ("not adjusted", "finished")
    )
    note = (
        f"p: {methods}, adjusted by {correction} over {families}, the largest over all ways to fill in missing "
        f"answers; {SIGNIFICANT} where a difference is claimed: p is below {level:.2g}, the interval, which is "
        f"{adjusted}, excludes 0, and the run is {may}."
    )
    return [note, *_bound_notes(contrasts)]


def _bound_notes(contrasts: list[Contrast]) -> list[str]:
    """Return the worst-case bounds of the contrasts that lack answers, and the p if those are like the others."""
    lacking = [
        f"{one.condition} {_signed(one.bound_low)} to {_signed(one.bound_high)}"
        + ("" if one.p_if_like_others is None else f" (p {format_p(one.p_if_like_others)} if they are like the others)")
        for one in contrasts
        if one.bound_low is not None and one.bound_high is not None and one.bound_low < one.bound_high
    ]
    return [f"Whatever the missing answers are, in points: {'; '.join(lacking)}."] if lacking else []


def _signed(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")

"""The outcome of a run on the terminal: the table, the findings, the failures, and what to do next."""

from typing import TYPE_CHECKING

from eyechart.cli._output import print_table, say

if TYPE_CHECKING:
    from eyechart.reports import Table
    from eyechart.schema import HalfAccuracySize, Summary


_MOST_OPEN_SENTENCES = 4
_SAID_BY_TABLE = frozenset({"AA_NOISE"})


def show_summary(summary: "Summary") -> None:
    """Print the table of views on stdout; findings, failures and warnings on stderr."""
    from eyechart.reports import format_expense
    from eyechart.runs.grid_rows import collapse_grids

    _show_tables(summary)
    summary = collapse_grids(summary)
    for sentence in _sentences(summary):
        say(f"• {sentence}")
    for size in summary.half_accuracy_sizes:
        if size.bands or size.task is None:
            say(f"• {_half_size(size)}")
    for failure in summary.failures:
        where = ", ".join(f"{condition} {n}" for condition, n in failure.conditions.items())
        say(f"{failure.n} × {failure.state}: {failure.cause} ({where})")
    if summary.expense is not None:
        say(format_expense(summary.expense))
    for warning in summary.warnings:
        say(f"warning: {warning}")
    say_departures(summary)
    for rule in summary.rules:
        if rule.level == "info" and rule.code not in _SAID_BY_TABLE:
            say(f"note: {rule.code}: {rule.message}")
    n_unscored = sum(condition.n_answered - condition.n_scored for condition in summary.conditions)
    if n_unscored:
        is_free = summary.scorer.startswith("vqa_soft.")
        why = "the questions name no accepted answer" if is_free else f"no right option is known to {summary.scorer}"
        way = "give one or a list under answer" if is_free else "free answers are scored by --scorer vqa_soft"
        say(f"warning: {n_unscored} answers have no score, as {why}; {way}")


def _show_tables(summary: "Summary") -> None:
    """Print the tables of views, grids and averages; what rotations give is said beside them."""
    from eyechart.figures import format_estimate
    from eyechart.reports import average_table, grid_tables, render_table
    from eyechart.runs.rotations import ROTATION_NAMES

    averages = average_table(summary)
    tables = [render_table(summary), *(table for _, _, table in grid_tables(summary))]
    for table in (*tables, averages) if averages.rows else tables:
        show_table(table)
    for one in summary.proportions:
        if one.name in ROTATION_NAMES:
            say(f"{one.condition}: {one.name} {format_estimate(one)} %, n = {one.n_questions} questions")


def say_departures(summary: "Summary") -> None:
    """Say on stderr in what a run departs from its plan, and whether the plan was changed."""
    for note in summary.registration.notes if summary.registration else ():
        say(f"warning: plan: {note}")


def _half_size(size: "HalfAccuracySize") -> str:
    """Say the half-accuracy target size over all questions or in one task."""
    from eyechart.figures import format_half_size

    of = "" if size.task is None else f" for {size.task}"
    evidence = f" (sizes {size.evidence})" if size.evidence else ""
    name = "Half-accuracy target size"
    return f"{format_half_size(size)[:-1].replace(name, f'{name}{of}', 1)}{evidence}."


def show_table(table: "Table") -> None:
    """Print a table on stdout, its notes on stderr."""
    columns = [f">{column.heading}" if column.is_number else column.heading for column in table.columns]
    print_table(columns, [list(row.cells) for row in table.rows], title=table.caption)
    for note in table.notes:
        say(note)


def _sentences(summary: "Summary") -> list[str]:
    """Return the findings; many that cannot be told apart become one sentence, but for smaller pictures that won."""
    from eyechart.runs.findings import CANNOT_TELL, is_crossover

    shown = {condition.condition: condition for condition in summary.conditions}
    won = {(one.condition, one.baseline) for one in summary.contrasts if is_crossover(one, shown)}
    open_ones = [
        finding
        for finding in summary.findings
        if finding.code == CANNOT_TELL and finding.contrast and finding.contrast not in won
    ]
    if len(open_ones) <= _MOST_OPEN_SENTENCES:
        return [finding.text for finding in summary.findings]
    claims = [finding.text for finding in summary.findings if finding not in open_ones]
    pairs = [finding.contrast for finding in open_ones if finding.contrast]
    names = ", ".join(condition for condition, _ in pairs)
    baselines = ", ".join(sorted({baseline for _, baseline in pairs}))
    return [*claims, f"{len(pairs)} views cannot be told apart from {baselines}: {names} (intervals in the table)."]

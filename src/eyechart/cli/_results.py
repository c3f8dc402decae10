"""The outcome of a run on the terminal: the table, the findings, the failures, and what to do next."""

from typing import TYPE_CHECKING

from eyechart.cli._output import print_table, say

if TYPE_CHECKING:
    from eyechart.reports import Table
    from eyechart.schema import Summary


_MOST_OPEN_SENTENCES = 4
_SAID_BY_TABLE = frozenset({"AA_NOISE"})


def show_summary(summary: "Summary") -> None:
    """Print the table of views on stdout; findings, failures and warnings on stderr."""
    from eyechart.reports import format_expense, grid_tables, render_table
    from eyechart.runs.region_findings import collapse_grids

    show_table(render_table(summary))
    for _, _, table in grid_tables(summary):
        show_table(table)
    summary = collapse_grids(summary)
    for sentence in _sentences(summary):
        say(f"• {sentence}")
    for failure in summary.failures:
        where = ", ".join(f"{condition} {n}" for condition, n in failure.conditions.items())
        say(f"{failure.n} × {failure.state}: {failure.cause} ({where})")
    if summary.expense is not None:
        say(format_expense(summary.expense))
    for warning in summary.warnings:
        say(f"warning: {warning}")
    for rule in summary.rules:
        if rule.level == "info" and rule.code not in _SAID_BY_TABLE:
            say(f"note: {rule.code}: {rule.message}")
    n_unscored = sum(condition.n_answered - condition.n_scored for condition in summary.conditions)
    if n_unscored:
        say(
            f"warning: {n_unscored} answers have no score, as no right option is known to {summary.scorer}; "
            f"free answers are scored by --scorer vqa_soft"
        )


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

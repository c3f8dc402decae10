"""The outcome of a run on the terminal: the table, the findings, the failures, and what to do next."""

from typing import TYPE_CHECKING

from eyechart.cli._output import print_table, say

if TYPE_CHECKING:
    from eyechart.schema import Summary


def show_summary(summary: "Summary") -> None:
    """Print the table of views on stdout; findings, failures and warnings on stderr."""
    from eyechart.reports import render_table

    table = render_table(summary)
    columns = [f">{column.heading}" if column.is_number else column.heading for column in table.columns]
    print_table(columns, [list(row.cells) for row in table.rows], title=table.caption)
    for note in table.notes:
        say(note)
    for finding in summary.findings:
        say(f"• {finding.text}")
    for failure in summary.failures:
        where = ", ".join(f"{condition} {n}" for condition, n in failure.conditions.items())
        say(f"{failure.n} × {failure.state}: {failure.cause} ({where})")
    for warning in summary.warnings:
        say(f"warning: {warning}")

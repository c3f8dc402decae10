"""The sections of a report that only some benchmarks fill: needle grids, and averages over many datasets."""

from eyechart.figures import format_count, format_estimate, format_level
from eyechart.reports._effects import Section
from eyechart.reports._regions import grid_tables
from eyechart.reports._table import Column, Row, Table
from eyechart.schema import Summary


def benchmark_sections(summary: Summary) -> tuple[Section, ...]:
    """Return the sections about needle grids and averages, none where a run has neither."""
    averages = average_table(summary)
    grids = tuple(Section(slug, heading, table) for slug, heading, table in grid_tables(summary))
    return (*grids, *([Section("averages", "Overall, by averaging rule", averages)] if averages.rows else []))


def average_table(summary: Summary) -> Table:
    """Return one row per averaging rule; the rules give different numbers, so none is shown without its name."""
    columns = (
        Column("rule", "rule", is_number=False),
        Column("text", "what counts how much", is_number=False),
        Column("n", "n"),
        Column("pictures", "pictures"),
        Column("value", f"% [{format_level(0.95)}]"),
    )
    rows = tuple(
        Row(
            one.condition,
            "",
            (
                one.condition,
                one.name.removeprefix("average, "),
                format_count(one.n_questions),
                format_count(one.n_clusters),
                format_estimate(one),
            ),
        )
        for one in summary.averages
    )
    methods = dict.fromkeys(f"Interval: {one.method}." for one in summary.averages)
    notes = (*methods, "size_weighted is the rule of HRScene's published leaderboard.") if rows else ()
    return Table("The same answers averaged in four ways.", columns, rows, notes)

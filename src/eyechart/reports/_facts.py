"""Tables of facts about a benchmark, for a terminal, Markdown or LaTeX."""

from collections.abc import Sequence
from typing import Literal

from eyechart.kinds import FactTable
from eyechart.reports._table import Column, Row, Table
from eyechart.reports.latex import render_latex
from eyechart.reports.markdown import render_markdown

FactForm = Literal["markdown", "latex"]


def render_facts(tables: Sequence[FactTable], form: FactForm) -> str:
    r"""Return tables one below the other, ready to be put into a document.

    Example:
        >>> from eyechart.kinds import FactColumn
        >>> one = FactTable("sets", "Two sets", (FactColumn("set"), FactColumn("n", True)), (("a_b", "3"),))
        >>> print(render_facts([one], "markdown"))
        Two sets
        <BLANKLINE>
        | set | n |
        | :--- | ---: |
        | a\_b | 3 |
        <BLANKLINE>
    """
    if form == "markdown":
        return "\n".join(render_markdown(_table(one)) for one in tables)
    return "\n".join(render_latex(_table(one), f"tab:{one.name}") for one in tables)


def _table(facts: FactTable) -> Table:
    return Table(
        caption=facts.title,
        columns=tuple(Column(column.heading, column.heading, column.is_number) for column in facts.columns),
        rows=tuple(Row(condition=cells[0], family="", cells=cells) for cells in facts.rows),
        notes=facts.notes,
    )

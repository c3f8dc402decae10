"""Where the rows of a release differ from the declared columns: keys, their order, and types."""

from collections.abc import Iterator, Mapping

from eyechart.releases.contents import Contents, Row
from eyechart.releases.findings import Finding, Level, found
from eyechart.releases.row_schema import FEATURES_FILE, FIELDS, SCHEMA_VERSION, Field, misfit, read_features
from eyechart.schema import Value

# Their absence has a finding of its own.
_NEEDED = frozenset({"file_name", "question", "view_id", "width", "height"})
_N_VIEWS_SHOWN = 3


class RowDeviation(Value, frozen=True):
    """One way in which rows differ from the declared columns.

    Args:
        field: The column, None where it is the order of the keys.
        what: What the rows have instead.
        views: The configs concerned, in order.
        n_rows: Their rows that differ.
        path: File of the first of these rows.
        line: Its line, counted from 1.
        id: Its question.
    """

    field: str | None
    what: str
    views: tuple[str, ...]
    n_rows: int
    path: str
    line: int
    id: str

    def __str__(self) -> str:
        """One sentence for a reader."""
        shown = ", ".join(self.views[:_N_VIEWS_SHOWN]) + (", …" if len(self.views) > _N_VIEWS_SHOWN else "")
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows} rows"
        return f"{self.field or 'keys'}: {self.what} in {rows} of {shown}"


def check_types(contents: Contents) -> Iterator[Finding]:
    """Yield where rows differ from the declared columns.

    A release that declares its columns breaks its promise by any difference: an error in each view. In one of an
    earlier build, or made elsewhere, all rows of a kind are one warning.
    """
    if not is_typed(contents):
        for one in row_deviations(contents):
            yield _finding(one, None, "warning")
        return
    version = _version(contents)
    if version > SCHEMA_VERSION:
        message = f"row_schema {version} is newer than {SCHEMA_VERSION}, the last that this eyechart knows"
        yield found("features_differ", "metadata/validation_summary.json", message, level="warning")
        return
    declared = read_features(contents.features)
    if declared is None or declared[: len(FIELDS)] != FIELDS:
        yield found("features_differ", FEATURES_FILE)
        return
    for view_id in contents.views:
        for one in _deviations_of(contents.rows[view_id], view_id, declared):
            yield _finding(one, view_id, "error")


def row_deviations(contents: Contents) -> tuple[RowDeviation, ...]:
    """Return how the rows of all configs differ from the columns of a built release, one entry per kind."""
    declared = read_features(contents.features) or FIELDS
    merged: dict[tuple[str | None, str], RowDeviation] = {}
    for view_id in contents.views:
        for one in _deviations_of(contents.rows[view_id], view_id, declared, is_open=True):
            first = merged.get((one.field, one.what))
            merged[one.field, one.what] = one if first is None else _joined(first, one)
    return tuple(merged.values())


def is_typed(contents: Contents) -> bool:
    """Return whether a release says of itself that it has the declared columns."""
    return _version(contents) > 0


def _version(contents: Contents) -> int:
    """Return the version of the columns that a release says it has, 0 where it says none."""
    said = contents.summary.get("row_schema") if isinstance(contents.summary, Mapping) else None
    return said if isinstance(said, int) else 0


def _deviations_of(
    rows: tuple[Row, ...], view_id: str, declared: tuple[Field, ...], *, is_open: bool = False
) -> tuple[RowDeviation, ...]:
    """Return the deviations of one view; with ``is_open`` keys beyond the declared ones are not a deviation."""
    order = {field.name: at for at, field in enumerate(declared)}
    counts: dict[tuple[str | None, str], list[Row]] = {}
    for row in rows:
        for field in declared:
            what = misfit(field, row.values[field.name]) if field.name in row.values else "absent"
            if what and not (field.name in _NEEDED and row.values.get(field.name) is None):
                counts.setdefault((field.name, what), []).append(row)
        if not is_open:
            for name in row.values:
                if name not in order:
                    counts.setdefault((name, "not declared"), []).append(row)
        known = [order[name] for name in row.values if name in order]
        if known != sorted(known):
            counts.setdefault((None, "in another order"), []).append(row)
    return tuple(
        RowDeviation(field, what, (view_id,), len(found_in), found_in[0].path, found_in[0].line, found_in[0].id)
        for (field, what), found_in in counts.items()
    )


def _joined(one: RowDeviation, other: RowDeviation) -> RowDeviation:
    views, n_rows = (*one.views, *other.views), one.n_rows + other.n_rows
    return RowDeviation(one.field, one.what, views, n_rows, one.path, one.line, one.id)


def _finding(one: RowDeviation, view_id: str | None, level: Level) -> Finding:
    is_keys = one.field is None or one.what in {"absent", "not declared"}
    question_id = one.id if view_id is not None else None
    code = "keys_differ" if is_keys else "type_differs"
    return found(code, one.path, str(one), id=question_id, view=view_id, line=one.line, level=level)

"""Checks of a release's rows: ids, answers, boxes, sizes, and whether all views ask the same question."""

from collections import Counter
from collections.abc import Iterator, Mapping
from string import ascii_uppercase
from typing import NamedTuple

from eyechart.benchmarks._foreign_views import family_of, is_another_family
from eyechart.benchmarks._options import MAX_CHOICES, MIN_CHOICES, equal_up_to_case
from eyechart.benchmarks._release import as_boxes, as_choices, as_size, id_of, is_sha256
from eyechart.geometry import intersect, whole
from eyechart.releases.contents import Contents, Row
from eyechart.releases.findings import Finding, found
from eyechart.releases.row_schema import Field, misfit, read_features, typed_row
from eyechart.releases.view_geometry import check_geometry
from eyechart.schema import Box, Size

_NEEDED = ("file_name", "question", "view_id", "width", "height")
_ANSWER_FIELDS = frozenset({"choices", "answer", "answer_text"})
_BOX_FIELDS = frozenset({"bbox_original", "bbox_clipped"})
_SHARED_FIELDS = (
    *("question", "question_raw", "choices", "answer", "answer_text", "task_type", "image_group_id"),
    *("source_dataset", "bbox_original", "bbox_clipped"),
)
_PER_VIEW_FIELDS = frozenset(
    {
        *("file_name", "id", "base_sample_id", "bbox_view", "view_id", "view_family", "width", "height"),
        *("crop_box_original", "crop_area_multiplier", "crop_area_effective", "downsample_linear_scale"),
    }
)
_CLIP_TOLERANCE_PX = 1e-3


def check_rows(contents: Contents) -> Iterator[Finding]:
    """Yield every fault that metadata alone can show."""
    sizes = original_sizes(contents)
    rows_of: dict[str, dict[str, Row]] = {}
    for view_id in contents.views:
        rows_of[view_id] = {}
        for row in contents.rows[view_id]:
            if row.id in rows_of[view_id]:
                yield _at(row, view_id, "duplicate_id", f"also in line {rows_of[view_id][row.id].line}")
            else:
                rows_of[view_id][row.id] = row
        yield from _check_ids(contents, view_id, rows_of[view_id])
        yield from _check_files(view_id, rows_of[view_id])
        yield from _check_families(view_id, rows_of[view_id])
    faulty = set()
    for question_id, values in contents.canonical.items():
        place = "dataset.json" if contents.has_dataset else "data/original/test/metadata.jsonl"
        for finding in question_faults(
            values, sizes.get(question_id), place, is_declared=contents.is_declared(question_id)
        ):
            if finding.level == "error":
                faulty.add(question_id)
            yield finding
    columns = tuple(
        field
        for field in read_features(contents.features) or ()
        if field.name not in _PER_VIEW_FIELDS and field.name not in _SHARED_FIELDS
    )
    for question_id in contents.canonical:
        rows = {view_id: rows[question_id] for view_id, rows in rows_of.items() if question_id in rows}
        others = _other_columns(columns, contents.canonical[question_id], rows)
        if contents.has_dataset and others.in_dataset:
            message = f"{', '.join(sorted(others.in_dataset))} differ from all views"
            yield found("field_differs", "dataset.json", message, id=question_id)
        yield from _check_views(
            contents, rows, question_id, sizes.get(question_id), others.in_views, is_faulty=question_id in faulty
        )
    yield from _check_duplicates(contents)


def question_faults(
    values: Mapping[str, object], size: Size | None, path: str, *, is_declared: bool
) -> Iterator[Finding]:
    """Yield the faults of one question's own fields: choices, answer and boxes."""
    question_id = id_of(values, path)
    for code, message in (*_answer_faults(values), *_box_faults(values, size)):
        yield found(code, path, message, id=question_id, is_declared=is_declared and code == "duplicate_choices")


def original_sizes(contents: Contents) -> dict[str, Size]:
    """Return the size of each question's original that most of dataset.json, manifest and original row agree on.

    A question whose size nothing tells is left out.
    """
    originals = {row.id: row for row in reversed(contents.rows.get("original", ()))}
    manifest = contents.manifest or {}
    sizes = {}
    for question_id, values in contents.canonical.items():
        row = originals.get(question_id)
        votes = [as_size(values), as_size(row.values) if row else None]
        if row is not None and row.image in manifest:
            votes.append(manifest[row.image].size)
        counted = Counter(size for size in votes if size is not None)
        if counted:
            sizes[question_id] = counted.most_common(1)[0][0]
    return sizes


def _check_ids(contents: Contents, view_id: str, rows: Mapping[str, Row]) -> Iterator[Finding]:
    name = f"data/{view_id}/test/metadata.jsonl"
    # A line that cannot be read is a fault already; the question it held is not a second one.
    n_lost = len(contents.canonical) - len(rows)
    is_readable = len(contents.rows[view_id]) > 0 and not _has_unreadable_lines(contents, view_id)
    for question_id in contents.canonical:
        if question_id not in rows and is_readable and n_lost > 0:
            yield found("missing_id", name, question_id, id=question_id, view=view_id)
    for question_id, row in rows.items():
        if question_id not in contents.canonical:
            yield _at(row, view_id, "unknown_id", question_id)
        given = row.values.get("id")
        if isinstance(given, str) and not given.startswith(question_id):
            yield _at(row, view_id, "id_differs", f"id {given!r}, base_sample_id {question_id!r}")


def _has_unreadable_lines(contents: Contents, view_id: str) -> bool:
    path = contents.root / "data" / view_id / "test" / "metadata.jsonl"
    with path.open("rb") as lines:
        return sum(bool(line.strip()) for line in lines) > len(contents.rows[view_id])


def _check_files(view_id: str, rows: Mapping[str, Row]) -> Iterator[Finding]:
    first: dict[str, Row] = {}
    for row in rows.values():
        file_name = row.values.get("file_name")
        if row.image is None:
            if isinstance(file_name, str):
                yield _at(row, view_id, "unsafe_path", file_name)
        elif row.image in first:
            yield _at(row, view_id, "duplicate_file", f"{file_name} is also that of {first[row.image].id}")
        else:
            first[row.image] = row


def _check_families(view_id: str, rows: Mapping[str, Row]) -> Iterator[Finding]:
    """Yield rows whose family is not that of most rows of the view, or is another family of ours than its id tells."""
    told = {
        question_id: family
        for question_id, row in rows.items()
        if isinstance(family := row.values.get("view_family"), str) and row.values.get("view_id") == view_id
    }
    if not told:
        return
    counted, own = Counter(told.values()), family_of(view_id)
    foreign = {family for family in counted if own is not None and is_another_family(family, own)}
    usual = next((family for family, _ in counted.most_common() if family not in foreign), None)
    for question_id, family in told.items():
        if family in foreign:
            yield _at(rows[question_id], view_id, "wrong_view_family", f"{family!r} for {view_id}")
        elif family != usual:
            yield _at(rows[question_id], view_id, "wrong_view_family", f"{family!r}, but {usual!r} in other rows")


def _check_views(
    contents: Contents,
    rows: Mapping[str, Row],
    question_id: str,
    size: Size | None,
    others: Mapping[str, set[str]],
    *,
    is_faulty: bool,
) -> Iterator[Finding]:
    canonical = contents.canonical[question_id]
    odd_fields = _fields_only_dataset_has_otherwise(canonical, rows) if contents.has_dataset else frozenset()
    if odd_fields and not is_faulty:
        fields = ", ".join(sorted(odd_fields))
        yield found("field_differs", "dataset.json", f"{fields} differ from all views", id=question_id)
    original = rows.get("original")
    path = canonical.get("image")
    if contents.has_dataset and original is not None and isinstance(path, str) and path != original.image:
        yield found("wrong_image_path", "dataset.json", f"{path}, not {original.image}", id=question_id)
    for view_id, row in rows.items():
        missing = [field for field in _NEEDED if row.values.get(field) in (None, "")]
        if missing:
            yield _at(row, view_id, "missing_field", ", ".join(missing))
            continue
        if row.values["view_id"] != view_id:
            yield _at(row, view_id, "wrong_view_id", f"{row.values['view_id']!r} in the folder {view_id}")
        differing = {field for field in _SHARED_FIELDS if _differs(canonical, row.values, field)} - odd_fields
        differing |= others[view_id]
        yield from _row_faults(row, view_id, differing, size)
        box_is_sound = not (differing & _BOX_FIELDS) and not is_faulty
        if size is not None and box_is_sound:
            for code, message in check_geometry(view_id, row.values, size):
                yield _at(row, view_id, code, message)


class _OtherColumns(NamedTuple):
    """Further columns of a question in which ``dataset.json`` differs from all views, and each view from it."""

    in_dataset: frozenset[str]
    in_views: dict[str, set[str]]


def _other_columns(
    columns: tuple[Field, ...], canonical: Mapping[str, object], rows: Mapping[str, Row]
) -> _OtherColumns:
    """Compare the columns that a release declares for its questions: accepted answers, targets, fields of its sources.

    There every row has every key, so that an absent value is one too. A value of another type is a fault of its own.
    """
    in_views: dict[str, set[str]] = {view_id: set() for view_id in rows}
    in_dataset = set()
    for field in columns:
        try:
            expected = typed_row((field,), canonical)[field.name]
        except (TypeError, ValueError, OverflowError):
            continue
        given = {
            view_id: row.values[field.name]
            for view_id, row in rows.items()
            if field.name in row.values and misfit(field, row.values[field.name]) is None
        }
        values = list(given.values())
        if len(values) > 1 and values[0] != expected and all(value == values[0] for value in values):
            in_dataset.add(field.name)
            continue
        for view_id, value in given.items():
            if value != expected:
                in_views[view_id].add(field.name)
    return _OtherColumns(frozenset(in_dataset), in_views)


def _row_faults(row: Row, view_id: str, differing: set[str], size: Size | None) -> Iterator[Finding]:
    """Yield what is wrong in a row whose question differs from the others': its own faults, else the difference."""
    own: list[tuple[str, str]] = []
    if differing & _ANSWER_FIELDS:
        own += [fault for fault in _answer_faults(row.values) if fault[0] != "duplicate_choices"]
    if differing & _BOX_FIELDS:
        own += [fault for fault in _box_faults(row.values, size) if fault[0] != "box_crosses_border"]
    for code, message in own:
        yield _at(row, view_id, code, message)
    rest = differing - {"image_group_id"} if _is_wrong_group(row.values, differing) else differing
    if rest and not own:
        yield _at(row, view_id, "field_differs", ", ".join(sorted(rest)))


def _is_wrong_group(values: Mapping[str, object], differing: set[str]) -> bool:
    """Return whether the image checks will say that the group is not a hash of the original."""
    group = values.get("image_group_id")
    is_original = values.get("view_id") == "original"
    return "image_group_id" in differing and is_original and isinstance(group, str) and is_sha256(group)


def _fields_only_dataset_has_otherwise(canonical: Mapping[str, object], rows: Mapping[str, Row]) -> frozenset[str]:
    """Return the shared fields in which all views agree with each other and not with ``dataset.json``."""
    odd = set()
    for field in _SHARED_FIELDS:
        values = [_comparable(row.values, field) for row in rows.values()]
        agree = bool(values) and all(entry == values[0] for entry in values)
        if agree and len(values) > 1 and values[0] is not None and _differs(canonical, {field: values[0]}, field):
            odd.add(field)
    return frozenset(odd)


def _differs(canonical: Mapping[str, object], values: Mapping[str, object], field: str) -> bool:
    expected, given = _comparable(canonical, field), _comparable(values, field)
    return expected is not None and given is not None and expected != given


def _comparable(values: Mapping[str, object], field: str) -> object:
    """Return a field as it is compared: choices that stand as JSON text are those of the list."""
    value = values.get(field)
    return (list(as_choices(value)) or value) if field == "choices" else value


def _answer_faults(values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    given, answer, text = values.get("choices"), values.get("answer"), values.get("answer_text")
    if given is None and not isinstance(answer, str):
        return
    choices = as_choices(given)
    if not MIN_CHOICES <= len(choices) <= MAX_CHOICES or not all(choice.strip() for choice in choices):
        yield "bad_choices", f"{given!r}"
        return
    letters = ascii_uppercase[: len(choices)]
    if answer is not None and (not isinstance(answer, str) or len(answer) != 1 or answer not in letters):
        yield "answer_beyond_choices", f"{answer!r} of {len(choices)} choices"
    elif isinstance(answer, str) and text is not None and choices[letters.index(answer)] != text:
        yield "answer_mismatch", f"{answer} is {choices[letters.index(answer)]!r}, answer_text is {text!r}"
    twins = equal_up_to_case(choices)
    if twins:
        yield "duplicate_choices", ", ".join(twins)


def _box_faults(values: Mapping[str, object], size: Size | None) -> Iterator[tuple[str, str]]:
    """Yield faults of ``bbox_original`` and ``bbox_clipped``, None or four numbers each."""
    if values.get("bbox_original") is None and values.get("bbox_clipped") is None:
        return
    boxes = {}
    for field in sorted(_BOX_FIELDS):
        given = values.get(field)
        if given is None:
            continue
        box = next(iter(as_boxes(given)), None)
        if box is None or box.width <= 0 or box.height <= 0:
            yield "bad_box", f"{field} {given!r}"
            return
        boxes[field] = box
    if size is None:
        return
    for field, box in boxes.items():
        if not _inside(box, size) and (field == "bbox_clipped" or intersect(box, whole(size)) is None):
            yield "box_outside", f"{field} {list(box)} of the {size.width}×{size.height} image"
            return
    yield from _clip_faults(boxes, size)


def _clip_faults(boxes: Mapping[str, Box], size: Size) -> Iterator[tuple[str, str]]:
    source, clipped = boxes.get("bbox_original"), boxes.get("bbox_clipped")
    if source is None:
        return
    expected = intersect(source, whole(size)) or source
    if clipped is not None and max(abs(a - b) for a, b in zip(clipped, expected, strict=True)) > _CLIP_TOLERANCE_PX:
        yield "clipped_box_differs", f"{list(clipped)}, expected {list(expected)}"
    elif not _inside(source, size):
        yield "box_crosses_border", f"{list(source)} in the {size.width}×{size.height} image"


def _inside(box: Box, size: Size) -> bool:
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= size.width and box.y1 <= size.height


def _check_duplicates(contents: Contents) -> Iterator[Finding]:
    first: dict[tuple[object, ...], str] = {}
    for question_id, values in contents.canonical.items():
        key = (values.get("image_group_id"), values.get("question"), as_choices(values.get("choices")))
        other = first.setdefault(key, question_id)
        if other != question_id and values.get("image_group_id") is not None:
            yield found("duplicate_question", "dataset.json", f"the same as {other}", id=question_id)


def _at(row: Row, view_id: str, code: str, message: str) -> Finding:
    return found(code, row.path, message, id=row.id, view=view_id, line=row.line)

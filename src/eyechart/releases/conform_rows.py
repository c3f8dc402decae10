"""Which identities between the views of a question hold in a release's rows (sum.md 1.4, 4 and 5)."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from eyechart.benchmarks._release import as_box, as_size
from eyechart.releases.contents import Contents, Row
from eyechart.schema import Crop, Size, TargetOnly, Value, View, Whiteground

# Numbers that went through one more division or text form.
_TOLERANCE_PX = 1e-6


class IdentityRule(Value, frozen=True):
    """One identity that follows from the definitions, whatever the policies.

    Args:
        rule: What must be equal.
        n_hold: Pairs of rows of one question for which it is.
        n_pairs: Pairs that could be compared.
        first_broken: ``view/id`` of the first other pair's second row, None if it always holds.
    """

    rule: str
    n_hold: int
    n_pairs: int
    first_broken: str | None = None


def check_identities(contents: Contents, sizes: Mapping[str, Size]) -> tuple[IdentityRule, ...]:
    """Count where the identities hold; an identity without any pair to compare is left out.

    Args:
        contents: The release.
        sizes: Size of each question's original.
    """
    rules = (
        ("canvas of target_only_m = canvas of crop_m", _pairs(contents, _crop_key), _same_canvas),
        ("crop box of target_only_m = crop box of crop_m", _pairs(contents, _crop_key), _same_crop_box),
        ("crop box of whiteground_m = crop box of crop_m", _pairs(contents, _paste_key), _same_crop_box),
        ("bbox_view of target_only_m = bbox_view of crop_m", _pairs(contents, _crop_key), _same_view_box),
        ("bbox_view of views on the full canvas is that of original", _pairs(contents, _full_key), _same_view_box),
    )
    counted = [_count(name, pairs, holds) for name, pairs, holds in rules]
    counted.append(_full_canvas(contents, sizes))
    return tuple(rule for rule in counted if rule.n_pairs)


Pair = tuple[Row, str, Row]
"""A row, the view of the other row, and the other row."""


def _count(name: str, pairs: Iterator[Pair], holds: Callable[[Row, Row], bool | None]) -> IdentityRule:
    n_hold, n_pairs, broken = 0, 0, None
    for one, view_id, other in pairs:
        verdict = holds(one, other)
        if verdict is None:
            continue
        n_pairs += 1
        n_hold += verdict
        if not verdict and broken is None:
            broken = f"{view_id}/{other.id}"
    return IdentityRule(name, n_hold, n_pairs, broken)


def _pairs(contents: Contents, key_of: Callable[[View], object]) -> Iterator[Pair]:
    """Yield neighbouring rows of one question among the views with the same key."""
    groups: dict[object, list[str]] = {}
    for view_id in contents.views:
        view = contents.view_of(view_id)
        key = None if view is None else key_of(view)
        if key is not None:
            groups.setdefault(key, []).append(view_id)
    rows = {view_id: {row.id: row for row in contents.rows[view_id]} for view_id in contents.views}
    for views in groups.values():
        for first, second in pairwise(views):
            for question_id, row in rows[first].items():
                if question_id in rows[second]:
                    yield row, second, rows[second][question_id]


def _crop_key(view: View) -> object:
    return view.area_ratio if isinstance(view, Crop | TargetOnly) else None


def _paste_key(view: View) -> object:
    return view.area_ratio if isinstance(view, Crop | Whiteground) else None


def _full_key(view: View) -> object:
    is_full = isinstance(view, Whiteground) or view == TargetOnly(None) or view.family == "original"
    return "full" if is_full else None


def _same_canvas(one: Row, other: Row) -> bool | None:
    first, second = as_size(one.values), as_size(other.values)
    return None if first is None or second is None else first == second


def _same_crop_box(one: Row, other: Row) -> bool | None:
    return _same_box(one, other, "crop_box_original")


def _same_view_box(one: Row, other: Row) -> bool | None:
    return _same_box(one, other, "bbox_view")


def _same_box(one: Row, other: Row, field: str) -> bool | None:
    first, second = as_box(one.values.get(field)), as_box(other.values.get(field))
    if first is None or second is None:
        return None
    return all(abs(a - b) <= _TOLERANCE_PX for a, b in zip(first, second, strict=True))


def _full_canvas(contents: Contents, sizes: Mapping[str, Size]) -> IdentityRule:
    n_hold, n_rows, broken = 0, 0, None
    for view_id in contents.views:
        view = contents.view_of(view_id)
        if view is None or view.family == "original" or _full_key(view) is None:
            continue
        for row in contents.rows[view_id]:
            size = as_size(row.values)
            if size is not None and row.id in sizes:
                n_rows += 1
                n_hold += size == sizes[row.id]
                broken = broken or (f"{view_id}/{row.id}" if size != sizes[row.id] else None)
    return IdentityRule("canvas of whiteground_m and target_only_original = original", n_hold, n_rows, broken)

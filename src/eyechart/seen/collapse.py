"""Which views are one picture to a model, and which are nearly one."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from eyechart.schema import Seen
from eyechart.seen.ledger import Scale, cut_of, have_collapsed, sent_scale
from eyechart.seen.shown import ShownPicture

# Near, but not one picture: nominal scales at least 2 apart, what is left of them less than 1.25 apart.
NEAR_NOMINAL_RATIO, NEAR_SEEN_RATIO = 2.0, 1.25


class SeenPicture(NamedTuple):
    """One picture with what a model will see of it, or why it will be refused; ``n_bytes`` it has at most."""

    shown: ShownPicture
    seen: Seen | None
    refused: tuple[str, ...]
    n_bytes: int = 0


def joined_views(rows: Sequence[SeenPicture]) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return for how many questions each pair of views is one picture to the model, and for how many nearly one."""
    by_cut: dict[tuple[object, ...], list[SeenPicture]] = defaultdict(list)
    for row in rows:
        # One of several pictures of a request is not a view by itself: its companion tells the views apart.
        if row.shown.n_pictures == 1 and row.seen is not None and row.seen.information_scale is not None:
            by_cut[row.shown.question_id, *cut_of(row.shown.picture)].append(row)
    same: Counter[tuple[str, str]] = Counter()
    near: Counter[tuple[str, str]] = Counter()
    for group in by_cut.values():
        for index, first in enumerate(group):
            for second in group[index + 1 :]:
                scales = _information(first), _information(second)
                pair = pair_of(first.shown.view, second.shown.view)
                if have_collapsed(*scales):
                    same[pair] += 1
                elif _are_near(first, second, scales):
                    near[pair] += 1
    return same, near


def _are_near(first: SeenPicture, second: SeenPicture, scales: tuple[Scale, Scale]) -> bool:
    pictures = (first.shown.picture, second.shown.picture)
    # What was fitted to the grid before it is sent no longer shows at which scale its view was named.
    is_native = all(picture.recipe.transport.startswith("native") for picture in pictures)
    nominal = _ratio(*(sent_scale(picture)[0] for picture in pictures)) if is_native else NEAR_NOMINAL_RATIO
    left = max(_ratio(a, b) for a, b in zip(*scales, strict=True))
    return nominal >= NEAR_NOMINAL_RATIO and left < NEAR_SEEN_RATIO


def _ratio(a: float, b: float) -> float:
    return max(a, b) / min(a, b)


def _information(row: SeenPicture) -> Scale:
    assert row.seen is not None  # noqa: S101 -- only rows with a scale are grouped
    assert row.seen.information_scale is not None  # noqa: S101 -- likewise
    return row.seen.information_scale


def shared_questions(pictures: Sequence[ShownPicture]) -> Counter[tuple[str, str]]:
    """Return for how many questions both views of each pair are shown."""
    views: dict[str, list[str]] = defaultdict(list)
    for shown in pictures:
        views[shown.question_id].append(shown.view)
    return Counter(pair_of(a, b) for own in views.values() for index, a in enumerate(own) for b in own[index + 1 :])


def pair_of(first: str, second: str) -> tuple[str, str]:
    """Return two views in one order, whichever was asked first."""
    return (first, second) if first < second else (second, first)


def group_views(views: Sequence[str], joined: set[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Return groups whose members are all joined to their first, so that small differences do not add up."""
    groups: list[list[str]] = []
    for view in views:
        home = next((group for group in groups if pair_of(group[0], view) in joined), None)
        if home is None:
            groups.append([view])
        else:
            home.append(view)
    return tuple(tuple(group) for group in groups if len(group) > 1)

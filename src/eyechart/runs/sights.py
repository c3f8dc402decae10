"""What a model saw of each request: the plan and the reply of each picture, brought together."""

from collections.abc import Iterable

import msgspec

from eyechart.kinds import TakesSizes
from eyechart.runs.store import RunStore
from eyechart.schema import Evidence, Seen, Size

# Strongest first: what ran here, what the provider said, what was measured, written down, concluded, or nothing.
_EVIDENCE: tuple[Evidence, ...] = ("executed", "reported", "probed", "documented", "inferred", "unknown")

BLIND_VIEWS = frozenset({"no_image", "blank"})
"""Views that show nothing of the picture."""


class Sight(msgspec.Struct, frozen=True):
    """What is known of a model's view of one request: the size it saw, the target's shorter side, what detail is left.

    ``information_scale`` is per axis, relative to the original. ``planned_size`` is what was expected where the model
    executed or reported another size, ``planned_tokens`` what all pictures were expected to cost. ``evidence`` is of
    the sizes, ``tokens_evidence`` the best of any picture's tokens, None where nobody counted them.
    """

    evidence: Evidence
    seen_size: Size | None = None
    target_px: float | None = None
    information_scale: tuple[float, float] | None = None
    planned_size: Size | None = None
    planned_tokens: int | None = None
    tokens_evidence: Evidence | None = None

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """Sort key: sights that know the target first, then those that know the size, then by evidence."""
        return (self.target_px is None, self.seen_size is None, _EVIDENCE.index(self.evidence))


def read_sights(rows: Iterable[Seen]) -> dict[str, Sight]:
    """Return the best that is known of each request; of several pictures the one that shows the target largest.

    Args:
        rows: What was planned, then what was observed.
    """
    best: dict[tuple[str, int], Sight] = {}
    planned: dict[tuple[str, int], Seen] = {}
    counted: dict[str, Evidence] = {}
    for row in rows:
        key = (row.request_id, row.picture_index)
        if row.phase == "planned":
            planned[key] = row
        sight = _sight(row, planned.get(key))
        known = best.get(key)
        if known is None or sight.rank < known.rank:
            best[key] = sight
        if row.visual_tokens is not None:
            words = (row.evidence, counted.get(row.request_id, "unknown"))
            counted[row.request_id] = min(words, key=_EVIDENCE.index)
    tokens = _planned_tokens(planned)
    chosen: dict[str, Sight] = {}
    for (request_id, _), sight in sorted(best.items(), key=lambda entry: entry[0]):
        known = chosen.get(request_id)
        if known is None or (sight.target_px or 0.0) > (known.target_px or 0.0):
            chosen[request_id] = msgspec.structs.replace(
                sight, planned_tokens=tokens.get(request_id), tokens_evidence=counted.get(request_id)
            )
    return chosen


def _sight(row: Seen, planned: Seen | None) -> Sight:
    target = None if row.target_px is None else min(row.target_px)
    expected = planned.seen_size if planned is not None and row.seen_size is not None else None
    is_sized = row.seen_size is not None or target is not None
    return Sight(
        row.evidence if is_sized else "unknown",  # a reply that counts tokens alone tells no size
        row.seen_size,
        target,
        row.information_scale,
        planned_size=expected if expected != row.seen_size else None,
    )


def _planned_tokens(planned: dict[tuple[str, int], Seen]) -> dict[str, int]:
    """Return what the pictures of each request were expected to cost together; left out where one is not known."""
    found: dict[str, int] = {}
    unknown = {request_id for (request_id, _), row in planned.items() if row.visual_tokens is None}
    for (request_id, _), row in planned.items():
        if request_id not in unknown:
            found[request_id] = found.get(request_id, 0) + (row.visual_tokens or 0)
    return found


def tell_sizes(model: TakesSizes, store: RunStore) -> None:
    """Tell a model the target's shorter side, as seen, of each request, and which questions share a picture.

    A view that shows nothing of the picture has 0; a question without a box is left out.
    """
    sights = read_sights(store.seen())
    sizes = {request_id: sight.target_px for request_id, sight in sights.items() if sight.target_px is not None}
    model.take_target_px(sizes | {one.id: 0.0 for one in store.requests() if one.view in BLIND_VIEWS})
    model.take_image_groups({question.id: question.image_group for question in store.questions()})

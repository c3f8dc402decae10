"""Where a picture lies inside an array that was made from it: one affine map per axis, and what is left of it."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec.structs

from eyechart.schema import Box, Size, Value
from eyechart.seen.algorithms import Resized

# Two passes with scales this close are one grid cut into tiles; rounding of a tile moves a scale by less.
_SAME_SCALE = 0.005
# Resizing to whole pixels may leave less than a pixel of a border out, which is not a crop.
_WHOLE_SHARE = 0.995


class Track(Value, frozen=True):
    """One picture, or a part of it, inside an array.

    A pixel ``x`` of the picture lies at ``scale[0] * x + offset[0]`` of the array, likewise for ``y``.

    Args:
        picture: Which of the pictures.
        sent: Its size.
        region: The part of it that is inside the array, in its own pixels.
        scale: Pixels of the array per pixel of the picture, per axis.
        offset: Where the picture's corner lies in the array.
        stages: Scales after each resize so far.
    """

    picture: int
    sent: Size
    region: Box
    scale: tuple[float, float] = (1.0, 1.0)
    offset: tuple[float, float] = (0.0, 0.0)
    stages: tuple[tuple[float, float], ...] = ()

    def resized(self, before: Size, after: Size) -> "Track":
        """Return the track after the array was resized.

        Example:
            >>> Track(0, Size(8, 4), Box(0, 0, 8, 4)).resized(Size(8, 4), Size(4, 4)).scale
            (0.5, 1.0)
        """
        factors = (after.width / before.width, after.height / before.height)
        scale = (self.scale[0] * factors[0], self.scale[1] * factors[1])
        offset = (self.offset[0] * factors[0], self.offset[1] * factors[1])
        return msgspec.structs.replace(self, scale=scale, offset=offset, stages=(*self.stages, scale))

    def moved(self, left: int, top: int, size: Size) -> "Track | None":
        """Return the track after the array was cut or padded to ``size``, None if nothing of the picture is left.

        Args:
            left: By how many pixels the old array's corner now lies right of the new one's; negative for a cut.
            top: Likewise, below it.
            size: The new array's size.

        Example:
            >>> Track(0, Size(8, 4), Box(0, 0, 8, 4)).moved(-6, 1, Size(4, 4)).region
            Box(x0=6.0, y0=0, x1=8, y1=3.0)
        """
        offset = (self.offset[0] + left, self.offset[1] + top)
        x0, x1 = _inside(self.region.x0, self.region.x1, self.scale[0], offset[0], size.width)
        y0, y1 = _inside(self.region.y0, self.region.y1, self.scale[1], offset[1], size.height)
        if x0 >= x1 or y0 >= y1:
            return None
        return msgspec.structs.replace(self, offset=offset, region=Box(x0, y0, x1, y1))


def finest_pass(tracks: Sequence[Track]) -> Resized | None:
    """Return how one picture arrives: by the finest scale at which most of it does; None if nothing does.

    A processor may show a picture twice, small as a whole and large in tiles. Tiles of one scale count together.

    Args:
        tracks: Every part of the picture that reaches the model.

    Example:
        >>> whole = Track(0, Size(8, 4), Box(0, 0, 8, 4))
        >>> thumbnail = whole.resized(Size(8, 4), Size(2, 2))
        >>> tiles = [whole.moved(-left, 0, Size(4, 4)) for left in (0, 4)]
        >>> finest_pass([thumbnail, *tiles]).size
        Size(width=8, height=4)
    """
    passes = [(_covered(own), own) for own in _by_scale(tracks)]
    if not passes:
        return None
    most = max(area for area, _ in passes)
    area, chosen = max(
        (entry for entry in passes if entry[0] >= _WHOLE_SHARE * most),
        key=lambda entry: entry[1][0].scale[0] * entry[1][0].scale[1],
    )
    sent = chosen[0].sent
    stages = tuple(_scaled(sent, scale) for scale in chosen[0].stages) or (sent,)
    is_whole = area >= _WHOLE_SHARE * sent.n_px
    return Resized(stages, sent=sent, kept=None if is_whole else _around(chosen))


def _by_scale(tracks: Sequence[Track]) -> list[list[Track]]:
    groups: list[list[Track]] = []
    for track in tracks:
        home = next((group for group in groups if _is_same_scale(group[0], track)), None)
        if home is None:
            groups.append([track])
        else:
            home.append(track)
    return groups


def _is_same_scale(first: Track, second: Track) -> bool:
    return all(abs(a - b) <= _SAME_SCALE * max(a, b) for a, b in zip(first.scale, second.scale, strict=True))


def _inside(start: float, end: float, scale: float, offset: float, length: int) -> tuple[float, float]:
    """Return which part of a stretch of the picture falls into an array of this length."""
    return max(start, -offset / scale), min(end, (length - offset) / scale)


def _covered(tracks: Sequence[Track]) -> float:
    """Return the area of the union of what the tracks show, in the picture's own pixels."""
    boxes = [track.region for track in tracks]
    edges = sorted({edge for box in boxes for edge in (box.x0, box.x1)})
    return sum((right - left) * _height_at(boxes, left, right) for left, right in pairwise(edges))


def _height_at(boxes: Sequence[Box], left: float, right: float) -> float:
    spans = sorted((box.y0, box.y1) for box in boxes if box.x0 <= left and box.x1 >= right)
    height, reached = 0.0, float("-inf")
    for start, end in spans:
        height += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return height


def _around(tracks: Sequence[Track]) -> Box:
    boxes = [track.region for track in tracks]
    return Box(
        min(box.x0 for box in boxes),
        min(box.y0 for box in boxes),
        max(box.x1 for box in boxes),
        max(box.y1 for box in boxes),
    )


def _scaled(size: Size, scale: tuple[float, float]) -> Size:
    return Size(max(1, round(size.width * scale[0])), max(1, round(size.height * scale[1])))

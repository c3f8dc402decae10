"""The sizes a probe sends, and what it reads from the replies."""

from collections.abc import Iterator, Sequence

from eyechart.schema import Size, Value

# One picture in a lattice of these sides steps in tokens just above a multiple: 14, 16, 28, 32, 48, 448, 512, 768.
_STEPS = (14, 16, 28, 32, 48, 448, 512, 768)
_SQUARES = (64, 128, 256, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 3072, 4096)
_WIDE = (640, 1024, 1280, 1920, 2560, 3840, 7680)
# Sides of 4:3 and 1:4 that are not multiples of anything, so that rounding shows.
_UNEVEN = ((1000, 750), (2017, 1513), (4032, 3024), (333, 1332), (777, 3108), (1999, 500), (1500, 100))
_MULTIPLE = 12


class Reading(Value, frozen=True):
    """Tokens of one picture: those of its request without those of the same request without a picture."""

    sent: Size
    tokens: int


class Refused(Value, frozen=True):
    """A picture that was refused, with the provider's words."""

    sent: Size
    reason: str


def ladder(max_side_px: int = 4096) -> tuple[Size, ...]:
    """Return the sizes to send, from the smallest up: squares, one pixel beside multiples, and several aspects.

    Args:
        max_side_px: Bound of the longer side, at least 512.

    Example:
        >>> len(ladder()), ladder()[0], ladder(512)[-1]
        (39, Size(width=64, height=64), Size(width=512, height=512))
    """
    sizes = {size for size in _wanted() if max(size) <= max_side_px}
    return tuple(sorted(sizes, key=lambda size: (size.n_px, size)))


def check_growth(readings: Sequence[Reading]) -> bool:
    """Whether tokens grow with pixels at all; where they do not, they say nothing about pixels."""
    squares = sorted((r for r in readings if r.sent.width == r.sent.height), key=lambda r: r.sent.width)
    return bool(squares) and squares[0].tokens < squares[-1].tokens


def _wanted() -> Iterator[Size]:
    for side in _SQUARES:
        yield Size(side, side)
    for step in _STEPS:
        side = step * _MULTIPLE if step < _SQUARES[2] else step
        yield Size(side, side)
        yield Size(side + 1, side)
    for width in _WIDE:
        yield Size(width, width * 9 // 16)
    for width, height in _UNEVEN:
        yield Size(width, height)

"""Which published algorithms, with which numbers, may give the tokens that were read: the candidates of each family."""

from collections.abc import Iterator, Sequence
from itertools import product

from eyechart.seen.algorithms import (
    Algorithm,
    CountedTiles,
    CropUnits,
    LongestEdge,
    Patches,
    PlainAlgorithm,
    RowBreaks,
    SmartResize,
    Tiles,
    TokenBudget,
    Unpublished,
)
from eyechart.seen.probing.readings import Reading

MOST_EXTRA_TOKENS = 64
"""Markers around a picture, besides its own tokens."""

PUBLISHED_BUDGETS = (280, 560, 1120, 1280, 1536, 1568, 2240, 2500, 2560, 4784, 10_000, 16_384)
"""Most tokens of a picture in published rules and configurations."""

_NO_BUDGET = 1 << 30
_CELLS = (14, 16, 24, 28, 32, 48, 56, 64)
_EDGES = (512, 768, 1024, 1280, 1536, 1540, 1568, 1600, 1920, 2000, 2048, 2576, 3072, 4096, 6000, 8000)
_TILES = (224, 336, 384, 448, 512, 560, 768)
_MOST_TILES = 48
_CROP_TILE_PX = 768  # of the one published rule; tokens do not show it
# A budget leaves a part of itself free, depending on the aspect; this much was never seen at all aspects.
_SLACK = 1.06
# Ranges of sides in which a rule neither shrinks nor enlarges, tried in turn.
_WINDOWS = ((100, 400), (200, 520), (500, 900), (900, 1300))
_FEWEST_IN_WINDOW = 4
_NO_BOUND = 1 << 40
_SMALLEST_BLOCKS = 4  # the smallest bound of any published configuration
_ELONGATED = 3


def plausible(readings: Sequence[Reading], *, may_be_capped: bool = True) -> Iterator[PlainAlgorithm]:
    """Yield algorithms that may explain some readings, families with fewer numbers first; most of them do not.

    Args:
        readings: At least one.
        may_be_capped: Whether the most tokens that were read may be a bound. Where pictures were shrunk before, a bound
            may lie above, and only published ones are tried.
    """
    if len({reading.tokens for reading in readings}) == 1:
        yield Unpublished(readings[0].tokens)
        return
    for family in (_patches, _token_budget, _longest_edge, _smart_resize):
        yield from family(readings, may_be_capped=may_be_capped)
    for other in (_row_breaks, _tiles, _crop_units, _counted):
        yield from other(readings)


def extra_tokens(algorithm: Algorithm, readings: Sequence[Reading]) -> int | None:
    """Return by how many tokens all readings exceed what an algorithm gives; None unless it is the same for all.

    Example:
        >>> from eyechart.schema import Size
        >>> extra_tokens(Patches(32), [Reading(Size(64, 64), 6), Reading(Size(96, 64), 8)])
        2
    """
    extra: int | None = None
    for reading in readings:
        tokens = algorithm.apply(reading.sent).tokens
        if tokens is None or (extra is not None and reading.tokens - tokens != extra):
            return None
        extra = reading.tokens - tokens
    return extra if extra is not None and 0 <= extra <= MOST_EXTRA_TOKENS else None


def _patches(readings: Sequence[Reading], *, may_be_capped: bool) -> Iterator[PlainAlgorithm]:
    for patch, price in _prices(readings):
        for edge in (None, *_EDGES):
            yield Patches(patch, None, edge, price)
        for budget in _budgets(readings, price, may_be_capped=may_be_capped):
            for edge in (None, *_EDGES):
                yield Patches(patch, budget, edge, price)


def _longest_edge(readings: Sequence[Reading], *, may_be_capped: bool) -> Iterator[PlainAlgorithm]:
    # Long and narrow pictures meet the bound of the edge before that of the tokens.
    narrow = [reading for reading in readings if max(reading.sent) >= _ELONGATED * min(reading.sent)]
    most = max(reading.tokens for reading in readings)
    for patch in (patch for patch, price in _prices(readings) if price == 1):
        edges = [
            edge
            for edge in (range(8 * patch, 4096, patch) if may_be_capped else _EDGES)
            if not narrow or extra_tokens(LongestEdge(patch, edge, most), narrow) is not None
        ]
        for edge, budget in product(edges, _budgets(readings, may_be_capped=may_be_capped)):
            yield LongestEdge(patch, edge, budget)


def _smart_resize(readings: Sequence[Reading], *, may_be_capped: bool) -> Iterator[PlainAlgorithm]:
    least = min(readings, key=lambda reading: reading.sent.n_px)
    for block in _CELLS:
        if not any(_holds(SmartResize(block, 1, _NO_BOUND), window) for window in _windows(readings)):
            continue
        own = SmartResize(block, 1, _NO_BOUND).apply(least.sent).tokens or 1
        lowest = list(range(max(1, own), least.tokens + 1)) if least.tokens > own else []
        for ceiling, floor in product(_budgets(readings, may_be_capped=may_be_capped), (_SMALLEST_BLOCKS, *lowest)):
            if floor <= ceiling:
                yield SmartResize(block, floor * block**2, ceiling * block**2)


def _row_breaks(_readings: Sequence[Reading]) -> Iterator[PlainAlgorithm]:
    for edge, (patch, block) in product(_EDGES, ((14, 1), (16, 1), (14, 2), (16, 2))):
        yield RowBreaks(edge, patch, block)


def _token_budget(readings: Sequence[Reading], *, may_be_capped: bool) -> Iterator[PlainAlgorithm]:
    for budget in _budgets(readings, may_be_capped=may_be_capped):
        yield TokenBudget(None, budget)


def _tiles(readings: Sequence[Reading]) -> Iterator[PlainAlgorithm]:
    for fit, short, tile in product((1024, 1536, 2048, 3072, 4096, 8192), (512, 768, 1024, 1536, 8192), _TILES):
        line = _line(readings, Tiles(fit, short, tile, 0, 1))
        if line is not None:
            yield Tiles(fit, short, tile, line[0], line[1])


def _crop_units(readings: Sequence[Reading]) -> Iterator[PlainAlgorithm]:
    for flat, fit, units in product((256, 384, 512), (2048, 3072, 4096), (1.0, 1.5, 2.0)):
        line = _line(readings, CropUnits(flat, fit, units, _CROP_TILE_PX, 1))
        if line is not None:
            yield CropUnits(flat, fit, units, _CROP_TILE_PX, line[1])


def _counted(readings: Sequence[Reading]) -> Iterator[PlainAlgorithm]:
    for tile, most in product(_TILES, range(2, _MOST_TILES)):
        line = _line(readings, CountedTiles(tile, most, 0, 1))
        if line is not None:
            yield CountedTiles(tile, most, line[0] // line[1], line[1])


def _line(readings: Sequence[Reading], counting: Algorithm) -> tuple[int, int] | None:
    """Return base and price of tiles from the readings with the fewest and the most; None unless both are whole."""
    counted = [(counting.apply(reading.sent).tokens or 0, reading.tokens) for reading in readings]
    (fewest, low), (most, high) = min(counted), max(counted)
    if fewest == most or high <= low or (high - low) % (most - fewest):
        return None
    price = (high - low) // (most - fewest)
    base = low - fewest * price
    return (base, price) if base >= 0 and all(base + n * price == tokens for n, tokens in counted) else None


def _prices(readings: Sequence[Reading]) -> list[tuple[int, float]]:
    """Return sides of patches and tokens per patch that explain the pictures that are left as they are."""
    found: dict[tuple[int, float], None] = {}
    for window, patch in product(_windows(readings), _CELLS):
        counted = [(Patches(patch).apply(reading.sent).tokens or 0, reading.tokens) for reading in window]
        (fewest, low), (most, high) = min(counted), max(counted)
        if fewest == most:
            continue
        slope = (high - low) / (most - fewest)
        for price in {round(slope), round(slope, 1), round(slope, 2)}:
            if price > 0 and _holds(Patches(patch, tokens_per_patch=price), window):
                found[patch, float(price)] = None
    return list(found)


def _windows(readings: Sequence[Reading]) -> Iterator[list[Reading]]:
    for least, most in _WINDOWS:
        window = [reading for reading in readings if least <= min(reading.sent) and max(reading.sent) <= most]
        if len(window) >= _FEWEST_IN_WINDOW:
            yield window


def _holds(algorithm: Algorithm, readings: Sequence[Reading]) -> bool:
    return extra_tokens(algorithm, readings) is not None


def _budgets(readings: Sequence[Reading], price: float = 1.0, *, may_be_capped: bool) -> Sequence[int]:
    """Return budgets that may lie behind the most tokens that were read, whatever markers cost."""
    most = max(reading.tokens for reading in readings)
    if not may_be_capped:
        return [*(budget for budget in PUBLISHED_BUDGETS if budget * price >= most - MOST_EXTRA_TOKENS), _NO_BUDGET]
    return range(max(1, int((most - MOST_EXTRA_TOKENS) / price)), int(most / price * _SLACK) + 2)

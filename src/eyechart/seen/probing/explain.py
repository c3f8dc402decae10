"""Find the algorithm that gives exactly the tokens that were read, and say which of its numbers that leaves open."""

import math
from collections.abc import Iterator, Sequence

import msgspec
import msgspec.structs

from eyechart.schema import Value
from eyechart.seen.algorithms import AnyAlgorithm, PlainAlgorithm, ShrunkBefore, Unpublished
from eyechart.seen.probing.families import PUBLISHED_BUDGETS, extra_tokens, plausible
from eyechart.seen.probing.readings import Reading

# Bounds of known clients and gateways, besides those of models.
CLIENT_SIDES = (500, 768, 1024, 1280, 1536, 1568, 1600, 1920, 2000, 2048, 3000, 3072, 4096)
_MOST_NOTE_TOKENS = 80
_AS_GOOD_AS_NONE = 1 << 30
_FEWEST_SHRUNK, _FEWEST_WHOLE = 3, 6
# Of numbers that explain the readings alike, one that a published rule has is the likeliest.
_PUBLISHED = frozenset(
    {*PUBLISHED_BUDGETS, 30_000}
    | {3136, 65_536, 200_704, 1_003_520, 1_605_632, 2_621_440, 12_845_056, 16_777_216}
    | {512, 768, 1024, 1540, 2048, 2576, 3072, 4096, 6000, 8000}
)


class Explanation(Value, frozen=True):
    """An algorithm that gives every reading exactly.

    Args:
        algorithm: The likeliest.
        extra_tokens: Constant tokens around each picture, on top of the algorithm's.
        open_numbers: Parameter → smallest and largest value that would explain the readings as well.
        others: Names of other families that explain them as well.
        is_known: Whether it is the known rule of the model, alone or behind a client.
    """

    algorithm: AnyAlgorithm
    extra_tokens: int
    open_numbers: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    others: tuple[str, ...] = ()
    is_known: bool = False


def explain(readings: Sequence[Reading], known: AnyAlgorithm | None = None) -> Explanation | None:
    """Return the likeliest explanation of all readings, None if no family gives every one of them exactly.

    The known rule comes first, then every family alone, then both behind a client that shrinks pictures before.

    Args:
        readings: What was read.
        known: The published rule of the model.
    """
    ordered = _telling_first(readings)
    if known is not None and (extra := extra_tokens(known, ordered)) is not None:
        return Explanation(known, extra, is_known=True)
    if known is not None and not isinstance(known, ShrunkBefore):
        behind = list(_behind_client([known], ordered))
        if behind:
            return _chosen(behind, is_known=True)
    alone = [found for candidate in plausible(ordered) if (found := _exact(candidate, ordered)) is not None]
    if alone:
        return _chosen(alone)
    behind = list(_behind_client(None, ordered))
    return _chosen(behind) if behind else None


_Found = tuple[AnyAlgorithm, int]


def _exact(algorithm: AnyAlgorithm, readings: Sequence[Reading]) -> _Found | None:
    extra = extra_tokens(algorithm, readings)
    return None if extra is None else (algorithm, extra)


def _behind_client(known: Sequence[PlainAlgorithm] | None, readings: Sequence[Reading]) -> Iterator[_Found]:
    for side in CLIENT_SIDES:
        whole = [reading for reading in readings if max(reading.sent) <= side]
        shrunk = [reading for reading in readings if max(reading.sent) > side]
        if len(whole) < _FEWEST_WHOLE or len(shrunk) < _FEWEST_SHRUNK:
            continue
        for then in plausible(whole, may_be_capped=False) if known is None else known:
            if isinstance(then, Unpublished) or (extra := extra_tokens(then, whole)) is None:
                continue
            first = ShrunkBefore(side, then).apply(shrunk[0].sent).tokens
            note = shrunk[0].tokens - extra - (first or 0)
            found = _exact(ShrunkBefore(side, then, note), readings) if 0 <= note <= _MOST_NOTE_TOKENS else None
            if found is not None:
                yield found


def _telling_first(readings: Sequence[Reading]) -> list[Reading]:
    """Return readings so that a wrong candidate fails early: the largest and the smallest in turn."""
    left = sorted(readings, key=lambda reading: reading.sent.n_px)
    ordered = []
    while left:
        ordered.append(left.pop())
        if left:
            ordered.append(left.pop(0))
    return ordered


def _chosen(found: Sequence[_Found], *, is_known: bool = False) -> Explanation:
    first = found[0][0]
    same = [(algorithm, extra) for algorithm, extra in found if _family(algorithm) == _family(first)]
    algorithm, extra = max(same, key=lambda entry: _likelihood(entry[0], entry[1]))
    return Explanation(
        algorithm,
        extra,
        open_numbers=_open_numbers([entry[0] for entry in same]),
        others=tuple(sorted({_family(entry[0]) for entry in found} - {_family(first)})),
        is_known=is_known,
    )


def _family(algorithm: AnyAlgorithm) -> str:
    kind = str(algorithm.__struct_config__.tag).replace("_", " ")
    return f"{kind}, then {_family(algorithm.then)}" if isinstance(algorithm, ShrunkBefore) else kind


def _likelihood(algorithm: AnyAlgorithm, extra: int) -> tuple[int, int, int, float]:
    """Prefer fewest bounds, then published numbers, then fewest markers, then the smallest numbers."""
    numbers = [value for value in _numbers(algorithm).values() if value is not None]
    return -len(numbers), sum(number in _PUBLISHED for number in numbers), -extra, -sum(numbers)


def _open_numbers(algorithms: Sequence[AnyAlgorithm]) -> dict[str, tuple[float, float]]:
    by_name: dict[str, list[float]] = {}
    for algorithm in algorithms:
        for name, value in _numbers(algorithm).items():
            by_name.setdefault(name, []).append(math.inf if value is None or value >= _AS_GOOD_AS_NONE else value)
    return {name: (min(values), max(values)) for name, values in by_name.items() if min(values) < max(values)}


def _numbers(algorithm: AnyAlgorithm) -> dict[str, float | None]:
    fields = msgspec.structs.asdict(algorithm)
    inner = fields.pop("then", None)
    nested = {} if inner is None else _numbers(inner)
    return {**nested, **{name: value for name, value in fields.items() if isinstance(value, int | float | None)}}

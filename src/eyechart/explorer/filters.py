"""Which questions are shown: facets and patterns of right and wrong, written in the address."""

from collections.abc import Callable, Iterable, Sequence
from math import floor, isnan, log2
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

import msgspec
import numpy as np

from eyechart.errors import UsageError
from eyechart.explorer.numbers import read_number
from eyechart.explorer.study import ExploredRun, Study
from eyechart.stats.arrays import Bools, Floats

if TYPE_CHECKING:
    import numpy.typing as npt

Verdict = Literal["right", "wrong", "unscored"]
SORTS = ("pattern", "id", "target", "right")
UNKNOWN = "unknown"
_NO_TASK = "(none)"
FACETS = {"task": "Task", "source": "Source", "target": "Target sent, px", "seen": "Target seen, px"}
"""Field → label."""


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """A choice of questions. Empty fields choose all.

    Args:
        task: Task of the question.
        source: Collection it comes from.
        target: Band of the target's shorter side as sent, such as ``16-32``.
        seen: The same as the model saw it.
        text: Part of the question's id or text.
        right: Conditions under which it is right, each ``condition`` or ``condition@run``.
        wrong: Conditions under which it is wrong.
        unscored: Conditions under which it has no score.
        sort: One of ``SORTS``.
    """

    task: str = ""
    source: str = ""
    target: str = ""
    seen: str = ""
    text: str = ""
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ()
    sort: str = "pattern"

    def query(self, **changed: str | tuple[str, ...]) -> str:
        """Return this choice as the query of an address, with some fields replaced; empty ones are left out.

        Example:
            >>> Filter(right=("crop_3x",), wrong=("original",)).query(task="ocr")
            'task=ocr&right=crop_3x&wrong=original'
        """
        fields = {name: changed.get(name, getattr(self, name)) for name in self.__struct_fields__}
        kept = [(name, value) for name, value in fields.items() if value and (name, value) != ("sort", SORTS[0])]
        return urlencode([(name, value) for name, value in kept], doseq=True)

    @property
    def verdicts(self) -> tuple[tuple[Verdict, str], ...]:
        """Every wanted verdict with its condition."""
        wanted: tuple[tuple[Verdict, tuple[str, ...]], ...] = (
            ("right", self.right),
            ("wrong", self.wrong),
            ("unscored", self.unscored),
        )
        return tuple((verdict, condition) for verdict, conditions in wanted for condition in conditions)


class Facet(msgspec.Struct, frozen=True):
    """One way to narrow the choice: a field and its values with how many of the shown questions have each."""

    field: str
    label: str
    values: tuple[tuple[str, int], ...]


def read_filter(query: Iterable[tuple[str, str]]) -> Filter:
    """Read a choice from the pairs of an address; fields of other things are passed over.

    Raises:
        UsageError: If the order is unknown.

    Example:
        >>> read_filter([("right", "crop_3x"), ("right", "crop_6x"), ("run", "0")]).right
        ('crop_3x', 'crop_6x')
    """
    single: dict[str, str] = {}
    several: dict[str, list[str]] = {"right": [], "wrong": [], "unscored": []}
    for name, value in query:
        if name in several:
            if value:
                several[name].append(value)
        elif name in Filter.__struct_fields__:
            single[name] = value.strip()
    if single.get("sort", SORTS[0]) not in SORTS:
        raise UsageError(f"sort={single['sort']} is not an order", hint=f"one of {', '.join(SORTS)}")
    return msgspec.convert({**single, **several}, type=Filter)


def choose(study: Study, number: int, wanted: Filter) -> list[int]:
    """Return the positions of the wanted questions of a run, in the wanted order.

    Args:
        study: The runs.
        number: The run whose questions are meant.
        wanted: The choice.

    Raises:
        UsageError: If a condition or run is unknown.
    """

    def chosen() -> list[int]:
        mask = matching(study, number, wanted)
        return sort_questions(study.run(number), np.flatnonzero(mask).tolist(), wanted.sort)

    return list(study.remember(("choose", number, wanted), chosen))


def matching(study: Study, number: int, wanted: Filter) -> Bools:
    """Return (n_questions,) of a run: which questions are wanted.

    Raises:
        UsageError: If a condition or run is unknown.
    """
    run = study.run(number)
    mask = np.ones(len(run.table.questions), dtype=np.bool_)
    for field in FACETS:
        chosen = getattr(wanted, field)
        if chosen:
            mask &= facet_codes(run, field) == _code_of(run, field, chosen)
    if wanted.text:
        part = wanted.text.casefold()
        mask &= np.array([part in text for text in _searched(run)], dtype=np.bool_)
    for verdict, condition in wanted.verdicts:
        mask &= verdict_mask(study, number, verdict, condition)
    return mask


def sort_questions(run: ExploredRun, positions: Sequence[int], order: str) -> list[int]:
    """Return questions by their pattern of verdicts, id, target size, or how often they are right.

    Args:
        run: The run.
        positions: The questions.
        order: One of ``SORTS``.
    """
    return sorted(positions, key=run.remember(("order", order), lambda: _ranks(run, order)).__getitem__)


def _ranks(run: ExploredRun, order: str) -> list[int]:
    """Return (n_questions,) the place of each question in an order of all."""
    ids = [question.id for question in run.table.questions]
    codes = verdict_codes(run)
    n_right = (codes == RIGHT).sum(axis=1).tolist()
    keys: dict[str, Callable[[int], tuple[object, ...]]] = {
        "id": lambda at: (ids[at],),
        "target": lambda at: (isnan(run.target_px[at]), float(run.target_px[at])),
        "right": lambda at: (-n_right[at], ids[at]),
        "pattern": lambda at: (-n_right[at], codes[at].tobytes(), ids[at]),
    }
    ranks = [0] * len(ids)
    for rank, at in enumerate(sorted(range(len(ids)), key=keys[order])):
        ranks[at] = rank
    return ranks


RIGHT, WRONG, UNSCORED = 0, 1, 2
MARKS = {RIGHT: "right", WRONG: "wrong", UNSCORED: "unscored"}


def verdict_codes(run: ExploredRun) -> "npt.NDArray[np.uint8]":
    """Return (n_questions, n_conditions) uint8: 0 right, 1 wrong, 2 not scored; several asks count by their mean."""

    def codes() -> "npt.NDArray[np.uint8]":
        found = np.full(run.values.shape, UNSCORED, dtype=np.uint8)
        for column in range(run.values.shape[1]):
            found[run.is_right(column), column] = RIGHT
            found[run.is_wrong(column), column] = WRONG
        return found

    return run.remember("codes", codes)


def find_facets(study: Study, number: int, wanted: Filter) -> tuple[Facet, ...]:
    """Return the facets with counts under everything else that is chosen, so that a count is what a click gives."""
    run = study.run(number)
    facets = []
    for field, label in FACETS.items():
        values = _facet(run, field)[1]
        if len(values) < 2:  # noqa: PLR2004 -- one value narrows nothing
            continue
        others = matching(study, number, msgspec.structs.replace(wanted, **{field: ""}))
        counts = np.bincount(facet_codes(run, field)[others], minlength=len(values)).tolist()
        facets.append(Facet(field, label, tuple(zip(values, counts, strict=True))))
    return tuple(facets)


def facet_codes(run: ExploredRun, field: str) -> "npt.NDArray[np.intp]":
    """Return (n_questions,) which value of a facet each question has, as its place among all values."""
    return _facet(run, field)[0]


def _facet(run: ExploredRun, field: str) -> tuple["npt.NDArray[np.intp]", tuple[str, ...]]:
    def coded() -> tuple["npt.NDArray[np.intp]", tuple[str, ...]]:
        listed = _FACET_VALUES[field](run)
        values = tuple(sorted(set(listed), key=_band_order))
        place = {value: at for at, value in enumerate(values)}
        return np.array([place[value] for value in listed], dtype=np.intp), values

    return run.remember(("facet", field), coded)


def _code_of(run: ExploredRun, field: str, value: str) -> int:
    values = _facet(run, field)[1]
    return values.index(value) if value in values else -1


def _searched(run: ExploredRun) -> list[str]:
    """Return (n_questions,) what the text of a choice is looked for in."""

    def texts() -> list[str]:
        rows = zip(run.table.questions, run.texts, strict=True)
        return [f"{question.id}\n{text}".casefold() for question, text in rows]

    return run.remember("searched", texts)


def tasks(run: ExploredRun) -> list[str]:
    """Return (n_questions,) the task of each question."""
    return [question.task or _NO_TASK for question in run.table.questions]


def sources(run: ExploredRun) -> list[str]:
    """Return (n_questions,) the source of each question."""
    return [question.source or _NO_TASK for question in run.table.questions]


def size_bands(sizes_px: Floats) -> list[str]:
    """Return the octave of each size as text, ``unknown`` where there is none.

    Args:
        sizes_px: (n,) sizes in pixels, NaN where not known.

    Example:
        >>> size_bands(np.array([20.0, 0.5, np.nan]))
        ['16-32', '0.5-1', 'unknown']
    """
    return [_band(float(size)) for size in sizes_px]


def _band(size_px: float) -> str:
    if isnan(size_px) or size_px <= 0:
        return UNKNOWN
    octave = floor(log2(size_px))
    return f"{2.0**octave:g}-{2.0 ** (octave + 1):g}"


def _band_order(value: str) -> tuple[bool, float, str]:
    first = value.partition("-")[0]
    try:
        return (False, float(first), value)
    except ValueError:
        return (True, 0.0, value)


_FACET_VALUES: dict[str, Callable[[ExploredRun], list[str]]] = {
    "task": tasks,
    "source": sources,
    "target": lambda run: size_bands(run.target_px),
    "seen": lambda run: size_bands(run.seen_px),
}


def verdict_mask(study: Study, number: int, verdict: Verdict, condition: str) -> Bools:
    """Return (n_questions,) of a run: where a condition, perhaps of another run, got a verdict.

    Args:
        study: The runs.
        number: The run whose questions are meant.
        verdict: Which verdict.
        condition: A condition of this run, or ``condition@run``.

    Raises:
        UsageError: If there is no such condition or run.
    """
    name, _, other = condition.partition("@")
    if other and not other.isdecimal():
        raise UsageError(
            f"{condition}: {other!r} is not a number of a run", hint=f"runs are 0 to {len(study.runs) - 1}"
        )
    other_number = read_number(f"run of {name}", other) if other else number
    own, run = study.run(number), study.run(other_number)
    if name not in run.table.conditions:
        raise UsageError(f"{condition} was not asked in this run", hint=f"asked: {', '.join(run.table.conditions)}")
    column = run.table.conditions.index(name)
    masks = {"right": run.is_right(column), "wrong": run.is_wrong(column), "unscored": ~run.present[:, column]}
    if run is own:
        return masks[verdict]
    places = study.remember(("places", number, other_number), lambda: _places(own, run))
    return np.asarray((places >= 0) & masks[verdict][places])


def _places(own: ExploredRun, other: ExploredRun) -> "npt.NDArray[np.intp]":
    """Return (n_questions,) where another run has each question of a run, -1 where it never asked it as it is here."""
    shared = own.contents & other.contents
    found = [other.position(one.id) if (one.id, one.content) in shared else None for one in own.table.questions]
    return np.array([-1 if place is None else place for place in found], dtype=np.intp)

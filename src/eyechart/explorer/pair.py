"""Two models side by side on random questions: who is drawn, from which choice, and what both answered."""

import zlib
from collections.abc import Iterable
from typing import Literal

import msgspec

from eyechart.benchmarks._published import published_benchmarks, read_published
from eyechart.errors import UsageError
from eyechart.explorer.filters import MARKS, verdict_codes
from eyechart.explorer.question import Answer, Choice, ViewPane, choices_of, panes_of, read_answers
from eyechart.explorer.study import ExploredRun, Study

N_SHOWN = 5
MARK_NAMES = ("right", "wrong", "unscored")
NONE = "(none)"
_MASK = 0xFFFFFFFF
_GOLDEN = 0x9E3779B9
Differ = Literal["", "yes"]


class PairFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which questions are drawn from. Empty fields choose all.

    Args:
        view: The condition that both were asked; the first common one if empty.
        dataset: Source of the question.
        category: Category of its dataset, or its task where the benchmark has no categories.
        first_mark: Verdict on the first model: right, wrong or unscored.
        second_mark: Verdict on the second model.
        differ: ``yes`` for questions on which the verdicts differ.
    """

    view: str = ""
    dataset: str = ""
    category: str = ""
    first_mark: str = ""
    second_mark: str = ""
    differ: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """The fields that choose something, for an address."""
        return {name: value for name in self.__struct_fields__ if (value := getattr(self, name))}


class PairEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One drawn question with the answers of both models, and the pane of its picture where there is one."""

    id: str
    text: str
    dataset: str
    category: str
    choices: tuple[Choice, ...]
    answers: tuple[Answer, ...]
    pane: ViewPane | None


class PairPage(msgspec.Struct, frozen=True, kw_only=True):
    """The drawn questions, and what may be chosen: values of dataset and category with how many questions have each."""

    first: int
    second: int
    seed: int
    wanted: PairFilter
    conditions: tuple[str, ...]
    condition: str
    datasets: tuple[tuple[str, int], ...]
    categories: tuple[tuple[str, int], ...]
    n_common: int
    n_fitting: int
    entries: tuple[PairEntry, ...]


def read_pair_filter(query: Iterable[tuple[str, str]]) -> PairFilter:
    """Read a choice from the pairs of an address; fields of other things are passed over.

    Raises:
        UsageError: If a verdict is none.

    Example:
        >>> read_pair_filter([("dataset", "MAME"), ("seed", "3")]).fields
        {'dataset': 'MAME'}
    """
    found = {name: value.strip() for name, value in query if name in PairFilter.__struct_fields__}
    for name in ("first_mark", "second_mark"):
        if found.get(name, "") not in {"", *MARK_NAMES}:
            raise UsageError(f"{name}={found[name]} is not a verdict", hint=f"one of {', '.join(MARK_NAMES)}")
    return PairFilter(**found)


def draw_order(seed: int, ids: Iterable[str]) -> list[str]:
    """Return ids in the random order of a seed; a part of them keeps its order, so a filter never reshuffles.

    The key of an id is the finaliser of MurmurHash3 over its CRC-32 and the seed, which a browser computes alike.

    Args:
        seed: From 0; taken modulo 2³².
        ids: Ids, each once.

    References:
        Austin Appleby, MurmurHash3 (public domain), ``fmix32``.

    Example:
        >>> draw_order(1, ["a", "b", "c", "d"])
        ['b', 'd', 'a', 'c']
    """
    own = _mixed((seed + _GOLDEN) & _MASK)
    return sorted(ids, key=lambda one: (_mixed(zlib.crc32(one.encode()) ^ own), one))


def _mixed(value: int) -> int:
    value ^= value >> 16
    value = value * 0x85EBCA6B & _MASK
    value ^= value >> 13
    value = value * 0xC2B2AE35 & _MASK
    return value ^ (value >> 16)


def pair_page(study: Study, first: int, second: int, seed: int, wanted: PairFilter) -> PairPage:
    """Return questions that two runs share, drawn by a seed from a choice.

    Args:
        study: The runs.
        first: The run on the left.
        second: The run on the right.
        seed: From 0.
        wanted: The choice.

    Raises:
        UsageError: If they share no question or view, or were not both asked the wanted view.
    """
    mine, other = study.run(first), study.run(second)
    conditions = common_conditions(mine, other)
    common = common_questions(mine, other)
    if not common or not conditions:
        raise UsageError(
            f"{mine.name} and {other.name} share no question under one view", hint="choose runs of one benchmark"
        )
    condition = wanted.view or conditions[0]
    if condition not in conditions:
        raise UsageError(f"{condition} was not asked in both runs", hint=f"asked: {', '.join(conditions)}")
    datasets, categories = datasets_of(mine), categories_of(mine)
    marks = {number: _marks(study.run(number), condition) for number in (first, second)}
    fitting = [
        at
        for at, theirs in common
        if wanted.dataset in {"", datasets[at]}
        and wanted.category in {"", categories[at]}
        and _fits(marks[first][at], marks[second][theirs], wanted)
    ]
    at_of = {mine.table.questions[at].id: at for at in fitting}
    drawn = draw_order(seed, at_of)[:N_SHOWN]
    return PairPage(
        first=first,
        second=second,
        seed=seed,
        wanted=wanted,
        conditions=conditions,
        condition=condition,
        datasets=_counted(datasets[at] for at, _ in common),
        categories=_counted(categories[at] for at, _ in common),
        n_common=len(common),
        n_fitting=len(fitting),
        entries=tuple(
            _entry(study, first, second, name, condition, (datasets[at_of[name]], categories[at_of[name]]))
            for name in drawn
        ),
    )


def _entry(
    study: Study, first: int, second: int, question_id: str, condition: str, labels: tuple[str, str]
) -> PairEntry:
    run = study.run(first)
    question = run.question(question_id)
    assert question is not None  # noqa: S101 -- its id comes from this run
    numbers = (first,) if first == second else (first, second)
    return PairEntry(
        id=question_id,
        text=question.text,
        dataset=labels[0],
        category=labels[1],
        choices=choices_of(question),
        answers=tuple(
            answer
            for number in numbers
            for answer in read_answers(number, study.run(number), question_id, condition)
            if not answer.slot
        ),
        pane=next(iter(panes_of(run, question_id, condition)), None),
    )


def common_questions(mine: ExploredRun, other: ExploredRun) -> list[tuple[int, int]]:
    """Return the places of every question that is the same in two runs, in both."""
    theirs = {question.id: (at, question.content) for at, question in enumerate(other.table.questions)}
    return [
        (at, theirs[question.id][0])
        for at, question in enumerate(mine.table.questions)
        if question.id in theirs and theirs[question.id][1] == question.content
    ]


def common_conditions(mine: ExploredRun, other: ExploredRun) -> tuple[str, ...]:
    """Return the conditions that two runs were both asked, the baseline first."""
    names = dict.fromkeys((mine.baseline, *mine.table.conditions))
    return tuple(name for name in names if name in other.table.conditions)


def datasets_of(run: ExploredRun) -> list[str]:
    """Return (n_questions,) the dataset of each question."""
    return [question.source or NONE for question in run.table.questions]


def categories_of(run: ExploredRun) -> list[str]:
    """Return (n_questions,) the category of each question's dataset, or its task where no category is known."""
    name = run.table.run.benchmark.name
    known: dict[str, str] = {}
    if name in published_benchmarks():
        known = {one.name: one.category for one in read_published(name).datasets}
    return [known.get(one.source or "") or one.task or NONE for one in run.table.questions]


def _marks(run: ExploredRun, condition: str) -> list[str]:
    column = run.table.conditions.index(condition)
    return [MARKS[code] for code in verdict_codes(run)[:, column].tolist()]


def _fits(first: str, second: str, wanted: PairFilter) -> bool:
    return (
        wanted.first_mark in {"", first}
        and wanted.second_mark in {"", second}
        and (not wanted.differ or first != second)
    )


def _counted(values: Iterable[str]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return tuple(sorted(counts.items()))


def shown_pair(study: Study) -> tuple[int, int]:
    """Return the two runs to open with: the first two that asked the same, else one run against itself."""
    for number in range(len(study.runs)):
        others = [other for other in study.comparable(number) if other != number]
        if others:
            return number, others[0]
    return (0, 0)

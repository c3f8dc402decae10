"""What each screen shows, as plain values: the server and the static site print the same."""

from collections.abc import Sequence
from math import isnan

import msgspec
import numpy as np

from eyechart.errors import UsageError
from eyechart.explorer.filters import (
    MARKS,
    RIGHT,
    UNSCORED,
    WRONG,
    Facet,
    Filter,
    choose,
    find_facets,
    matching,
    verdict_codes,
    verdict_mask,
)
from eyechart.explorer.links import N_PER_PAGE, Links
from eyechart.explorer.study import CROP, ExploredRun, Study
from eyechart.figures import (
    format_contrast,
    format_count,
    format_estimate,
    format_n,
    format_p,
    format_px,
)
from eyechart.schema import Contrast
from eyechart.stats.arrays import Bools
from eyechart.stats.conditions import ScoreTable, contrasts_between

_CLIPPED_TEXT = 110
_MOST_SHORTCUTS = 6


class RunTab(msgspec.Struct, frozen=True):
    """A run in the list of runs.

    Args:
        title: Names it among runs of other benchmarks too.
        comparable: Numbers of the runs that it can be compared with, perhaps its own.
    """

    number: int
    label: str
    title: str
    name: str
    benchmark: str
    n_questions: str
    accuracy: str
    address: str
    grid: str
    comparable: tuple[int, ...]


class GridRow(msgspec.Struct, frozen=True):
    """One question of the matrix; ``marks`` has one verdict per condition."""

    id: str
    text: str
    task: str
    target: str
    seen: str
    marks: tuple[str, ...]
    n_right: int
    address: str


class GridPage(msgspec.Struct, frozen=True, kw_only=True):
    """The matrix of one run under one choice of questions."""

    number: int
    conditions: tuple[str, ...]
    wanted: Filter
    facets: tuple[Facet, ...]
    rows: tuple[GridRow, ...]
    n_chosen: int
    n_questions: int
    page: int
    n_pages: int
    shares: tuple[str, ...]
    shortcuts: tuple[tuple[str, str, int], ...]


class Side(msgspec.Struct, frozen=True):
    """One side of a comparison: a condition of a run."""

    number: int
    condition: str


class CompareRow(msgspec.Struct, frozen=True, kw_only=True):
    """One paired comparison with its four counts; each count opens its questions."""

    label: str
    difference: str
    p: str
    n: str
    both_right: tuple[int, str]
    gained: tuple[int, str]
    lost: tuple[int, str]
    both_wrong: tuple[int, str]
    unscored: int
    is_significant: bool
    blocked_by: tuple[str, ...] = ()


class ComparePage(msgspec.Struct, frozen=True, kw_only=True):
    """Paired comparisons within one run, or of two runs."""

    first: int
    second: int
    heading: str
    rows: tuple[CompareRow, ...]
    note: str


def run_tabs(study: Study, links: Links) -> tuple[RunTab, ...]:
    """Return every run with the accuracy of its first condition."""
    return tuple(
        RunTab(
            number=number,
            label=run.label,
            title=f"{run.label} · {run.table.run.benchmark.name}",
            name=run.name,
            benchmark=run.table.run.benchmark.name,
            n_questions=format_count(len(run.table.questions)),
            accuracy=_headline(run),
            address=links.run(number),
            grid=links.grid(number),
            comparable=study.comparable(number),
        )
        for number, run in enumerate(study.runs)
    )


def grid_page(study: Study, number: int, wanted: Filter, links: Links, page: int = 1) -> GridPage:
    """Return the matrix of questions × conditions, 100 questions a page.

    Args:
        study: The runs.
        number: Which run.
        wanted: Which questions.
        links: Addresses.
        page: From 1; beyond the last page, the last.

    Raises:
        UsageError: If a condition or run of the choice is unknown.
    """
    run = study.run(number)
    chosen = choose(study, number, wanted)
    n_pages = max(1, -(-len(chosen) // N_PER_PAGE))
    page = min(max(page, 1), n_pages)
    shown = chosen[(page - 1) * N_PER_PAGE : page * N_PER_PAGE]
    codes = verdict_codes(run)
    return GridPage(
        number=number,
        conditions=run.table.conditions,
        wanted=wanted,
        facets=find_facets(study, number, wanted),
        rows=tuple(_grid_row(run, number, position, codes[position].tolist(), wanted, links) for position in shown),
        n_chosen=len(chosen),
        n_questions=len(run.table.questions),
        page=page,
        n_pages=n_pages,
        shares=_shares(run, chosen),
        shortcuts=_shortcuts(study, number, wanted),
    )


def _grid_row(
    run: ExploredRun, number: int, position: int, codes: Sequence[int], wanted: Filter, links: Links
) -> GridRow:
    question = run.table.questions[position]
    return GridRow(
        id=question.id,
        text=clip(run.texts[position]),
        task=question.task or "",
        target=_px(float(run.target_px[position])),
        seen=_px(float(run.seen_px[position])),
        marks=tuple(MARKS[code] for code in codes),
        n_right=sum(code == 0 for code in codes),
        address=links.question(number, question.id, wanted.query()),
    )


def clip(text: str, longest: int = _CLIPPED_TEXT) -> str:
    """Return a text on one line, cut where it is long.

    Example:
        >>> clip("a question that goes on", 12)
        'a question …'
    """
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()} …"


def _px(size_px: float) -> str:
    return "" if isnan(size_px) else format_px(size_px)


def _shares(run: ExploredRun, chosen: Sequence[int]) -> tuple[str, ...]:
    """Return, per condition, how many of the chosen questions are right, as ``right/scored``."""
    codes = verdict_codes(run)[list(chosen)]
    right, scored = (codes == RIGHT).sum(axis=0).tolist(), (codes != UNSCORED).sum(axis=0).tolist()
    return tuple(f"{one}/{all_of_them}" for one, all_of_them in zip(right, scored, strict=True))


def _shortcuts(study: Study, number: int, wanted: Filter) -> tuple[tuple[str, str, int], ...]:
    """Return the patterns that tell most, each with the query that chooses it and its count, commonest first."""
    run = study.run(number)
    others = matching(study, number, msgspec.structs.replace(wanted, right=(), wrong=(), unscored=()))
    codes = verdict_codes(run)
    at = {name: column for column, name in enumerate(run.table.conditions)}
    found = []
    for condition, baseline in run.baselines.items():
        if condition == baseline:
            continue
        for right, wrong in ((condition, baseline), (baseline, condition)):
            pattern = msgspec.structs.replace(wanted, right=(right,), wrong=(wrong,), unscored=())
            n_chosen = int((others & (codes[:, at[right]] == RIGHT) & (codes[:, at[wrong]] == WRONG)).sum())
            if n_chosen:
                entry = (f"right in {right}, wrong in {wrong}", pattern.query(), n_chosen)
                found.append((run.table.view_of[right] != CROP, -n_chosen, entry))
    return tuple(entry for *_, entry in sorted(found, key=lambda one: one[:2])[:_MOST_SHORTCUTS])


def neighbours(study: Study, number: int, wanted: Filter, question_id: str) -> tuple[int, int, str | None, str | None]:
    """Return where a question stands in a choice: its place from 1 (0 if outside), how many, and its neighbours."""
    run = study.run(number)
    ids = [run.table.questions[position].id for position in choose(study, number, wanted)]
    if question_id not in ids:
        return 0, len(ids), None, ids[0] if ids else None
    at = ids.index(question_id)
    before = ids[at - 1] if at else None
    after = ids[at + 1] if at + 1 < len(ids) else None
    return at + 1, len(ids), before, after


def compare_page(study: Study, first: int, second: int, links: Links) -> ComparePage:
    """Return paired comparisons: of every condition with the baseline in one run, or of two runs per condition.

    Args:
        study: The runs.
        first: The run that is compared.
        second: The run it is compared with; the same one compares its conditions with the baseline.
        links: Addresses.

    Raises:
        UsageError: If the runs share no question or no condition.
    """
    mine, other = study.run(first), study.run(second)
    if first == second:
        pairs = [(one, base) for one, base in mine.baselines.items() if one != base]
        whole = {base for _, base in pairs}
        heading = (
            f"{mine.label}: every view against {mine.baseline if len(whole) == 1 else 'the original of its level'}"
        )
        note = (
            "Differences, intervals and corrected p are those of the run’s report; counts are of questions, and a "
            "question asked several times counts as right from a mean score of one half."
        )
    else:
        pairs = [(one, one) for one in _shared(mine, other)]
        heading = f"{mine.label} against {other.label}, view by view"
        note = "Paired on common questions, clustered by picture; p by sign flips, Holm-corrected over the views shown."
    if not pairs:
        raise UsageError("there is nothing to compare", hint="two runs need a view in common, one run needs two views")
    contrasts = _contrasts_within(mine) if first == second else contrasts_of_runs(study, first, second)
    rows = tuple(
        _compare_row(study, Side(first, one), Side(second, two), contrasts.get((one, two)), links) for one, two in pairs
    )
    return ComparePage(first=first, second=second, heading=heading, rows=rows, note=note)


def _contrasts_within(run: ExploredRun) -> dict[tuple[str, str], Contrast]:
    return {(one.condition, one.baseline): one for one in run.summary.contrasts if one.subset is None}


def contrasts_of_runs(study: Study, first: int, second: int) -> dict[tuple[str, str], Contrast]:
    """Return the contrast ``first − second`` of every common condition on the questions that are the same in both.

    Raises:
        UsageError: If they share no view or no question.
    """
    mine, other = study.run(first), study.run(second)
    return study.remember(("contrasts", first, second), lambda: _contrasts_of_runs(mine, other, _shared(mine, other)))


def _shared(mine: ExploredRun, other: ExploredRun) -> list[str]:
    return [name for name in mine.table.conditions if name in other.table.conditions]


def _contrasts_of_runs(
    mine: ExploredRun, other: ExploredRun, conditions: Sequence[str]
) -> dict[tuple[str, str], Contrast]:
    if not conditions:
        raise UsageError(f"{mine.name} and {other.name} share no view", hint="compare runs that asked a common view")
    theirs = {question.id: (at, question.content) for at, question in enumerate(other.table.questions)}
    rows = [
        (at, theirs[question.id][0])
        for at, question in enumerate(mine.table.questions)
        if question.id in theirs and theirs[question.id][1] == question.content
    ]
    if not rows:
        raise UsageError(f"{mine.name} and {other.name} share no question", hint="compare runs that asked the same")
    own, foreign = [row[0] for row in rows], [row[1] for row in rows]
    names, pairs, values, present = [], [], [], []
    for condition in conditions:
        left, right = mine.table.conditions.index(condition), other.table.conditions.index(condition)
        names += [f"{condition}@1", f"{condition}@2"]
        pairs.append((f"{condition}@1", f"{condition}@2"))
        values += [mine.values[own, left], other.values[foreign, right]]
        present += [mine.present[own, left], other.present[foreign, right]]
    groups = [mine.table.questions[at].image_group for at in own]
    chance = mine.table.chance[own]
    scores = ScoreTable(
        np.stack(values, axis=1), np.stack(present, axis=1), groups, tuple(names), chance=chance, scorer=mine.scorer_id
    )
    found = contrasts_between(scores, pairs)
    by_name = {one.condition: one for one in found}
    return {(name, name): by_name[f"{name}@1"] for name in conditions if f"{name}@1" in by_name}


def _compare_row(study: Study, one: Side, two: Side, contrast: Contrast | None, links: Links) -> CompareRow:
    mine = study.run(one.number)
    right, wrong = _verdicts(study, one.number, one)
    other_right, other_wrong = _verdicts(study, one.number, two)
    baseline = two.condition if one.number == two.number else f"{two.condition}@{two.number}"

    def count(mask: Bools, wanted: Filter) -> tuple[int, str]:
        return int(mask.sum()), links.grid(one.number, wanted.query())

    n_paired = int(((right | wrong) & (other_right | other_wrong)).sum())
    return CompareRow(
        label=f"{one.condition} − {two.condition}" if one.number == two.number else one.condition,
        difference="–" if contrast is None else format_contrast(contrast),
        p="–" if contrast is None or contrast.p_adjusted is None else format_p(contrast.p_adjusted),
        n="–" if contrast is None else format_n(contrast.n_questions, contrast.n_clusters),
        both_right=count(right & other_right, Filter(right=(one.condition, baseline))),
        gained=count(right & other_wrong, Filter(right=(one.condition,), wrong=(baseline,))),
        lost=count(wrong & other_right, Filter(right=(baseline,), wrong=(one.condition,))),
        both_wrong=count(wrong & other_wrong, Filter(wrong=(one.condition, baseline))),
        unscored=len(mine.table.questions) - n_paired,
        is_significant=contrast is not None and contrast.claimed,
        blocked_by=() if contrast is None else contrast.blocked_by,
    )


def _verdicts(study: Study, number: int, side: Side) -> tuple[Bools, Bools]:
    """Return (n_questions,) of run ``number``: where a side is right, and where it is wrong."""
    name = side.condition if side.number == number else f"{side.condition}@{side.number}"
    return verdict_mask(study, number, "right", name), verdict_mask(study, number, "wrong", name)


def _headline(run: ExploredRun) -> str:
    """Return the accuracy under the baseline with its interval and n."""
    for estimate in run.summary.estimates:
        if estimate.condition == run.baseline and estimate.subset is None:
            return f"{format_estimate(estimate)} %, n = {format_count(estimate.n_questions)}"
    return "not scored"

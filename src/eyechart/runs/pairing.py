"""What two sides of a comparison share, and what forbids to pair them."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from eyechart.errors import StatisticsError
from eyechart.runs.cells import Cell, RunTable, Slot
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.clusters import find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.findings import Finding
from eyechart.stats.missing import ScoreBounds
from eyechart.stats.score_rules import check_missing, check_unparsed

# More questions than this on one side only are another set of questions (specification section 5).
_ID_SHARE_ERROR = 0.01
_MOST_IDS = 5
ONE_VIEW = "view"
"""Name that two views of one run share while they are paired."""


class Side(msgspec.Struct, frozen=True, eq=False):
    """One side of a comparison: a run, by the name that tells it from the others.

    Args:
        label: The name.
        table: The run, gathered.
        lenient: Question, condition, slot → score of answers that only the lenient mode reads.
    """

    label: str
    table: RunTable
    lenient: Mapping[Slot, float] = {}


class Paired(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The questions that all sides were asked, aligned.

    Args:
        sides: The sides.
        views: Conditions that all sides have and that were chosen.
        ids: (n_common,) question ids.
        rows: Per side, (n_common,) position of each id in its table.
        values: (n_common, n_views, n_sides) scores averaged over repeats.
        present: Same shape, True where there is a score.
        filled: Bounds of the scores, of the same shape, whatever the missing answers are.
    """

    sides: tuple[Side, ...]
    views: tuple[str, ...]
    ids: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    values: Floats
    present: Bools
    filled: ScoreBounds

    @property
    def is_finished(self) -> bool:
        """Whether every side is; before that nothing is claimed."""
        return all(side.table.is_finished for side in self.sides)

    @property
    def image_groups(self) -> list[str]:
        """(n_common,) cluster of each question."""
        first = self.sides[0].table
        return [first.questions[row].image_group for row in self.rows[0]]

    def cells(self, side: int, view: str) -> list[Cell | None]:
        """Return the first repeat of every common question under one view."""
        table = self.sides[side].table
        condition = table.conditions.index(view)
        return [table.cells.get((row, condition, 0)) for row in self.rows[side]]


def pair_sides(sides: Sequence[Side], views: Sequence[str] = ()) -> Paired:
    """Align runs on the questions they share: same id, and same text, options, answer, picture and targets.

    Args:
        sides: At least two runs.
        views: Conditions to compare; all that the sides share if none is named.

    Raises:
        StatisticsError: If the sides share no condition, lack a named one, or share no question.
    """
    shared = [name for name in sides[0].table.conditions if all(name in side.table.conditions for side in sides[1:])]
    lacking = [name for name in views if name not in shared]
    if lacking or not shared:
        raise StatisticsError(
            f"not asked on every side: {', '.join(lacking)}" if lacking else "the runs share no view",
            hint=f"shared views: {', '.join(shared) or 'none'}",
        )
    contents = [{question.id: question.content for question in side.table.questions} for side in sides]
    ids = tuple(
        name for name, content in contents[0].items() if all(other.get(name) == content for other in contents[1:])
    )
    if not ids:
        raise StatisticsError(
            f"{' and '.join(side.label for side in sides)} share no question", hint="compare runs of one benchmark"
        )
    chosen = tuple(views) or tuple(shared)
    places = [{question.id: row for row, question in enumerate(side.table.questions)} for side in sides]
    rows = tuple(tuple(place[name] for name in ids) for place in places)
    values, present, filled = [], [], []
    for side, own in zip(sides, rows, strict=True):
        columns = [side.table.conditions.index(view) for view in chosen]
        scores, mask = side.table.scores()
        values.append(scores[np.ix_(own, columns)])
        present.append(mask[np.ix_(own, columns)])
        filled.append(side.table.bounds().at(np.ix_(own, columns)))
    return Paired(
        sides=tuple(sides),
        views=chosen,
        ids=ids,
        rows=rows,
        values=np.stack(values, axis=2),
        present=np.stack(present, axis=2),
        filled=ScoreBounds(
            lowest=np.stack([one.lowest for one in filled], axis=2),
            highest=np.stack([one.highest for one in filled], axis=2),
            asked=np.stack([one.asked for one in filled], axis=2),
        ),
    )


def check_pairing(paired: Paired) -> tuple[Finding, ...]:
    """Return what speaks against pairing these sides; errors forbid it unless they are allowed by name."""
    found: list[Finding | None] = [_check_questions(paired), _check_faults(paired.sides)]
    for side in range(1, len(paired.sides)):
        found += [
            _check_cells(paired, side, Code.DIFFERENT_PROMPTS, "asked with another prompt", _prompts),
            _check_cells(paired, side, Code.HETEROGENEOUS_SETTINGS, "shown or sampled in another way", _transports),
        ]
    for index, view in enumerate(paired.views):
        found += _check_answers(paired, index, view)
    return tuple(one for one in found if one is not None)


def refuse(findings: Iterable[Finding], allowed: Iterable[str]) -> tuple[Finding, ...]:
    """Return the findings, allowed errors turned into warnings.

    Args:
        findings: What speaks against the comparison.
        allowed: Codes of errors that the user takes responsibility for.

    Raises:
        StatisticsError: If an error remains; the message holds all of them.
    """
    names = set(allowed)
    kept, errors = [], []
    for finding in findings:
        is_allowed = finding.level == "error" and str(finding.code) in names
        if finding.level == "error" and not is_allowed:
            errors.append(finding)
        message = f"{finding.message} (allowed by --allow {finding.code})" if is_allowed else finding.message
        kept.append(msgspec.structs.replace(finding, level="warning" if is_allowed else finding.level, message=message))
    if errors:
        codes = list(dict.fromkeys(str(finding.code) for finding in errors))
        raise StatisticsError(
            "not compared: " + "; ".join(f"{finding.code}: {finding.message}" for finding in errors),
            hint=f"{' '.join(f'--allow {code}' for code in codes)} compares them all the same, and says so",
        )
    return tuple(kept)


class _Look(msgspec.Struct, frozen=True):
    """Which part of a request must agree between sides."""

    has_pictures: bool

    def __call__(self, cell: Cell) -> str:
        return " ".join((cell.settings, *cell.recipes)) if self.has_pictures else cell.prompt_sha256


_prompts, _transports = _Look(has_pictures=False), _Look(has_pictures=True)


def _check_questions(paired: Paired) -> Finding | None:
    """Find questions that not all sides were asked, or that differ under one id."""
    common = set(paired.ids)
    every: dict[str, None] = {}
    for side in paired.sides:
        every.update(dict.fromkeys(question.id for question in side.table.questions))
    apart = [name for name in every if name not in common]
    if not apart:
        return None
    counts = ", ".join(f"{side.label} n = {len(side.table.questions)}" for side in paired.sides)
    more = "" if len(apart) <= _MOST_IDS else f" and {len(apart) - _MOST_IDS} more"
    return Finding(
        code=Code.SUBSET_MISMATCH,
        level="error" if len(apart) / len(every) > _ID_SHARE_ERROR else "warning",
        message=f"{len(apart)} of {len(every)} questions were not asked, or not asked alike, on every side ({counts}): "
        f"{', '.join(apart[:_MOST_IDS])}{more}; the other {len(common)} are compared",
    )


def _check_faults(sides: Iterable[Side]) -> Finding | None:
    """Find sides that were asked of a collection with errors."""
    faulty = {side.label: side.table.run.allowed_faults for side in sides if side.table.run.allowed_faults}
    if not faulty:
        return None
    # Two views of one run have the same.
    labels: dict[tuple[str, ...], list[str]] = {}
    for label, faults in faulty.items():
        labels.setdefault(faults, []).append(label)
    named = "; ".join(f"{', '.join(names)}: {', '.join(faults)}" for faults, names in labels.items())
    return Finding(
        code=Code.ALLOWED_FAULTS,
        level="warning",
        message=f"asked with --allow-faults of a collection that has errors ({named})",
    )


def _check_cells(paired: Paired, side: int, code: Code, what: str, look: _Look) -> Finding | None:
    """Find questions whose requests differ between the first side and another one."""
    views, examples = [], {}
    for view in paired.views:
        pairs = zip(paired.cells(0, view), paired.cells(side, view), strict=True)
        differing = [(look(one), look(other)) for one, other in pairs if one and other and look(one) != look(other)]
        if differing:
            views.append(f"{view} {len(differing)} of {len(paired.ids)}")
            examples[view] = differing[0]
    if not views:
        return None
    one, other = next(iter(examples.values()))
    return Finding(
        code=code,
        level="error",
        message=f"{paired.sides[side].label} was {what} than {paired.sides[0].label} ({', '.join(views)}), "
        f"for example “{one[:80]}” and “{other[:80]}”",
    )


def _check_answers(paired: Paired, index: int, view: str) -> list[Finding | None]:
    """Find missing or unreadable answers that depend on the side."""
    unparsed = np.stack(
        [_unparsed(side.table, view)[list(rows)] for side, rows in zip(paired.sides, paired.rows, strict=True)], axis=1
    )
    clusters = find_clusters(paired.image_groups)
    labels = [side.label if view == ONE_VIEW else f"{side.label} on {view}" for side in paired.sides]
    present = np.asarray(paired.present[:, index], dtype=np.bool_)
    return [check_missing(present, clusters, labels), check_unparsed(unparsed, present, clusters, labels)]


def _unparsed(table: RunTable, view: str) -> Floats:
    """Return (n_questions,) shares of a question's answers under one view that could not be read."""
    keys = (key for key, cell in table.cells.items() if cell.is_unparsed)
    return table.shares(keys)[:, table.conditions.index(view)]

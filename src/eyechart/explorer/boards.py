"""The leaderboards of a study: published rows and its own runs, or its own runs alone."""

from collections import Counter
from threading import Lock
from typing import NamedTuple

import msgspec

from eyechart.benchmarks._published import published_benchmarks, read_published
from eyechart.errors import UsageError
from eyechart.explorer.study import ExploredRun, Study
from eyechart.runs.answer_rules import blocking_answers
from eyechart.runs.board import Board
from eyechart.runs.grid_board import build_grid_board, gather_grids
from eyechart.runs.leaderboard import build_board
from eyechart.runs.own_board import EstimatedRun, build_own_board
from eyechart.runs.own_rows import OwnRun, has_whole_picture
from eyechart.stats.averages import RULES, Rule

GRIDS = ("whitebackground", "complexgrid")
_GRIDS_OF = "hrscene"
_ONE = ""
_DEFAULT_RULE: Rule = "size_weighted"


class BoardKey(NamedTuple):
    """Which board: split and averaging rule are empty where the benchmark has but one board."""

    benchmark: str
    split: str = _ONE
    rule: str = _ONE


class Boards:
    """Makes the boards of a study, each once.

    Args:
        study: The runs.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._made: dict[BoardKey, Board] = {}
        self._lock = Lock()
        self.keys = _keys(study)

    def find(self, benchmark: str = "", split: str = "", rule: str = "") -> BoardKey:
        """Return the board that is meant; what is left out is that of the first board that fits.

        Raises:
            UsageError: If there is none.
        """
        wanted = (benchmark, split, rule)
        for key in self.keys:
            if all(asked in {"", own} for asked, own in zip(wanted, key, strict=True)):
                return key
        raise UsageError(f"there is no board {' '.join(filter(None, wanted))}", hint="follow a link of the page")

    def is_own(self, key: BoardKey) -> bool:
        """Whether runs of the study stand on a board."""
        return key.benchmark not in published_benchmarks() or any(
            run.table.run.benchmark.name == key.benchmark and _split_of(run) == key.split for run in self._study.runs
        )

    def board(self, key: BoardKey) -> Board:
        """Return a board.

        Raises:
            UsageError: If a run cannot stand on it.
        """
        with self._lock:
            if key not in self._made:
                self._made[key] = self._make(key)
            return self._made[key]

    def _make(self, key: BoardKey) -> Board:
        runs = [run for run in self._study.runs if run.table.run.benchmark.name == key.benchmark]
        if key.benchmark in GRIDS:
            grids = gather_grids(
                [(name, run.table, run.scorer_id) for name, run in zip(_names(runs), runs, strict=True)]
            )
            return build_grid_board(read_published(_GRIDS_OF), key.benchmark, grids)
        if key.benchmark not in published_benchmarks():
            shown = [run for run in runs if not _forbidden(run)]
            if runs and not shown:
                raise UsageError(f"no run can be placed: {_forbidden(runs[0])}", hint="see its own report")
            board = build_own_board(
                [EstimatedRun(own, run.summary) for own, run in zip(_own_runs(shown), shown, strict=True)]
            )
            notes = [f"{run.name} is not on the board: {_forbidden(run)}." for run in runs if _forbidden(run)]
            return msgspec.structs.replace(board, notes=(*board.notes, *notes))
        shown = [run for run in runs if _split_of(run) == key.split and not _why_not(run)]
        board = build_board(read_published(key.benchmark), key.split, _rule(key.rule), _own_runs(shown))
        return msgspec.structs.replace(board, notes=(*board.notes, *self._left_out(runs, key.split)))

    def _left_out(self, runs: list[ExploredRun], split: str) -> list[str]:
        """Say which runs of the benchmark do not stand on the board of a split."""
        notes = [f"{run.name} is not on the board: {_why_not(run)}." for run in runs if _why_not(run)]
        others = Counter(_split_of(run) for run in runs if _split_of(run) != split)
        return notes + [
            f"{n} own {'run' if n == 1 else 'runs'} asked split {other}, which has a board of its own."
            for other, n in others.items()
        ]


def _keys(study: Study) -> tuple[BoardKey, ...]:
    """Return every board of a study: those of its own splits before those that only hold published rows."""
    keys: list[BoardKey] = []
    for name in dict.fromkeys(run.table.run.benchmark.name for run in study.runs):
        if name not in published_benchmarks():
            keys.append(BoardKey(name))
            continue
        runs = [run for run in study.runs if run.table.run.benchmark.name == name]
        own = [_split_of(run) for run in runs if not _why_not(run)]
        splits = dict.fromkeys((*own, *read_published(name).boards))
        rules = (_DEFAULT_RULE, *(rule for rule in RULES if rule != _DEFAULT_RULE))
        keys += [BoardKey(name, split, rule) for split in splits for rule in rules]
    return tuple(keys)


def _rule(name: str) -> Rule:
    return next(rule for rule in RULES if rule == name)


def _split_of(run: ExploredRun) -> str:
    return str(run.table.run.benchmark.options.get("split") or "test")


def _why_not(run: ExploredRun) -> str:
    """Return why a run cannot stand beside published rows, empty if it can."""
    if not has_whole_picture(run.table):
        return "it asked no view original"
    if all(question.answer is None for question in run.table.questions):
        return "the right answers of its split are hidden"
    return _forbidden(run)


def _forbidden(run: ExploredRun) -> str:
    """Return which rule forbids to place a run, empty if none does."""
    found = blocking_answers([(run.name, run.table)])
    return f"{found[0].code}, {found[0].message}" if found else ""


def _own_runs(runs: list[ExploredRun]) -> list[OwnRun]:
    return [
        OwnRun(name, run.table, run.table.run.created_at[:10], (run.values, run.present))
        for name, run in zip(_names(runs), runs, strict=True)
    ]


def _names(runs: list[ExploredRun]) -> list[str]:
    """Return the models of runs, or their folders where a model repeats."""
    models = [run.model for run in runs]
    return models if len(set(models)) == len(models) else [run.name for run in runs]

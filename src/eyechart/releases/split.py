"""Splits that keep every picture, and so every view of its questions, on one side."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from eyechart.errors import UsageError
from eyechart.images.files import write_pieces
from eyechart.schema import Question, Value, content_sha256

MIN_SPLITS = 2

_SHARE_TOLERANCE = 1e-6
_MOST_PASSES = 20
_LEAST_GAIN = 1e-9
# The overall share matters more than that of any one stratum.
_ALL = ("all", "")
_ALL_WEIGHT = 8.0

Stratum = tuple[str, str]


class Split(Value, frozen=True):
    """Which part each question belongs to, and how the parts came about.

    Args:
        parts: Question id to part, in the order of the questions.
        shares: Wanted share of the questions by part.
        seed: Seed of the shuffle.
        counts: Questions by part.
        id: Hash of all of the above.
    """

    parts: dict[str, str]
    shares: dict[str, float]
    seed: int
    counts: dict[str, int]
    id: str


def split_questions(questions: Sequence[Question], shares: Mapping[str, float], *, seed: int) -> Split:
    """Split questions by image group, stratified by task and source.

    Questions that share an image group or an original file stay together; a view of a question has the id of the
    question and so no side of its own. Groups are shuffled, then the largest first go where they bring the counts
    nearest to what is wanted; then single groups move as long as that helps. The result depends on the seed and on
    ids, groups, tasks and sources, not on the order given.

    Args:
        questions: The questions.
        shares: Wanted share by part; positive, with sum 1.
        seed: Seed of the shuffle.

    Raises:
        UsageError: If shares are not at least two positive numbers with sum 1, or a part stays empty.

    Example:
        >>> split_questions([], {"dev": 0.5, "test": 0.6}, seed=0)
        Traceback (most recent call last):
            ...
        eyechart.errors.UsageError: shares dev=0.5, test=0.6 are not two or more positive numbers with sum 1
        hint: dev=0.2,test=0.8
    """
    _check_shares(shares)
    groups = _joined_groups(questions)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(groups)).tolist()
    order.sort(key=lambda index: -len(groups[index]))  # stable: equal sizes stay shuffled
    held = [Counter(stratum for question in group for stratum in _strata(question)) for group in groups]
    chosen = _Balance(shares, sum(held, Counter())).divide(held, order)
    part_of = {question.id: chosen[index] for index, group in enumerate(groups) for question in group}
    parts = {question.id: part_of[question.id] for question in questions}
    counts = Counter(parts.values())
    empty = [part for part in shares if not counts[part]]
    if empty:
        raise UsageError(
            f"part {empty[0]} stays empty with {len(groups)} image groups",
            hint="give it a larger share, or leave it out",
        )
    named = {part: float(share) for part, share in shares.items()}
    identity = content_sha256([sorted(parts.items()), named, seed])
    return Split(parts, named, seed, {part: counts[part] for part in shares}, identity)


def write_split(split: Split, path: Path) -> None:
    """Write a split as JSON.

    Raises:
        StoreError: If the file cannot be written.
    """
    write_pieces(path, [msgspec.json.format(msgspec.json.encode(split), indent=2), b"\n"])


def _joined_groups(questions: Sequence[Question]) -> list[list[Question]]:
    """Return the questions in groups that share an image group or an original file, directly or through others."""
    root: dict[str, str] = {}

    def find(key: str) -> str:
        while root.setdefault(key, key) != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    for question in questions:
        first, second = find(f"group:{question.image_group}"), find(f"file:{question.image.file_sha256}")
        root[max(first, second)] = min(first, second)
    groups: dict[str, list[Question]] = {}
    for question in sorted(questions, key=lambda question: question.id):
        groups.setdefault(find(f"group:{question.image_group}"), []).append(question)
    return list(groups.values())


def _strata(question: Question) -> tuple[Stratum, ...]:
    """Return what a split should balance: all questions, the task, the source, and both together."""
    task, source = question.task or "", question.source or ""
    return (_ALL, ("task", task), ("source", source), ("both", f"{task}\n{source}"))


class _Balance:
    """How far each part is from what it should get, as sum over strata of (got − wanted)²/wanted."""

    def __init__(self, shares: Mapping[str, float], strata: Counter[Stratum]) -> None:
        self._wanted = {part: {name: share * n for name, n in strata.items()} for part, share in shares.items()}
        self._taken: dict[str, Counter[Stratum]] = {part: Counter() for part in shares}

    def divide(self, held: Sequence[Counter[Stratum]], order: Sequence[int]) -> list[str]:
        """Return the part of each group.

        Args:
            held: What each group holds, by stratum.
            order: In which order the groups are placed.
        """
        chosen = [""] * len(held)
        for index in order:
            chosen[index] = min(self._taken, key=lambda part: self._change(part, held[index], 1))
            self._taken[chosen[index]].update(held[index])
        for _ in range(_MOST_PASSES):
            if not sum(self._move(chosen, held, index) for index in order):
                break
        return chosen

    def _move(self, chosen: list[str], held: Sequence[Counter[Stratum]], index: int) -> bool:
        """Move a group to the part where it fits better, if there is one."""
        here, group = chosen[index], held[index]
        leaving = self._change(here, group, -1)
        changes = {part: leaving + self._change(part, group, 1) for part in self._taken if part != here}
        best = min(changes, key=lambda part: changes[part])
        if changes[best] >= -_LEAST_GAIN:
            return False
        self._taken[here].subtract(group)
        self._taken[best].update(group)
        chosen[index] = best
        return True

    def _change(self, part: str, group: Counter[Stratum], sign: int) -> float:
        """Return by how much a part's distance changes when a group comes (1) or goes (−1)."""
        taken, wanted = self._taken[part], self._wanted[part]
        return sum(
            (_ALL_WEIGHT if name == _ALL else 1.0) * n * (n + 2 * sign * (taken[name] - wanted[name])) / wanted[name]
            for name, n in group.items()
        )


def _check_shares(shares: Mapping[str, float]) -> None:
    is_whole = abs(sum(shares.values()) - 1.0) <= _SHARE_TOLERANCE
    if len(shares) < MIN_SPLITS or not is_whole or min(shares.values()) <= 0:
        given = ", ".join(f"{part}={share}" for part, share in shares.items())
        raise UsageError(
            f"shares {given or 'none'} are not two or more positive numbers with sum 1", hint="dev=0.2,test=0.8"
        )

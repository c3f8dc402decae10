"""What a collection changes about its sources' questions: stems without options, and tasks under their new names."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from eyechart.errors import UsageError
from eyechart.releases.stems import SplitReport, StemSplit, report_splits, split_stem
from eyechart.schema import Question


class Curated(NamedTuple):
    """Questions as a collection publishes them, and what was changed.

    Args:
        questions: With their stems and new task names; ``text_raw`` keeps the source text.
        splits: What became of each text, by question id.
        old_tasks: Task of each renamed question in its source, by question id.
    """

    questions: tuple[Question, ...]
    splits: dict[str, StemSplit]
    old_tasks: dict[str, str]

    @property
    def split_report(self) -> SplitReport:
        """How many texts were split, and which were not although they look so."""
        return report_splits(list(self.splits.items()))


def curate(questions: Iterable[Question], tasks: Mapping[str, str] | None = None) -> Curated:
    """Split stems from options by rule, and rename tasks.

    Where a source's reader already separated the two, ``text_raw`` stands and nothing is split again.

    Args:
        questions: The questions as their sources have them.
        tasks: New name by old name; tasks that are not named keep theirs.

    Raises:
        UsageError: If a task is mapped to a name that is itself mapped to another.
    """
    tasks = dict(tasks or {})
    for old, new in tasks.items():
        if tasks.get(new, new) != new:
            raise UsageError(f"task {old!r} is mapped to {new!r}, which is mapped on", hint="name the last one")
    curated: list[Question] = []
    splits: dict[str, StemSplit] = {}
    old_tasks: dict[str, str] = {}
    for question in questions:
        if question.text_raw is not None and question.text_raw != question.text:
            cut = question.text_raw.removeprefix(question.text)
            split = StemSplit(question.text, "split", cut if cut != question.text_raw else "")
        else:
            split = split_stem(question.text, question.choices)
        splits[question.id] = split
        task = question.task if question.task is None else tasks.get(question.task, question.task)
        if question.task is not None and task != question.task:
            old_tasks[question.id] = question.task
        raw = question.text if question.text_raw is None else question.text_raw
        curated.append(msgspec.structs.replace(question, text=split.stem, text_raw=raw, task=task))
    return Curated(tuple(curated), splits, old_tasks)

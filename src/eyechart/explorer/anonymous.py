"""Runs as the explorer reads them, without names of people, machines, folders, servers and organisations."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from eyechart.explorer.labels import model_label, tell_apart
from eyechart.explorer.study import Entry, ExploredRun, Study
from eyechart.runs.anonymous import Cleaner, cleaner_of
from eyechart.runs.anonymous_items import anonymise_items, rename
from eyechart.runs.items import Items, gather_items
from eyechart.runs.readings import judge_unread
from eyechart.runs.store import RunStore
from eyechart.runs.summarise import summarise_items
from eyechart.schema import Question, Request, Response, Run, Score


class AnonymousRun(ExploredRun):
    """A run whose every text is clean; its pictures stay as they are.

    Args:
        store: The run folder.
        scorer: As of ``ExploredRun``.
        name: How to call it instead of its folder.
        names: Words to remove besides those that are recognised.
    """

    def __init__(self, store: RunStore, scorer: str | None, name: str, names: Collection[str]) -> None:
        super().__init__(store, scorer)
        self._name = name
        self._cleaner = cleaner_of(self.summary, names)
        self._renamed = rename(self.table, self._cleaner)
        self._recorded_ids = {shown: own for own, shown in self._renamed.ids.items()}
        # From clean answers, because causes of failures blur the digits by which names are encoded.
        clean = anonymise_items(self._items(), self._cleaner)
        self.table = clean.table
        self.summary = self._cleaner.summary(summarise_items(clean))
        self._position_of = {one.id: position for position, one in enumerate(self.table.questions)}
        self.texts = tuple(map(self._cleaner.clean, self.texts))
        self.label = model_label(self.table.run)

    def _items(self) -> Items:
        lenient = judge_unread(self.store, self.table, self.scorer_id, tuple(self._scores.values()))
        return gather_items(self.store, self.table, self.scorer_id, lenient)

    @property
    def name(self) -> str:
        """Name instead of that of the folder."""
        return self._name

    @property
    def recorded(self) -> Run:
        """The settings as they were recorded: only for finding pictures."""
        return self.store.run

    def clean(self, text: str) -> str:
        """Return a text without private parts."""
        return self._cleaner.clean(text)

    def question(self, question_id: str) -> Question | None:
        """Return a question with clean texts."""
        own = super().question(self._recorded_ids.get(question_id, question_id))
        if own is None:
            return None
        shown, clean = self._renamed, self._cleaner.clean
        return replace(
            own,
            id=question_id,
            text=clean(own.text),
            choices=tuple(map(clean, own.choices)),
            answers=tuple(map(clean, own.answers)),
            image_group=shown.groups[own.image_group],
            task=None if own.task is None else shown.tasks[own.task],
            source=None if own.source is None else shown.sources[own.source],
            notes=tuple(map(clean, own.notes)),
        )

    def _entry(
        self, key: tuple[int, int, int], requests: Mapping[str, Request], responses: Mapping[str, Response]
    ) -> Entry:
        entry = super()._entry(key, requests, responses)
        request, response, score = entry.request, entry.response, entry.score
        shown = replace(
            request,
            question_id=self._renamed.ids[request.question_id],
            prompt=self._cleaner.clean(request.prompt),
            choices=tuple(map(self._cleaner.clean, request.choices)),
        )
        if response is not None:
            response, score = clean_answer(response, score, self._cleaner)
        if score is not None and score.answer is not None:
            score = replace(score, answer=self._cleaner.clean(score.answer))
        return replace(entry, request=shown, response=response, score=score)


def read_anonymous_study(folders: Sequence[Path], scorer: str | None = None, names: Collection[str] = ()) -> Study:
    """Read run folders without private parts; nothing is written and no model is asked.

    Args:
        folders: Run folders.
        scorer: Whose scores to show; each run's own if left out.
        names: Words to remove besides those that are recognised.

    Raises:
        StoreError: If a folder holds no run.
        UsageError: If none is named, or the scorer is unknown.
    """
    runs = [AnonymousRun(RunStore(folder), scorer, f"run {number}", names) for number, folder in enumerate(folders, 1)]
    for run, label in zip(runs, tell_apart([run.table.run for run in runs], [run.name for run in runs]), strict=True):
        run.label = label
    return Study(runs)


def clean_answer(response: Response, score: Score | None, cleaner: Cleaner) -> tuple[Response, Score | None]:
    """Return an answer with clean texts, and its score with the span where it now is, None where it fell apart."""
    text = response.text
    if text is not None and score is not None and score.span is not None:
        begin, end = score.span
        parts = [cleaner.clean(part) for part in (text[:begin], text[begin:end], text[end:])]
        text = cleaner.clean(text)
        first = len(parts[0])
        score = replace(score, span=(first, first + len(parts[1])) if "".join(parts) == text else None)
    elif text is not None:
        text = cleaner.clean(text)
    clean = replace(
        response,
        text=text,
        reasoning=None if response.reasoning is None else cleaner.clean(response.reasoning),
        error=None if response.error is None else cleaner.clean(response.error),
        finish=None if response.finish is None else cleaner.clean(response.finish),
    )
    return clean, score

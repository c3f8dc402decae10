"""What the side-by-side screen of a static site reads: questions once, and a script of answers per run and view."""

from collections.abc import Iterator
from typing import Protocol

from eyechart.explorer.links import SiteLinks
from eyechart.explorer.pages import run_tabs
from eyechart.explorer.pair import N_SHOWN, categories_of, datasets_of, shown_pair
from eyechart.explorer.question import ViewPane, choices_of, panes_of, read_answers
from eyechart.explorer.screens import pair_labels, script_json
from eyechart.explorer.study import ExploredRun, Study
from eyechart.schema import JsonObject, Size


class WrittenPictures(Protocol):
    """Says in which file of the site a picture is."""

    def source(self, number: int, pane: ViewPane, seen: Size | None) -> JsonObject | None:
        """Return the file with its size, its address as from a page one folder down; None if it is not there."""
        ...


class PairData:
    """Prepares the data of the side-by-side screen.

    Args:
        study: The runs.
        pages: Question id → name of its file, per run.
        pictures: The pictures of the site.
    """

    def __init__(self, study: Study, pages: tuple[dict[str, str], ...], pictures: WrittenPictures) -> None:
        self._study, self._pages, self._pictures = study, pages, pictures

    def page(self) -> JsonObject:
        """Return what stands in the page: runs, their views with the file of each, and the questions of each benchmark.

        Texts stand there once per benchmark and wording, however many runs share them.
        """
        questions: dict[str, JsonObject] = {}
        runs: list[JsonObject] = []
        tabs = run_tabs(self._study, SiteLinks("", self._pages))
        for number, run in enumerate(self._study.runs):
            shown = self._questions(run)
            key = next((key for key, known in questions.items() if known == shown), None)
            if key is None:
                key = str(len(questions))
                questions[key] = shown
            runs.append(self._run(number, run, tabs[number].title, key))
        return {"runs": runs, "questions": questions, "opening": list(shown_pair(self._study)), "shown": N_SHOWN}

    def scripts(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and content of every script of answers."""
        for number, run in enumerate(self._study.runs):
            for name, condition in zip(_files(number, run), run.table.conditions, strict=True):
                answers = {
                    question.id: row
                    for question in run.table.questions
                    if (row := self._row(number, run, question.id, condition)) is not None
                }
                yield name, f"eyechartAnswers[{script_json(name)}] = {script_json(answers)};\n".encode()

    def _run(self, number: int, run: ExploredRun, title: str, key: str) -> JsonObject:
        labels = pair_labels(run)
        views = dict.fromkeys((run.baseline, *run.table.conditions))
        return {
            "label": run.label,
            "title": title,
            "key": key,
            "words": [labels["dataset"], labels["category"]],
            "views": list(views),
            "files": dict(zip(run.table.conditions, _files(number, run), strict=True)),
            "questions": [[question.id, question.content] for question in run.table.questions],
            "pages": self._pages[number],
        }

    def _questions(self, run: ExploredRun) -> JsonObject:
        shown: JsonObject = {}
        datasets, categories = datasets_of(run), categories_of(run)
        for at, one in enumerate(run.table.questions):
            question = run.question(one.id)
            choices = () if question is None else choices_of(question)
            shown[one.id] = {
                "text": run.texts[at],
                "dataset": datasets[at],
                "category": categories[at],
                "choices": [[choice.letter, choice.text, choice.is_gold] for choice in choices],
            }
        return shown

    def _row(self, number: int, run: ExploredRun, question_id: str, condition: str) -> list[object] | None:
        """Return mark, letter, reason, the text around the span, caption and picture; None if it was not asked."""
        answer = next((one for one in read_answers(number, run, question_id, condition) if not one.slot), None)
        if answer is None:
            return None
        pane = next(iter(panes_of(run, question_id, condition)), None)
        source = None if pane is None else self._pictures.source(number, pane, None)
        if source is not None:
            source = {**source, "url": str(source["url"]).removeprefix("../")}
        caption = "" if pane is None else pane.caption
        if source is not None and not source["exact"]:
            caption += f" · shrunk for this site to {source['width']}×{source['height']}"
        text = [answer.before, answer.lit, answer.after]
        return [answer.mark, answer.letter, answer.reason, *text, caption, source]


def _files(number: int, run: ExploredRun) -> list[str]:
    return [f"answers/run{number}-{at}.js" for at in range(len(run.table.conditions))]

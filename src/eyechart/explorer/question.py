"""The *Question* screen: one question, its views with their geometry, and what each model answered."""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from eyechart.errors import UsageError
from eyechart.explorer.filters import Filter
from eyechart.explorer.links import Links
from eyechart.explorer.pages import neighbours
from eyechart.explorer.study import CROP, Entry, ExploredRun, Study
from eyechart.figures import format_size
from eyechart.runs.gold import shown_cell
from eyechart.schema import Box, Composition, Picture, Question, Size

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Mark = Literal["right", "wrong", "unscored", "missing"]


class Choice(msgspec.Struct, frozen=True):
    """One option under its letter."""

    letter: str
    text: str
    is_gold: bool


class ViewPane(msgspec.Struct, frozen=True, kw_only=True):
    """A picture that a pane can show.

    ``origin`` and ``scale`` map it to the original: original px = ``origin`` + view px / ``scale``, per axis; None
    where it shows nothing of the original. ``target`` is the target in view px. ``seen_size`` is what the model saw.
    """

    condition: str
    index: int
    request_id: str
    picture: Picture
    width: int
    height: int
    origin: tuple[float, float] | None
    scale: tuple[float, float] | None
    target: tuple[float, float, float, float] | None
    seen_size: Size | None
    evidence: str
    caption: str

    @property
    def key(self) -> str:
        """Name of the pane: its condition, with a number where that shows several pictures."""
        return self.condition if self.index == 0 else f"{self.condition}:{self.index + 1}"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What one model answered under one condition; ``before``, ``lit`` and ``after`` are its text around the span."""

    number: int
    model: str
    condition: str
    slot: int
    mark: Mark
    letter: str
    rule: str
    reason: str
    scorer: str
    state: str
    before: str
    lit: str
    after: str
    reasoning: str
    error: str
    finish: str
    tokens: str
    seconds: str
    prompt: str
    gold: str
    diagnostics: tuple[str, ...]


class HistoryRow(msgspec.Struct, frozen=True):
    """What one model answered under every condition, for one look across."""

    number: int
    model: str
    marks: tuple[tuple[str, Mark, str], ...]


class QuestionPage(msgspec.Struct, frozen=True, kw_only=True):
    """One question of one run, with the answers of every run that asked it."""

    number: int
    question: Question
    choices: tuple[Choice, ...]
    notes: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    conditions: tuple[str, ...]
    panes: tuple[ViewPane, ...]
    answers: tuple[Answer, ...]
    history: tuple[HistoryRow, ...]
    place: int
    n_chosen: int
    previous: str
    following: str
    back: str
    default_panes: tuple[str, ...]


def question_page(study: Study, number: int, question_id: str, wanted: Filter, links: Links) -> QuestionPage:
    """Return everything that the *Question* screen shows.

    Args:
        study: The runs.
        number: The run whose pictures are shown.
        question_id: Which question.
        wanted: The choice that previous and next move in.
        links: Addresses.

    Raises:
        UsageError: If this run never asked the question.
    """
    run = study.run(number)
    position = run.position(question_id)
    question = run.question(question_id)
    if position is None or question is None:
        raise UsageError(f"{run.name} never asked {question_id}", hint="choose a question of the grid")
    asking = _asking(study, number, question_id)
    # Read once: ten models under 29 views are 580 lines of files.
    read = {at: one.entries(_position(one, question_id)) for at, one in asking}
    entries = read[number]
    panes = tuple(pane for name, found in entries.items() if found for pane in _panes(name, found[0]))
    place, n_chosen, before, after = neighbours(study, number, wanted, question_id)
    return QuestionPage(
        number=number,
        question=question,
        choices=choices_of(question),
        notes=question.notes,
        facts=_facts(question),
        conditions=run.table.conditions,
        panes=panes,
        answers=tuple(
            answer
            for at, one in asking
            for name, found in read[at].items()
            for answer in (_answer(at, one, entry, name) for entry in found)
        ),
        history=tuple(_history(at, one, read[at]) for at, one in asking),
        place=place,
        n_chosen=n_chosen,
        previous=links.question(number, before, wanted.query()) if before is not None else "",
        following=links.question(number, after, wanted.query()) if after is not None else "",
        back=links.grid(number, wanted.query()),
        default_panes=_default_panes(run, panes, wanted),
    )


def read_answers(number: int, run: ExploredRun, question_id: str, condition: str) -> tuple[Answer, ...]:
    """Return what a run's model answered to one question under one condition, repeats in turn.

    Raises:
        UsageError: If this run never asked the question.
    """
    entries = run.entries(_position(run, question_id), (condition,))[condition]
    return tuple(_answer(number, run, entry, condition) for entry in entries)


def panes_of(run: ExploredRun, question_id: str, condition: str) -> tuple[ViewPane, ...]:
    """Return the pictures of one question under one condition.

    Raises:
        UsageError: If this run never asked the question.
    """
    found = run.entries(_position(run, question_id), (condition,))[condition]
    return tuple(_panes(condition, found[0])) if found else ()


def _asking(study: Study, number: int, question_id: str) -> list[tuple[int, ExploredRun]]:
    """Return the runs that asked this very question, the shown one first."""
    own = study.run(number)
    content = own.table.questions[_position(own, question_id)].content
    found = []
    for at in study.alike(number):
        position = study.run(at).position(question_id)
        if position is not None and study.run(at).table.questions[position].content == content:
            found.append((at, study.run(at)))
    return found


def _position(run: ExploredRun, question_id: str) -> int:
    position = run.position(question_id)
    if position is None:
        raise UsageError(f"{run.name} never asked {question_id}", hint="choose a question of the grid")
    return position


def _panes(condition: str, entry: Entry) -> Iterable[ViewPane]:
    sight = entry.cell.sight
    for index, picture in enumerate(entry.request.pictures):
        origin, scale = _frame(picture)
        seen = sight.seen_size if sight is not None and len(entry.request.pictures) == 1 else None
        yield ViewPane(
            condition=condition,
            index=index,
            request_id=entry.request.id,
            picture=picture,
            width=picture.size.width,
            height=picture.size.height,
            origin=origin,
            scale=scale,
            target=None if picture.target is None else _edges(picture.target),
            seen_size=seen,
            evidence="unknown" if sight is None else sight.evidence,
            caption=_caption(picture, seen, "unknown" if sight is None else sight.evidence),
        )


def _frame(picture: Picture) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    """Return where a view lies in the original: its origin there, and its pixels per original pixel, per axis."""
    geometry = picture.recipe.geometry
    if not isinstance(geometry, Composition) or geometry.kept is None:
        return None, None
    origin = (float(geometry.kept.x0 - geometry.offset[0]), float(geometry.kept.y0 - geometry.offset[1]))
    return origin, (picture.size.width / geometry.canvas.width, picture.size.height / geometry.canvas.height)


def _edges(box: Box) -> tuple[float, float, float, float]:
    return float(box.x0), float(box.y0), float(box.x1), float(box.y1)


def _caption(picture: Picture, seen: Size | None, evidence: str) -> str:
    if seen is None:
        return f"sent {format_size(picture.size)} px; what the model saw of it is not known"
    if seen == picture.size:
        return f"sent and seen {format_size(picture.size)} px ({evidence})"
    return f"sent {format_size(picture.size)} px, seen {format_size(seen)} px ({evidence})"


def choices_of(question: Question) -> tuple[Choice, ...]:
    """Return the options of a question under the letters of their own order."""
    return tuple(
        Choice(letter, text, letter == question.answer) for letter, text in zip(LETTERS, question.choices, strict=False)
    )


def _facts(question: Question) -> tuple[tuple[str, str], ...]:
    facts = [("task", question.task or ""), ("source", question.source or ""), ("image group", question.image_group)]
    facts.append(("picture", f"{format_size(question.image.size)} px, {question.image.media_type}"))
    facts += [("target", ", ".join(f"{edge:g}" for edge in box)) for box in question.targets_clipped]
    if question.answers:
        facts.append(("accepted answers", "; ".join(question.answers)))
    return tuple((name, value) for name, value in facts if value)


def _answer(number: int, run: ExploredRun, entry: Entry, condition: str) -> Answer:
    response, score = entry.response, entry.score
    text = "" if response is None else response.text or ""
    begin, end = (0, 0) if score is None or score.span is None else score.span
    usage = None if response is None else response.usage
    question = run.table.questions[_position(run, entry.request.question_id)]
    return Answer(
        number=number,
        model=run.label,
        condition=condition,
        slot=entry.slot,
        mark=_mark(entry),
        letter="" if score is None else score.answer or "",
        rule="" if score is None else score.rule or "",
        reason=_reason(entry),
        scorer=run.scorer_id,
        state="not asked yet" if response is None else response.state.value.replace("_", " "),
        before=text[:begin],
        lit=text[begin:end],
        after=text[end:],
        reasoning="" if response is None else response.reasoning or "",
        error="" if response is None else response.error or "",
        finish="" if response is None else response.finish or "",
        tokens="" if usage is None else f"{_count(usage.input_tokens)} in, {_count(usage.output_tokens)} out",
        seconds="" if response is None or response.seconds is None else f"{response.seconds:.1f} s",
        prompt=entry.request.prompt,
        gold=(shown_cell(entry.request.view) or "") if question.asks_for_cell else _shown_gold(entry, question.answer),
        diagnostics=() if score is None else score.diagnostics,
    )


def _shown_gold(entry: Entry, gold: str | None) -> str:
    """Return the right letter as this request showed it."""
    if gold is None or LETTERS.find(gold) not in entry.request.choice_order:
        return ""
    return LETTERS[entry.request.choice_order.index(LETTERS.index(gold))]


def _reason(entry: Entry) -> str:
    if entry.score is None:
        return ""
    return (entry.score.reason or "").replace("_", " ")


def _count(n_tokens: int | None) -> str:
    return "?" if n_tokens is None else str(n_tokens)


def _mark(entry: Entry) -> Mark:
    if entry.response is None:
        return "missing"
    if entry.score is None or entry.score.value is None:
        return "unscored"
    return "right" if entry.score.value >= 0.5 else "wrong"  # noqa: PLR2004 -- as in ExploredRun.is_right


def _history(number: int, run: ExploredRun, read: Mapping[str, tuple[Entry, ...]]) -> HistoryRow:
    marks: list[tuple[str, Mark, str]] = []
    for condition, entries in read.items():
        if not entries:
            marks.append((condition, "missing", ""))
            continue
        letters = "/".join((entry.score.answer or "–") if entry.score is not None else "–" for entry in entries)
        marks.append((condition, _mark(entries[0]), letters))
    return HistoryRow(number, run.label, tuple(marks))


def _default_panes(run: ExploredRun, panes: tuple[ViewPane, ...], wanted: Filter) -> tuple[str, ...]:
    """Return the two conditions to open with: those of the choice, else the baseline and a crop."""
    shown = list(dict.fromkeys(pane.condition for pane in panes))
    named = [name.partition("@")[0] for _, name in wanted.verdicts]
    crops = [name for name, base in run.baselines.items() if base == run.baseline and run.table.view_of[name] == CROP]
    preferred = [*reversed(named), run.baseline, *crops, *shown]
    return tuple(dict.fromkeys(name for name in preferred if name in shown))[:2]

"""A run on the terminal: a bar per view where there is one, plain lines where there is none, events with ``--json``."""

from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.text import Text

from eyechart.cli._app import printable
from eyechart.cli._display import Display
from eyechart.cli._events import Began, Checked, Note, Progressed, Waiting, emit
from eyechart.cli._meter import Meter, in_rate, in_time
from eyechart.cli._output import say
from eyechart.cli._tally import Tally, in_points
from eyechart.runs.listening import Beginning, CheckedAnswer
from eyechart.schema import Request, Response, Score

_LONGEST_RAW_ANSWER = 160
_MOST_VIEWS = 8
"""A plain line names so many views one by one."""


class RunProgress(Display):
    """Shows how a run goes, on stderr. Use it as a context manager; it is a ``runs.listening.FollowsScores``.

    Args:
        console: Where text goes.
        work: How events call what is done.
    """

    def __init__(self, console: Console | None = None, work: str = "run") -> None:
        further = (TextColumn(f"{{task.fields[{name}]}}") for name in ("failed", "accuracy", "pace"))
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=None), MofNCompleteColumn(), *further)
        super().__init__(work, *columns, console=console)
        self._rows: dict[str, TaskID] = {}
        self._all: TaskID | None = None
        self._tally = Tally({}, {}, None)
        self._meter = Meter()

    def began(self, beginning: Beginning) -> None:
        """Say where the run is kept and what is left to ask."""
        n_all, n_settled = sum(beginning.n_planned.values()), sum(beginning.n_settled.values())
        verb = "going on in" if beginning.is_resumed else "run folder"
        self._print(f"{verb} {beginning.folder}: {n_settled} of {n_all} answers are there")
        if beginning.estimated_dollars is not None and beginning.price is not None:
            price = beginning.price
            self._print(
                f"expected cost ${beginning.estimated_dollars:.2f}, at ${price.input_per_million:g} in and "
                f"${price.output_per_million:g} out per million tokens ({price.source}, {price.date})"
            )
        if beginning.n_stale:
            self._print(f"{beginning.n_stale} answers of a served model are older than 24 h and are asked again")
        if beginning.n_again:
            self._print(f"{beginning.n_again} requests that ended in an error are asked again")
        if beginning.n_missing_pictures:
            self._print(f"{beginning.n_missing_pictures} released pictures do not exist and are not asked")
        self._tally = Tally(beginning.n_planned, beginning.n_settled, beginning.price)
        self._meter = Meter(n_settled)
        if self._has_events:
            began = Began(work=self._work, folder=beginning.folder, planned=beginning.n_planned,
                          settled=beginning.n_settled, expected_dollars=beginning.estimated_dollars)  # fmt: skip
            emit(began)
        for condition, n_planned in beginning.n_planned.items():
            n_done = beginning.n_settled.get(condition, 0)
            self._rows[condition] = self._add_bar(condition, n_planned, n_done)
        self._all = self._add_bar("all", n_all, n_settled)

    def _add_bar(self, name: str, n_all: int, n_done: int) -> TaskID:
        return self._bars.add_task(name, total=n_all, completed=n_done, failed="", accuracy="", pace="")

    def scored(self, request: Request, score: Score) -> None:
        """Count one score."""
        self._tally.add_score(request.condition, score.value)

    def answered(self, request: Request, response: Response) -> None:
        """Count one row."""
        self._tally.add(request.condition, response)
        self._meter.note(self._tally.n_done)
        if self._has_events:
            self._tell()
        elif self._has_bars:
            self._draw(request.condition)
        elif self._meter.is_line_due(self._tally.n_all):
            say(self._line())

    def _draw(self, condition: str) -> None:
        if condition not in self._rows or self._all is None:
            return
        part = self._tally.part(condition)
        failed = f"{part.n_failed} failed" if part.n_failed else ""
        self._bars.update(self._rows[condition], completed=part.n_done, failed=failed, accuracy=in_points(part))
        all_failed = f"{self._tally.n_failed} failed" if self._tally.n_failed else ""
        self._bars.update(self._all, completed=self._tally.n_done, failed=all_failed, pace=", ".join(self._pace()))

    def _progressed(self) -> Progressed:
        return Progressed(
            work=self._work,
            unit="answers",
            n_all=self._tally.n_all,
            n_done=self._tally.n_done,
            n_failed=self._tally.n_failed,
            seconds=round(self._meter.seconds, 3),
            per_second=self._meter.per_second,
            seconds_left=self._meter.seconds_left(self._tally.n_all),
            dollars=self._tally.dollars,
            parts=self._tally.parts(),
        )

    def _pace(self) -> list[str]:
        """Return rate, time left and spend, as far as they are known."""
        rate, left = self._meter.per_second, self._meter.seconds_left(self._tally.n_all)
        words = [] if rate is None or left is None else [in_rate(rate), f"{in_time(left)} left"]
        return words if self._tally.dollars is None else [*words, f"${self._tally.dollars:.2f} spent"]

    def _line(self) -> str:
        tally = self._tally
        head = f"{tally.n_done}/{tally.n_all} answered, {tally.n_failed} failed"
        return ", ".join([head, *self._pace()]) + self._by_view()

    def _by_view(self) -> str:
        """Return the progress of each view; of many, that of the last, the first, and those with failures."""
        planned = self._tally.planned
        if len(planned) <= _MOST_VIEWS:
            return f": {', '.join(self._row(view) for view in planned)}" if planned else ""
        by_progress = sorted(planned, key=lambda view: self._tally.done[view])
        failing = [view for view in planned if self._tally.failed[view]][:_MOST_VIEWS]
        shown = dict.fromkeys([by_progress[0], by_progress[-1], *failing])
        return f": {', '.join(self._row(view) for view in shown)}, …"

    def _row(self, view: str) -> str:
        part = self._tally.part(view)
        accuracy = in_points(part)
        failed = f" ({part.n_failed} failed)" if part.n_failed else ""
        return f"{view} {part.n_done}/{part.n_all}{failed}" + (f" {accuracy}" if accuracy else "")

    def waiting(self, seconds: float, cause: str) -> None:
        """Say what is waited for, where the wait is long enough to wonder."""
        if seconds < 1:
            return
        if self._has_events:
            emit(Waiting(seconds=seconds, cause=printable(cause)))
        else:
            self._print(f"waiting {seconds:.0f} s: {cause}")

    def checked(self, answers: Sequence[CheckedAnswer]) -> None:
        """Show the first answers raw, with what was read from them."""
        if self._has_events:
            for checked in answers:
                emit(_checked_event(checked))
            return
        if not answers:
            return
        self._print("the first answers:")
        for checked in answers:
            self._print(_first_answer(checked))

    def noted(self, message: str) -> None:
        """Say one sentence."""
        self._print(message)

    def _print(self, text: str) -> None:
        if self._has_events:
            emit(Note(text=printable(text)))
        else:
            self._console.print(Text(printable(text)), soft_wrap=True)


def _checked_event(checked: CheckedAnswer) -> Checked:
    response, score = checked.response, checked.score
    return Checked(
        question=checked.request.question_id,
        view=checked.request.condition,
        text=None if response is None else response.text,
        answer=None if score is None else score.answer,
        state=None if response is None else response.state.value,
        is_bad=checked.is_bad,
    )


def _first_answer(checked: CheckedAnswer) -> str:
    where = f"  {checked.request.question_id} {checked.request.condition}"
    if checked.response is None:
        return f"{where}: no answer"
    response, score = checked.response, checked.score
    raw = response.error if response.state.is_error else response.text
    shown = " ".join((raw or "").split())[:_LONGEST_RAW_ANSWER]
    letter = score.answer if score is not None and score.answer else "-"
    tokens = response.usage.output_tokens if response.usage and response.usage.output_tokens is not None else "?"
    seen = f"{checked.seen_size[0]}×{checked.seen_size[1]}" if checked.seen_size else "unknown"
    seen += " by plan" if checked.seen_size and checked.is_planned_size else ""
    mark = "  ← unusable" if checked.is_bad else ""
    return f"{where}: {shown!r} → {letter} ({response.state.value}, {tokens} tokens, seen {seen}){mark}"

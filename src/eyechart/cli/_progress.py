"""A run on the terminal: a bar per view where there is one, plain lines where there is none."""

import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from eyechart.cli._app import printable
from eyechart.cli._output import notes_console, say
from eyechart.runs.listening import Beginning, CheckedAnswer
from eyechart.schema import Request, Response

# A log of a long run stays readable: a line per tenth of the run, or per minute where a tenth takes longer.
_LINES_PER_RUN = 10
_LONGEST_SILENCE_SECONDS = 60.0
_SHORTEST_SILENCE_SECONDS = 5.0
_LONGEST_RAW_ANSWER = 160
_MOST_VIEWS = 8
"""A plain line names so many views one by one."""


class RunProgress:
    """Shows how a run goes, on stderr. Use it as a context manager; it is a ``runs.listening.Listener``."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or notes_console()
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failed]}"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
            transient=True,
        )
        self._rows: dict[str, TaskID] = {}
        self._n_planned: dict[str, int] = {}
        self._n_done: Counter[str] = Counter()
        self._n_failed: Counter[str] = Counter()
        self._said_at = time.monotonic()
        self._n_said = 0

    def __enter__(self) -> "RunProgress":
        """Start drawing."""
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop drawing."""
        self._bars.stop()

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
        if beginning.n_missing_pictures:
            self._print(f"{beginning.n_missing_pictures} released pictures do not exist and are not asked")
        self._n_planned = dict(beginning.n_planned)
        self._n_done.update(beginning.n_settled)
        self._n_said = n_settled
        for condition, n_planned in beginning.n_planned.items():
            n_done = beginning.n_settled.get(condition, 0)
            self._rows[condition] = self._bars.add_task(condition, total=n_planned, completed=n_done, failed="")

    def answered(self, request: Request, response: Response) -> None:
        """Count one row."""
        condition = request.condition
        self._n_done[condition] += 1
        self._n_failed[condition] += response.state.is_error
        if condition in self._rows:
            failed = f"{self._n_failed[condition]} failed" if self._n_failed[condition] else ""
            self._bars.update(self._rows[condition], completed=self._n_done[condition], failed=failed)
        if not self._console.is_terminal:
            self._say_progress()

    def _say_progress(self) -> None:
        """Print a line where enough was answered, or enough time has passed, since the last one."""
        n_done, n_all = sum(self._n_done.values()), sum(self._n_planned.values())
        silence = time.monotonic() - self._said_at
        is_step = (n_done - self._n_said) * _LINES_PER_RUN >= n_all and silence >= _SHORTEST_SILENCE_SECONDS
        if is_step or silence >= _LONGEST_SILENCE_SECONDS:
            self._said_at, self._n_said = time.monotonic(), n_done
            say(f"{n_done}/{n_all} answered, {sum(self._n_failed.values())} failed{self._by_view()}")

    def _by_view(self) -> str:
        """Return the progress of each view; of many, that of the last, the first, and those with failures."""
        if len(self._n_planned) <= 1:
            return ""
        rows = {view: self._row(view, n) for view, n in self._n_planned.items()}
        if len(rows) <= _MOST_VIEWS:
            return f": {', '.join(rows.values())}"
        by_progress = sorted(rows, key=lambda view: self._n_done[view])
        failing = [view for view in rows if self._n_failed[view]][:_MOST_VIEWS]
        shown = dict.fromkeys([by_progress[0], by_progress[-1], *failing])
        return f": {', '.join(rows[view] for view in shown)}, …"

    def _row(self, view: str, n_planned: int) -> str:
        failed = f" ({self._n_failed[view]} failed)" if self._n_failed[view] else ""
        return f"{view} {self._n_done[view]}/{n_planned}{failed}"

    def waiting(self, seconds: float, cause: str) -> None:
        """Say what is waited for, where the wait is long enough to wonder."""
        if seconds >= 1:
            self._print(f"waiting {seconds:.0f} s: {cause}")

    def checked(self, answers: Sequence[CheckedAnswer]) -> None:
        """Show the first answers raw, with what was read from them."""
        if not answers:
            return
        self._print("the first answers:")
        for checked in answers:
            self._print(_first_answer(checked))

    def noted(self, message: str) -> None:
        """Say one sentence."""
        self._print(message)

    def _print(self, text: str) -> None:
        self._console.print(Text(printable(text)), soft_wrap=True)


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
    mark = "  ← unusable" if checked.is_bad else ""
    return f"{where}: {shown!r} → {letter} ({response.state.value}, {tokens} tokens, seen {seen}){mark}"

"""Show published results and runs of one's own side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from eyechart.cli._flags import Plugin, load_plugins, read_codes
from eyechart.cli._output import Json, print_json, print_table, print_text, say
from eyechart.errors import UsageError
from eyechart.stats.averages import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyechart.runs.board import Board
    from eyechart.runs.cells import RunTable
    from eyechart.runs.grid_board import OwnGrids
    from eyechart.runs.own_rows import OwnRun
    from eyechart.runs.store import RunStore

Format = Literal["text", "markdown", "latex", "html"]
_GRIDS = frozenset({"whitebackground", "complexgrid"})
_SUFFIXES: dict[str, Format] = {".md": "markdown", ".tex": "latex", ".html": "html", ".txt": "text"}


def leaderboard(
    benchmark: str,
    /,
    *runs: Path,
    split: Annotated[str, Parameter(help="Split: test, testmini, or that of the runs.")] = "test",
    average: Annotated[Rule, Parameter(help="How categories and the overall score are averaged.")] = "size_weighted",
    format: Annotated[Format | None, Parameter(help="Text if left out, or what the suffix of --out says.")] = None,
    out: Annotated[Path | None, Parameter(help="File to write: .md, .tex, .html or .txt.")] = None,
    grouped: Annotated[
        bool | None,
        Parameter(negative="--flat", help="Order by model size; Markdown and LaTeX do, text and HTML order by rank."),
    ] = None,
    scorer: Annotated[str | None, Parameter(help="Judges the runs; hrscene_letter if left out.")] = None,
    anonymous: Annotated[
        bool, Parameter(negative="", help="Remove folders and ids of runs, and organisations in their models' names.")
    ] = False,
    allow: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="Place runs despite a rule that forbids it, such as OPTION_ORDER; the board says so.",
        ),
    ] = (),
    plugin: Plugin = (),
    json: Json = False,
) -> int:
    """Print the board of a split: rank, size, open or closed, every category, source and date; own runs beside.

    Args:
        benchmark: hrscene, whitebackground or complexgrid; any other one with runs of your own.
        runs: Run folders to show beside the published rows.
    """
    from eyechart.benchmarks._published import published_benchmarks, read_published
    from eyechart.runs.grid_board import build_grid_board
    from eyechart.runs.leaderboard import build_board

    load_plugins(plugin)
    allow = read_codes(allow)
    if benchmark in _GRIDS:
        board = build_grid_board(read_published("hrscene"), benchmark, _read_grids(runs, scorer, anonymous, allow))
    elif runs and benchmark not in published_benchmarks():
        board = _own_board(benchmark, runs, scorer, anonymous, allow)
    else:
        own = read_runs(runs, scorer, is_anonymous=anonymous)
        notes = permit([(run.name, run.table) for run in own], allow)
        board = _noted(build_board(read_published(benchmark), split, average, own), notes)
    if anonymous:
        board = _without_runs(board)
    chosen = format or _format_of(out)
    if json:
        print_json(board)
    elif out is None and chosen == "text":
        _show(board, is_grouped=bool(grouped))
    else:
        _write(_render(board, chosen, grouped), out)
    return 0


def _format_of(out: Path | None) -> Format:
    if out is None:
        return "text"
    if out.suffix not in _SUFFIXES:
        raise UsageError(f"{out.name} says no format", hint=f"end it in {', '.join(_SUFFIXES)}, or add --format")
    return _SUFFIXES[out.suffix]


def _render(board: "Board", chosen: Format, grouped: bool | None) -> str:
    from eyechart.reports import html_board, latex_board, markdown_board, text_board

    if chosen == "html":
        return html_board(board)
    if chosen == "latex":
        return latex_board(board, is_grouped=grouped is not False)
    if chosen == "markdown":
        return markdown_board(board, is_grouped=grouped is not False)
    return text_board(board, is_grouped=bool(grouped))


def _write(text: str, out: Path | None) -> None:
    from eyechart.runs.files import write_whole

    if out is None:
        print_text(text)
        return
    write_whole(out, [text.encode()])
    say(f"wrote {out}")


def _show(board: "Board", *, is_grouped: bool) -> None:
    """Print the board on the terminal, its notes on stderr."""
    from eyechart.reports import board_title, interval_rows, text_rows

    columns, rows = text_rows(board, is_grouped=is_grouped)
    print_table(columns, rows, title=board_title(board))
    columns, rows = interval_rows(board)
    if rows:
        print_table(columns, rows)
    say("* best of the board, ° best of its group; means and references never are")
    for note in board.notes:
        say(note)


def _without_runs(board: "Board") -> "Board":
    """Return the board without the ids of own runs."""
    import msgspec

    def said(note: str) -> str:
        for row in board.rows:
            if row.kind == "own":
                note = note.replace(row.source, "another own run")
        return note

    rows = tuple(msgspec.structs.replace(row, source="own run") if row.kind == "own" else row for row in board.rows)
    return msgspec.structs.replace(board, rows=rows, notes=tuple(said(note) for note in board.notes))


def read_runs(folders: "Sequence[Path]", scorer: str | None, *, is_anonymous: bool = False) -> "tuple[OwnRun, ...]":
    """Judge the runs and gather them; nothing is written into the run folders."""
    from eyechart.opening import open_scorer
    from eyechart.runs.cells import read_table
    from eyechart.runs.own_rows import OwnRun
    from eyechart.runs.score import judge, scorer_id_of
    from eyechart.runs.store import RunStore

    chosen, mode = open_scorer(scorer or "hrscene_letter")
    scorer_id = scorer_id_of(chosen, mode)
    stores = [RunStore(folder) for folder in folders]
    names = _names(stores, is_anonymous)
    return tuple(
        OwnRun(name, read_table(store, scorer_id, judge(store, chosen, mode)), store.run.created_at[:10])
        for name, store in zip(names, stores, strict=True)
    )


def permit(tables: "Sequence[tuple[str, RunTable]]", allowed: "Sequence[str]") -> tuple[str, ...]:
    """Return what the board must say of runs whose answers may not mean what they are read as.

    Raises:
        StatisticsError: If that is not allowed by name.
    """
    from eyechart.runs.answer_rules import blocking_answers
    from eyechart.runs.pairing import refuse

    return tuple(f"{rule.code}: {rule.message}" for rule in refuse(blocking_answers(tables), allowed))


def _noted(board: "Board", notes: tuple[str, ...]) -> "Board":
    import msgspec

    return msgspec.structs.replace(board, notes=(*notes, *board.notes)) if notes else board


def _own_board(
    benchmark: str, folders: "Sequence[Path]", scorer: str | None, is_anonymous: bool, allowed: "Sequence[str]"
) -> "Board":
    """Return the board of runs of a benchmark of which nothing is published.

    Raises:
        UsageError: If a run asked another benchmark.
    """
    from eyechart.runs.cells import read_table
    from eyechart.runs.choosing import choose_scorer
    from eyechart.runs.own_board import EstimatedRun, build_own_board
    from eyechart.runs.own_rows import OwnRun
    from eyechart.runs.score import judge, scorer_id_of
    from eyechart.runs.store import RunStore
    from eyechart.runs.summarise import estimate

    stores = [RunStore(folder) for folder in folders]
    shown = []
    for name, store in zip(_names(stores, is_anonymous), stores, strict=True):
        if store.run.benchmark.name != benchmark:
            raise UsageError(f"run {name} asked {store.run.benchmark.name}, not {benchmark}", hint="leave it out")
        chosen, mode = choose_scorer([store, *stores], scorer)
        scorer_id = scorer_id_of(chosen, mode)
        table = read_table(store, scorer_id, judge(store, chosen, mode))
        summary = estimate(table, scorer_id, tuple(store.views()))
        shown.append(EstimatedRun(OwnRun(name, table, store.run.created_at[:10]), summary))
    notes = permit([(one.own.name, one.own.table) for one in shown], allowed)
    return _noted(build_own_board(shown), notes)


def _read_grids(
    folders: "Sequence[Path]", scorer: str | None, is_anonymous: bool, allowed: "Sequence[str]"
) -> "tuple[OwnGrids, ...]":
    """Judge the runs and estimate their grids, Size against 1×1 of another run where need be; nothing is written."""
    from eyechart.runs.cells import read_table
    from eyechart.runs.choosing import choose_scorer
    from eyechart.runs.grid_board import gather_grids
    from eyechart.runs.score import judge, scorer_id_of
    from eyechart.runs.store import RunStore

    stores = [RunStore(folder) for folder in folders]
    judged = []
    for name, store in zip(_names(stores, is_anonymous), stores, strict=True):
        chosen, mode = choose_scorer([store, *stores], scorer)
        scorer_id = scorer_id_of(chosen, mode)
        judged.append((name, read_table(store, scorer_id, judge(store, chosen, mode)), scorer_id))
    for note in permit([(name, table) for name, table, _ in judged], allowed):
        say(f"warning: {note}")
    return gather_grids(judged)


def _names(stores: "Sequence[RunStore]", is_anonymous: bool) -> list[str]:
    """Name each run by its model, or by its folder (its number, if that must not be told) where models repeat.

    Raises:
        UsageError: If one folder is named twice.
    """
    folders = [store.folder.resolve() for store in stores]
    if len(set(folders)) != len(folders):
        raise UsageError("one run folder is named twice", hint="name every run once")
    models = [store.run.model for store in stores]
    names = [f"{model.provider}/{model.name.rpartition('/')[2]}" if is_anonymous else model.spec for model in models]
    if is_anonymous and len(set(names)) != len(names):
        return [f"{name}, run {number}" for number, name in enumerate(names, 1)]
    return names if len(set(names)) == len(names) else [store.folder.name for store in stores]

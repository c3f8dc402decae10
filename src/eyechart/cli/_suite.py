"""Run a suite cell by cell, and show one matrix of states."""

from pathlib import Path
from typing import TYPE_CHECKING

from eyechart.cli._output import print_json, print_table, say
from eyechart.errors import EyechartError, UsageError

if TYPE_CHECKING:
    from eyechart.cli._flags import AskFlags
    from eyechart.runs.suite import Cell, CellProgress, Suite

EXIT_FAILED, EXIT_MISSING = 1, 3


def run_suite(path: Path, ask_flags: "AskFlags", *, cell: int | None, slurm: Path | None, json: bool) -> int:
    """Run every cell of a suite, or one; a cell that fails ends no other.

    Returns:
        0 if all cells that were run are done, 3 if answers are missing, 1 if a cell failed.
    """
    from eyechart.runs.suite import choose_cell, progress_of, read_suite, slurm_script

    for flag, value in (("--shard", ask_flags.shard), ("--out", ask_flags.out), ("--plan", ask_flags.plan)):
        if value is not None:
            raise UsageError(f"{flag} and --suite do not go together", hint="a suite's runs have folders of their own")
    if ask_flags.engine != "local":
        raise UsageError("--engine and --suite do not go together", hint="use --cell in a job array: --slurm FILE")
    suite, cells = read_suite(path)
    if slurm is not None:
        _write_script(slurm, slurm_script(path, len(cells)))
        say(f"wrote {slurm}: {len(cells)} tasks; submit it with sbatch {slurm}")
        return 0
    chosen = cells if cell is None else (choose_cell(cells, cell),)
    failures: dict[int, EyechartError] = {}
    for one in chosen:
        say(f"cell {one.number} of {len(cells)}: {one.row} on {one.column}")
        try:
            _run_cell(suite, one, path.parent, ask_flags)
        except EyechartError as error:
            failures[one.number] = error
            say(f"error: {error.message}")
            if error.hint:
                say(f"hint: {error.hint}")
    shown = [progress_of(one, failures.get(one.number)) for one in cells]
    if json:
        print_json(shown)
    else:
        _show(shown)
    if failures:
        return EXIT_FAILED
    wanted = {one.number for one in chosen}
    return EXIT_MISSING if any(one.state != "done" for one in shown if one.number in wanted) else 0


def _run_cell(suite: "Suite", cell: "Cell", home: Path, ask_flags: "AskFlags") -> None:
    import dataclasses

    from eyechart.cli._flags import ModelFlags, tell_reading
    from eyechart.cli._picture_flags import PictureFlags
    from eyechart.cli._progress import RunProgress
    from eyechart.cli.run import choose_views
    from eyechart.kinds import ModelOptions
    from eyechart.opening import open_benchmark, open_prompt
    from eyechart.reports import write_all
    from eyechart.runs.balanced import open_balanced
    from eyechart.runs.choosing import defaults_of
    from eyechart.runs.session import run_benchmark

    model, settings = cell.model, cell.settings
    data = None if cell.benchmark.data is None else home / cell.benchmark.data
    benchmark = open_benchmark(cell.benchmark.name, data, cell.benchmark.options)
    tell_reading(benchmark)
    views, preset = choose_views(benchmark, None if cell.views is None else cell.views.views)
    sampling = ModelFlags(
        temperature=None if settings.temperature == "not-sent" else settings.temperature,
        top_p=settings.top_p,
        sampling_seed=settings.sampling_seed,
        max_tokens=None if settings.max_tokens == "not-sent" else settings.max_tokens,
        score_mode=settings.score_mode,
    )
    flags = dataclasses.replace(
        ask_flags,
        limit=settings.limit,
        seed=settings.seed,
        repeat=settings.repeat,
        rotate_choices=settings.rotate_choices,
        concurrency=settings.concurrency,
        scorer=settings.scorer,
        prompt=settings.prompt,
        out=cell.folder,
        view_store=None if suite.view_store is None else home / suite.view_store,
        view_store_gb=suite.view_store_gb,
    )
    options = flags.run_options(sampling, PictureFlags(), preset)
    opened = open_balanced(
        model.model,
        ModelOptions(
            base_url=next(iter(model.base_url), None),
            revision=model.revision,
            settings={**model.set, **settings.set},
            extra_body=model.extra_body,
            timeout_seconds=ask_flags.timeout,
        ),
        model.base_url,
    )
    prompt = open_prompt(settings.prompt or defaults_of(benchmark).prompt)
    with RunProgress() as progress:
        outcome = run_benchmark(benchmark, opened, views, prompt, options=options, listener=progress)
    if ask_flags.report:
        write_all(outcome.summary, outcome.store.folder)


def _show(shown: "list[CellProgress]") -> None:
    columns = list(dict.fromkeys(one.column for one in shown))
    states = {(one.row, one.column): _state(one) for one in shown}
    rows = [[row, *(states[row, column] for column in columns)] for row in dict.fromkeys(one.row for one in shown)]
    print_table(
        ["model", *columns], rows, title=f"{sum(one.state == 'done' for one in shown)} of {len(shown)} runs done"
    )
    for one in shown:
        if one.reason:
            say(f"{one.row} on {one.column}: {one.reason}")


def _state(one: "CellProgress") -> str:
    if one.state == "done":
        return f"done, {one.n_planned}"
    if one.state == "missing" or (one.state == "failed" and one.n_planned):
        return f"{one.state}, {one.n_answered} of {one.n_planned}"
    return one.state


def _write_script(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror})", hint="choose another path") from error

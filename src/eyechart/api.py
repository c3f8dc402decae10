"""The Python interface: open a benchmark, run a model, read and write what was found."""

from pathlib import Path

import msgspec

from eyechart.errors import UsageError
from eyechart.kinds import Benchmark, Model, ModelOptions
from eyechart.models._one_method import OneMethodModel, OwnModel
from eyechart.opening import open_benchmark, open_model, open_prompt
from eyechart.registry import load_plugin
from eyechart.reports import Table, grid_tables, render_table, write_all
from eyechart.runs.choosing import choose_scorer, choose_views, defaults_of
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.matching import parse_match
from eyechart.runs.options import RunOptions
from eyechart.runs.plan import PlanOptions
from eyechart.runs.score import score_run
from eyechart.runs.session import run_benchmark
from eyechart.runs.store import RunStore
from eyechart.runs.summarise import summarise
from eyechart.schema import GridSummary, Sampling, Summary
from eyechart.seen.transport import parse_transport


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """A run and what it found.

    Args:
        folder: The run folder.
        summary: Estimates, contrasts, failures and findings.
        n_missing: Requests without an answer; run again to ask them.
    """

    folder: Path
    summary: Summary
    n_missing: int = 0

    def __str__(self) -> str:
        """Return the table and what it supports, as printed by the command line."""
        said = [f"• {finding.text}" for finding in self.summary.findings]
        warned = [f"warning: {warning}" for warning in self.summary.warnings]
        return "\n".join([str(self.table()), *said, *warned, f"run folder: {self.folder}"])

    def __repr__(self) -> str:
        """Return where the run is and how much of it there is, in one line."""
        run = self.summary.run
        return (
            f"RunResult({str(self.folder)!r}: {run.model.spec} on {run.benchmark.name}, {len(self.summary.conditions)} "
            f"views, {self.summary.n_questions} questions, {self.n_missing} answers missing)"
        )

    def table(self) -> Table:
        """Return the table of views, one row per condition, formatted as in the report."""
        return render_table(self.summary)

    def regions(self) -> "Regions":
        """Return what the run says about the regions of its needle grids; print it.

        Raises:
            UsageError: If no needle grid was asked.
        """
        if not self.summary.grids:
            raise UsageError(
                f"{self.folder} has no needle grid", hint='run the benchmark "whitebackground" or "complexgrid"'
            )
        return Regions(self.summary)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the report and return the path of the HTML file.

        Args:
            path: An ``.html`` file, or a folder, which also gets figures and tables; the run folder if left out.

        Raises:
            StoreError: If it cannot be written.
        """
        from eyechart.reports.html import HtmlReport  # deferred: loads the template engine
        from eyechart.runs.files import write_whole
        from eyechart.runs.items import read_items
        from eyechart.runs.store import RunStore

        items = read_items(RunStore(self.folder), self.summary.scorer)
        target = self.folder if path is None else Path(path)
        if target.suffix != ".html":
            return write_all(self.summary, target, items=items)[0]
        write_whole(target, [HtmlReport(items=items).render(self.summary).encode()])
        return target


class Regions(msgspec.Struct, frozen=True):
    """The needle grids of a run: ``grids`` as records, and as text when printed."""

    summary: Summary

    @property
    def grids(self) -> tuple[GridSummary, ...]:
        """One record per grid, smallest first."""
        return self.summary.grids

    def __str__(self) -> str:
        """Return every table about the grids: measures, regions, distances and shape."""
        return "\n\n".join(str(table) for _, _, table in grid_tables(self.summary))


def benchmark(name: str, data: str | Path | None = None, **options: object) -> Benchmark:
    """Open a benchmark by name.

    Args:
        name: Registered name, for example ``folder``, ``sum`` or ``demo``.
        data: File or folder it reads, where it needs one.
        **options: Its options, as ``eyechart run --option`` takes them.

    Raises:
        UsageError: If the name or an option is unknown.
        BenchmarkError: If the data breaks the benchmark's contract.
    """
    return open_benchmark(name, None if data is None else Path(data), options)


def model(spec: str, *, base_url: str | None = None, revision: str | None = None, **settings: object) -> Model:
    """Open a model by ``provider/name``, without contacting it.

    Args:
        spec: For example ``openai/gpt-4o``, ``ocr/rapidocr`` or ``replay/answers.jsonl``.
        base_url: Address of an OpenAI-compatible server.
        revision: Version of the weights, part of the model's identity.
        **settings: Its settings, as ``eyechart run --set`` takes them.

    Raises:
        UsageError: If the provider or a setting is unknown.

    Example:
        >>> model("simulated/chance").identity.spec
        'simulated/chance'
    """
    return open_model(spec, ModelOptions(base_url=base_url, revision=revision, settings=settings))


def run(  # noqa: PLR0913 -- every one is a keyword that a run may need
    questions: Benchmark,
    *,
    model: str | Model | OneMethodModel,
    views: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    repeats: int = 1,
    concurrency: int = 8,
    out: str | Path | None = None,
    prompt: str | None = None,
    scorer: str | None = None,
    sampling: Sampling | None = None,
    allow_faults: bool = False,
    transport: str = "native",
    match: str | None = None,
) -> RunResult:
    """Ask a model every question under every view, and estimate. Interrupt it and call it again: it goes on.

    Args:
        questions: The benchmark.
        model: ``provider/name``, an opened model, or an object of your own with one method
            ``answer(prompt, pictures) -> str`` (pictures are Pillow images).
        views: Comma-separated view ids or a preset; the benchmark's own if left out, else ``sum29``.
        limit: Ask so many whole questions.
        seed: Seed of the choice under ``limit``.
        repeats: Ask everything so many times.
        concurrency: Requests in flight.
        out: Run folder; found or made in ``runs/`` if left out.
        prompt: Name of the wording; the benchmark's own if left out.
        scorer: Name of the scorer, with its mode if not the default; the benchmark's own if left out.
        sampling: Sampling parameters; temperature 0 if left out.
        allow_faults: Ask a published collection although it has errors; every report says so.
        transport: ``native``, ``fit`` to resize views to the model's grid, or ``budget(MIN,MAX)`` in pixels;
            ``+jpeg95`` or ``+jpeg75`` (HRScene's own) to send JPEG.
        match: A matched design, such as ``target-px=8,32``.

    Raises:
        EyechartError: If something concerns the whole run; what was answered is kept.
    """
    chosen = choose_views(questions, views)
    outcome = run_benchmark(
        questions,
        _opened(model),
        chosen.views,
        open_prompt(prompt or defaults_of(questions).prompt),
        options=RunOptions(
            sampling=sampling or Sampling(),
            plan=PlanOptions(
                limit=limit,
                seed=seed,
                repeats=repeats,
                view_preset=chosen.preset,
                transport=parse_transport(transport).id,
                match=None if match is None else parse_match(match).id,
            ),
            loop=LoopSettings(concurrency=concurrency),
            where=Destination(out=None if out is None else Path(out)),
            scorer=scorer,
            allows_faults=allow_faults,
        ),
    )
    return RunResult(folder=outcome.store.folder, summary=outcome.summary, n_missing=outcome.n_missing)


def _opened(chosen: str | Model | OneMethodModel) -> Model:
    """Return the model that a name, a model or an object with one method stands for."""
    if isinstance(chosen, str):
        return open_model(chosen)
    return chosen if isinstance(chosen, Model) else OwnModel(chosen)


def load_run(folder: str | Path, scorer: str | None = None) -> RunResult:
    """Read a run folder, score its answers and estimate; no model is asked.

    Args:
        folder: The run folder.
        scorer: Name of the scorer; the one that the run was asked with if left out.

    Raises:
        StoreError: If there is no run in the folder.
    """
    store = RunStore(Path(folder))
    chosen, mode = choose_scorer(store, scorer)
    summary = summarise(store, score_run(store, chosen, mode))
    return RunResult(folder=store.folder, summary=summary, n_missing=sum(c.n_missing for c in summary.conditions))


def plugin(path: str | Path) -> tuple[tuple[str, str], ...]:
    """Load a plug-in file and return the (kind, name) pairs it added.

    Raises:
        UsageError: If the file does not exist or names no members.
    """
    return load_plugin(Path(path))

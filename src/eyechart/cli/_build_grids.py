"""The part of ``build`` that writes needle grids."""

from pathlib import Path
from typing import TYPE_CHECKING

from eyechart.cli._flags import open_named_benchmark
from eyechart.cli._output import print_json, say
from eyechart.errors import UsageError

if TYPE_CHECKING:
    from eyechart.kinds import Benchmark

GRID_BENCHMARKS = frozenset({"whitebackground", "complexgrid"})
_MEGA = 1e6


def open_grids(name: str, data: Path | None, option: tuple[str, ...], grid: str | None) -> "Benchmark":
    """Open a grid diagnostic with the grids named.

    Raises:
        UsageError: If it is not a grid diagnostic.
    """
    if name not in GRID_BENCHMARKS:
        raise UsageError(f"{name} has no grids", hint=f"--grid is for {' and '.join(sorted(GRID_BENCHMARKS))}")
    return open_named_benchmark(name, data, option if grid is None else (*option, f"grid={grid}"))


def build_grid_configs(
    benchmark: "Benchmark", out: Path, *, encoding: str | None, resampler: str, jobs: int | None, json: bool
) -> int:
    """Write every grid with progress on stderr, and say how to read it back."""
    from eyechart.cli._work import WorkProgress
    from eyechart.releases.grid_parquet import build_grids

    if encoding == "like-original":
        raise UsageError("a grid has several originals", hint="--encoding jpeg75 or png")
    with WorkProgress("build", "rows", str(out)) as progress:
        built = build_grids(
            benchmark,
            out,
            encoding="png" if encoding == "png" else "jpeg75",
            resampler=resampler,
            n_processes=jobs,
            on_progress=progress.update,
        )
    if json:
        print_json(built)
        return 0
    for one in built:
        say(
            f"{one.config}: {one.n_bases} base samples, {one.n_rows} rows in {one.n_files} files of "
            f"{one.n_bytes / _MEGA:.1f} MB together, {one.n_kept} kept from before"
        )
    sizes = ",".join(one.config.rpartition("x")[2] for one in built)
    say(f"ask it: eyechart run {benchmark.identity.name} --data {out} --option grid={sizes} --model …")
    return 0

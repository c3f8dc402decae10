"""Grids of needles in the schema of HRScene's hub: one parquet config per style and size, ready for load_dataset."""

import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal

import msgspec

from eyechart.errors import BenchmarkError, ImageError, MissingDependencyError, StoreError, UsageError
from eyechart.images.cache import DecodedCache
from eyechart.images.decode import decode
from eyechart.images.pixels import DecodedImage
from eyechart.images.resample import DEFAULT_RESAMPLER, check_resampler
from eyechart.kinds import Benchmark, SaysHowToAsk
from eyechart.releases.journal import write_if_changed
from eyechart.runs.gold import name_cell
from eyechart.runs.grids import MAX_TILE_BYTES, GridSource
from eyechart.runs.large_pictures import LargeSource
from eyechart.runs.unreadable import refuse_unreadable
from eyechart.schema import (
    BenchmarkIdentity,
    DecodePolicy,
    Grid,
    ImageRef,
    Picture,
    Question,
    Recipe,
    Value,
    content_sha256,
    recipe_key,
)
from eyechart.views import parse_view
from eyechart.views.grid import compose_grid

if TYPE_CHECKING:
    import pyarrow

Encoding = Literal["jpeg75", "png"]
_NAMES = {"white": "whitebackground", "captioned": "complexgrid"}
# The size at which the Hugging Face libraries split a dataset.
_SHARD_BYTES = 500_000_000
# Rows are flushed at this size, so that a reader holds no more of a file.
_GROUP_BYTES = 64 << 20
_DECODED_BYTES = 256 << 20
_PLAN_KEY = b"eyechart"


class GridBuild(Value, frozen=True):
    """What became of one config.

    Args:
        config: Its name, as on the hub: ``whitebackground_5x5``.
        n_bases: Base samples.
        n_rows: Rows: a base sample in every cell.
        n_files: Parquet files.
        n_kept: Files of these that an earlier build had finished.
        n_bytes: Their length together.
    """

    config: str
    n_bases: int
    n_rows: int
    n_files: int
    n_kept: int
    n_bytes: int


class _Shard(Value, frozen=True):
    """One file to write: which needles, in which cells, and where their pictures lie."""

    path: str
    plan: str
    questions: tuple[Question, ...]
    cells: tuple[Grid, ...]
    paths: dict[str, str]
    encoding: Encoding
    resampler: str


def build_grids(
    benchmark: Benchmark,
    out: Path,
    *,
    encoding: Encoding = "jpeg75",
    resampler: str = DEFAULT_RESAMPLER,
    n_processes: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[GridBuild, ...]:
    """Write every grid of a diagnostic as ``<config>/test-00000-of-0000N.parquet``, and a card.

    Files that an earlier build finished from the same needles by the same recipes are kept. The same input gives the
    same bytes on the same libraries.

    Args:
        benchmark: ``whitebackground`` or ``complexgrid``, opened with needles.
        out: Folder of the dataset; made if missing.
        encoding: ``jpeg75`` is JPEG at quality 75 with 4:2:0, as HRScene stores it; ``png`` is lossless.
        resampler: Squeezes pictures to their tile.
        n_processes: Processes; the number of processors if None.
        on_progress: Called with the number of finished and of all rows.

    Raises:
        UsageError: If the benchmark is asked under no grid, or the resampler is unknown.
        ImageError: If a picture cannot be decoded.
        StoreError: If a file cannot be written.
        MissingDependencyError: If pyarrow is not installed.
    """
    check_resampler(resampler)
    configs = _configs(benchmark)
    questions = tuple(benchmark.questions())
    refuse_unreadable(questions)
    n_rows = sum(len(cells) for cells in configs.values()) * len(questions)
    n_done = 0
    built = []
    tiles = DecodedCache(MAX_TILE_BYTES)
    for config, cells in configs.items():
        shards = _shards(benchmark, questions, config, cells, out, (encoding, resampler), tiles)
        kept = [shard for shard in shards if _plan_of(Path(shard.path)) == shard.plan]
        n_done += sum(len(shard.questions) for shard in kept) * len(cells)
        for shard in _written([shard for shard in shards if shard not in kept], n_processes, tiles):
            n_done += len(shard.questions) * len(cells)
            if on_progress is not None:
                on_progress(n_done, n_rows)
        files = {Path(shard.path) for shard in shards}
        _remove_others(out / config, files)
        built.append(
            GridBuild(
                config=config,
                n_bases=len(questions),
                n_rows=len(questions) * len(cells),
                n_files=len(shards),
                n_kept=len(kept),
                n_bytes=sum(file.stat().st_size for file in files),
            )
        )
    write_if_changed(out / "README.md", _card(benchmark.identity, built, encoding))
    return tuple(built)


def _configs(benchmark: Benchmark) -> dict[str, tuple[Grid, ...]]:
    """Return the cells of every grid that the benchmark is asked under, by config."""
    named = benchmark.defaults.views if isinstance(benchmark, SaysHowToAsk) else ()
    configs: dict[str, list[Grid]] = {}
    for view in map(parse_view, named):
        if isinstance(view, Grid):
            configs.setdefault(f"{_NAMES[view.style]}_{view.rows}x{view.columns}", []).append(view)
    if not configs:
        raise UsageError(
            f"{benchmark.identity.name} is asked under no grid",
            hint="build whitebackground or complexgrid from needles",
        )
    return {config: tuple(cells) for config, cells in configs.items()}


def _shards(
    benchmark: Benchmark,
    questions: Sequence[Question],
    config: str,
    cells: tuple[Grid, ...],
    out: Path,
    how: tuple[Encoding, str],
    tiles: DecodedCache,
) -> list[_Shard]:
    """Divide the base samples into files of about half a gigabyte, by the size of the first picture."""
    first = _shard(benchmark, questions[:1], cells, out / config / "first", how)
    n_bytes = len(_Painter(first, tiles).encode(questions[0], cells[0])) * len(cells)
    n_each = max(1, _SHARD_BYTES // n_bytes)
    groups = [questions[begin : begin + n_each] for begin in range(0, len(questions), n_each)]
    return [
        _shard(benchmark, group, cells, out / config / f"test-{number:05d}-of-{len(groups):05d}.parquet", how)
        for number, group in enumerate(groups)
    ]


def _shard(
    benchmark: Benchmark, questions: Sequence[Question], cells: tuple[Grid, ...], path: Path, how: tuple[Encoding, str]
) -> _Shard:
    encoding, resampler = how
    images = {image.file_sha256: image for one in questions for image in (one.image, *one.distractors)}
    keys = [
        [one.id, one.text, one.answers, [_picture(one, cell, resampler).recipe_key for cell in cells]]
        for one in questions
    ]
    return _Shard(
        path=str(path),
        plan=content_sha256([keys, encoding]),
        questions=tuple(questions),
        cells=cells,
        paths={sha256: str(benchmark.image_path(image)) for sha256, image in images.items()},
        encoding=encoding,
        resampler=resampler,
    )


def _picture(question: Question, cell: Grid, resampler: str) -> Picture:
    recipe = Recipe(geometry=compose_grid(cell, question), decode=DecodePolicy(), resampler=resampler)
    key = recipe_key(question.image.file_sha256, recipe)
    return Picture(image=question.image, recipe=recipe, recipe_key=key, size=recipe.geometry.size)


class _Painter:
    """Draws the cells of a shard. It is its own small benchmark: the questions of the shard and their files.

    Args:
        shard: What to draw.
        tiles: Tiles that other shards of this process have drawn.
    """

    def __init__(self, shard: _Shard, tiles: DecodedCache | None = None) -> None:
        self._shard = shard
        self._decoded = DecodedCache(_DECODED_BYTES)
        self._grids = GridSource(self, self._decode, LargeSource(self.image_path), tiles=tiles)
        self.identity = BenchmarkIdentity("shard", shard.plan)

    def encode(self, question: Question, cell: Grid) -> bytes:
        """Return the picture of one cell as a file."""
        geometry = compose_grid(cell, question)
        picture = _picture(question, cell, self._shard.resampler)
        if self._shard.encoding == "png":
            return self._grids.encode_png(picture, geometry)
        return self._grids.encode_jpeg(picture, geometry)

    def questions(self) -> Iterator[Question]:
        """Yield the questions of the shard."""
        return iter(self._shard.questions)

    def image_path(self, image: ImageRef) -> Path:
        """Return where a picture lies."""
        return Path(self._shard.paths[image.file_sha256])

    def released_views(self) -> tuple[str, ...]:
        """Return no view."""
        return ()

    def released_image(self, question: Question, view_id: str) -> None:
        """Return None."""

    def _decode(self, image: ImageRef, policy: DecodePolicy) -> DecodedImage:
        return self._decoded.get(image.file_sha256, policy, lambda: decode(self.image_path(image), policy))


def _written(shards: Sequence[_Shard], n_processes: int | None, tiles: DecodedCache) -> Iterator[_Shard]:
    """Write shards and yield each when it is finished, in order; in this process where one is enough."""
    n_processes = max(1, min(n_processes or os.cpu_count() or 1, len(shards)))
    if n_processes == 1:
        for shard in shards:
            _write(msgspec.json.encode(shard), tiles)
            yield shard
        return
    context = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
    with ProcessPoolExecutor(n_processes, mp_context=context) as pool:
        futures = [pool.submit(_write, msgspec.json.encode(shard)) for shard in shards]
        for shard, future in zip(shards, futures, strict=True):
            future.result()
            yield shard


def _write(content: bytes, tiles: DecodedCache | None = None) -> None:
    """Write one shard beside its place, then move it there."""
    shard = msgspec.json.decode(content, type=_Shard)
    pyarrow = _pyarrow()
    schema = _schema(shard)
    path = Path(shard.path)
    unfinished = path.with_suffix(".unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with pyarrow.parquet.ParquetWriter(unfinished, schema, compression="none") as writer:
            for rows in _groups(shard, tiles):
                writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
        unfinished.replace(path)
    except (OSError, pyarrow.ArrowException) as error:
        unfinished.unlink(missing_ok=True)
        raise StoreError(
            f"{path} cannot be written ({error})", hint="check the folder and the room on the disk"
        ) from error
    except (ImageError, BenchmarkError):
        unfinished.unlink(missing_ok=True)
        raise


def _groups(shard: _Shard, tiles: DecodedCache | None) -> Iterator[list[dict[str, object]]]:
    """Yield rows, base sample by base sample and cell by cell, in groups of bounded size."""
    painter = _Painter(shard, tiles)
    rows: list[dict[str, object]] = []
    n_bytes = 0
    for question in shard.questions:
        for cell in shard.cells:
            content = painter.encode(question, cell)
            rows.append(_row(question, cell, content, shard.encoding))
            n_bytes += len(content)
            if n_bytes >= _GROUP_BYTES:
                yield rows
                rows, n_bytes = [], 0
    if rows:
        yield rows


def _row(question: Question, cell: Grid, content: bytes, encoding: Encoding) -> dict[str, object]:
    name = f"grid_{cell.row}_{cell.column}.{'png' if encoding == 'png' else 'jpg'}"
    row: dict[str, object] = {
        "image": {"bytes": content, "path": name},
        "id": f"{question.id}_{cell.row}_{cell.column}",
    }
    if question.asks_for_cell:
        return {**row, "caption": question.text, "answer": name_cell(cell.row, cell.column)}
    return {**row, "question": question.text, "answer": list(question.answers)}


def _schema(shard: _Shard) -> "pyarrow.Schema":
    """Return columns as HRScene's card names them, with the features that the Hugging Face libraries read."""
    pyarrow = _pyarrow()
    text = {"dtype": "string", "_type": "Value"}
    is_cell = shard.questions[0].asks_for_cell
    features: dict[str, object] = {"image": {"_type": "Image"}, "id": text}
    features |= (
        {"caption": text, "answer": text}
        if is_cell
        else {"question": text, "answer": {"feature": text, "_type": "List"}}
    )
    image = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    string, answers = pyarrow.string(), pyarrow.list_(pyarrow.string())
    asked = [("caption", string), ("answer", string)] if is_cell else [("question", string), ("answer", answers)]
    return pyarrow.schema([("image", image), ("id", string), *asked]).with_metadata(
        {b"huggingface": json.dumps({"info": {"features": features}}).encode(), _PLAN_KEY: shard.plan.encode()}
    )


def _plan_of(path: Path) -> str | None:
    """Return the plan that a finished file was written by, None if there is no such file."""
    pyarrow = _pyarrow()
    if not path.is_file():
        return None
    try:
        metadata = pyarrow.parquet.read_schema(path).metadata or {}
    except (OSError, pyarrow.ArrowException):
        return None  # damaged: written anew
    return str(metadata.get(_PLAN_KEY, b"").decode())


def _remove_others(folder: Path, files: set[Path]) -> None:
    """Remove what an earlier division or a killed build left, which would be read as further rows or fill the disk."""
    for path in (*folder.glob("test-*-of-*.parquet"), *folder.glob("test-*-of-*.unfinished")):
        if path not in files:
            path.unlink()


def _pyarrow() -> ModuleType:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow (it writes parquet)", "hub") from error
    return sys.modules[pyarrow.__name__]


def _card(identity: BenchmarkIdentity, built: Sequence[GridBuild], encoding: Encoding) -> bytes:
    configs = "\n".join(
        f"- config_name: {one.config}\n  data_files:\n  - split: test\n    path: {one.config}/test-*" for one in built
    )
    rows = "\n".join(f"| `{one.config}` | {one.n_bases} | {one.n_rows} |" for one in built)
    how = "JPEG, quality 75, 4:2:0" if encoding == "jpeg75" else "PNG, lossless"
    return f"""---
configs:
{configs}
---

# {identity.name}

Built by eyechart in the schema and geometry of HRScene's diagnostics (Zhang et al., 2025). Pictures are {how}.

| config | base samples | rows |
| --- | ---: | ---: |
{rows}

Ids are `base_row_column`, counted from 0; captions and answers count rows and columns from 1.
The needles keep their own licence: name it here before you publish.
""".encode()

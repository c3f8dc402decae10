"""Rows of parquet files whose pictures are stored inside: listed once, pictures taken out when they are asked for."""

import hashlib
import tempfile
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, cast

import msgspec

from eyechart.benchmarks._unread import absence_of
from eyechart.errors import BenchmarkError, MissingDependencyError
from eyechart.images.decode import examine
from eyechart.images.hash import file_sha256
from eyechart.schema import NOT_JSON, ImageRef, Value, content_sha256

if TYPE_CHECKING:
    import pyarrow.parquet

MAX_KEPT = 64
"""Pictures kept on disk at once: more than a run has in flight."""

_FOOTER_BYTES = 8
_SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png", "image/tiff": ".tif", "image/webp": ".webp"}
# Raise it with any change of what an index holds.
_INDEX_VERSION = 2


class ParquetRow(Value, frozen=True):
    """One row without the bytes of its picture.

    Args:
        place: File and row, for errors.
        values: All other columns.
        image: What names the picture.
        file: Index of the file.
        group: Row group in the file.
        row: Row in the group.
        has_alpha: Whether the picture stores transparency.
    """

    place: str
    values: dict[str, object]
    image: ImageRef
    file: int
    group: int
    row: int
    has_alpha: bool = False


class _Index(Value, frozen=True):
    version: int
    rows: tuple[ParquetRow, ...]


class ParquetRows:
    """The rows of parquet files, and their pictures as files.

    Listing reads all bytes once, to hash the pictures; the list is kept in a cache folder. A picture is written to a
    temporary folder when it is asked for, and stays for the next 64 at least. May be used by several threads.

    Args:
        files: The files, in the order of their rows.
        cache: Folder for the list; None keeps none.
        image_column: Column of the picture: bytes, or bytes and path as the Hugging Face libraries write it.

    Raises:
        BenchmarkError: If a file is not parquet, lacks the column, or a row has no picture in it.
        MissingDependencyError: If pyarrow is not installed.
    """

    def __init__(self, files: Sequence[Path], cache: Path | None, image_column: str = "image") -> None:
        self._files, self._column = tuple(files), image_column
        self._scratch = tempfile.TemporaryDirectory(prefix="eyechart-parquet-")
        self._kept: OrderedDict[str, Path] = OrderedDict()
        self._open: tuple[int, int, int, Iterator[bytes]] | None = None
        self._lock = Lock()
        self.fingerprint = content_sha256([_fingerprint(path) for path in self._files])
        self.rows = self._listed(cache)
        self._homes = {row.image.file_sha256: row for row in self.rows}

    def path(self, image: ImageRef) -> Path:
        """Return where the bytes of a picture lie now.

        Raises:
            BenchmarkError: If no row shows it, or the file is damaged.
        """
        home = self._homes.get(image.file_sha256)
        if home is None:
            raise BenchmarkError(
                f"no row shows a picture with SHA-256 {image.file_sha256[:12]}…",
                hint="were the parquet files changed since the run was planned?",
            )
        with self._lock:
            if image.file_sha256 in self._kept:
                self._kept.move_to_end(image.file_sha256)
                return self._kept[image.file_sha256]
            return self._take_out(home)

    def _take_out(self, home: ParquetRow) -> Path:
        """Read on from where the last picture was taken, or from the start of the row group; keep what is passed."""
        if self._open is None or self._open[:2] != (home.file, home.group) or self._open[2] > home.row:
            begun = (content for content, _ in self._rows_of(home.file, home.group, [self._column]))
            self._open = (home.file, home.group, 0, begun)
        (file, group, at, pictures), self._open = self._open, None
        for row, content in enumerate(pictures, start=at):
            path = self._keep(content)
            if row == home.row:
                self._open = (file, group, row + 1, pictures)
                return path
        raise BenchmarkError(f"{home.place}: the row is gone", hint="was the file replaced while it was read?")

    def _keep(self, content: bytes) -> Path:
        sha256 = hashlib.sha256(content).hexdigest()
        row = self._homes.get(sha256)
        suffix = _SUFFIXES.get(row.image.media_type, "") if row else ""
        path = Path(self._scratch.name) / f"{sha256}{suffix}"
        if sha256 not in self._kept:
            path.write_bytes(content)
        self._kept[sha256] = path
        self._kept.move_to_end(sha256)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)[1].unlink(missing_ok=True)
        return path

    def _listed(self, cache: Path | None) -> tuple[ParquetRow, ...]:
        """Return all rows, from the cache if they were listed before."""
        stored = None if cache is None else cache / f"parquet-{self.fingerprint[:16]}.json"
        if stored is not None and stored.is_file():
            try:
                index = msgspec.json.decode(stored.read_bytes(), type=_Index)
            except (OSError, *NOT_JSON):
                index = None  # of another version, or damaged: listed anew
            if index is not None and index.version == _INDEX_VERSION:
                return index.rows
        rows = tuple(self._list())
        if stored is not None:
            _write_cache(stored, msgspec.json.encode(_Index(_INDEX_VERSION, rows)))
        return rows

    def _list(self) -> Iterator[ParquetRow]:
        for number, path in enumerate(self._files):
            opened = _parquet_file(path)
            if self._column not in opened.schema_arrow.names:
                raise BenchmarkError(
                    f"{path} has no column {self._column!r} (columns: {', '.join(opened.schema_arrow.names)})",
                    hint="give parquet files that hold their pictures",
                )
            at = 0
            for group in range(opened.num_row_groups):
                for row, (content, values) in enumerate(self._rows_of(number, group, None)):
                    at += 1
                    place = f"{path.parent.name}/{path.name}: row {at}"
                    image, form = examine(content, place)
                    yield ParquetRow(
                        place=place,
                        values=values,
                        image=image,
                        file=number,
                        group=group,
                        row=row,
                        has_alpha=form is not None and form.has_alpha,
                    )

    def _rows_of(self, file: int, group: int, columns: list[str] | None) -> Iterator[tuple[bytes, dict[str, object]]]:
        """Yield picture and other values of the rows of a row group, one row in memory at a time."""
        import pyarrow

        path = self._files[file]
        opened = _parquet_file(path)
        try:
            for batch in opened.iter_batches(batch_size=1, row_groups=[group], columns=columns):
                for row in cast("list[dict[str, object]]", batch.to_pylist()):
                    yield _bytes_of(row.pop(self._column, None), path), row
        except (OSError, pyarrow.ArrowException) as error:
            raise BenchmarkError(f"{path}: damaged ({error})", hint="was the file copied completely?") from error


def parquet_files(folder: Path) -> tuple[Path, ...]:
    """Return the parquet files in a folder and those in it, in the order of their paths; or the file itself.

    Example:
        >>> parquet_files(Path("nowhere"))
        ()
    """
    if folder.is_file():
        return (folder,) if folder.suffix.lower() == ".parquet" else ()
    return tuple(sorted(folder.rglob("*.parquet"))) if folder.is_dir() else ()


def has_pictures(path: Path, image_column: str = "image") -> bool:
    """Whether a file is parquet with pictures in it, and not with their names.

    Raises:
        BenchmarkError: If it ends in ``.parquet`` and is none.
        MissingDependencyError: If pyarrow is not installed.
    """
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return False
    schema = _parquet_file(path).schema_arrow
    return image_column in schema.names and not str(schema.field(image_column).type).endswith("string")


def _parquet_file(path: Path) -> "pyarrow.parquet.ParquetFile":
    try:
        import pyarrow  # deferred: an extra
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow (it reads parquet)", "hub") from error
    try:
        return pyarrow.parquet.ParquetFile(path, memory_map=True)
    except (OSError, pyarrow.ArrowException) as error:
        raise BenchmarkError(f"{path}: not parquet ({error})", hint="was the file copied completely?") from error


def _bytes_of(cell: object, path: Path) -> bytes:
    """Return the bytes of a picture cell, stored as such or in a file beside the parquet file."""
    given = cell.get("bytes") if isinstance(cell, dict) else cell
    if isinstance(given, bytes):
        return given
    name = cell.get("path") if isinstance(cell, dict) else None
    if isinstance(name, str) and not absence_of(path.parent / name, name):
        return (path.parent / name).read_bytes()
    return b""  # which is not a picture: its question is not asked


def _fingerprint(path: Path) -> list[object]:
    """Return name, length and a hash of the footer, which lists where and how long every column chunk is."""
    try:
        n_bytes = path.stat().st_size
        if n_bytes < 2 * _FOOTER_BYTES:
            return [path.name, file_sha256(path)[0]]
        with path.open("rb") as stream:
            stream.seek(-_FOOTER_BYTES, 2)
            n_footer = int.from_bytes(stream.read(4), "little")
            stream.seek(-min(n_footer + _FOOTER_BYTES, n_bytes), 2)
            return [path.name, n_bytes, hashlib.sha256(stream.read()).hexdigest()]
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error})", hint="check the path") from error


def _write_cache(path: Path, content: bytes) -> None:
    """Keep the list for next time, whole or not at all; a cache that cannot be written is only slower."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as stream:
            stream.write(content)
        Path(stream.name).replace(path)
    except OSError:
        return

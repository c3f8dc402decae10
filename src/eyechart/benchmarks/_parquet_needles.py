"""Needles that are stored inside parquet files, such as HRScene's grid of one cell: unpacked once, into the cache."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from eyechart.benchmarks._cache import cache_folder
from eyechart.benchmarks._cells import Row
from eyechart.benchmarks._hub_grids import hub_files, parse_cell_id
from eyechart.benchmarks._parquet_rows import ParquetRows, has_pictures
from eyechart.errors import StoreError, UsageError
from eyechart.schema import ImageRef


class UnpackedRow(NamedTuple):
    """A row with its picture as a file."""

    row: Row
    image: ImageRef
    path: Path


class UnpackedNeedles(NamedTuple):
    """The rows, and a hash of the files they are from."""

    rows: tuple[UnpackedRow, ...]
    sha256: str


def unpack_needles(data: Path, id_column: str) -> UnpackedNeedles | None:
    """Return needles out of parquet: a copy of HRScene's ``whitebackground_1x1``, or a file that holds pictures.

    Ids lose the cell that the hub writes into them.

    Returns:
        None if the data is neither.

    Raises:
        BenchmarkError: If a file is damaged.
        StoreError: If the pictures cannot be written.
    """
    files = hub_files(data, "whitebackground", 1) if data.is_dir() else (data,)
    if not files or not all(has_pictures(file) for file in files):
        return None
    cache = cache_folder()
    if cache is None:
        raise UsageError("no home folder to unpack needles into", hint="give a folder of pictures instead")
    stored = ParquetRows(files, cache)
    folder = cache / f"needles-{stored.fingerprint[:16]}"
    return UnpackedNeedles(tuple(_unpacked(stored, folder, id_column)), stored.fingerprint)


def _unpacked(stored: ParquetRows, folder: Path, id_column: str) -> Iterator[UnpackedRow]:
    for row in stored.rows:
        path = folder / f"{row.image.file_sha256}.{row.image.media_type.partition('/')[2]}"
        if not row.image.fault and (not path.is_file() or path.stat().st_size != row.image.n_bytes):
            _copy(stored.path(row.image), path)
        values = dict(row.values)
        if values.get(id_column) is not None:
            values[id_column] = parse_cell_id(str(values[id_column]), 1).base
        yield UnpackedRow(Row(row.place, values), row.image, path)


def _copy(source: Path, path: Path) -> None:
    """Copy a picture, whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as stream, source.open("rb") as content:
            shutil.copyfileobj(content, stream)
        Path(stream.name).replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror})", hint="check the room on the disk") from error

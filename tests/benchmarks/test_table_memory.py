"""The law of memory: how large a table is decides how long it takes to read, not how much memory."""

import base64
import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

SMALL_MB, LARGE_MB, ALLOWED_MB = 100, 400, 30
# Not ru_maxrss, which a child inherits from its parent.
_PEAK = """
import sys
from pathlib import Path
from eyechart.benchmarks.hrbench import HRBenchKind, HRBenchOptions
benchmark = HRBenchKind().open(Path(sys.argv[1]), HRBenchOptions())
peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
print(sum(1 for _ in benchmark.questions()), peak)
"""


def noisy_jpeg():
    pixels = np.random.default_rng(0).integers(0, 255, (600, 800, 3), np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=90)
    return stream.getvalue()


def rows(n_megabytes):
    """Yield rows of distinct pictures until their text has so many megabytes."""
    head, number, n_written = noisy_jpeg(), 0, 0
    while n_written < n_megabytes * 1_000_000:
        encoded = base64.b64encode(head + number.to_bytes(8, "big")).decode()
        yield number, encoded
        number, n_written = number + 1, n_written + len(encoded) + 60


def write_tsv(path, n_megabytes):
    with path.open("w", encoding="utf-8") as stream:
        stream.write("index\tquestion\tA\tB\tanswer\tcategory\tcycle_category\timage\n")
        for number, encoded in rows(n_megabytes):
            stream.write(f'{number}\t"Which ""one""?"\tred\tblue\tA\tsingle\tc{number % 4}\t{encoded}\n')
    return path


def write_parquet(path, n_megabytes):
    import pyarrow
    import pyarrow.parquet

    picture = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    names = ("index", "question", "A", "B", "answer", "category", "image")
    kinds = (pyarrow.int64(), *(pyarrow.string(),) * 5, picture)
    schema = pyarrow.schema(list(zip(names, kinds, strict=True)))
    with pyarrow.parquet.ParquetWriter(path, schema, compression="none") as writer:
        batch = []
        for number, encoded in rows(n_megabytes * 4 // 3):
            image = {"bytes": base64.b64decode(encoded), "path": None}
            batch.append((number, "Which?", "red", "blue", "A", "single", image))
            if len(batch) == 100:  # one row group, as large as published files have them
                writer.write_table(_table(batch, schema))
                batch.clear()
        if batch:
            writer.write_table(_table(batch, schema))
    return path


def _table(batch, schema):
    import pyarrow

    return pyarrow.table([list(column) for column in zip(*batch, strict=True)], schema=schema)


def peak_megabytes(path):
    """Return the number of questions and the peak memory of a process that opens the table."""
    done = subprocess.run([sys.executable, "-c", _PEAK, str(path)], capture_output=True, text=True, check=True)
    n_questions, peak = map(int, done.stdout.split())
    return n_questions, peak / 1024


@pytest.mark.slow(seconds=8)
@pytest.mark.parametrize(("write", "suffix"), [(write_tsv, ".tsv"), (write_parquet, ".parquet")])
def test_four_times_the_table_needs_no_more_memory(tmp_path, write, suffix):
    peaks = []
    for n_megabytes in (SMALL_MB, LARGE_MB):
        path = write(tmp_path / f"{n_megabytes}{suffix}", n_megabytes)
        n_questions, peak = peak_megabytes(path)
        assert n_questions * len(noisy_jpeg()) * 4 / 3 > 0.9 * n_megabytes * 1e6
        peaks.append(peak)
        path.unlink()
        for picture in path.with_name(f"{path.name}.images").iterdir():
            picture.unlink()
    assert abs(peaks[1] - peaks[0]) < ALLOWED_MB, f"{peaks} MB"
    print(f"{suffix}: {peaks[0]:.0f} and {peaks[1]:.0f} MB")  # noqa: T201 -- shown with -s

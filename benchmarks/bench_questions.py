"""How long reading question files takes, beside the source tree of another version.

    python benchmarks/bench_questions.py                       # this version alone
    python benchmarks/bench_questions.py --before PATH/TO/src  # both, in interleaved rounds

Each round opens every file in a fresh process and takes the processor time of the opening alone.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

N_ROWS, N_PICTURES, N_ROUNDS = 20_300, 700, 3
OPEN = """
import sys, time
from pathlib import Path
from eyechart.benchmarks.folder import FolderKind, FolderOptions
began = time.process_time()
benchmark = FolderKind().open(Path(sys.argv[1]), FolderOptions(box_format="xyxy"))
n = sum(1 for _ in benchmark.questions())
print(time.process_time() - began, n)
"""


def write_files(folder: Path) -> list[Path]:
    """Write the same questions as JSONL and as CSV, and their pictures."""
    for number in range(N_PICTURES):
        Image.new("RGB", (64, 48), (number % 256, number // 256, 7)).save(folder / f"{number}.png")
    rows = [
        {
            "id": f"{number:06d}",
            "image": f"{number % N_PICTURES}.png",
            "question": f"What is the shade of object {number} in this picture of a street?",
            "choices": ["teal", "amber", f"violet {number}", "ivory"],
            "answer": "ABCD"[number % 4],
            "box": [8, 8, 24.5, 20],
            "task": "Color",
            "difficulty": number / 7,
        }
        for number in range(N_ROWS)
    ]
    jsonl, table = folder / "questions.jsonl", folder / "questions.csv"
    jsonl.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "choices": "|".join(row["choices"]), "box": json.dumps(row["box"])} for row in rows)
    return [jsonl, table]


def seconds(source: Path, file: Path) -> float:
    """Return the processor time of opening a file with one version."""
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(file)],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    taken, n = done.stdout.split()
    if int(n) != N_ROWS:
        raise SystemExit(f"{file.name}: {n} questions read, not {N_ROWS}")
    return float(taken)


def main() -> None:
    """Print the median of each file and version, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="folder src of another version")
    before = parser.parse_args().before
    own = Path(__file__).parents[1] / "src"
    with tempfile.TemporaryDirectory() as name:
        for file in write_files(Path(name)):
            rounds: dict[Path, list[float]] = {}
            for _ in range(N_ROUNDS):
                for source in (own, before) if before else (own,):
                    rounds.setdefault(source, []).append(seconds(source, file))
            medians = {source: statistics.median(taken) for source, taken in rounds.items()}
            told = f"{file.name}: {medians[own]:.2f} s of processor time for {N_ROWS} rows"
            if before:
                told += f", {medians[before]:.2f} s before, ratio {medians[own] / medians[before]:.2f}"
            print(told)


if __name__ == "__main__":
    main()

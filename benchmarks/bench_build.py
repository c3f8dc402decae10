"""``eyechart build`` with all 29 views against the naive script and our own pipeline, and what a second build costs.

Run: ``python benchmarks/bench_build.py`` (two 4K pictures and one 8K; ``--n4k 50 --n8k 10`` is the size of the goals),
``--check`` to fail on a missed goal. Figures are CPU seconds (user and system) of processes of their own, children
included, so other work on the machine hardly matters.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_views import plan_views
from pictures import SIZES, ensure_picture

from eyechart.schema import Size

HERE = Path(__file__).parent
# Goals P1 and P2 of the pipeline; the command also hashes, copies and writes rows and cards.
NAIVE_RATIO = {"cykooz-lanczos3@1": 15.0, "pillow-lanczos@1": 6.0}
SECOND_BUILD_SHARE = 0.1
# Loading the program and its libraries, and the cards' figures, do not grow with the number of pictures.
FIXED_CPU_SECONDS = 1.0


def write_questions(folder: Path, pictures: list[tuple[str, Path]]) -> None:
    rows = []
    for number, (size, path) in enumerate(pictures):
        width, height = SIZES[size]
        x0, y0 = int(width * 0.61) | 1, int(height * 0.43) | 1
        box = [x0, y0, x0 + round((width * height * 0.0052) ** 0.5), y0 + round((width * height * 0.0031) ** 0.5)]
        rows.append(
            {
                "id": f"{number:06d}",
                "image": path.name,
                "question": "Which?",
                "choices": ["a", "b"],
                "answer": "A",
                "box": box,
            }
        )
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))


def cpu_seconds(command: list[str], cwd: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def naive_seconds(pictures: list[tuple[str, Path]], scratch: Path) -> float:
    total = 0.0
    for size, path in pictures:
        plan = scratch / "plan.json"
        plan_views(path, Size(*SIZES[size]), plan)
        out = scratch / "naive"
        out.mkdir(exist_ok=True)
        total += cpu_seconds([sys.executable, str(HERE / "views_naive.py"), str(plan), str(out)], scratch)
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n4k", type=int, default=2)
    parser.add_argument("--n8k", type=int, default=1)
    parser.add_argument("--pictures", type=Path, help="Folder that keeps the pictures between calls.")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        folder = arguments.pictures or scratch / "pictures"
        wanted = [("4k", seed) for seed in range(arguments.n4k)] + [("8k", seed) for seed in range(arguments.n8k)]
        pictures = [(size, ensure_picture(size, folder, seed)) for size, seed in wanted]
        write_questions(folder, pictures)
        naive = naive_seconds(pictures, scratch)
        print(f"naive: {naive:.1f} CPU s for {len(pictures)} pictures", flush=True)
        for resampler, goal in NAIVE_RATIO.items():
            out = scratch / resampler
            # One process: the CPU time of a pool's workers is that of nobody's child.
            command = [sys.executable, "-m", "eyechart", "build", "folder", "--data", str(folder), "--jobs", "1"]
            command += ["--out", str(out), "--option", "box_format=xyxy", "--views", "sum29", "--resampler", resampler]
            first, second = (cpu_seconds(command, scratch) for _ in range(2))
            ratio = naive / max(first - FIXED_CPU_SECONDS, 0.01)
            text = f"{resampler}: {first:.1f} CPU s, {ratio:.1f}x naive without the fixed part, goal {goal:g}x"
            text += f"; nothing changed: {second:.1f} CPU s"
            is_met = ratio >= goal and second <= FIXED_CPU_SECONDS + SECOND_BUILD_SHARE * first
            print(f"  {'ok    ' if is_met else 'MISSED'} {text}", flush=True)
            missed += [] if is_met else [resampler]
    return 1 if missed and arguments.check else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(HERE.parent / "src"))
    sys.exit(main())

"""How long `eyechart check` takes for 20,300 rows: 700 questions under the 29 views of SUM, from geometry alone.

Run: ``python benchmarks/bench_check.py [--rounds 5] [--transport native]``. Prints the median CPU seconds
over rounds, each in a process of its own, and fails above the limit of 5 s.
"""

import argparse
import datetime
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from eyechart.opening import open_prompt
from eyechart.runs.checking import Counting, check_benchmark
from eyechart.runs.plan_options import PlanOptions
from eyechart.schema import BenchmarkIdentity, Box, ImageRef, ModelIdentity, Question, Size
from eyechart.seen.transport import parse_transport
from eyechart.views import resolve_views

LIMIT_SECONDS = 5.0
N_QUESTIONS = 700


class MadeBenchmark:
    """Questions about pictures of 4K to 8K of which there are only headers."""

    identity = BenchmarkIdentity("made", "r1")

    def questions(self) -> Iterator[Question]:
        for number in range(N_QUESTIONS):
            size = Size(3840 + 7 * number % 3840, 2160 + 5 * number % 2160)
            target = Box(100 + number, 200, 420 + number, 290)
            yield Question(
                id=f"q{number}",
                benchmark="made",
                text="What does the sign say?",
                image=ImageRef(f"{number:064x}", size, "image/jpeg", n_bytes=size.n_px // 4),
                image_group=f"g{number}",
                choices=("STOP", "SHOP", "STEP", "SLOP"),
                answer="A",
                targets=(target,),
                targets_clipped=(target,),
            )

    def image_path(self, image: ImageRef) -> Path:
        raise AssertionError(image)  # check reads no picture

    def released_views(self) -> tuple[str, ...]:
        return ()

    def released_image(self, question: Question, view_id: str) -> None:  # noqa: ARG002 -- there is none
        return None


def measure(transport: str) -> float:
    began = time.process_time()
    table = check_benchmark(
        MadeBenchmark(),
        resolve_views("sum29")[0],
        [ModelIdentity("anthropic", "claude-sonnet-4-5")],
        today=datetime.date(2026, 11, 30),
        options=PlanOptions(transport=parse_transport(transport).id),
        counting=Counting(open_prompt("letter_normalized")),
    )
    assert sum(view.n for view in table.models[0].views) == 20_300
    return time.process_time() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--transport", default="native")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(measure(arguments.transport))
        return 0
    command = [sys.executable, __file__, "--one", "--transport", arguments.transport]
    seconds = [
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(arguments.rounds)
    ]
    median = statistics.median(seconds)
    print(f"check of 20,300 rows, {arguments.transport}: {median:.2f} s CPU (median of {len(seconds)}), limit 5 s")
    return int(median > LIMIT_SECONDS)


if __name__ == "__main__":
    raise SystemExit(main())

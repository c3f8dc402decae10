"""The run loop against a bare loop over the same SDK, and whether its memory grows with the number of requests.

Run: ``python benchmarks/bench_run_loop.py`` (about three minutes), ``--check`` to fail on a missed goal.
Server and contenders are processes of their own; rounds are interleaved; the figure is CPU seconds (user and system)
of the contender after a warm-up of a few requests, the ratio the median over rounds of ours ÷ bare in the same round.
Ours is the whole run: planning, store, asking, scoring and estimates. Bare reads the file, asks and appends one line.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from eyechart.schema import BenchmarkIdentity, ImageRef, Question, Size

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

MAX_RATIO = 1.5
MAX_GROWTH_MB = 20.0
# name → requests, concurrency, picture size in pixels, JPEG quality
CASES = {
    "small": (2000, 64, Size(160, 120), 90),
    "large": (100, 16, Size(1800, 1350), 88),
}
PROMPT = "Which letter is on the sign?\nA. yes\nB. no\nC. both\nD. neither\nAnswer with the option's letter."


def make_pictures(folder: Path, name: str, n_pictures: int) -> list[Path]:
    """Write JPEG files that differ in a comment only, so that making them takes no time."""
    _, _, size, quality = CASES[name]
    folder.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(0).integers(0, 256, (size.height, size.width, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "base.jpg", quality=quality)
    content = (folder / "base.jpg").read_bytes()
    paths = []
    for index in range(n_pictures):
        comment = f"{index:08d}".encode()
        path = folder / f"{index:05d}.jpg"
        # A comment segment right after the start marker: FF FE, length including itself, text.
        path.write_bytes(content[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2) + comment + content[2:])
        paths.append(path)
    return paths


# --- contenders, each in a process of its own -----------------------------------------------------------------------


class Files:
    """Questions about the given files, their headers read beforehand."""

    def __init__(self, paths: list[Path], size: Size) -> None:
        self.identity = BenchmarkIdentity("files", str(len(paths)))
        self._paths: dict[str, Path] = {}
        self._questions = []
        for index, path in enumerate(paths):
            content = path.read_bytes()
            image = ImageRef(hashlib.sha256(content).hexdigest(), size, "image/jpeg", n_bytes=len(content))
            self._paths[image.file_sha256] = path
            self._questions.append(
                Question(
                    id=f"{index:05d}",
                    benchmark="files",
                    text="Which letter is on the sign?",
                    image=image,
                    image_group=f"{index:05d}",
                    choices=("yes", "no", "both", "neither"),
                    answer="A",
                )
            )

    def questions(self) -> Iterator[Question]:
        return iter(self._questions)

    def image_path(self, image: ImageRef) -> Path:
        return self._paths[image.file_sha256]

    def released_views(self) -> tuple[str, ...]:
        return ()

    def released_image(self, question: Question, view_id: str) -> None:  # noqa: ARG002 -- nothing is released
        return None


def run_ours(paths: list[Path], base_url: str, concurrency: int, size: Size, out: Path) -> None:
    from eyechart.kinds import ModelOptions
    from eyechart.opening import open_model, open_prompt
    from eyechart.runs.execute import LoopSettings
    from eyechart.runs.folders import Destination
    from eyechart.runs.session import RunOptions, run_benchmark
    from eyechart.schema import Original

    options = RunOptions(loop=LoopSettings(concurrency=concurrency), where=Destination(out=out))
    model = open_model("openai/local-vlm", ModelOptions(base_url=base_url))
    outcome = run_benchmark(Files(paths, size), model, (Original(),), open_prompt(), options=options)
    assert outcome.exit_code == 0


def run_bare(paths: list[Path], base_url: str, concurrency: int, out: Path) -> None:
    from openai import AsyncOpenAI

    async def ask_all() -> None:
        client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
        waiting = iter(paths)

        async def work() -> None:
            for path in waiting:
                uri = "data:image/jpeg;base64," + base64.b64encode(path.read_bytes()).decode()
                content = [
                    {"type": "image_url", "image_url": {"url": uri, "detail": "high"}},
                    {"type": "text", "text": PROMPT},
                ]
                reply = await client.chat.completions.create(
                    model="local-vlm",
                    messages=[{"role": "user", "content": content}],
                    temperature=0,
                    max_completion_tokens=1024,
                )
                file.write(json.dumps({"id": path.stem, "text": reply.choices[0].message.content}) + "\n")
                file.flush()

        await asyncio.gather(*(work() for _ in range(concurrency)))
        await client.close()

    with out.open("a") as file:
        asyncio.run(ask_all())


def contend(kind: str, name: str, folder: Path, n_requests: int, base_url: str) -> None:
    """Warm up, run, and print CPU seconds, wall seconds and peak memory as JSON."""
    _, concurrency, size, _ = CASES[name]

    def run(some: list[Path], base_url: str, concurrency: int, out: Path) -> None:
        if kind == "ours":
            run_ours(some, base_url, concurrency, size, out)
        else:
            run_bare(some, base_url, concurrency, out)

    paths = sorted(folder.glob("0*.jpg"))
    with tempfile.TemporaryDirectory() as made:
        run(paths[-4:], base_url, 2, Path(made) / "warm-up")
        began, wall = time.process_time(), time.monotonic()
        run(paths[:n_requests], base_url, concurrency, Path(made) / "run")
        seconds = time.process_time() - began
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cpu": seconds, "wall": time.monotonic() - wall, "peak_mb": peak_mb}))


# --- rounds ---------------------------------------------------------------------------------------------------------


def measure(kind: str, name: str, folder: Path, n_requests: int) -> dict[str, float]:
    from servers.chat_server import ServerProcess

    with tempfile.TemporaryDirectory() as made, ServerProcess(log=Path(made) / "log", latency_seconds=0.02) as server:
        command = [sys.executable, __file__, "--contender", kind, "--case", name]
        command += ["--folder", str(folder), "--requests", str(n_requests), "--base-url", server.base_url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        return json.loads(done.stdout)


def compare(name: str, folder: Path, n_rounds: int) -> float:
    """Return the median ratio of CPU seconds, ours to bare."""
    n_requests = CASES[name][0]
    make_pictures(folder, name, n_requests + 4)
    ratios = []
    for _ in range(n_rounds):
        bare, ours = (measure(kind, name, folder, n_requests) for kind in ("bare", "ours"))
        ratios.append(ours["cpu"] / bare["cpu"])
        print(
            f"  {name}: bare {bare['cpu']:.2f} CPU s ({1000 * bare['cpu'] / n_requests:.1f} ms a request), "
            f"ours {ours['cpu']:.2f} ({1000 * ours['cpu'] / n_requests:.1f} ms), ratio {ratios[-1]:.2f}, "
            f"peak {bare['peak_mb']:.0f} and {ours['peak_mb']:.0f} MB",
            flush=True,
        )
    return statistics.median(ratios)


def growth_mb(folder: Path, n_rounds: int) -> float:
    """Return the median growth of peak memory from 500 to 5,000 requests, in MB."""
    make_pictures(folder, "small", 5004)
    grown = []
    for _ in range(n_rounds):
        few, many = (measure("ours", "small", folder, n)["peak_mb"] for n in (500, 5000))
        grown.append(many - few)
        print(f"  memory: 500 requests {few:.1f} MB, 5,000 requests {many:.1f} MB", flush=True)
    return statistics.median(grown)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    parser.add_argument("--contender", choices=("ours", "bare"), help=argparse.SUPPRESS)
    parser.add_argument("--case", choices=tuple(CASES), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--requests", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--base-url", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.contender:
        contend(given.contender, given.case, given.folder, given.requests, given.base_url)
        return 0
    missed = 0
    with tempfile.TemporaryDirectory() as made:
        for name in CASES:
            ratio = compare(name, Path(made) / name, given.rounds)
            missed += ratio > MAX_RATIO
            print(f"{name}: median ratio {ratio:.2f}, goal at most {MAX_RATIO}")
        growth = growth_mb(Path(made) / "growth", max(1, given.rounds // 2))
        missed += growth >= MAX_GROWTH_MB
        print(f"memory: 5,000 requests need {growth:.1f} MB more than 500, goal below {MAX_GROWTH_MB:g}")
    return int(bool(missed and given.check))


if __name__ == "__main__":
    sys.exit(main())

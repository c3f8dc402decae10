"""``eyechart build`` and ``eyechart verify`` with all 29 views: goals P1 to P5 through the command line, and resuming.

Run: ``python benchmarks/bench_build.py`` (two 4K pictures and one 8K); ``--n4k 50 --n8k 10 --check`` is the size of the
goals, takes about half an hour on two idle cores, and ends with 1 if a goal is missed. Pictures are made at their real
size. CPU is that of a command with all the processes it starts. The naive script runs on some pictures of each size, in
rounds between the builds, so that what else the machine does hits both; its time is that of a picture times their
number. Wall times are only judged where cores were free.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench_views import FREE_CORES, Verdicts, plan_views, run
from pictures import SIZES, ensure_picture
from processes import Cost, measure

from eyechart.images.deflate import deflate_name
from eyechart.images.workers import n_processors
from eyechart.releases.journal import Journal
from eyechart.schema import Size

HERE = Path(__file__).parent
FAST, EXACT = "cykooz-lanczos3@1", "pillow-lanczos@1"
# Goals and their reasons: the ratios that make a release of 700 pictures a matter of minutes.
NAIVE_RATIO = {FAST: ("P1", 15.0), EXACT: ("P2", 6.0)}
MAX_FLOOR_RATIO = 2.0
MIN_GAIN_OF_TWO, MAX_SECONDS_OF_FIFTY = 1.7, 30.0
SECOND_BUILD_SHARE = 0.1
# A check that decodes every picture may cost so much more than decoding them: it hashes and compares them too.
MAX_VERIFY_RATIO = 1.25
DECODER = "pillow"
N_VERIFY_ROUNDS = 3
N_FLOOR_PICTURES = 2


class Picture(NamedTuple):
    """One picture: the name of its size, and its file."""

    size: str
    path: Path

    @property
    def decoded_mb(self) -> float:
        """Megabytes of its pixels."""
        return Size(*SIZES[self.size]).n_px * 3 / 1e6


class Naive(NamedTuple):
    """What the naive script needs for one picture of each size."""

    cpu: dict[str, float]
    peak_mb: dict[str, float]


def write_questions(pictures: Sequence[Picture], name: str) -> Path:
    """Write a question about every picture, with a target of 0.4 % of the area, beside the pictures."""
    rows = []
    for number, picture in enumerate(pictures):
        width, height = SIZES[picture.size]
        x0, y0 = int(width * 0.61) | 1, int(height * 0.43) | 1
        box = [x0, y0, x0 + round((width * height * 0.0052) ** 0.5), y0 + round((width * height * 0.0031) ** 0.5)]
        asked = {"question": "Which?", "choices": ["a", "b"], "answer": "A"}
        rows.append({"id": f"{number:06d}", "image": picture.path.name, "box": box, **asked})
    path = pictures[0].path.with_name(f"{name}.jsonl")
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def build_command(questions: Path, out: Path, resampler: str, jobs: int | None = None) -> list[str]:
    command = [sys.executable, "-m", "eyechart", "build", "folder", "--data", str(questions), "--out", str(out)]
    command += ["--option", "box_format=xyxy", "--views", "sum29", "--resampler", resampler]
    return command if jobs is None else [*command, "--jobs", str(jobs)]


def run_naive(pictures: Sequence[Picture], scratch: Path, number: int) -> Naive:
    """Run the naive script on one picture of each size; another one for each ``number``."""
    cpu, peaks = {}, {}
    for size in dict.fromkeys(picture.size for picture in pictures):
        members = [picture for picture in pictures if picture.size == size]
        plan, out = scratch / "plan.json", scratch / "naive"
        out.mkdir()
        plan_views(members[number % len(members)].path, Size(*SIZES[size]), plan)
        figures = run("views_naive.py", str(plan), str(out))
        cpu[size], peaks[size] = figures["cpu"], figures["mb"]
        shutil.rmtree(out)
    return Naive(cpu, peaks)


def floor_seconds(pictures: Sequence[Picture], scratch: Path) -> float:
    """CPU seconds of the components alone: measured on the first pictures of each size, and multiplied."""
    total = 0.0
    for size in SIZES:
        members = [picture for picture in pictures if picture.size == size]
        for picture in members[:N_FLOOR_PICTURES]:
            plan = scratch / "plan.json"
            plan_views(picture.path, Size(*SIZES[size]), plan)
            floor = run("views_product.py", "floor", str(plan), str(scratch), FAST)["cpu"]
            total += floor * len(members) / len(members[:N_FLOOR_PICTURES])
    return total


def image_times(release: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in release.glob("data/*/test/images/*")}


# --- the parts --------------------------------------------------------------------------------------------------------


def bench_ratios(pictures: Sequence[Picture], scratch: Path, verdicts: Verdicts) -> Cost:
    """P1, P2, P3 and P5; the fast release stays for the other parts, and the cost of building it is returned."""
    questions = write_questions(pictures, "questions")
    rounds = [run_naive(pictures, scratch, 0)]
    costs = {FAST: measure(build_command(questions, scratch / FAST, FAST), scratch)}
    rounds.append(run_naive(pictures, scratch, 1))
    costs[EXACT] = measure(build_command(questions, scratch / EXACT, EXACT), scratch)
    shutil.rmtree(scratch / EXACT)
    rounds.append(run_naive(pictures, scratch, 2))
    of_one = {size: statistics.median(one.cpu[size] for one in rounds) for size in rounds[0].cpu}
    naive = sum(of_one[picture.size] for picture in pictures)
    shown = ", ".join(f"{cpu:.1f} CPU s a picture of {size}" for size, cpu in of_one.items())
    print(f"  naive: {shown}; {naive:.0f} for all", flush=True)
    for resampler, (goal, least) in NAIVE_RATIO.items():
        ratio, cpu = naive / costs[resampler].cpu, costs[resampler].cpu
        text = f"{resampler} ({deflate_name()}): {ratio:.1f}x naive, goal {least:g}x; {cpu:.1f} CPU s in all"
        verdicts.judge(goal, text, holds=ratio >= least)
    floor = floor_seconds(pictures, scratch)
    over = costs[FAST].cpu / floor
    text = f"{over:.2f}x the sum of its components ({floor:.1f} CPU s), goal {MAX_FLOOR_RATIO:g}x"
    verdicts.judge("P3", text, holds=over <= MAX_FLOOR_RATIO)
    largest = max(pictures, key=lambda picture: picture.decoded_mb)
    naive_mb = max(one.peak_mb[largest.size] for one in rounds)
    for resampler, cost in costs.items():
        judge_memory(f"{resampler}, {largest.size}", cost, largest, naive_mb, verdicts)
    return costs[FAST]


def judge_memory(what: str, cost: Cost, largest: Picture, naive_mb: float, verdicts: Verdicts) -> None:
    """P5 of every process of a build, the workers above all."""
    limit = 6 * largest.decoded_mb + 100
    peaks = cost.worker_peaks_mb
    shown = ", ".join(f"{peak:.0f}" for peak in peaks)
    text = f"{what}: peaks {shown} MB, limit {limit:.0f} MB and naive's {naive_mb:.0f} MB"
    verdicts.judge("P5", text, holds=bool(peaks) and peaks[0] <= min(limit, naive_mb))


def bench_scaling(pictures: Sequence[Picture], scratch: Path, verdicts: Verdicts) -> None:
    """P4, and P5 where every picture is 4K."""
    questions = write_questions(pictures, "questions-4k")
    costs = {}
    for jobs in (1, 2):
        costs[jobs] = measure(build_command(questions, scratch / "scaling", FAST, jobs), scratch)
        shutil.rmtree(scratch / "scaling")
    naive_mb = run_naive(pictures, scratch, 0).peak_mb["4k"]
    judge_memory(f"{FAST}, 4k", costs[2], pictures[0], naive_mb, verdicts)
    gain, fifty = costs[1].wall / costs[2].wall, costs[2].wall / len(pictures) * 50
    text = f"two processes {gain:.2f}x one on {len(pictures)} pictures, goal {MIN_GAIN_OF_TWO:g}x; 50 pictures in "
    text += f"{fifty:.0f} s, goal {MAX_SECONDS_OF_FIFTY:g} s"
    if costs[1].idle_cores < FREE_CORES:
        text += f" (not judged: {costs[1].idle_cores:.2f} cores were free"
        print(f"  P4  info   {text}; CPU of one ÷ two {costs[1].cpu / costs[2].cpu:.2f})", flush=True)
        return
    verdicts.judge("P4", text, holds=gain >= MIN_GAIN_OF_TWO and fifty <= MAX_SECONDS_OF_FIFTY)


def bench_again(pictures: Sequence[Picture], scratch: Path, first: Cost, verdicts: Verdicts) -> None:
    """A second build with nothing changed, and one that was killed half-way and called again."""
    questions, built = write_questions(pictures, "questions"), scratch / FAST
    before = image_times(built)
    second = measure(build_command(questions, built, FAST), scratch)
    text = f"{second.cpu:.1f} CPU s where nothing changed, {100 * second.cpu / first.cpu:.0f} % of the first build"
    is_cheap = second.cpu <= max(SECOND_BUILD_SHARE * first.cpu, 2.5)
    verdicts.judge("2nd", f"{text}; no image touched", holds=is_cheap and image_times(built) == before)

    killed = scratch / "killed"
    measure(build_command(questions, killed, FAST), scratch, stop_after=first.wall / 2)
    finished = {str(killed / name) for name in Journal(killed).read()}
    times = {name: time for name, time in image_times(killed).items() if name in finished}
    measure(build_command(questions, killed, FAST), scratch)
    after = image_times(killed)
    is_kept = bool(times) and all(after[name] == time for name, time in times.items())
    names = [path.relative_to(built) for path in sorted(built.rglob("*")) if path.is_file()]
    is_same = len(after) == len(before) and all(
        (built / name).read_bytes() == (killed / name).read_bytes() for name in names
    )
    text = f"killed after {len(times)} of {len(before)} images: those were kept, every file is that of the whole build"
    verdicts.judge("res", text, holds=is_kept and is_same)
    shutil.rmtree(killed)


def bench_verify(scratch: Path, verdicts: Verdicts) -> None:
    """``verify`` against decoding the same files in as many processes.

    Judged by Pillow, which ``decode@1`` is; pyvips decodes the same pixels somewhat faster and is shown beside it.
    """
    release = scratch / FAST
    commands = {"verify": [sys.executable, "-m", "eyechart", "verify", str(release)]}
    for library in ("pyvips", "pillow"):
        commands[library] = [sys.executable, str(HERE / "decode_all.py"), str(release / "data"), library]
    rounds = [{name: measure(command, scratch) for name, command in commands.items()} for _ in range(N_VERIFY_ROUNDS)]
    for library in ("pyvips", "pillow"):
        cpu = statistics.median(costs["verify"].cpu / costs[library].cpu for costs in rounds)
        wall = statistics.median(costs["verify"].wall / costs[library].wall for costs in rounds)
        seconds = statistics.median(costs["verify"].cpu for costs in rounds)
        text = f"{cpu:.2f}x the CPU and {wall:.2f}x the wall of decoding with {library}, {n_processors()} processes"
        text += f"; {seconds:.1f} CPU s"
        if library == DECODER:
            verdicts.judge("ver", f"{text}, goal {MAX_VERIFY_RATIO:g}x", holds=cpu <= MAX_VERIFY_RATIO)
        else:
            print(f"  ver info   {text}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n4k", type=int, default=2)
    parser.add_argument("--n8k", type=int, default=1)
    parser.add_argument("--pictures", type=Path, help="Folder that keeps the pictures between calls.")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        folder = (arguments.pictures or scratch / "pictures").resolve()
        wanted = [("4k", seed) for seed in range(arguments.n4k)] + [("8k", seed) for seed in range(arguments.n8k)]
        with multiprocessing.get_context("forkserver").Pool() as pool:
            paths = pool.starmap(ensure_picture, [(size, folder, seed) for size, seed in wanted], chunksize=1)
        pictures = [Picture(size, path) for (size, _), path in zip(wanted, paths, strict=True)]
        print(f"{arguments.n4k} pictures of 4K and {arguments.n8k} of 8K, 29 views each", flush=True)
        first = bench_ratios(pictures, scratch, verdicts)
        bench_again(pictures, scratch, first, verdicts)
        bench_verify(scratch, verdicts)
        shutil.rmtree(scratch / FAST)
        if arguments.n4k:
            bench_scaling([picture for picture in pictures if picture.size == "4k"], scratch, verdicts)
    print(f"{len(verdicts.missed)} goals missed", *verdicts.missed, sep="\n  ")
    return int(arguments.check and bool(verdicts.missed))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(HERE.parent / "src"))
    sys.exit(main())

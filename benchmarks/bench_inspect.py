"""A whole run against inspect_ai on the same local server: CPU, wall time and memory, in interleaved rounds.

Run: ``python benchmarks/bench_inspect.py --inspect-python VENV/bin/python`` (about ten minutes), where
``VENV`` is an environment of its own with ``inspect_ai`` and ``openai``. ``--all`` asks 20,300 small requests once.
Both read the same files, send the same prompt and pictures, and keep what comes back; inspect_ai runs without pictures
in its log, its faster setting. CPU seconds are user and system of the contender with its children, after its imports.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

# name → requests, concurrency; as in bench_run_loop
CASES = {"small": (2000, 64), "large": (100, 16)}
ALL_REQUESTS = 20_300
PROMPT = "Which letter is on the sign?\nA. yes\nB. no\nC. both\nD. neither\nAnswer with the option's letter."
BASE_MEMORY_MB = 200.0
COPIES_IN_FLIGHT = 4


def cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def run_inspect(paths: list[Path], base_url: str, concurrency: int, out: Path) -> None:
    """Ask with inspect_ai; runs in its own environment."""
    from inspect_ai import Task, eval  # noqa: A004 -- its own name
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, get_model
    from inspect_ai.solver import generate

    samples = [
        Sample(
            id=path.stem,
            input=[ChatMessageUser(content=[ContentImage(image=str(path), detail="high"), ContentText(text=PROMPT)])],
            target="A",
        )
        for path in paths
    ]
    model = get_model("openai/local-vlm", base_url=base_url, api_key="none", responses_api=False)
    (log,) = eval(
        Task(dataset=MemoryDataset(samples), solver=generate()),
        model=model,
        log_dir=str(out),
        log_images=False,
        max_connections=concurrency,
        max_samples=concurrency,
        display="none",
        temperature=0,
    )
    assert log.status == "success", log.error


def contend(kind: str, folder: Path, n_requests: int, concurrency: int, base_url: str) -> None:
    """Warm up, run, and print CPU seconds, wall seconds and peak memory as JSON."""
    paths = sorted(folder.glob("0*.jpg"))

    def run(some: list[Path], out: Path) -> None:
        if kind == "inspect":
            run_inspect(some, base_url, concurrency, out)
            return
        from bench_run_loop import run_ours
        from PIL import Image

        from eyechart.schema import Size

        with Image.open(some[0]) as first:
            size = Size(*first.size)
        run_ours(some, base_url, concurrency, size, out)

    with tempfile.TemporaryDirectory() as made:
        run(paths[-4:], Path(made) / "warm-up")
        began, wall = cpu_seconds(), time.monotonic()
        run(paths[:n_requests], Path(made) / "run")
        seconds, wall = cpu_seconds() - began, time.monotonic() - wall
        kept = sum(path.stat().st_size for path in (Path(made) / "run").rglob("*") if path.is_file())
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    print(json.dumps({"cpu": seconds, "wall": wall, "peak_mb": peak, "kept_mb": kept / 1e6}))


def measure(python: str, kind: str, folder: Path, n_requests: int, concurrency: int) -> dict[str, float]:
    from servers.chat_server import ServerProcess

    with tempfile.TemporaryDirectory() as made, ServerProcess(log=Path(made) / "log", latency_seconds=0.02) as server:
        command = [python, __file__, "--contender", kind, "--folder", str(folder), "--requests", str(n_requests)]
        command += ["--concurrency", str(concurrency), "--base-url", server.base_url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr[-3000:])
        return json.loads(done.stdout.strip().splitlines()[-1])


def compare(name: str, folder: Path, inspect_python: str, n_rounds: int, n_requests: int) -> bool:
    """Print the medians of interleaved rounds; return whether our memory kept its law."""
    from bench_run_loop import make_pictures

    concurrency = CASES[name][1]
    paths = make_pictures(folder, name, n_requests + 4)
    largest_mb = max(path.stat().st_size for path in paths) / 1e6
    rounds = []
    for _ in range(n_rounds):
        theirs = measure(inspect_python, "inspect", folder, n_requests, concurrency)
        ours = measure(sys.executable, "ours", folder, n_requests, concurrency)
        rounds.append((ours, theirs))
        for who, one in (("eyechart", ours), ("inspect_ai", theirs)):
            print(
                f"  {name}: {who} {one['cpu']:.1f} CPU s ({1000 * one['cpu'] / n_requests:.1f} ms a request), "
                f"{one['wall']:.1f} s, peak {one['peak_mb']:.0f} MB, kept {one['kept_mb']:.1f} MB",
                flush=True,
            )
    for field in ("cpu", "wall", "peak_mb"):
        ratio = statistics.median(theirs[field] / ours[field] for ours, theirs in rounds)
        print(f"{name}: inspect_ai ÷ eyechart, {field}: median {ratio:.1f} of {n_rounds} rounds")
    law_mb = concurrency * COPIES_IN_FLIGHT * largest_mb + BASE_MEMORY_MB
    most_mb = max(ours["peak_mb"] for ours, _ in rounds)
    print(f"{name}: our peak {most_mb:.0f} MB, law {law_mb:.0f} MB ({COPIES_IN_FLIGHT} copies in flight + 200 MB)")
    return most_mb <= law_mb


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inspect-python", help="Python of an environment with inspect_ai")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="ask 20,300 small requests once")
    parser.add_argument("--check", action="store_true", help="exit 1 if our memory breaks its law")
    parser.add_argument("--contender", choices=("ours", "inspect"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--requests", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--concurrency", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--base-url", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.contender:
        contend(given.contender, given.folder, given.requests, given.concurrency, given.base_url)
        return 0
    if given.inspect_python is None:
        parser.error("--inspect-python is needed")
    kept_law = True
    with tempfile.TemporaryDirectory() as made:
        if given.all:
            kept_law = compare("small", Path(made) / "all", given.inspect_python, 1, ALL_REQUESTS)
        else:
            for name, (n_requests, _) in CASES.items():
                kept_law &= compare(name, Path(made) / name, given.inspect_python, given.rounds, n_requests)
    return int(given.check and not kept_law)


if __name__ == "__main__":
    sys.exit(main())

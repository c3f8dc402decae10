"""How long the local server takes for each screen of `eyechart explore`: 10 models × 29 views × 700 questions.

Run: ``python benchmarks/bench_explore.py [--rounds 9] [--runs DIR]``. Prints per screen the first and the median CPU
milliseconds on the server side, and what starting takes; fails where a median exceeds 300 ms. ``--runs`` keeps the made
runs (about 250 MB) for another time. They are scored and estimated as ``eyechart run`` leaves them.
"""

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
from bench_check import MadeBenchmark
from starlette.testclient import TestClient

from eyechart.explorer.server import build_server
from eyechart.explorer.study import read_study
from eyechart.opening import open_prompt, open_scorer
from eyechart.runs.execute import utc_now
from eyechart.runs.folders import Destination, Origin, find_or_create
from eyechart.runs.plan import Plan, plan_id_of, plan_run
from eyechart.runs.score import score_run
from eyechart.runs.summarise import summarise
from eyechart.schema import ModelIdentity, Question, Response, ResponseState, Usage, request_id
from eyechart.views import resolve_views

LIMIT_MS = 300.0
N_MODELS, N_ROWS = 10, 20_300
PAGES = {
    "runs": "/",
    "run": "/run?run=0",
    "grid": "/grid?run=0",
    "grid, by target": "/grid?run=0&sort=target&page=3",
    "grid, filtered": "/grid?run=0&task=OCR&right=crop_3x&wrong=original",
    "grid, filtered by another run": "/grid?run=0&right=original@1&wrong=original&text=sign",
    "question": "/question?run=0&id=q350",
    "question of a choice": "/question?run=0&id=q350&right=crop_3x&sort=id",
    "compare views": "/compare?first=0&second=0",
    "compare models": "/compare?first=0&second=1",
    "side by side": "/pair?first=0&second=1&seed=3",
    "side by side, filtered": "/pair?first=0&second=1&seed=3&category=OCR&first_mark=right&differ=yes",
    "leaderboard": "/leaderboard",
}


class Made(MadeBenchmark):
    """With tasks and sources."""

    def questions(self) -> Iterator[Question]:
        for number, question in enumerate(super().questions()):
            names = {"task": ("OCR", "colour", "count", "where")[number % 4], "source": ("a", "b", "c")[number % 3]}
            yield msgspec.structs.replace(question, **names)


def make_runs(home: Path) -> list[Path]:
    """Write the runs that are not there yet."""
    benchmark, views = Made(), resolve_views("sum29")[0]
    at = {question.id: index for index, question in enumerate(benchmark.questions())}
    planned: Plan | None = None
    for number in range(N_MODELS):
        if (home / f"model-{number}" / "run.json").is_file():
            continue
        model = ModelIdentity("made", f"model-{number}", fingerprint=str(number))
        planned = planned or plan_run(benchmark, views, open_prompt(), model=model)
        plan = _for_model(planned, model)
        origin = Origin(now=utc_now(), versions={}, command=("eyechart", "run", "made"))
        store, _ = find_or_create(plan, Destination(out=home / f"model-{number}"), origin)
        rng = np.random.default_rng(number)
        hard = np.random.default_rng(99).normal(size=len(at))
        writer = store.open_writer("made")
        for request in plan.requests:
            is_right = rng.normal() + 0.05 * number > hard[at[request.question_id]]
            text = f"Let me look at the sign in the picture. The answer is {'A' if is_right else 'B'}."
            usage = Usage(input_tokens=1200, output_tokens=20)
            writer.append(
                Response(request_id=request.id, state=ResponseState.ANSWERED, text=text, usage=usage, seconds=1.0)
            )
        writer.close()
        summarise(store, score_run(store, *open_scorer()))
    return [home / f"model-{number}" for number in range(N_MODELS)]


def _for_model(plan: Plan, model: ModelIdentity) -> Plan:
    """Return the same plan for another model, without planning it again."""
    renamed = (msgspec.structs.replace(request, model=model) for request in plan.requests)
    requests = tuple(msgspec.structs.replace(request, id=request_id(request)) for request in renamed)
    ids = (request.id for request in requests)
    return msgspec.structs.replace(plan, model=model, requests=requests, plan_id=plan_id_of(ids))


def cpu_ms(client: TestClient, path: str) -> float:
    began = time.process_time()
    reply = client.get(path)
    assert reply.status_code == 200, (path, reply.text[-500:])
    return 1000 * (time.process_time() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--runs", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folders = make_runs(arguments.runs or Path(temporary))
        began = time.process_time()
        study = read_study(folders)
        seconds = time.process_time() - began
        assert all(len(run.table.cells) == N_ROWS for run in study.runs)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"start with {N_MODELS} runs of {N_ROWS:,} rows: {seconds:.1f} s CPU, {peak:,.0f} MB peak")
        medians = {}
        with TestClient(build_server(study), base_url="http://127.0.0.1") as client:
            for name, path in PAGES.items():
                first, *rest = (cpu_ms(client, path) for _ in range(arguments.rounds + 1))
                medians[name] = statistics.median(rest)
                print(f"{name:30} first {first:7.0f} ms, median {medians[name]:5.0f} ms")
    print(f"limit {LIMIT_MS:.0f} ms")
    return int(max(medians.values()) > LIMIT_MS)


if __name__ == "__main__":
    raise SystemExit(main())

"""How long the local server takes for the screens of `eyechart explore`: 10 models × 29 views × 700 questions.

Run: ``python benchmarks/bench_explore.py [--rounds 9] [--runs DIR]``. The models differ in skill and in what each view
does to them. Prints per screen the CPU milliseconds on the server side of the first opening and the median of further
ones, then the first openings of some 500 different addresses (facets, filters, orders, pages, every pair of models,
questions), and what starting takes. Fails where any opening, first or later, exceeds 300 ms. ``--runs`` keeps the made
runs (about 250 MB) for another time. They are scored and estimated as ``eyechart run`` leaves them.
"""

import argparse
import resource
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec
import numpy as np
from bench_check import MadeBenchmark
from starlette.testclient import TestClient

from eyechart.explorer.filters import SORTS, Filter, find_facets
from eyechart.explorer.server import PREPARING, build_server
from eyechart.explorer.study import Study, read_study
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


def make_runs(home: Path, n_models: int = N_MODELS) -> list[Path]:
    """Write the runs that are not there yet."""
    benchmark, views = Made(), resolve_views("sum29")[0]
    at = {question.id: index for index, question in enumerate(benchmark.questions())}
    planned: Plan | None = None
    for number in range(n_models):
        if (home / f"model-{number}" / "run.json").is_file():
            continue
        model = ModelIdentity("made", f"model-{number}", fingerprint=str(number))
        planned = planned or plan_run(benchmark, views, open_prompt(), model=model)
        plan = _for_model(planned, model)
        origin = Origin(now=utc_now(), versions={}, command=("eyechart", "run", "made"))
        store, _ = find_or_create(plan, Destination(out=home / f"model-{number}"), origin)
        rng = np.random.default_rng(number)
        hard = np.random.default_rng(99).normal(size=len(at)) + rng.normal(scale=0.4, size=len(at))
        skill = dict(zip(plan.views, 0.15 * number - 0.5 + rng.normal(scale=0.3, size=len(plan.views)), strict=True))
        writer = store.open_writer("made")
        for request in plan.requests:
            is_right = rng.normal() + skill[request.view] > hard[at[request.question_id]]
            letter = "A" if is_right else "BCD"[rng.integers(3)]
            looks = "Let me look at the sign in the picture. " * int(rng.integers(1, 6))
            text = "I cannot tell." if rng.random() < 0.01 else f"{looks}The answer is {letter}."
            usage = Usage(input_tokens=1200, output_tokens=20)
            writer.append(
                Response(request_id=request.id, state=ResponseState.ANSWERED, text=text, usage=usage, seconds=1.0)
            )
        writer.close()
        summarise(store, score_run(store, *open_scorer()))
    return [home / f"model-{number}" for number in range(n_models)]


def _for_model(plan: Plan, model: ModelIdentity) -> Plan:
    """Return the same plan for another model, without planning it again."""
    renamed = (msgspec.structs.replace(request, model=model) for request in plan.requests)
    requests = tuple(msgspec.structs.replace(request, id=request_id(request)) for request in renamed)
    ids = (request.id for request in requests)
    return msgspec.structs.replace(plan, model=model, requests=requests, plan_id=plan_id_of(ids))


def addresses(study: Study) -> Iterator[tuple[str, str]]:
    """Yield kind and address of many different pages, as readers come to them."""
    for number, run in enumerate(study.runs):
        yield "run", f"/run?run={number}"
        for order in SORTS:
            yield "grid, orders", f"/grid?run={number}&sort={order}&page={1 + number % 7}"
        for facet in find_facets(study, number, Filter()):
            for value, _ in facet.values:
                yield "grid, facets", f"/grid?run={number}&{facet.field}={quote(value)}&sort=right"
        for condition in run.table.conditions[1::4]:
            yield "grid, verdicts", f"/grid?run={number}&right={condition}&wrong=original&unscored=downsample_0_5"
            yield "grid, verdicts", f"/grid?run={number}&right={condition}@{(number + 3) % N_MODELS}&wrong={condition}"
        for other in range(N_MODELS):
            yield "compare", f"/compare?first={number}&second={other}"
        for seed in range(3):
            other = (number + seed + 1) % N_MODELS
            yield "side by side", f"/pair?first={number}&second={other}&seed={seed}&category=OCR&differ=yes"
        for place in range(number, len(run.table.questions), 50):
            name = run.table.questions[place].id
            yield "question", f"/question?run={number}&id={name}&right=crop_3x&wrong=original&sort=target"
    yield "leaderboard", "/leaderboard"


def cpu_ms(client: TestClient, path: str) -> float:
    began = time.process_time()
    reply = client.get(path)
    assert reply.status_code == 200, (path, reply.text[-500:])
    return 1000 * (time.process_time() - began)


@contextmanager
def serving(study: Study) -> Iterator[TestClient]:
    """A server that has worked out what it prepares beside its first answers; says what that took."""
    with TestClient(build_server(study, is_prepared=True), base_url="http://127.0.0.1") as client:
        began = time.process_time()
        for thread in threading.enumerate():
            if thread.name == PREPARING:
                thread.join()
        print(f"prepared beside the server in {time.process_time() - began:.1f} s CPU")
        yield client


def open_unprepared(study: Study) -> None:
    """Open every screen once on a server that has prepared nothing, as in the first second after its start."""
    with TestClient(build_server(study), base_url="http://127.0.0.1") as client:
        for name, path in PAGES.items():
            print(f"{name:30} unprepared {cpu_ms(client, path):7.0f} ms")


def open_screens(study: Study, rounds: int) -> float:
    """Open every screen several times on a new server; return the slowest opening."""
    slowest = 0.0
    with serving(study) as client:
        for name, path in PAGES.items():
            first, *rest = (cpu_ms(client, path) for _ in range(rounds + 1))
            slowest = max(slowest, first, statistics.median(rest))
            print(f"{name:30} first {first:7.0f} ms, median {statistics.median(rest):5.0f} ms")
    return slowest


def open_many(study: Study) -> float:
    """Open many addresses once each; return the slowest opening."""
    times: dict[str, list[tuple[float, str]]] = {}
    with serving(study) as client:
        for kind, path in addresses(study):
            times.setdefault(kind, []).append((cpu_ms(client, path), path))
    for kind, found in times.items():
        worst, path = max(found)
        middle = statistics.median(took for took, _ in found)
        print(f"{kind:20} {len(found):4} addresses, once each: median {middle:4.0f} ms, worst {worst:5.0f} ms {path}")
    return max(took for found in times.values() for took, _ in found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--runs", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folders = make_runs(arguments.runs or Path(temporary))
        open_unprepared(read_study(folders))
        slowest = []
        for work in (lambda study: open_screens(study, arguments.rounds), open_many):
            began = time.process_time()
            study = read_study(folders)
            seconds = time.process_time() - began
            assert all(len(run.table.cells) == N_ROWS for run in study.runs)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"start with {N_MODELS} runs of {N_ROWS:,} rows: {seconds:.1f} s CPU, {peak:,.0f} MB peak")
            slowest.append(work(study))
            del study
    print(f"limit {LIMIT_MS:.0f} ms")
    return int(max(slowest) > LIMIT_MS)


if __name__ == "__main__":
    raise SystemExit(main())

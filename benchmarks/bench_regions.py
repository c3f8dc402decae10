"""Scoring and all metrics of a run of 500 base samples in every region of a 10 × 10 grid: CPU seconds per part.

Run: ``python benchmarks/bench_regions.py``, 5 times for a median. The store is made first, without a model. Fails if
scoring the 50,000 answers and estimating everything about them takes more than 2 s of CPU time.
"""

import datetime
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from eyechart.kinds import Scorer
from eyechart.opening import open_scorer
from eyechart.runs.cells import read_table
from eyechart.runs.folders import Destination, Origin, find_or_create
from eyechart.runs.plan import plan_run
from eyechart.runs.score import judge, scorer_id_of
from eyechart.runs.store import RunStore
from eyechart.runs.summarise import estimate
from eyechart.schema import (
    BenchmarkIdentity,
    Grid,
    ImageRef,
    ModelIdentity,
    Question,
    Response,
    ResponseState,
    Size,
)

N_BASES, SIDE = 500, 10
LIMIT_SECONDS = 2.0
WORDS = ("two", "a red car", "yes", "no", "on the left", "2", "blue", "nothing", "a dog", "three")

seconds: dict[str, float] = {}


@contextmanager
def timed(name: str) -> Iterator[None]:
    start = time.process_time()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.process_time() - start


class Needles:
    """Questions about pictures that exist as names only."""

    identity = BenchmarkIdentity("whitebackground", "r1")

    def questions(self) -> Iterator[Question]:
        for index in range(N_BASES):
            word = WORDS[index % len(WORDS)]
            yield Question(
                id=f"b{index}",
                benchmark="whitebackground",
                text=f"What is shown in picture {index}?",
                image=ImageRef(f"{index:064x}", Size(640, 480), "image/jpeg"),
                image_group=f"im{index}",
                answers=(*(word,) * 7, *WORDS[:3]),
            )

    def released_views(self) -> tuple[str, ...]:
        return ()

    def released_image(self, question: Question, view_id: str) -> None:  # noqa: ARG002 -- none is released
        return None


class Wording:
    name, version = "bench", 1

    def render(self, question: Question, choices: tuple[str, ...]) -> str:  # noqa: ARG002 -- free answers
        return f"{question.text}\nAnswer in a few words."


def make_store(folder: Path) -> RunStore:
    """Plan the run and write answers that fall off to the right and downwards."""
    views = [Grid("white", SIDE, SIDE, row, column) for row in range(SIDE) for column in range(SIDE)]
    plan = plan_run(Needles(), views, Wording(), model=ModelIdentity("bench", "model", fingerprint="f"))
    origin = Origin(now=datetime.datetime.now(datetime.UTC), scorer="vqa_soft")
    store, _ = find_or_create(plan, Destination(out=folder), origin)
    writer = store.open_writer("bench")
    rng = np.random.default_rng(0)
    answers = {question.id: question.answers for question in plan.questions}
    for request in plan.requests:
        known = answers[request.question_id]
        right = rng.random() < 0.8
        text = f"Answer: {known[0] if right else WORDS[int(rng.integers(len(WORDS)))]}."
        writer.append(Response(request_id=request.id, state=ResponseState.ANSWERED, text=text))
    writer.close()
    return store


def score_only(store: RunStore, scorer: Scorer, mode: str) -> None:
    """Judge every answer from memory, without reading a file."""
    questions = {question.id: question for question in store.questions()}
    of_request = {request.id: questions[request.question_id] for request in store.requests()}
    responses = list(store.responses())
    with timed("scoring 50,000 answers"):
        for response in responses:
            scorer.score(response, of_request[response.request_id], (), None, mode)


def main() -> int:
    scorer, mode = open_scorer("vqa_soft")
    with tempfile.TemporaryDirectory() as home:
        store = make_store(Path(home) / "run")
        score_only(store, scorer, mode)
        with timed("reading the run twice, with scoring"):
            scores = judge(store, scorer, mode)
            table = read_table(store, scorer_id_of(scorer, mode), scores)
        views = tuple(store.views())
        with timed("all metrics"):
            summary = estimate(table, scorer_id_of(scorer, mode), views)
    grid = summary.grids[0]
    assert len(grid.cells) == SIDE * SIDE
    assert grid.n_bases == N_BASES
    total = seconds["scoring 50,000 answers"] + seconds["all metrics"]
    for name, spent in seconds.items():
        print(f"{spent:7.2f} s  {name}")
    print(f"{total:7.2f} s  scoring and all metrics (limit {LIMIT_SECONDS:g})")
    return int(total > LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())

"""A run is finished when every request has an answer or a final error, or a start that reached its end gave it up."""

import pytest

from eyechart.errors import BadRequestError, TransientModelError
from eyechart.kinds import Reply
from eyechart.runs.cells import read_table
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.patience import Patience
from eyechart.runs.session import RunOptions, ask_shard, run_benchmark
from eyechart.runs.shard import Shard
from eyechart.runs.spending import SpendingLimits
from eyechart.runs.store import RunStore
from eyechart.runs.summarise import summarise
from eyechart.schema import ResponseState
from eyechart.views import resolve_views

SCORER = "tiny_letter.strict@1"
ONE_BY_ONE = LoopSettings(
    concurrency=1, patience=Patience(first_wait_seconds=0.001, longest_wait_seconds=0.002, max_attempts=2)
)
BUSY = TransientModelError("HTTP 500: busy")


@pytest.fixture
def ask(make, tmp_path, tiny_letter):
    """A function that asks 12 questions under two views, one request after the other."""

    def start(script, *, most=None, asks=run_benchmark, **changes):
        model = make.model(reads="pixels")
        model._script = lambda _: script(len(model.asked))
        loop = ONE_BY_ONE
        if most is not None:
            loop = LoopSettings(concurrency=1, patience=ONE_BY_ONE.patience, spending=SpendingLimits(max_requests=most))
        options = RunOptions(
            scorer=tiny_letter,
            has_preflight=False,
            loop=loop,
            where=Destination(out=tmp_path / "run"),
            **changes,
        )
        questions = [make.question(index) for index in range(12)]
        views, prompt = resolve_views("original,crop_3x")[0], make.prompt()
        return asks(make.benchmark(questions), model, views, prompt, options=options)

    return start


def table_of(home):
    store = RunStore(home / "run")
    return read_table(store, SCORER, ())


def test_what_a_whole_start_asked_in_vain_is_given_up_and_the_run_is_finished(ask, tmp_path):
    outcome = ask(lambda n: BUSY if n in {3, 4} else "A")
    assert (outcome.n_missing, outcome.stop) == (1, None)
    assert table_of(tmp_path).is_finished
    assert not any(line.startswith("interim") for line in outcome.summary.warnings)


@pytest.mark.parametrize("most", [4, 10, 23])
def test_a_start_that_a_bound_ended_gives_nothing_up(ask, tmp_path, most):
    """Its last requests had failed once; the table took them for given up and gave stars."""
    outcome = ask(lambda n: BUSY if n >= 3 else "A", most=most)
    assert outcome.stop is not None
    assert not table_of(tmp_path).is_finished
    assert {one.standing for one in outcome.summary.contrasts} <= {"interim"}
    assert outcome.summary.findings == ()
    assert any(line.startswith("interim: ") for line in outcome.summary.warnings)


def test_a_start_that_was_interrupted_gives_nothing_up(ask, tmp_path):
    def script(n):
        if n == 20:
            raise KeyboardInterrupt
        return BUSY if n > 5 else "A"

    with pytest.raises(KeyboardInterrupt):
        ask(script)
    assert not table_of(tmp_path).is_finished
    assert not (tmp_path / "run" / "given_up").exists()


def test_equal_errors_in_a_row_give_nothing_up(ask, tmp_path):
    outcome = ask(lambda n: "A" if n <= 3 else BadRequestError("HTTP 400: the gateway is odd today"))
    assert outcome.stop.leaves_open
    assert not table_of(tmp_path).is_finished


def test_a_later_start_that_a_bound_ends_takes_nothing_back(ask, tmp_path):
    ask(lambda n: BUSY if n in {3, 4} else "A")
    assert table_of(tmp_path).is_finished
    ask(lambda _: BUSY, most=1)
    assert table_of(tmp_path).is_finished


def test_final_errors_finish_a_run_and_asking_them_again_opens_it_until_that_start_has_ended(ask, tmp_path):
    empty = Reply(text="", finish="stop", says_nothing=True)
    ask(lambda n: empty if n % 2 else "A")
    assert table_of(tmp_path).is_finished
    again = {"ask_again": (ResponseState.EMPTY_REPLY,)}
    ask(lambda n: BUSY if n > 4 else "A", most=7, **again)
    assert not table_of(tmp_path).is_finished
    ask(lambda n: "A", **again)
    assert table_of(tmp_path).is_finished


def test_shards_finish_a_run_together(ask, tmp_path):
    for number in (1, 2):
        asked = ask(lambda n: BUSY if n in {3, 4} else "A", asks=ask_shard, shard=Shard(number, 2))
        assert asked.stop is None
        assert table_of(tmp_path).is_finished is (number == 2)


def test_runs_of_before_are_read_and_their_passing_errors_are_still_to_be_asked(ask, tmp_path):
    ask(lambda n: BUSY if n in {3, 4} else "A")
    for path in (tmp_path / "run" / "given_up").iterdir():
        path.unlink()
    assert table_of(tmp_path).n_open == 1
    summary = summarise(RunStore(tmp_path / "run"), SCORER)
    assert any(line.startswith("interim: 1 of 24 requests") for line in summary.warnings)

"""Shards: disjoint, together everything, whole pictures, any order, each with its own file."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs_made import question_file

from eyechart.errors import UsageError
from eyechart.runs.folders import Destination
from eyechart.runs.session import RunOptions, ask_shard, run_benchmark
from eyechart.runs.shard import Shard, ids_of, read_shard
from eyechart.runs.store import RunStore
from eyechart.views import resolve_views

VIEWS = "original,crop_3x"


@given(n_shards=st.integers(1, 9), n_pictures=st.integers(1, 12))
def test_parts_are_disjoint_together_everything_and_differ_by_one_picture(n_shards, n_pictures):
    from runs.conftest import TinyBenchmark, make_plan, make_question  # the fixture is no use under hypothesis

    questions = [make_question(index, picture=f"p{index % n_pictures}") for index in range(20)]
    plan = make_plan(benchmark=TinyBenchmark(questions), views=VIEWS)
    parts = [ids_of(Shard(number, n_shards), plan.questions, plan.requests) for number in range(1, n_shards + 1)]
    assert sorted(one for part in parts for one in part) == sorted(request.id for request in plan.requests)
    of_question = {question.id: question.image.file_sha256 for question in questions}
    pictures = [{of_question[one.question_id] for one in plan.requests if one.id in part} for part in parts]
    assert sum(map(len, pictures)) == min(n_pictures, 20)
    assert max(map(len, pictures)) - min(map(len, pictures)) <= 1


@pytest.fixture
def ask(make, tmp_path, tiny_letter):
    def start(text, n=7, out="run"):
        model = make.model()
        where = Destination(out=tmp_path / out) if out else Destination()
        options = RunOptions(scorer=tiny_letter, shard=read_shard(text) if text else None, where=where)
        benchmark = make.benchmark(make.question(index) for index in range(n))
        start = ask_shard if text else run_benchmark
        return start(benchmark, model, resolve_views(VIEWS)[0], make.prompt(), options=options), model

    return start


def test_shards_in_any_order_make_the_run_of_one_writer(ask, tmp_path):
    whole, _ = ask(None, out="whole")
    asked = [ask(text)[0] for text in ("3/3", "1/3", "2/3")]
    assert [one.exit_code for one in asked] == [0, 0, 0]
    assert [one.n_missing_in_all for one in asked] == [10, 4, 0]
    assert len(list((tmp_path / "run" / "responses").iterdir())) == 3
    merged, model = ask(None)
    assert model.asked == []
    assert merged.summary.estimates == whole.summary.estimates


def test_a_shard_asks_nothing_again(ask):
    ask("2/3")
    again, model = ask("2/3")
    assert (model.asked, again.n_open, again.exit_code) == ([], 0, 0)


def test_shards_of_another_number_fill_what_is_left(ask):
    ask("1/3")
    _, first = ask("1/2")
    _, second = ask("2/2")
    assert len(first.asked) + len(second.asked) == 14 - 6


def test_a_shard_without_a_folder_is_refused(ask):
    with pytest.raises(UsageError, match="need a folder"):
        ask("1/2", out=None)


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3", ""])
def test_a_shard_that_is_no_part_is_refused(text):
    with pytest.raises(UsageError, match="is not a part of a run"):
        read_shard(text)


def test_shards_started_at_once_share_one_folder(tmp_path):
    data = question_file(tmp_path, n=12)
    command = [
        sys.executable,
        "-m",
        "eyechart",
        "run",
        "folder",
        "--data",
        str(data),
        "--option",
        "box_format=xyxy",
    ]
    command += ["--model", "simulated/vlm", "--views", VIEWS, "--out", str(tmp_path / "run")]
    started = [
        subprocess.Popen([*command, "--shard", f"{number}/3"], stderr=subprocess.PIPE, text=True)
        for number in (1, 2, 3)
    ]
    told = [one.communicate(timeout=120)[1] for one in started]
    assert [one.returncode for one in started] == [0, 0, 0], told
    store = RunStore(tmp_path / "run")
    assert len(store.index().rows) == store.index().n_rows == 24
    done = subprocess.run([*command, "--json", "--no-report"], capture_output=True, text=True, timeout=120, check=True)
    assert [condition["n_missing"] for condition in json.loads(done.stdout)["conditions"]] == [0, 0]

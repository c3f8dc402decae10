"""The run folder: written once, appended, resumed, never mixed."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from eyechart.errors import SchemaError, StoreError
from eyechart.runs.answers import GENERATION, stale_ids
from eyechart.runs.folders import Destination, Origin, find_or_create, newest_unfinished
from eyechart.runs.plan import PlanOptions
from eyechart.runs.store import RunStore
from eyechart.schema import Response, ResponseState, Sampling, Seen, Size, encode_record

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ORIGIN = Origin(now=NOW, versions={"eyechart": "0.1.0"})


def answer(request_id, text="A", state=ResponseState.ANSWERED, **fields):
    return Response(request_id=request_id, state=state, text=None if state.is_error else text, **fields)


def create(plan, folder, origin=ORIGIN):
    return find_or_create(plan, Destination(out=folder), origin)[0]


def fill(store, plan, name="w"):
    writer = store.open_writer(name)
    for request in plan.requests:
        writer.append(answer(request.id))
    writer.close()


def finish(store):
    (store.folder / "estimates.json").write_bytes(b"{}")


def test_a_new_store_holds_the_plan(make, tmp_path):
    plan = make.plan(3)
    seen = Seen(
        request_id="r",
        picture_index=0,
        phase="planned",
        evidence="unknown",
        source_size=Size(1, 1),
        sent_size=Size(1, 1),
    )
    store, was_there = find_or_create(plan, Destination(out=tmp_path / "run"), ORIGIN, [seen])
    assert not was_there
    assert tuple(store.questions()) == plan.questions
    assert tuple(store.requests()) == plan.requests
    assert tuple(store.views()) == plan.view_images
    assert tuple(store.seen()) == (seen,)
    assert (store.run.plan_id, store.run.n_questions, store.run.id) == (plan.plan_id, 3, "run")


def test_two_writers_of_one_plan_write_the_same_bytes(make, tmp_path):
    one, other = create(make.plan(3), tmp_path / "a" / "run"), create(make.plan(3), tmp_path / "b" / "run")
    for name in ("run.json", "questions.jsonl", "views.jsonl", "requests.jsonl", "seen.jsonl"):
        assert (one.folder / name).read_bytes() == (other.folder / name).read_bytes()


def test_the_same_folder_is_resumed_and_its_settings_stay(make, tmp_path):
    first = create(make.plan(3), tmp_path / "run")
    before = (first.folder / "run.json").read_bytes()
    again, was_there = find_or_create(
        make.plan(3), Destination(out=tmp_path / "run"), Origin(now=NOW + timedelta(days=1))
    )
    assert was_there
    assert (again.folder / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"sampling": Sampling(temperature=1.0)}, "other sampling"),
        ({"options": PlanOptions(limit=2)}, "other questions"),
        ({"views": "original,crop_3x"}, "other views"),
        ({"options": PlanOptions(repeats=2)}, "other repeats"),
    ],
)
def test_a_folder_of_another_plan_is_an_error_that_names_the_difference(make, tmp_path, changes, text):
    create(make.plan(3), tmp_path / "run")
    with pytest.raises(StoreError, match=text):
        create(make.plan(3, **changes), tmp_path / "run")


def test_other_pictures_in_the_folder_are_named_too(make, tmp_path):
    create(make.plan(3), tmp_path / "run")
    repainted = make.benchmark(make.question(index, picture=f"new {index}") for index in range(3))
    with pytest.raises(StoreError, match="other pictures or questions"):
        create(make.plan(benchmark=repainted), tmp_path / "run")


def test_a_folder_with_foreign_files_is_left_alone(make, tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(StoreError, match=r"not a run folder and holds other files, among them thesis\.tex"):
        create(make.plan(1), tmp_path)
    with pytest.raises(StoreError, match="is a file"):
        create(make.plan(1), tmp_path / "thesis.tex")


def test_a_creation_that_was_cut_off_is_finished(make, tmp_path):
    plan = make.plan(2)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "questions.jsonl").write_bytes(b"half")
    (tmp_path / "run" / ".requests.jsonl.0123").write_bytes(b"half")
    assert tuple(create(plan, tmp_path / "run").questions()) == plan.questions


def test_an_unfinished_run_is_resumed_whatever_its_date(make, tmp_path):
    plan = make.plan(2)
    where = Destination(runs=tmp_path)
    old, _ = find_or_create(plan, where, Origin(now=NOW - timedelta(days=400)))
    new, _ = find_or_create(plan, msgspec.structs.replace(where, is_new=True), ORIGIN)
    assert old.folder != new.folder
    assert find_or_create(plan, where, ORIGIN)[0].folder == new.folder
    fill(new, plan)
    finish(new)
    assert find_or_create(plan, where, ORIGIN)[0].folder == old.folder
    fill(old, plan)
    finish(old)
    third, was_there = find_or_create(plan, where, ORIGIN)
    assert not was_there
    assert third.folder not in {old.folder, new.folder}


def test_a_run_with_all_answers_but_no_estimates_is_unfinished(make, tmp_path):
    plan = make.plan(2)
    store, _ = find_or_create(plan, Destination(runs=tmp_path), ORIGIN)
    fill(store, plan)
    found = newest_unfinished(tmp_path, plan)
    assert found is not None
    assert found.folder == store.folder


def test_another_plan_or_a_newer_schema_is_never_resumed(make, tmp_path):
    find_or_create(make.plan(3), Destination(runs=tmp_path), ORIGIN)
    newer = tmp_path / "newer"
    newer.mkdir()
    (newer / "run.json").write_bytes(b'{"schema_version": 99}\n')
    assert newest_unfinished(tmp_path, make.plan(2)) is None


def test_folder_names_tell_date_benchmark_and_model(make, tmp_path):
    store, _ = find_or_create(make.plan(1), Destination(runs=tmp_path), ORIGIN)
    assert store.folder.name.startswith("2026-11-30-tiny-scripted-tiny-")


def test_no_run_here_is_said(tmp_path):
    with pytest.raises(StoreError, match=r"holds no run: there is no run\.json"):
        RunStore(tmp_path)


def test_scores_and_estimates_that_are_not_there_are_said(make, tmp_path):
    store = create(make.plan(1), tmp_path / "run")
    with pytest.raises(StoreError, match="has no scores by option_letter"):
        store.scores("option_letter.strict@1")
    with pytest.raises(StoreError, match="has no estimates"):
        store.summary()


# --- which answer counts --------------------------------------------------------------------------------------------


def write_lines(store, name, *responses, tail=b""):
    path = store.folder / "responses" / f"{name}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(encode_record(response) + b"\n" for response in responses) + tail)


def counting(store):
    return {response.request_id: response.text or response.error for response in store.responses()}


def test_the_first_answer_by_writer_and_line_counts_and_others_are_counted(make, tmp_path):
    store = create(make.plan(1), tmp_path / "run")
    write_lines(store, "b", answer("r", "from b"), answer("s", "first s"), answer("s", "second s"))
    write_lines(store, "a", answer("r", "from a"))
    assert counting(store) == {"r": "from a", "s": "first s"}
    index = store.index()
    assert (index.n_rows, index.n_duplicates) == (4, 2)


def test_an_answer_counts_before_any_error_and_a_final_error_before_a_passing_one(make, tmp_path):
    store = create(make.plan(1), tmp_path / "run")
    passing, final = ResponseState.TRANSIENT, ResponseState.REFUSED_INPUT
    write_lines(
        store,
        "a",
        answer("r", state=passing, error="429"),
        answer("r", state=final, error="too large"),
        answer("s", state=passing, error="timeout"),
        answer("s", state=final, error="too large"),
        answer("t", state=passing, error="503"),
    )
    write_lines(store, "b", answer("r", "at last"))
    assert counting(store) == {"r": "at last", "s": "too large", "t": "503"}
    index = store.index()
    assert [index.is_settled(request_id) for request_id in ("r", "s", "t", "never asked")] == [True, True, False, False]
    assert index.n_duplicates == 0


def test_a_torn_answer_is_asked_again(make, tmp_path):
    store = create(make.plan(1), tmp_path / "run")
    write_lines(store, "a", answer("r"), tail=encode_record(answer("s"))[:-5])
    assert counting(store) == {"r": "A"}


def test_answers_older_than_a_day_are_stale_and_their_successors_count(make, tmp_path):
    store = create(make.plan(1), tmp_path / "run")
    old, young = (NOW - timedelta(hours=hours) for hours in (25, 23))
    write_lines(
        store,
        "a",
        answer("r", "old", finished_at=old.isoformat()),
        answer("s", "young", finished_at=young.isoformat()),
        answer("t", "timeless"),
        answer("u", state=ResponseState.REFUSED_INPUT, finished_at=old.isoformat()),
    )
    assert stale_ids(store.index(), NOW, timedelta(hours=24)) == {"r": 1, "t": 1}
    write_lines(store, "b", answer("r", "new", finished_at=NOW.isoformat(), extra={GENERATION: 1}))
    assert counting(store)["r"] == "new"
    assert stale_ids(store.index(), NOW + timedelta(hours=25), timedelta(hours=24))["r"] == 2


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'{"schema_version": 99, "request_id": "r", "state": "answered"}\n', "schema version 99"),
        (b"{}\n", "no response"),
    ],
)
def test_rows_of_a_newer_schema_or_without_sense_are_named(make, tmp_path, line, text):
    store = create(make.plan(1), tmp_path / "run")
    write_lines(store, "a", tail=line)
    with pytest.raises(SchemaError, match=rf"a\.jsonl:1.*{text}"):
        store.index()

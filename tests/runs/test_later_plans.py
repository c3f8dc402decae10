"""A run folder whose questions are edited: what is the same is kept, what is new is asked, tables show the newest."""

import shutil
import tempfile
from pathlib import Path

import pytest
from edited_questions import Edited, Looking, Told, cut_in_half, table_of
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from eyechart.errors import StoreError
from eyechart.opening import open_model
from eyechart.runs import later_plans
from eyechart.runs.files import write_whole
from eyechart.runs.items import read_items
from eyechart.runs.plan import PlanOptions
from eyechart.runs.store import RunStore
from eyechart.schema import Sampling


@pytest.fixture
def edited(tmp_path):
    return Edited(tmp_path / "mine")


@pytest.fixture
def asked(edited):
    """Twelve questions asked under two views, among them a JPEG cut in half."""
    rows = [edited.row(number) for number in range(12)]
    cut_in_half(edited.folder / "p5.png")
    edited.write(rows)
    assert edited.ask().exit_code == 3
    return edited, rows


def grown(edited, rows, model=None, **changes):
    edited.write(rows)
    model, told = model or Looking(), Told()
    outcome = edited.ask(model, listener=told, **changes)
    changes_told = [note for note in told.notes if note.startswith("the questions changed")]
    return outcome, model.asked.total(), changes_told[0] if changes_told else ""


def same_table(outcome, edited, **changes):
    """Whether a table is that of a run that was asked the file as it stands in one go, into a new folder."""
    shutil.rmtree(edited.folder.parent / "fresh", ignore_errors=True)
    table, fresh = table_of(outcome), table_of(edited.ask(out="fresh", **changes))
    for one in (table, fresh):
        one["warnings"] = [line for line in one["warnings"] if "exploratory" not in line]
    return table == fresh


def test_a_row_that_is_taken_out_costs_no_other_answer(asked):
    edited, rows = asked
    outcome, n_asked, note = grown(edited, [*rows[:5], *rows[6:]])
    assert (outcome.exit_code, n_asked) == (0, 0)
    assert note == "the questions changed since this folder was planned: 22 answers kept, 0 questions new, 1 gone"
    assert same_table(outcome, edited)


def test_a_mended_picture_is_asked_and_nothing_else(asked):
    edited, rows = asked
    edited.picture("p5.png", 5)
    outcome, n_asked, note = grown(edited, rows)
    assert (outcome.exit_code, n_asked) == (0, 2)
    assert note.endswith("22 answers kept, 0 questions new, 1 changed, 0 gone")
    assert same_table(outcome, edited)


def test_a_mended_answer_is_scored_and_nothing_is_asked(asked):
    edited, rows = asked
    rows[3] = {**rows[3], "answer": "A" if rows[3]["answer"] == "B" else "B"}
    outcome, n_asked, note = grown(edited, rows)
    assert n_asked == 0
    assert note.endswith("22 answers kept, 0 questions new, 1 changed, 0 gone")
    assert [condition.n_correct for condition in outcome.summary.conditions] == [10, 10]
    assert same_table(outcome, edited)


def test_without_out_an_unfinished_run_with_another_right_answer_is_not_resumed(edited):
    rows = [edited.row(number) for number in range(4)]
    edited.write(rows)
    with pytest.raises(KeyboardInterrupt):
        edited.ask(Looking(fails_after=2), out=None)
    rows[0] = {**rows[0], "answer": "B"}
    edited.write(rows)
    outcome = edited.ask(out=None)
    assert outcome.n_reused == 0
    assert [condition.n_correct for condition in outcome.summary.conditions] == [3, 3]


def test_rows_in_another_order_are_the_same_questions(asked):
    edited, rows = asked
    outcome, n_asked, note = grown(edited, rows[::-1])
    assert (n_asked, note, outcome.store.run.n_plans) == (0, "", 1)


def test_new_rows_are_asked_and_nothing_else(asked):
    edited, rows = asked
    more = [edited.row(number) for number in (20, 21, 22)]
    outcome, n_asked, note = grown(edited, [*more[:1], *rows[1:], *more[1:]])
    assert n_asked == 6
    assert note.endswith("20 answers kept, 3 questions new, 1 gone")
    assert same_table(outcome, edited)


def test_rows_without_ids_keep_their_answers_when_a_row_before_them_goes(edited):
    rows = [edited.row(number) for number in range(6)]
    for row in rows:
        del row["id"]
    edited.write(rows)
    edited.ask()
    outcome, n_asked, note = grown(edited, rows[1:])
    assert n_asked == 0
    assert note.endswith("10 answers kept, 0 questions new, 1 gone")
    assert same_table(outcome, edited)
    outcome, n_asked, note = grown(edited, [edited.row(9, id=None), *rows])
    assert n_asked == 2
    assert note.endswith("12 answers kept, 2 questions new, 0 gone")
    assert same_table(outcome, edited)


def test_a_folder_grows_twice_and_back(asked):
    edited, rows = asked
    first = (edited.folder.parent / "run" / "requests.jsonl").read_bytes()
    grown(edited, rows[:8])
    outcome, n_asked, _ = grown(edited, [*rows[:8], edited.row(30)])
    assert (n_asked, outcome.store.run.n_plans) == (2, 3)
    outcome, n_asked, note = grown(edited, rows)
    assert (n_asked, outcome.store.run.n_plans) == (0, 4)
    assert note.endswith("22 answers kept, 4 questions new, 1 gone")
    assert (outcome.store.folder / "requests.jsonl").read_bytes() == first
    assert same_table(outcome, edited)
    assert any("exploratory" in line for line in outcome.summary.warnings)


def test_answers_to_questions_that_are_gone_stay_stored(asked):
    edited, rows = asked
    outcome, _, _ = grown(edited, rows[:2])
    store = outcome.store
    assert store.run.n_questions == len(list(store.questions())) == 2
    assert len(store.index().rows) == len(list(store.responses())) == 4
    assert len(store.index(of_all_plans=True).rows) == 24
    assert {request.question_id for request in store.requests()} == {"q0", "q1"}
    assert {row.request_id for row in store.seen()} <= {request.id for request in store.requests()}
    assert len(read_items(store, outcome.summary.scorer).table.cells) == 4


def test_scores_and_estimates_of_the_plan_before_are_not_taken_for_current(asked):
    edited, rows = asked
    store = RunStore(edited.folder.parent / "run")
    scorer = store.scorer_ids()[0]
    assert store.is_current(store.score_file(scorer))
    edited.write(rows[:3])
    with pytest.raises(KeyboardInterrupt):
        grown(edited, [*rows[:3], edited.row(40)], Looking(fails_after=0))
    assert store.run.n_plans == 2
    assert not store.is_current(store.score_file(scorer))
    assert len(list(store.scores(scorer))) == 6


@pytest.mark.parametrize("n_written", range(5))
def test_a_growth_that_is_killed_between_two_files_leaves_the_folder_whole(asked, monkeypatch, n_written):
    edited, rows = asked
    real, written = write_whole, []

    def killed(path, chunks, **keywords):
        if path.parent.name == later_plans.PLANS:
            if len(written) == n_written:
                raise KeyboardInterrupt
            written.append(path)
        real(path, chunks, **keywords)

    for module in ("eyechart.runs.files", "eyechart.runs.later_plans"):
        monkeypatch.setattr(f"{module}.write_whole", killed)
    with pytest.raises(KeyboardInterrupt):
        grown(edited, [*rows[:3], edited.row(50)])
    monkeypatch.undo()
    store = RunStore(edited.folder.parent / "run")
    assert (store.run.n_plans, len(list(store.requests())), len(store.index().rows)) == (1, 24, 24)
    outcome, n_asked, _ = grown(edited, [*rows[:3], edited.row(50)])
    assert (n_asked, outcome.store.run.n_plans) == (2, 2)
    assert same_table(outcome, edited)


def test_a_start_that_is_killed_after_growing_goes_on(asked):
    edited, rows = asked
    more = [edited.row(number) for number in range(60, 66)]
    with pytest.raises(KeyboardInterrupt):
        grown(edited, [*rows[:4], *more], Looking(fails_after=3))
    outcome, n_asked, _ = grown(edited, [*rows[:4], *more])
    assert (n_asked, outcome.store.run.n_plans, outcome.exit_code) == (9, 2, 0)
    assert same_table(outcome, edited)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"model": Looking("another")}, "model"),
        ({"views": "original"}, "views"),
        ({"sampling": Sampling(temperature=1.0)}, "sampling"),
        ({"plan": PlanOptions(repeats=2)}, "repeats"),
        ({"plan": PlanOptions(rotations=2)}, "orders of the choices"),
        ({"plan": PlanOptions(limit=3)}, "questions"),
    ],
)
def test_what_is_no_edit_of_the_questions_is_refused_as_ever(asked, changes, text):
    edited, rows = asked
    model = changes.get("model", Looking())
    with pytest.raises(StoreError, match=f"holds another run, with other .*{text}"):
        grown(edited, rows[:7], **{"model": model, **changes})
    assert not model.asked
    assert RunStore(edited.folder.parent / "run").run.n_plans == 1


def test_a_file_with_no_question_in_common_is_another_run(asked):
    edited, _ = asked
    with pytest.raises(StoreError, match="with other pictures or questions"):
        grown(edited, [edited.row(number) for number in range(70, 80)])


def test_without_out_a_changed_file_gets_a_folder_of_its_own(asked):
    edited, rows = asked
    first = edited.ask(out=None).store.folder
    edited.write(rows[:4])
    second = edited.ask(out=None).store.folder
    assert first != second
    assert RunStore(first).run.n_plans == RunStore(second).run.n_plans == 1


def test_writers_that_grow_a_folder_at_once_write_the_same_bytes(asked):
    edited, rows = asked
    run = edited.folder.parent / "run"
    other = edited.folder.parent / "copy"
    shutil.copytree(run, other)
    grown(edited, rows[:6])
    grown(edited, rows[:6], out="copy")
    names = sorted(path.name for path in (run / "plans").iterdir())
    assert names == sorted(path.name for path in (other / "plans").iterdir())
    assert len(names) == 5
    for name in names:
        assert (run / "plans" / name).read_bytes() == (other / "plans" / name).read_bytes()


def test_a_chain_that_was_tampered_with_is_refused(asked):
    edited, rows = asked
    outcome, _, _ = grown(edited, rows[:6])
    grown(edited, rows[:5])
    plans = outcome.store.folder / "plans"
    kept = (plans / "0002.json").read_bytes()
    (plans / "0002.json").write_bytes(kept.replace(b'"n_questions":6', b'"n_questions":7'))
    with pytest.raises(StoreError, match=r"0003\.json does not follow 0002\.json"):
        RunStore(outcome.store.folder).run  # noqa: B018
    (plans / "0002.json").unlink()
    with pytest.raises(StoreError, match=r"lacks 0002\.json"):
        list(RunStore(outcome.store.folder).requests())


def test_models_that_know_the_question_are_asked_by_its_id(edited):
    rows = [edited.row(number) for number in range(4)]
    for row in rows:
        del row["id"]
    edited.write(rows)
    edited.ask(open_model("simulated/vlm"))
    edited.write(rows[1:])
    outcome = edited.ask(open_model("simulated/vlm"))
    fresh = edited.ask(open_model("simulated/vlm"), out="fresh")
    assert table_of(outcome)["conditions"] == table_of(fresh)["conditions"]


def test_a_shard_asks_its_part_of_a_grown_plan_and_all_agree(asked):
    edited, rows = asked
    edited.write([*rows[3:], *(edited.row(number) for number in range(80, 84))])
    model, codes = Looking(), []
    for number in (1, 2, 3):
        shard = edited.ask_shard(model, f"{number}/3")
        assert shard.store.run.n_plans == 2
        codes.append(shard.exit_code)
    assert codes == [0, 0, 3]  # the third has the picture that was cut in half
    assert model.asked.total() == 8
    assert same_table(edited.ask(), edited)


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["add", "drop", "text", "answer", "picture", "break", "cut", "swap"]), st.integers(0, 99)
    ),
    min_size=1,
    max_size=4,
)


# Shrinking would ask hundreds of runs; a case of four edits is short enough to read.
@settings(max_examples=12, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.lists(EDITS, min_size=1, max_size=3), st.booleans())
def test_after_any_edits_nothing_is_asked_twice_and_the_table_is_that_of_a_fresh_run(starts, has_ids):
    with tempfile.TemporaryDirectory() as name:
        edited = Edited(Path(name) / "mine")
        rows = [edited.row(number) for number in range(5)]
        fixed = edited.row(999)  # a question that every file holds, so that each is an edit of the one before
        model = Looking()
        number = 100
        for edits in ((), *starts):
            for kind, at in edits:
                number += 1
                rows = _edit(edited, rows, kind, at, number)
            edited.write([_without(row, has_ids) for row in (*rows, fixed)])
            outcome = edited.ask(model, views="original")
        assert max(model.asked.values()) == 1
        assert same_table(outcome, edited, views="original")


def _edit(edited, rows, kind, at, number):
    """Return the rows after one edit; every question asks something of its own."""
    if kind == "add" or not rows:
        return [*rows[: at % (len(rows) + 1)], edited.row(number), *rows[at % (len(rows) + 1) :]]
    at %= len(rows)
    if kind == "drop":
        return [*rows[:at], *rows[at + 1 :]]
    if kind == "swap":
        return [*rows[at:], *rows[:at]]
    if kind == "text":
        return [*rows[:at], {**rows[at], "question": f"Which colour has sign {number}?"}, *rows[at + 1 :]]
    if kind == "answer":
        return [*rows[:at], {**rows[at], "answer": "AB"[rows[at]["answer"] == "A"]}, *rows[at + 1 :]]
    name = f"p{number}.png"
    if kind == "picture":
        edited.picture(name, number)
    elif kind == "break":
        (edited.folder / name).write_bytes(b"no picture %d" % number)
    else:
        cut_in_half(edited.folder / name, number)
    return [*rows[:at], {**rows[at], "image": name}, *rows[at + 1 :]]


def _without(row, has_ids):
    return row if has_ids else {name: cell for name, cell in row.items() if name != "id"}

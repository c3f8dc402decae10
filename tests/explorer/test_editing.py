"""Corrections: signed, reasoned, appended, refused where they cannot stand, and written as a question file."""

import json

import pytest
from runs_made import question_file
from starlette.testclient import TestClient

from eyechart.cli import run_app
from eyechart.errors import UsageError
from eyechart.explorer.agreement import people_agreement
from eyechart.explorer.annotate_server import build_editor
from eyechart.explorer.editing import Editing, edited_rows, read_edits
from eyechart.explorer.edits import Edit
from eyechart.kinds import ModelOptions
from eyechart.opening import open_benchmark, open_model, open_prompt
from eyechart.runs.plan import plan_run
from eyechart.schema import Box
from eyechart.views import resolve_views


@pytest.fixture
def benchmark(tmp_path):
    return open_benchmark("folder", question_file(tmp_path, n=4), {"box_format": "xyxy"})


@pytest.fixture
def editor(benchmark, tmp_path):
    def start(author="ann", *, only_boxes=False):
        model = open_model(f"human/{author}", ModelOptions())
        plan = plan_run(benchmark, resolve_views("original")[0], open_prompt(), model=model.identity)
        editing = Editing(plan, benchmark, tmp_path / "edits", author)
        return editing, TestClient(build_editor(editing, only_boxes=only_boxes), base_url="http://127.0.0.1")

    return start


def change(**fields):
    return {"question_id": "q0", "author": "someone else", "reason": "it was wrong", "at": "", **fields}


def test_a_change_is_signed_by_who_is_there_and_shown_at_once(editor, tmp_path):
    _, client = editor()
    told = client.post("/edit?number=0", json=change(targets=[[1, 2, 30, 40]], answer="C")).json()
    assert (told["targets"], told["answer"]) == ([[1, 2, 30, 40]], "C")
    assert [(edit["author"], edit["reason"]) for edit in told["edits"]] == [("ann", "it was wrong")]
    (stored,) = read_edits(tmp_path / "edits")
    assert (stored.author, stored.targets) == ("ann", (Box(1, 2, 30, 40),))


def test_a_change_of_another_version_does_not_block_the_corrections_of_everybody(editor, tmp_path):
    _, client = editor()
    assert client.post("/edit?number=0", json=change(answer="C", schema_version=99)).status_code == 200
    (stored,) = read_edits(tmp_path / "edits")
    assert (stored.answer, stored.schema_version) == ("C", 1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "nothing was changed"),
        ({"reason": " ", "text": "What?"}, "needs a reason"),
        ({"answer": "E"}, "is not an option"),
        ({"text": " "}, "is empty"),
        ({"choices": ["x", ""]}, "is empty"),
        ({"targets": [[0, 0, 65, 10]]}, "is not inside the 64×48 picture"),
        ({"targets": [[10, 10, 10, 20]]}, "is not inside"),
        ({"question_id": "q99", "text": "What?"}, "there is no question"),
        ({"colour": "red"}, "the page sent something else"),
    ],
)
def test_a_change_that_cannot_stand_is_refused(editor, tmp_path, fields, message):
    _, client = editor()
    told = client.post("/edit?number=0", json=change(**fields))
    assert told.status_code == 400
    assert message in told.json()["error"]
    assert read_edits(tmp_path / "edits") == []


def test_where_boxes_alone_are_drawn_nothing_else_is_changed(editor):
    _, client = editor(only_boxes=True)
    assert client.post("/edit?number=0", json=change(text="What?")).status_code == 400
    assert client.post("/edit?number=0", json=change(targets=[[1, 2, 3, 4]])).status_code == 200
    assert "readonly" in client.get("/").text


def test_a_later_change_counts_and_all_are_kept(editor, benchmark, tmp_path):
    for author, text in (("ann", "First?"), ("bob", "Second?")):
        editing, client = editor(author)
        client.post("/edit?number=0", json=change(text=text))
        editing.close()
    edits = read_edits(tmp_path / "edits")
    assert [edit.author for edit in edits] == ["ann", "bob"]
    row = edited_rows(benchmark, edits)[0]
    assert (row["question"], row["choices"], row["answer"]) == ("Second?", ["x", "y", "z", "w"], "A")


def test_corrected_questions_are_a_question_file(editor, tmp_path, capsys):
    _, client = editor()
    client.post("/edit?number=0", json=change(targets=[[1, 2, 30, 40], [5, 5, 9, 9]], text="Where?"))
    out = tmp_path / "corrected.jsonl"
    data = ["--data", str(tmp_path / "questions.jsonl"), "--option", "box_format=xyxy"]
    written = ["annotate", "folder", *data, "--edits", str(tmp_path / "edits"), "--write", str(out)]
    assert run_app(written) == 0
    again = list(open_benchmark("folder", out, {"box_format": "xyxy"}).questions())
    assert (again[0].text, again[0].targets) == ("Where?", (Box(1, 2, 30, 40), Box(5, 5, 9, 9)))
    assert [question.answer for question in again] == ["A", "B", "C", "D"]


def test_overlap_of_boxes_is_over_pairs_of_people(tmp_path):
    def edit(author, box, question="q0"):
        return Edit(question_id=question, author=author, reason="r", at="2026", targets=(Box(*box),))

    edits = [edit("ann", (0, 0, 10, 10)), edit("bob", (0, 0, 10, 10)), edit("eve", (5, 0, 15, 10))]
    found = people_agreement([], edits=[*edits, edit("ann", (0, 0, 5, 5), "q1")])
    assert found.n_boxes == 3
    assert found.box_overlap == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["annotate"], "no benchmark was named"),
        (["annotate", "demo"], "nobody was named"),
        (["annotate", "demo", "--as", " "], "nobody was named"),
    ],
)
def test_a_command_without_what_it_needs_is_a_usage_error(arguments, message, capsys):
    assert run_app(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_damaged_line_of_corrections_is_named(tmp_path):
    folder = tmp_path / "edits"
    folder.mkdir()
    (folder / "ann.jsonl").write_text(json.dumps({"schema_version": 1, "question_id": 3}) + "\n{}\n")
    with pytest.raises(Exception, match=r"ann\.jsonl:1"):
        read_edits(folder)


def test_there_is_no_question_beyond_the_last(editor):
    editing, client = editor()
    assert client.get("/state?number=9").status_code == 400
    with pytest.raises(UsageError, match="there is no question 4"):
        editing.picture(4)


@pytest.mark.parametrize("number", ["-1", "x", "4", "9" * 5000])
def test_number_of_no_question_is_refused_in_words(editor, number):
    _, client = editor()
    reply = client.get(f"/state?number={number}")
    assert reply.status_code == 400
    assert "number" in reply.json()["error"] or "no question 4" in reply.json()["error"]

"""Pictures that cannot be read cost their own questions and no other: told before asking, never sent, never scored."""

import base64
import datetime
import json
from io import BytesIO

import numpy as np
import pytest
from edited_questions import Edited, Looking, Told, cut_in_half
from PIL import Image
from servers.batches import BatchDesk
from servers.chat_server import ChatServer, answer_from_picture

import eyechart
from eyechart.errors import BenchmarkError
from eyechart.explorer.annotating import Annotation
from eyechart.images import decode as decoding
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model, open_prompt
from eyechart.runs.batches import BatchSettings
from eyechart.runs.checking import check_benchmark
from eyechart.runs.folders import Destination
from eyechart.runs.items import read_items
from eyechart.runs.matching import Reached
from eyechart.runs.options import estimated_cost
from eyechart.runs.plan import PlanOptions, plan_run
from eyechart.schema import ModelIdentity, ResponseState
from eyechart.seen.costs import read_price
from eyechart.views import resolve_views


def png():
    stream = BytesIO()
    Image.new("RGB", (40, 30), "red").save(stream, "PNG")
    return stream.getvalue()


def write_float(path):
    Image.fromarray(np.zeros((30, 40), np.float32)).save(path, "TIFF")


def write_animation(path):
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("red", "blue")]
    frames[0].save(path, "GIF", save_all=True, append_images=frames[1:])


# What stands under the name of a picture, and what is said of it.
HEADER_FAULTS = {
    "float.tif": (write_float, "pixels of kind F have no defined 8-bit RGB values"),
    "cmyk.jpg": (lambda path: Image.new("CMYK", (40, 30)).save(path, "JPEG"), "CMYK without a usable colour profile"),
    "moving.gif": (write_animation, "2 frames"),
    "empty.png": (lambda path: path.write_bytes(b""), "it has 0 bytes"),
    "text.png": (lambda path: path.write_bytes(b"<html>404</html>"), "not a picture that can be read"),
    "head.png": (lambda path: path.write_bytes(png()[:20]), "damaged|truncated"),
    "cut.png": (lambda path: path.write_bytes(png()[:-12]), "truncated"),
    "head.jpg": (lambda path: path.write_bytes(b"\xff\xd8\xff\xe0\0\x10JFIF"), "damaged image/jpeg header"),
    "folder": (lambda path: path.mkdir(), "this is a folder"),
    "gone.png": (lambda path: None, "there is no such file"),
}


@pytest.fixture
def edited(tmp_path):
    return Edited(tmp_path / "mine")


def states(outcome):
    return {request.question_id: row.state.value for request, row in _rows(outcome)}


def _rows(outcome):
    rows = {row.request_id: row for row in outcome.store.responses()}
    return [(request, rows[request.id]) for request in outcome.store.requests()]


@pytest.mark.parametrize("name", HEADER_FAULTS)
def test_what_a_header_shows_is_told_before_asking_and_costs_one_question(edited, name):
    write, message = HEADER_FAULTS[name]
    write(edited.folder / name)
    rows = [edited.row(number) for number in range(4)]
    rows[1]["image"] = name
    edited.write(rows)
    model, told = Looking(), Told()
    outcome = edited.ask(model, listener=told)
    assert states(outcome) == {"q0": "answered", "q1": "unreadable_image", "q2": "answered", "q3": "answered"}
    assert (outcome.exit_code, model.asked.total()) == (3, 6)
    assert told.notes[0] == "1 of 4 questions is not asked, because the picture cannot be read; it counts as missing:"
    assert f"{name} (question q1)" in told.notes[1]
    assert any(word in told.notes[1] for word in message.split("|"))
    assert str(edited.folder) not in told.text
    assert [condition.n_correct for condition in outcome.summary.conditions] == [3, 3]
    assert [condition.n_missing for condition in outcome.summary.conditions] == [1, 1]


def test_a_jpeg_cut_in_half_is_found_while_asking_and_costs_one_question(edited):
    rows = [edited.row(number) for number in range(12)]
    cut_in_half(edited.folder / "p5.png")
    edited.write(rows)
    first = edited.ask(Looking())
    assert {name for name, state in states(first).items() if state == "unreadable_image"} == {"q5"}
    assert first.exit_code == 3
    assert {row.error.partition(" (")[0] for _, row in _rows(first) if row.error} == {"p5.png: cannot decode"}
    again = Looking()
    assert (edited.ask(again).exit_code, again.asked.total()) == (3, 0)


def test_a_mended_picture_is_asked_in_the_same_command_and_the_others_are_not(edited):
    rows = [edited.row(number) for number in range(3)]
    write_float(edited.folder / "p1.png")
    edited.write(rows)
    edited.ask(Looking())
    edited.picture("p1.png", 1)
    model = Looking()
    outcome = edited.ask(model)
    assert (outcome.exit_code, model.asked.total()) == (0, 2)
    assert set(states(outcome).values()) == {"answered"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (base64.b64encode(png()[:20] + bytes(200)).decode(), "damaged image/png header"),
        ("data:image/png;base64," + base64.b64encode(png()[:20]).decode(), "the picture held at questions.jsonl:"),
        ("x" * 300 + ".png", "a file name may have 255 bytes and no more"),
        ("é" * 200 + ".png", "a file name may have 255 bytes and no more"),
        ("a/" * 3000 + "b.png", "cannot read (File name too long)"),
        ("a\0b.png", "no file name has a character of code 0"),
    ],
    ids=["base64", "data URI", "300 characters", "404 bytes", "a long path", "code 0"],
)
def test_a_name_that_can_be_no_file_says_what_it_is_and_is_not_printed_whole(edited, name, message):
    rows = [edited.row(0), edited.row(1, image=name)]
    edited.write(rows)
    told = Told()
    outcome = edited.ask(listener=told)
    assert states(outcome) == {"q0": "answered", "q1": "unreadable_image"}
    assert message in told.text
    assert all(len(line) < 500 for line in told.notes)
    edited.write(rows[1:])
    with pytest.raises(BenchmarkError) as caught:
        edited.open()
    assert message in caught.value.message
    assert len(caught.value.message) < 700
    assert "disk" not in caught.value.message + caught.value.hint


def test_a_file_of_which_no_picture_can_be_read_is_refused(edited):
    edited.write([edited.row(number, image=f"no{number}.png") for number in range(3)])
    with pytest.raises(BenchmarkError, match=r"questions.jsonl:1: image 'no0.png'.*none of 3 pictures") as caught:
        edited.open()
    assert "paths count from" in caught.value.hint


def test_chosen_questions_without_a_readable_picture_are_refused_before_asking(edited):
    rows = [edited.row(0), *(edited.row(number, image="no.png") for number in range(1, 9))]
    edited.write(rows)
    model = Looking()
    with pytest.raises(BenchmarkError, match=r"no picture of the question can be read: .*: no\.png"):
        edited.ask(model, plan=PlanOptions(limit=1, seed=1))
    assert not model.asked


def test_check_says_the_same_as_run(edited):
    rows = [edited.row(number) for number in range(4)]
    rows[2]["image"] = rows[3]["image"] = "gone.png"
    edited.write(rows)
    told = Told()
    edited.ask(listener=told)
    views = resolve_views("original,downsample_0_5")[0]
    models = [ModelIdentity("openai", "gpt-4o")]
    table = check_benchmark(edited.open(), views, models, today=datetime.date(2026, 12, 1))
    assert list(table.unreadable) == told.notes
    assert told.notes == [
        "2 of 4 questions are not asked, because the picture cannot be read; it counts as missing:",
        "  2 × there is no such file: gone.png (question q2), gone.png (question q3)",
    ]
    assert {view.n for view in table.models[0].views} == {2}


def test_what_is_told_of_many_pictures_is_bounded(edited):
    rows = [edited.row(0)]
    for number in range(1, 40):
        (edited.folder / f"bad{number}.png").write_bytes(b"%d" % (number % 20) * 8)
        rows.append(edited.row(number, image=f"bad{number}.png"))
    edited.write(rows)
    told = Told()
    edited.ask(listener=told)
    assert told.notes[0].startswith("39 of 40 questions are not asked")
    assert len(told.notes) <= 10


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        (MemoryError(), "transient"),
        (OSError(5, "Input/output error"), "transient"),
        (OSError("image file is truncated (3 bytes not processed)"), "unreadable_image"),
    ],
)
def test_what_this_machine_lacks_is_no_property_of_the_picture(edited, monkeypatch, fault, state):
    edited.write([edited.row(0), edited.row(1)])
    real = decoding.open_header

    class Failing:
        def __init__(self, header):
            self._header = header

        def __getattr__(self, name):
            return getattr(self._header, name)

        def load(self):
            if self._header.getpixel((0, 0))[0] > 100:
                raise fault
            return self._header.load()

    monkeypatch.setattr(decoding, "open_header", lambda stream, place: Failing(real(stream, place)))
    outcome = edited.ask(views="downsample_0_5")
    assert states(outcome)["q0"] == state
    assert outcome.exit_code == 3


def test_the_first_answers_are_of_pictures_that_can_be_read(edited):
    rows = [edited.row(number) for number in range(6)]
    for row in rows[:2]:
        row["image"] = "gone.png"
    cut_in_half(edited.folder / "p2.png")
    edited.write(rows)
    outcome = edited.ask(has_preflight=True)
    assert outcome.stop is None
    assert list(states(outcome).values()).count("answered") == 3


def test_views_without_the_picture_are_asked(edited):
    edited.write([edited.row(0), edited.row(1, image="gone.png")])
    outcome = edited.ask(views="original,no_image,blank")
    found = {(request.question_id, request.view): row.state for request, row in _rows(outcome)}
    assert found["q1", "no_image"] is ResponseState.ANSWERED
    assert found["q1", "blank"] is found["q1", "original"] is ResponseState.UNREADABLE_IMAGE


def test_boxes_of_a_picture_that_cannot_be_read_decide_nothing(edited):
    rows = [edited.row(number, box_xyxy=[4, 4, 20, 20]) for number in range(3)]
    rows = [{**row, "box": row.pop("box_xyxy")} for row in rows]
    rows[1]["image"] = "gone.png"
    edited.write(rows)
    opened = eyechart.benchmark("folder", data=edited.folder / "questions.jsonl", box_format="xyxy")
    assert [len(question.targets) for question in opened.questions()] == [1, 0, 1]


def test_a_batch_holds_what_can_be_read_and_the_rest_is_stored_without_being_handed_over(edited, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    rows = [edited.row(number) for number in range(5)]
    rows[1]["image"] = "gone.png"
    cut_in_half(edited.folder / "p3.png")
    edited.write(rows)
    desk = BatchDesk(answer_from_picture, n_polls=1)
    with ChatServer(desk=desk) as server:
        model = open_model("openai/gpt-4o", ModelOptions(base_url=server.url + "/v1"))
        batches = BatchSettings(poll_seconds=0.01, wait_seconds=30.0)
        outcome = edited.ask(model, batches=batches, is_same_weights=True)
    found = states(outcome)
    assert {name for name, state in found.items() if state == "unreadable_image"} == {"q1", "q3"}
    assert list(found.values()).count("answered") == 3
    assert outcome.exit_code == 3


@pytest.mark.parametrize("model", ["openai/gpt-4o", "anthropic/claude-haiku-4-5", "google/gemini-2.5-flash"])
def test_a_priced_run_and_its_check_know_nothing_of_the_size_of_a_missing_picture(edited, model):
    edited.write([edited.row(0), edited.row(1, image="gone.png")])
    plan = plan_run(
        edited.open(),
        resolve_views("original,blank")[0],
        open_prompt("letter_normalized"),
        model=ModelIdentity(*model.split("/")),
    )
    price = read_price("1,2", datetime.date(2026, 12, 1))
    both, one = estimated_cost(plan.requests, plan.model, price), estimated_cost(plan.requests[:2], plan.model, price)
    assert both == one > 0


def test_a_person_is_not_shown_what_cannot_be_read(edited):
    edited.write([edited.row(0), edited.row(1, image="gone.png")])
    opened = edited.open()
    person = ModelIdentity("human", "ann", fingerprint="f")
    plan = plan_run(opened, resolve_views("original")[0], open_prompt("letter_normalized"), model=person)
    annotation = Annotation(plan, opened, Destination(out=edited.folder.parent / "person"))
    assert annotation.progress == (1, 2)
    assert annotation.requests[annotation.position].question_id == "q0"
    annotation.close()


def test_a_matched_design_leaves_out_what_cannot_be_read_and_says_so(edited):
    rows = [edited.row(number, box=[4, 4, 20, 20]) for number in range(3)]
    rows[1]["image"] = "gone.png"
    edited.write(rows)
    opened = eyechart.benchmark("folder", data=edited.folder / "questions.jsonl", box_format="xyxy")
    plan = plan_run(
        opened,
        resolve_views("original,crop_3x")[0],
        open_prompt("letter_normalized"),
        model=ModelIdentity("openai", "gpt-4o"),
        options=PlanOptions(match="target-px=8"),
        gauge=lambda picture: Reached(float(min(picture.target.width, picture.target.height))),
    )
    assert [(one.question_id, one.reason) for one in plan.matching.unmatched] == [
        ("q1", "gone.png: there is no such file")
    ]
    assert {request.question_id for request in plan.requests} == {"q0", "q2"}


def test_every_stored_row_of_an_unreadable_picture_can_be_read_back_and_exported(edited):
    edited.write([edited.row(0), edited.row(1, image="gone.png")])
    outcome = edited.ask()
    cells = read_items(outcome.store, outcome.summary.scorer).table.cells
    assert sorted(cell.ending.state.value for cell in cells.values()) == ["answered"] * 2 + ["unreadable_image"] * 2
    stored = json.loads((outcome.store.folder / "questions.jsonl").read_text().splitlines()[1])
    assert stored["image"]["fault"] == "gone.png: there is no such file"


def test_a_picture_mended_after_a_batch_is_handed_over_alone_and_nothing_else_is_paid_again(edited, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    rows = [edited.row(number) for number in range(6)]
    cut_in_half(edited.folder / "p3.png")
    edited.write(rows)
    desk, told = BatchDesk("A"), Told()
    batches = BatchSettings(poll_seconds=0.01, wait_seconds=30.0)
    with ChatServer(desk=desk) as server:

        def ask():
            model = open_model("openai/gpt-4o", ModelOptions(base_url=f"{server.url}/v1"))
            return edited.ask(model, batches=batches, is_same_weights=True, listener=told)

        first = ask()
        handed_over = set(desk.asked)
        edited.picture("p3.png", 3)
        second = ask()
    assert (first.exit_code, len(handed_over)) == (3, 10)
    assert (second.exit_code, set(desk.asked.values())) == (0, {1})
    assert len(set(desk.asked) - handed_over) == 2
    assert "10 answers kept, 0 questions new, 1 changed, 0 gone" in told.text


def test_a_picture_mended_between_the_starts_of_shards_is_asked_once(edited):
    rows = [edited.row(number) for number in range(6)]
    cut_in_half(edited.folder / "p3.png")
    edited.write(rows)
    model = Looking()
    for shard in ("1/2", "2/2"):
        edited.ask_shard(model, shard)
    assert model.asked.total() == 10
    edited.picture("p3.png", 3)
    for shard in ("1/2", "2/2"):
        edited.ask_shard(model, shard)
    assert (model.asked.total(), set(model.asked.values())) == (12, {1})
    assert edited.ask(model).exit_code == 0
    assert model.asked.total() == 12

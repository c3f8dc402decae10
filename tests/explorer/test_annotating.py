"""A person's answers: shuffled, resumable, stored like a model's, and given by keys on a page that tells no view."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from runs_made import question_file
from starlette.testclient import TestClient

from eyechart.errors import UsageError
from eyechart.explorer.agreement import people_agreement
from eyechart.explorer.annotate_server import build_annotator
from eyechart.explorer.annotating import Annotation, Given
from eyechart.kinds import ModelOptions
from eyechart.opening import open_benchmark, open_model, open_prompt
from eyechart.runs.folders import Destination
from eyechart.runs.plan import PlanOptions, plan_run
from eyechart.runs.score import score_run
from eyechart.runs.store import RunStore
from eyechart.runs.summarise import summarise
from eyechart.scorers.option_letter import OptionLetter
from eyechart.views import resolve_views

VIEWS = "original,crop_3x,downsample_0_5"


@pytest.fixture
def begin(tmp_path):
    benchmark = open_benchmark("folder", question_file(tmp_path, n=6), {"box_format": "xyxy"})

    def start(name="ann", views=VIEWS, *, out=None, seed=0, zoom=False):
        model = open_model(f"human/{name}", ModelOptions(settings={"zoom": zoom}))
        plan = plan_run(
            benchmark, resolve_views(views)[0], open_prompt(), model=model.identity, options=PlanOptions(seed=seed)
        )
        return Annotation(plan, benchmark, Destination(out=tmp_path / (out or name)))

    return start


@pytest.fixture
def page(begin):
    def start(*, zoom=True, **changes):
        annotation = begin(zoom=zoom, **changes)
        return annotation, TestClient(build_annotator(annotation, zoom=zoom), base_url="http://127.0.0.1")

    return start


def gold(annotation, position):
    return "ABCD"[int(annotation.request(position).question_id[1:]) % 4]


def test_every_question_is_shown_once_before_any_is_shown_again(begin):
    annotation = begin()
    asked = [request.question_id for request in annotation.requests]
    assert [len(set(asked[start : start + 6])) for start in (0, 6, 12)] == [6, 6, 6]
    assert Counter(request.view for request in annotation.requests) == dict.fromkeys(VIEWS.split(","), 6)
    assert len({request.view for request in annotation.requests[:6]}) > 1


def test_the_order_is_the_same_for_one_person_and_another_for_the_next(begin):
    def order(name, out):
        return [(one.question_id, one.view) for one in begin(name, out=out).requests]

    assert order("ann", "1") == order("ann", "2")
    assert order("ann", "3") != order("bob", "4")


def test_answers_are_a_run_that_can_be_scored(begin):
    annotation = begin()
    while (position := annotation.position) is not None:
        annotation.answer(Given(position=position, answer=gold(annotation, position), seconds=1.5))
    annotation.close()
    store = RunStore(annotation.store.folder)
    summary = summarise(store, score_run(store, OptionLetter(), "strict"))
    assert [condition.n_correct for condition in summary.conditions] == [6, 6, 6]
    assert {response.seconds for response in store.responses()} == {1.5}


def test_a_person_goes_on_where_it_left_off(begin):
    first = begin()
    done = first.request(first.position).id
    first.answer(Given(position=first.position, answer="A", seconds=1))
    first.close()
    again = begin()
    assert again.is_resumed
    assert again.progress == (1, 18)
    assert again.request(again.position).id != done


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": "E"}, "not an option"),
        ({"answer": ""}, "not an option"),
        ({"position": 99}, "there is no question 99"),
        ({"seconds": -1.0}, "needs a text and a time"),
        ({"seconds": float("inf")}, "needs a text and a time"),
    ],
)
def test_what_answers_nothing_is_refused(begin, changes, message):
    annotation = begin()
    given = {"position": annotation.position, "answer": "A", "seconds": 1.0, **changes}
    with pytest.raises(UsageError, match=message):
        annotation.answer(Given(**given))
    assert annotation.progress.n_done == 0


def test_a_question_is_answered_once(begin):
    annotation = begin()
    given = Given(position=annotation.position, answer="A", seconds=1)
    annotation.answer(given)
    with pytest.raises(UsageError, match="answered already"):
        annotation.answer(given)


def test_the_page_tells_neither_view_nor_answer(page):
    annotation, client = page()
    state = client.get("/state").json()
    assert set(state) == {"n_done", "n_all", "position", "question", "choices", "pictures"}
    shown = json.dumps(state) + client.get("/").text
    for secret in (*VIEWS.split(","), annotation.request(state["position"]).question_id, "gold", 'answer":'):
        assert secret not in shown


def test_answering_and_putting_off_move_on(page):
    annotation, client = page()
    first = client.get("/state").json()
    second = client.post("/later", json={"position": first["position"]}).json()
    assert second["position"] != first["position"]
    third = client.post("/answer", json={"position": second["position"], "answer": "B", "seconds": 2.0}).json()
    assert third["n_done"] == 1
    while client.get("/state").json()["position"] is not None:
        position = client.get("/state").json()["position"]
        client.post("/answer", json={"position": position, "answer": "cannot tell", "seconds": 1.0})
    assert annotation.progress == (18, 18)
    assert annotation.request(first["position"]) in annotation.requests


def test_a_mistake_of_the_page_is_told_in_words(page):
    _, client = page()
    told = client.post("/answer", json={"position": 0, "answer": "Z", "seconds": 1.0})
    assert told.status_code == 400
    assert "is not an option" in told.json()["error"]
    assert client.post("/answer", content=b"{", headers={"content-type": "application/json"}).status_code == 400


def test_another_site_can_neither_send_nor_read(page):
    _, client = page()
    assert client.post("/answer", data={"position": 0}).status_code == 415
    assert client.get("/state", headers={"host": "evil.example"}).status_code == 400


def test_json_that_is_nested_without_end_is_told_in_words(page):
    _, client = page()
    body = b'{"position": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    reply = client.post("/answer", content=body, headers={"content-type": "application/json"})
    assert (reply.status_code, "the page sent something else" in reply.json()["error"]) == (400, True)


def test_a_body_without_a_length_is_bounded_while_it_is_read(page):
    _, client = page()
    n_sent = 0

    def endless():
        nonlocal n_sent
        while n_sent < 64 << 20:
            n_sent += 1 << 16
            yield bytes(1 << 16)

    reply = client.post("/answer", content=endless(), headers={"content-type": "application/json"})
    assert reply.status_code == 413


HOLD = """
import sys, time
from pathlib import Path
from eyechart.runs.execute import writer_name
file = (Path(sys.argv[1]) / f"{writer_name()}.jsonl").open("a")
print("open", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files of others are told by /proc")
def test_a_second_person_on_one_run_is_told_and_the_first_goes_on(begin, tmp_path):
    begin("ann").close()
    command = [sys.executable, "-c", HOLD, str(tmp_path / "ann" / "responses")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout.readline() == "open\n"
        with pytest.raises(UsageError, match=f"process {first.pid} on this machine is asking this run too"):
            begin("ann")
        first.kill()
    again = begin("ann")
    assert (again.warning, again.is_resumed) == (None, True)
    again.close()


def test_pictures_can_be_enlarged_only_where_that_is_allowed(page):
    for zoom, status in ((True, 200), (False, 404)):
        _, client = page(zoom=zoom, out=f"zoom-{zoom}")
        shape = client.get("/state").json()["pictures"][0]
        assert client.get(f"{shape['base']}/{shape['max']}/0_0.png").status_code == status
        assert client.get(shape["whole"]).headers["content-type"] == "image/png"
        assert client.get("/picture/999/0.png").status_code == 404


@pytest.mark.parametrize("name", ["annotate.js", "annotate.css", "openseadragon.min.js", "report.css"])
def test_the_page_brings_all_it_needs(page, name):
    _, client = page()
    assert client.get(f"/static/{name}").status_code == 200
    assert client.get("/static/..%2Fserver.py").status_code == 404


def test_people_who_agree_have_alpha_one_and_those_who_do_not_less(begin):
    def answered(name, letter_of):
        annotation = begin(name)
        while (position := annotation.position) is not None:
            annotation.answer(Given(position=position, answer=letter_of(annotation, position), seconds=1))
        annotation.close()
        return RunStore(annotation.store.folder)

    def wrong_on_crops(annotation, position):
        right = gold(annotation, position)
        return "D" if annotation.request(position).view == "crop_3x" and right != "D" else right

    ann, bob, eve = answered("ann", gold), answered("bob", gold), answered("eve", wrong_on_crops)
    assert people_agreement([ann, bob]).alpha == 1.0
    found = people_agreement([ann, bob, eve])
    assert 0.5 < found.alpha < 1.0
    by_view = {one.view: one for one in found.accuracies}
    assert (by_view["original"].value, by_view["original"].n_people) == (1.0, 3)
    crop = by_view["crop_3x"]
    assert crop.value == pytest.approx(1 - 5 / 18)
    assert crop.low < crop.value < crop.high
    with pytest.raises(UsageError, match="two runs are of ann"):
        people_agreement([ann, ann])


@pytest.mark.parametrize("number", ["-1", "x", "9" * 5000])
def test_address_of_no_picture_is_refused_in_words(page, number):
    _, client = page()
    for address in (f"/picture/{number}/0.png", f"/picture/0/{number}.png", f"/tiles/0/0/{number}/0_0.png"):
        reply = client.get(address)
        assert reply.status_code == 404
        assert "is not a whole number" in reply.text or "is too large" in reply.text
        assert len(reply.text) < 100

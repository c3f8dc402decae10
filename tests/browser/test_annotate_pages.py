"""A person at the keyboard, in a real browser: answers, zoom, drawn boxes, and no complaint on the console."""

import threading
import time

import pytest
import uvicorn
from runs_made import question_file

from eyechart.explorer.annotate_server import build_annotator, build_editor
from eyechart.explorer.annotating import Annotation
from eyechart.explorer.editing import Editing, read_edits
from eyechart.kinds import ModelOptions
from eyechart.opening import open_benchmark, open_model, open_prompt
from eyechart.runs.folders import Destination
from eyechart.runs.plan import plan_run
from eyechart.runs.store import RunStore
from eyechart.schema import Box
from eyechart.views import resolve_views

from .conftest import PATIENCE_MS, SCREENSHOTS, WIDTHS, check_axe, is_complaint

pytestmark = pytest.mark.browser


@pytest.fixture
def show(browser):
    """A function that serves an application and returns its page; at the end the console must have been silent."""
    servers, complaints = [], []

    def start(application):
        server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            thread.join(0.02)
        servers.append((server, thread))
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: is_complaint(message) and complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/")
        return page

    yield start
    for server, thread in servers:
        server.should_exit = True
        thread.join(5)
    assert complaints == []


def planned(tmp_path, views="original", **settings):
    benchmark = open_benchmark("folder", question_file(tmp_path, n=3), {"box_format": "xyxy"})
    model = open_model("human/ann", ModelOptions(settings=settings))
    return benchmark, plan_run(benchmark, resolve_views(views)[0], open_prompt(), model=model.identity)


@pytest.mark.parametrize("zoom", [True, False])
def test_keys_alone_answer_everything(show, tmp_path, zoom):
    benchmark, plan = planned(tmp_path, "original,crop_3x", zoom=zoom)
    annotation = Annotation(plan, benchmark, Destination(out=tmp_path / "run"))
    began = time.monotonic()
    page = show(build_annotator(annotation, zoom=zoom))
    for number in range(6):
        page.wait_for_selector(f"#progress:has-text('{number} of 6')")
        page.wait_for_selector(".viewer canvas, .asked-pictures img")
        page.wait_for_selector("body[data-timed=yes]")
        page.keyboard.press("b" if number % 2 else "2")
        page.keyboard.press("Enter")
    page.wait_for_selector("body[data-position='end']")
    elapsed = time.monotonic() - began
    annotation.close()
    rows = list(RunStore(annotation.store.folder).responses())
    assert [row.text for row in rows] == ["B"] * 6
    assert all(row.seconds > 0 and row.extra["shown"]["width"] > 0 for row in rows)
    assert sum(row.seconds for row in rows) < elapsed


def test_cannot_tell_and_later_have_keys_of_their_own(show, tmp_path):
    benchmark, plan = planned(tmp_path)
    annotation = Annotation(plan, benchmark, Destination(out=tmp_path / "run"))
    first = annotation.position
    page = show(build_annotator(annotation, zoom=False))
    page.wait_for_selector(f"body[data-position='{first}']")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f"body:not([data-position='{first}'])")
    page.wait_for_selector("body[data-timed=yes]")
    page.keyboard.press("0")
    page.wait_for_selector("#progress:has-text('1 of 3')")
    annotation.close()
    assert [row.text for row in annotation.store.responses()] == ["cannot tell"]


def test_a_drawn_box_is_saved_in_pixels_of_the_file(show, tmp_path):
    benchmark, plan = planned(tmp_path)
    editing = Editing(plan, benchmark, tmp_path / "edits", "ann")
    page = show(build_editor(editing, only_boxes=True))
    page.wait_for_selector(".target-box")
    page.fill("#boxes", "")
    page.keyboard.press("Alt+b")
    frame = page.locator("#viewer").bounding_box()
    for step, share in enumerate((0.4, 0.5, 0.6)):
        page.mouse.move(frame["x"] + frame["width"] * share, frame["y"] + frame["height"] * share, steps=4)
        if step == 0:
            page.mouse.down()
    page.mouse.up()
    page.keyboard.press("Alt+Shift+ArrowRight")
    page.fill("#reason", "the target was missed")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#edits li")
    editing.close()
    (edit,) = read_edits(tmp_path / "edits")
    (box,) = edit.targets
    assert edit.author == "ann"
    assert isinstance(box, Box)
    assert (24, 17) < (box.x0, box.y0) < (30, 22)  # 0.4 of a 64×48 picture, shown centred
    assert (36, 26) < (box.x1, box.y1) < (44, 31)


def check_page(page, name):
    """Nothing is wider than the window at either width, and axe finds nothing above minor."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.reload()
        page.wait_for_selector(".viewer canvas, .asked-pictures img")
        page.wait_for_timeout(500)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        page.screenshot(path=SCREENSHOTS / f"{name}-{width}.png", full_page=True)
    check_axe(page)


@pytest.mark.parametrize("zoom", [True, False])
def test_page_to_answer_fits_and_is_accessible(show, tmp_path, zoom):
    benchmark, plan = planned(tmp_path, "original,crop_3x", zoom=zoom)
    annotation = Annotation(plan, benchmark, Destination(out=tmp_path / "run"))
    page = show(build_annotator(annotation, zoom=zoom))
    check_page(page, f"annotate-{'zoom' if zoom else 'plain'}")
    annotation.close()


@pytest.mark.parametrize("only_boxes", [True, False])
def test_page_to_correct_fits_and_is_accessible(show, tmp_path, only_boxes):
    benchmark, plan = planned(tmp_path)
    editing = Editing(plan, benchmark, tmp_path / "edits", "ann")
    page = show(build_editor(editing, only_boxes=only_boxes))
    check_page(page, f"correct-{'boxes' if only_boxes else 'all'}")
    editing.close()

"""Laws of the screens in a real browser: panes move together, filters have addresses, keys work."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from .conftest import SCREENSHOTS, WIDTHS, check_axe

pytestmark = pytest.mark.browser

FIRST, SECOND = (quote(f"q/{index} é") for index in (0, 1))
PLACE_PX = 2.0


def places(page):
    """Where in the original each pane looks: x, y, width, height."""
    shown = page.eval_on_selector_all(".pane-view", "views => views.map(view => view.dataset.at)")
    return [[float(edge) for edge in at.split(",")] for at in shown]


def zoom(page, pane=0):
    """Turn the wheel over a pane."""
    box = page.locator(".pane-view").nth(pane).bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5)
    before = places(page)
    page.mouse.wheel(0, -400)
    shown = settled(page, before)
    assert shown[pane] != before[pane]


def settled(page, before=None):
    """Where the panes look once they have come to rest, after ``before`` if given."""
    last = before
    for _ in range(60):
        page.wait_for_timeout(100)
        now = places(page)
        if now == last and now != before:
            return now
        last = now
    return last


def check_lock(watched, address):
    """Zooming one pane takes the other to the same place; unlocked, it stays."""
    page = watched.open(address)
    watched.panes_ready()
    settled(page)
    zoom(page)
    left, right = places(page)
    assert left[2] < 700
    assert abs(left[0] + left[2] / 2 - right[0] - right[2] / 2) < PLACE_PX
    assert abs(left[1] + left[3] / 2 - right[1] - right[3] / 2) < PLACE_PX
    page.wait_for_url("**at=**")
    kept = page.url
    page.goto("about:blank")
    watched.open(kept)
    watched.panes_ready()
    again = settled(page)[0]
    assert abs(again[0] - left[0]) < PLACE_PX
    page.keyboard.press("l")
    before = settled(page)[1]
    zoom(page)
    assert places(page)[1] == before


def test_panes_move_together_until_they_are_let_go(watched, served):
    check_lock(watched, f"{served}/question?run=0&id={SECOND}")


def test_panes_of_the_site_move_together_without_network(offline, site):
    check_lock(offline, f"{site}/questions/run0-0002-q-1-.html")


def test_filters_have_addresses_and_the_back_button_undoes_them(watched, served):
    page = watched.open(f"{served}/grid?run=0")
    assert page.locator(".open-question").count() == 6
    page.get_by_role("link", name="right in crop_3x, wrong in original").click()
    expect(page.locator(".open-question")).to_have_count(3)
    assert "right=crop_3x&wrong=original" in page.url
    page.go_back()
    expect(page.locator(".open-question")).to_have_count(6)
    page.go_forward()
    expect(page.locator(".open-question")).to_have_count(3)
    page.get_by_label("Text or id").fill("q/2")
    page.get_by_label("Text or id").press("Enter")
    expect(page.locator(".open-question")).to_have_count(1)
    assert "text=q%2F2" in page.url
    page.go_back()
    expect(page.locator(".open-question")).to_have_count(3)
    page.get_by_label("Text or id").fill("q/2")
    page.get_by_label("Text or id").press("Enter")
    expect(page.locator(".open-question")).to_have_count(1)


def test_letters_in_a_field_are_text_and_no_keys(watched, served):
    page = watched.open(f"{served}/grid?run=0")
    page.get_by_label("Text or id").press_sequentially("jk1")
    assert page.get_by_label("Text or id").input_value() == "jk1"
    assert page.locator("tr.chosen").count() == 0
    page = watched.open(f"{served}/question?run=0&id={FIRST}")
    watched.panes_ready()
    address = page.url
    page.get_by_label("view of pane 2").press("j")
    page.get_by_label("view of pane 2").press("9")
    assert page.url.partition("#")[0] == address.partition("#")[0]


def test_view_chosen_by_arrow_keys_keeps_its_picker(watched, served):
    page = watched.open(f"{served}/question?run=0&id={FIRST}")
    watched.panes_ready()
    page.get_by_label("view of pane 2").focus()
    for panes in ("original,whiteground_3x", "original,downsample_0_5"):
        page.keyboard.press("ArrowDown")
        page.wait_for_url(f"**#panes={panes}")
        watched.panes_ready()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "view of pane 2"


def test_filters_of_the_site_work_without_network(offline, site):
    page = offline.open(f"{site}/grid.html")
    assert page.locator(".open-question").count() == 6
    page.get_by_label("Right in").select_option("crop_3x")
    page.get_by_label("Wrong in").select_option("original")
    assert page.locator(".open-question").count() == 3
    assert "right=crop_3x" in page.url
    page.go_back()
    expect(page.locator(".open-question")).not_to_have_count(3)
    page.go_forward()
    expect(page.locator(".open-question")).to_have_count(3)
    page.locator(".open-question").first.click()
    offline.panes_ready()
    assert "1 of 3" in page.locator(".kicker").inner_text()
    page.keyboard.press("j")
    expect(page.locator("[data-place]")).to_have_text("2 of 3")


def test_count_of_a_comparison_opens_its_questions(watched, served):
    page = watched.open(f"{served}/compare?first=0&second=0")
    gained = page.locator("tbody tr").first.locator("td").nth(3)
    assert gained.inner_text() == "3"
    gained.get_by_role("link").click()
    page.wait_for_load_state("networkidle")
    assert page.locator(".open-question").count() == 3


def check_keys(watched, address):
    page = watched.open(address)
    watched.panes_ready()
    assert page.locator(".answer:visible").count() >= 2
    page.keyboard.press("3")
    watched.panes_ready()
    assert "whiteground_3x" in page.url
    page.keyboard.press("]")
    watched.panes_ready()
    assert "downsample_0_5" in page.url
    assert page.locator(".target-box").count() == 2
    page.keyboard.press("b")
    watched.panes_ready()
    assert page.locator(".target-box").count() == 0
    page.keyboard.press("a")
    watched.panes_ready(3)
    page.keyboard.press("r")
    watched.panes_ready(2)
    page.keyboard.press("t")
    page.wait_for_timeout(500)
    page.keyboard.press("h")
    before = page.locator("h1").inner_text()
    page.keyboard.press("j")
    expect(page.locator("h1")).not_to_have_text(before)
    watched.panes_ready()
    assert "box=0" in page.url
    page.go_back()
    expect(page.locator("h1")).to_have_text(before)


def test_keys_choose_views_boxes_and_questions(watched, served):
    check_keys(watched, f"{served}/question?run=0&sort=id&id={FIRST}")


def test_keys_work_on_the_site_without_network(offline, site):
    check_keys(offline, f"{site}/questions/run0-0001-q-0-.html")


def test_rows_are_walked_and_opened_by_keys(watched, served):
    page = watched.open(f"{served}/grid?run=0&sort=id")
    for key in ("j", "j", "k", "j"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.textContent") == "q/1 é"
    page.keyboard.press("Enter")
    watched.panes_ready()
    assert page.locator("h1").inner_text() == "q/1 é"


PAGES = [
    "/",
    "/run?run=0",
    "/run?run=1",
    "/grid?run=0",
    f"/question?run=0&id={FIRST}",
    "/compare?first=0&second=1",
    "/pair?first=0&second=1&seed=0",
    "/leaderboard",
]
FILES = ["index.html", "run-0.html", "grid.html", "questions/run0-0001-q-0-.html", "compare-0-1.html", "pair.html",
         "leaderboard-folder.html"]  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_screen_is_silent_runs_nothing_planted_and_fits(watched, served, path):
    check_screen(watched, served + path, "explore-" + (re.sub(r"\W+", "-", path).strip("-")[:20] or "index"))


@pytest.mark.parametrize("path", FILES)
def test_file_is_silent_runs_nothing_planted_and_fits(offline, site, path):
    check_screen(offline, f"{site}/{path}", f"site-{path.replace('/', '-').removesuffix('.html')}")


def test_report_is_silent_and_fits(offline, report):
    check_screen(offline, report, "report")


def check_screen(watched, address, name):
    """No script of others ran, nothing is wider than the window, and axe finds nothing above minor."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width in WIDTHS:
        watched.page.set_viewport_size({"width": width, "height": 900})
        page = watched.open(address)
        page.wait_for_timeout(300)
        assert page.title() != "planted"
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        page.screenshot(path=SCREENSHOTS / f"{name}-{width}.png", full_page=True)
    check_axe(watched.page)

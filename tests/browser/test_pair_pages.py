"""Laws of two models side by side: the draw has an address, filters narrow it, pictures open, server and site agree."""

import pytest
from playwright.sync_api import expect

from .test_explorer_pages import check_screen

pytestmark = pytest.mark.browser


def shown(page):
    """The ids of the questions shown, in their order."""
    expect(page.locator("[role=status]")).to_contain_text("drawn with seed")
    return page.locator(".pair-entry h2 code").all_inner_texts()


@pytest.mark.parametrize("state", ["seed=0", "seed=7", "seed=7&second_mark=wrong", "seed=3&differ=yes&first_mark=wrong",
                                   "seed=2&category=OCR"])  # fmt: skip
def test_server_and_site_draw_the_same_questions(watched, served, site, state):
    page = watched.open(f"{served}/pair?first=0&second=1&{state}")
    on_server, status = shown(page), page.locator("[role=status]").inner_text()
    page = watched.open(f"{site}/pair.html#first=0&second=1&{state}")
    assert shown(page) == on_server
    assert page.locator("[role=status]").inner_text() == status
    assert on_server


def test_server_and_site_draw_the_same_questions_of_hrscene(watched, scene_served, scene_site):
    for seed in range(3):
        page = watched.open(f"{scene_served}/pair?first=2&second=3&seed={seed}")
        on_server = shown(page)
        assert shown(watched.open(f"{scene_site}/pair.html#first=2&second=3&seed={seed}")) == on_server


def check_walk(watched, address, reset):
    """Refresh by key and click, narrow, and go back; each step has an address of its own."""
    page = watched.open(address)
    first = shown(page)
    assert len(first) == 5
    page.keyboard.press("n")
    page.wait_for_url("**seed=1**")
    page.get_by_role("link" if reset else "button", name="Refresh").click()
    page.wait_for_url("**seed=2**")
    page.get_by_label("Second is").select_option("wrong")
    page.wait_for_url("**second_mark=wrong**")
    expect(page.locator(".pair-entry .answer:nth-child(2)").first).to_have_class("answer wrong")
    for verdict in page.locator(".pair-entry .answer:nth-child(2) .verdict").all_inner_texts():
        assert "wrong" in verdict
    for _ in range(3):
        page.go_back()
    page.wait_for_url(lambda url: "seed=1" not in url and "seed=2" not in url)
    expect(page.locator(".pair-entry h2 code").first).to_have_text(first[0])
    assert shown(page) == first


def test_draws_and_filters_have_addresses(watched, served):
    check_walk(watched, f"{served}/pair?first=0&second=1&seed=0", reset=True)


def test_draws_and_filters_of_the_site_work_without_network(offline, site):
    check_walk(offline, f"{site}/pair.html", reset=False)


def check_zoom(watched, address):
    """A picture opens to be zoomed by keys, its address opens it again, and back closes it."""
    page = watched.open(address)
    shown(page)
    page.get_by_role("button", name="Zoom").first.click()
    expect(page.locator(".pane-view[data-ready=yes]")).to_have_count(1)
    page.wait_for_url("**zoom=**")
    address = page.url
    page.go_back()
    expect(page.locator(".pane-view")).to_have_count(0)
    page.goto("about:blank")
    page = watched.open(address)
    expect(page.locator(".pane-view[data-ready=yes]")).to_have_count(1)
    assert "plus and minus zoom" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".pane-view")).to_have_count(0)


def test_pictures_open(watched, served):
    check_zoom(watched, f"{served}/pair?first=0&second=1&seed=0")


def test_pictures_of_the_site_open_without_network(offline, site):
    check_zoom(offline, f"{site}/pair.html#seed=4")


def test_another_view_is_shown_under_its_own_pictures(watched, served):
    page = watched.open(f"{served}/pair?first=0&second=1&seed=0")
    page.get_by_label("View").select_option("crop_3x")
    page.wait_for_url("**view=crop_3x**")
    assert "dataset=" not in page.url
    assert "shown under crop_3x" in page.locator("[role=status]").inner_text()


def test_side_by_side_of_hrscene_fits_and_is_silent(watched, scene_served):
    check_screen(watched, f"{scene_served}/pair?first=2&second=3&seed=1", "scene-pair")


def test_site_of_hrscene_fits_and_is_silent(offline, scene_site):
    check_screen(offline, f"{scene_site}/pair.html#first=2&second=3&seed=1", "scene-site-pair")

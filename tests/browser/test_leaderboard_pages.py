"""Laws of the leaderboard in a browser: sorted by keys, the order in the address, own runs beside published ones."""

import pytest
from playwright.sync_api import expect

from .test_explorer_pages import check_screen

pytestmark = pytest.mark.browser


def models(page):
    return page.locator("#sortable tbody th").all_inner_texts()


def check_sorting(watched, address):
    page = watched.open(address)
    original = models(page)
    assert {"Human", "Random"} <= set(original[-3:])
    heading = page.get_by_role("button", name="Art")
    heading.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#art=descending")
    expect(page.locator("th[data-key=art]")).to_have_attribute("aria-sort", "descending")
    column = page.locator("#sortable thead th").evaluate_all("all => all.findIndex(one => one.dataset.key === 'art')")
    scores = page.locator(f"#sortable tbody tr.published > :nth-child({column + 1})").evaluate_all(
        "all => all.map(one => Number(one.dataset.value))"
    )
    assert scores == sorted(scores, reverse=True)
    assert {"Human", "Random"} <= set(models(page)[-3:])
    page.keyboard.press("Enter")
    page.wait_for_url("**#art=ascending")
    expect(page.locator("th[data-key=art]")).to_have_attribute("aria-sort", "ascending")
    kept = models(page)
    page.goto("about:blank")
    page = watched.open(address + "#art=ascending")
    assert models(page) == kept
    page = watched.open(address)
    page.get_by_role("button", name="billions").click()
    page.wait_for_url("**#B=descending")
    page.go_back()
    expect(page.locator("#sortable tbody th").first).to_have_text(original[0])
    assert models(page) == original


def test_board_is_sorted_by_keys_and_back_undoes_it(watched, scene_served):
    check_sorting(watched, f"{scene_served}/leaderboard?benchmark=hrscene&split=test&average=size_weighted")


def test_board_of_the_site_is_sorted_without_network(offline, scene_site):
    check_sorting(offline, f"{scene_site}/leaderboard-hrscene-test-size_weighted.html")


def test_splits_and_rules_are_links(watched, scene_served):
    page = watched.open(f"{scene_served}/leaderboard")
    page.get_by_role("link", name="testmini").click()
    page.wait_for_url("**split=testmini**")
    page.get_by_role("link", name="macro_category").click()
    page.wait_for_url("**average=macro_category**")
    assert "plain mean of the categories" in page.locator(".lead").inner_text()


def test_own_runs_have_intervals_and_what_is_not_known_is_a_dash(watched, served):
    page = watched.open(f"{served}/leaderboard")
    row = page.locator("#sortable tbody tr.own").first
    assert ", n = " in row.inner_text()
    assert page.locator("#sortable tbody tr.reference").first.locator("td").first.inner_text() == "–"


BOARDS = ["split=test&average=size_weighted", "split=explorer&average=micro"]


@pytest.mark.parametrize("state", BOARDS)
def test_board_fits_and_is_silent(watched, scene_served, state):
    check_screen(watched, f"{scene_served}/leaderboard?benchmark=hrscene&{state}", f"scene-board-{state[6:9]}")

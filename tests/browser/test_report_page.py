"""Laws of the report in a real browser: charts answer pointer and keys, offline; paper gets still pictures."""

from itertools import pairwise
from pathlib import Path

import pytest
from grid_summaries import grid_summary
from playwright.sync_api import expect
from runs_made import question_file
from summaries import demo_summary

from eyechart.cli._app import run_app
from eyechart.reports import write_all

from .conftest import PATIENCE_MS, SCREENSHOTS, WIDTHS, check_axe

pytestmark = pytest.mark.browser

CHARTED = "figure:has(script.spec)"
PLANTED = "<script>document.title = 'planted'</script><img src=x onerror=\"document.title = 'planted'\">"


def open_charts(watched, address):
    """The page with every chart made."""
    page = watched.open(address)
    figures = page.locator(CHARTED)
    for index in range(figures.count()):
        figures.nth(index).scroll_into_view_if_needed()
        expect(figures.nth(index)).to_have_attribute("data-ready", "yes")
    return page


def test_charts_open_offline_say_what_is_pointed_at_and_go_back_to_the_picture(offline, report):
    page = open_charts(offline, report)
    figure = page.locator("#figure-resolution_curve")
    assert figure.locator(".chart svg").count() == 1
    point = figure.locator(".chart svg path[aria-roledescription=point], .chart svg .mark-symbol path").first
    point.hover(force=True)
    expect(page.locator(".tip")).to_be_visible()
    said = page.locator(".tip").inner_text()
    assert "accuracy" in said
    assert "[" in said
    assert "pictures" in said
    button = figure.locator("button.switch")
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(figure.locator(".chart")).to_be_hidden()
    assert figure.locator(".still svg").bounding_box()["width"] > 200
    page.keyboard.press("Enter")
    expect(figure.locator(".chart")).to_be_visible()


def test_arrow_keys_read_every_value_as_the_table_has_it(offline, report):
    page = open_charts(offline, report)
    figure = page.locator("#figure-view_forest")
    chart, reading = figure.locator(".chart"), figure.locator(".reading")
    rows = page.evaluate(
        "JSON.parse(document.querySelector('#figure-view_forest script.spec').textContent).data.values"
    )
    differences = page.locator("#views td.difference").all_inner_texts()
    chart.focus()
    for row in rows:
        page.keyboard.press("ArrowDown")
        expect(reading).to_contain_text(row["view"])
        expect(reading).to_contain_text(row["said"])
        expect(reading).to_contain_text(f"n: {row['asked']}")
        assert any(row["said"] in difference for difference in differences)
    page.keyboard.press("Home")
    expect(reading).to_contain_text(rows[0]["view"])
    chart.press("Tab")
    assert not page.evaluate("document.activeElement.classList.contains('chart')")


def test_a_planted_script_does_not_run_and_nothing_is_evaluated(browser, report, tmp_path):
    source = Path(report.removeprefix("file://")).read_text()
    planted = source.replace("<main ", f"{PLANTED}<main ", 1).replace("</body>", f"{PLANTED}</body>")
    (tmp_path / "planted.html").write_text(planted)
    page = browser.new_context(offline=True).new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto((tmp_path / "planted.html").as_uri())
    expect(page.locator(CHARTED).first).to_have_attribute("data-ready", "yes")
    assert page.title() != "planted"
    page.add_init_script("window.eval = () => { throw new Error('eval') }")
    assert "unsafe-eval" not in source
    assert page.evaluate("document.querySelector('meta[http-equiv]').content.includes('script-src')")
    page.context.close()


def test_without_scripts_pictures_and_their_words_are_there(browser, report):
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(report)
    for figure in page.locator("figure").all():
        assert figure.locator(".still svg").is_visible()
        assert "n = " in figure.locator("desc").first.text_content()
    context.close()


def test_paper_gets_the_still_pictures(offline, report):
    page = open_charts(offline, report)
    page.emulate_media(media="print")
    for figure in page.locator(CHARTED).all():
        assert not figure.locator(".chart").first.is_visible()
        assert figure.locator(".still svg").bounding_box()["width"] > 100
    assert not page.locator("button").first.is_visible()
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.pdf(path=SCREENSHOTS / "report.pdf", prefer_css_page_size=True)
    assert (SCREENSHOTS / "report.pdf").stat().st_size > 50_000


@pytest.mark.parametrize("width", [688, 710])
def test_paper_cuts_no_table_and_breaks_no_interval(offline, tmp_path, width):
    write_all(demo_summary(), tmp_path)  # the run of the other tests has too few pictures for intervals
    page = open_charts(offline, (tmp_path / "report.html").as_uri())
    page.set_viewport_size({"width": width, "height": 1000})  # what A4 and letter hold between their margins
    page.emulate_media(media="print")
    tables = page.locator("table").evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert max(tables) <= width
    lines = page.locator(".whole").evaluate_all("all => all.map(one => one.getClientRects().length)")
    assert set(lines) == {1}
    claims = (
        page.locator(".claims li")
        .first.locator("p")
        .evaluate_all("all => all.map(one => one.getBoundingClientRect().top)")
    )
    assert len(set(map(round, claims))) == 1


def test_figure_of_many_panels_keeps_to_one_sheet_of_paper(offline, tmp_path):
    write_all(grid_summary(1, 3, 5, 7, 10), tmp_path)
    page = open_charts(offline, (tmp_path / "report.html").as_uri())
    page.set_viewport_size({"width": 688, "height": 1000})
    page.emulate_media(media="print")
    figure = page.locator("#figure-region_heatmap")
    assert figure.bounding_box()["height"] < 247 / 25.4 * 96  # what letter holds between its margins
    assert figure.locator(".still svg").bounding_box()["width"] > 200


def test_static_report_runs_nothing(offline, explored_folders, tmp_path):
    assert run_app(["report", str(explored_folders[1]), "--static", "--out", str(tmp_path)]) == 0
    page = offline.open((tmp_path / "report.html").as_uri())
    assert page.locator("script:not([type='application/json'])").count() == 0
    assert page.locator("button").count() == 0
    assert page.locator("figure .still svg").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_report_with_charts_fits_and_is_accessible(offline, report, scheme):
    offline.page.emulate_media(color_scheme=scheme)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width in WIDTHS:
        offline.page.set_viewport_size({"width": width, "height": 900})
        page = open_charts(offline, report)
        assert page.title() != "planted"
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        page.screenshot(path=SCREENSHOTS / f"report-charts-{scheme}-{width}.png", full_page=True, timeout=PATIENCE_MS)
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert all(second <= first + 1 for first, second in pairwise(levels))
    check_axe(page)


def test_grey_page_tells_what_holds_without_colour(offline, report):
    page = open_charts(offline, report)
    page.add_style_tag(content="html { filter: grayscale(1) }")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / "report-grey-1280.png", full_page=True, timeout=PATIENCE_MS)
    verdicts = page.locator(".claims .verdict strong").all_inner_texts()
    assert verdicts
    assert all(words in {"holds", "cannot be told apart"} or ":" in words for words in verdicts)


def test_report_of_all_views_of_sum_draws_every_chart(offline, tmp_path):
    questions = question_file(tmp_path, n=30, size=(240, 180))
    asked = ["run", "folder", "--data", str(questions), "--option", "box_format=xyxy", "--views", "sum29"]
    model = ["--model", "simulated/oracle", "--set", "threshold_px=6", "--set", "slope=4"]
    assert run_app([*asked, *model, "--out", str(tmp_path / "run"), "--no-preflight"]) == 0
    page = open_charts(offline, (tmp_path / "run" / "report.html").as_uri())
    items = page.evaluate("JSON.parse(document.getElementById('eyechart-items').textContent).items.id.rows.length")
    assert items == 30 * 29
    figures = page.locator(CHARTED)
    assert figures.count() >= 5
    for index in range(figures.count()):
        for chart in figures.nth(index).locator(".chart").all():
            assert chart.locator("svg").count() == 1
            assert chart.locator("svg path").count() > 3
    assert page.evaluate("document.scrollingElement.scrollWidth") <= WIDTHS[0]
    assert page.locator("#views tbody tr").count() == 29

"""How a reader's browser takes the report of a whole SUM run: 700 questions under 29 views, 20,300 answers.

Run: ``python benchmarks/bench_report.py [--rounds 5] [--runs DIR]``; it needs playwright and a Chromium, named by
EYECHART_CHROMIUM where it is not /usr/bin/chromium. Prints the CPU seconds of writing and of checking the report, its
size, and over rounds, opened from the disk with the network off: seconds until the page answers, seconds until every
chart is drawn when scrolled through, and memory of the page. Fails where the page takes more than 3 s to answer, where
a chart is not drawn, or where the console has an error.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from bench_explore import N_ROWS, make_runs
from playwright.sync_api import Browser, sync_playwright

from eyechart.cli._app import run_app
from eyechart.reports import check_report

LIMIT_SECONDS = 3.0
CHROMIUM = os.environ.get("EYECHART_CHROMIUM", "/usr/bin/chromium")
CHARTED = "figure:has(script.spec)"


def written(run: Path, out: Path) -> Path:
    """Write and check the report; say what both took."""
    began = time.process_time()
    assert run_app(["report", str(run), "--out", str(out)]) == 0
    middle = time.process_time()
    check = check_report(out / "report.html")
    ended = time.process_time()
    assert check.n_items == N_ROWS
    assert not check.differences
    print(
        f"written in {middle - began:.1f} s CPU with figures, tables and scores; checked in {ended - middle:.1f} s CPU"
    )
    print(f"{(out / 'report.html').stat().st_size / 1e6:.1f} MB, {check.n_numbers:,} numbers")
    return out / "report.html"


def opened(browser: Browser, page_file: Path) -> tuple[float, float, float]:
    """Open the page once; return seconds until it answers, until all charts are drawn, and megabytes it holds."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in {"error", "warning"} else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    began = time.perf_counter()
    page.goto(page_file.as_uri())
    page.evaluate("new Promise(done => requestIdleCallback(done))")
    answers = time.perf_counter() - began
    figures = page.locator(CHARTED)
    for index in range(figures.count()):
        figures.nth(index).scroll_into_view_if_needed()
        page.wait_for_function(
            "at => document.querySelectorAll('figure:has(script.spec)')[at].dataset.ready === 'yes'", arg=index
        )
    drawn = time.perf_counter() - began
    n_drawn = page.locator(f"{CHARTED} .chart svg").count()
    assert n_drawn >= figures.count() > 0, (n_drawn, figures.count())
    assert not complaints, complaints
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    print(f"{figures.count()} figures with charts, {n_drawn} charts, {metrics['Nodes']:,.0f} nodes")
    context.close()
    return answers, drawn, metrics["JSHeapUsedSize"] / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=Path)
    arguments = parser.parse_args()
    # Chromium refuses its sandbox to root, who runs this in containers only.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        (run,) = make_runs(arguments.runs or Path(temporary) / "runs", 1)
        page_file = written(run, Path(temporary) / "report")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        rounds = [opened(browser, page_file) for _ in range(arguments.rounds)]
        browser.close()
    answers, drawn, memory = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(
        f"answers after {answers:.2f} s, all charts after {drawn:.2f} s, {memory:.0f} MB of JavaScript heap (medians)"
    )
    print(f"limit {LIMIT_SECONDS:.0f} s")
    return int(answers > LIMIT_SECONDS)


if __name__ == "__main__":
    raise SystemExit(main())

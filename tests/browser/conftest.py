"""A real browser on the explorer, the static site and the report; every page must stay silent and at home."""

import os
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import expect, sync_playwright
from tests.explorer.conftest import data, explored_folders, study  # noqa: F401 -- fixtures

from eyechart.cli._app import run_app
from eyechart.explorer.server import build_server
from eyechart.explorer.site import write_site
from eyechart.explorer.study import read_study

CHROMIUM = os.environ.get("EYECHART_CHROMIUM", "/usr/bin/chromium")
SCREENSHOTS = Path("build") / "screenshots"
WIDTHS = (1280, 400)
# A busy machine must not fail a test that a quiet one passes.
PATIENCE_MS = 120_000
expect.set_options(timeout=PATIENCE_MS)
# Without preload, which would ask for style sheets by XMLHttpRequest.
RUN_AXE = """axe.run({preload: false}).then(found => found.violations.map(
    one => [one.impact, one.id, one.nodes.map(node => node.html).slice(0, 3)]))"""


def check_axe(page):
    """Let axe-core look at a page, where a stage of CI names it: it finds nothing above minor."""
    axe = os.environ.get("EYECHART_AXE")
    if axe:
        violations = page.evaluate(f"{Path(axe).read_text()}; {RUN_AXE}")
        assert not [one for one in violations if one[0] != "minor"]


# OpenSeadragon says so where a picture is closed before its last tile has come, as may happen at any speed.
LATE_TILE = "Ignoring tile %s loaded before reset"


def is_complaint(message):
    """Whether a message on the console tells of a fault."""
    return message.type in {"error", "warning"} and not message.text.startswith(LATE_TILE)


@contextmanager
def serving(study, data=None):  # noqa: F811
    """The explorer's address while it runs."""
    server = uvicorn.Server(uvicorn.Config(build_server(study, data), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(5)


@pytest.fixture(scope="session")
def served(study, data):  # noqa: F811
    """The explorer's address while the tests run."""
    with serving(study, data) as address:
        yield address


@pytest.fixture(scope="session")
def scene_study(tmp_path_factory):
    """Answers of HRScene's explorer: the file that the environment names, else one in our own words."""
    file = os.environ.get("EYECHART_HRSCENE_EXPLORER") or Path(__file__).parents[1] / "runs/explorer_own_words.json"
    home = tmp_path_factory.mktemp("scene")
    assert run_app(["import", "hrscene-explorer", str(file), "--out", str(home)]) == 0
    return read_study(sorted(home.iterdir())[:4])


@pytest.fixture(scope="session")
def scene_served(scene_study):
    """The explorer of these answers."""
    with serving(scene_study) as address:
        yield address


@pytest.fixture(scope="session")
def scene_site(scene_study, tmp_path_factory):
    """The same as a static site."""
    out = tmp_path_factory.mktemp("scene-site") / "out"
    write_site(scene_study, out)
    return out.as_uri()


@pytest.fixture(scope="session")
def site(study, data, tmp_path_factory):  # noqa: F811
    """The address of a static site on the disk."""
    out = tmp_path_factory.mktemp("site") / "out"
    write_site(study, out, data)
    return out.as_uri()


@pytest.fixture(scope="session")
def report(explored_folders):  # noqa: F811
    """The address of a report on the disk."""
    assert run_app(["report", str(explored_folders[1])]) == 0
    return (explored_folders[1] / "report.html").as_uri()


@pytest.fixture(scope="session")
def browser():
    if not Path(CHROMIUM).exists():
        pytest.fail(f"there is no {CHROMIUM}: install Debian's chromium, or name another with EYECHART_CHROMIUM")
    # Chromium refuses its sandbox to root, who runs tests in containers only.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


class Watched:
    """A page that remembers what went wrong on it and what it asked for."""

    def __init__(self, context):
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.complaints, self.asked = [], []
        self.page.on("console", lambda message: is_complaint(message) and self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, address):
        self.page.goto(address)
        # Files ask nothing of a network, so that "idle" may have passed before it is waited for.
        self.page.wait_for_load_state("load" if address.startswith("file:") else "networkidle")
        return self.page

    def panes_ready(self, n=2):
        expect(self.page.locator(".pane-view[data-ready=yes]")).to_have_count(n)


@pytest.fixture
def watched(browser):
    """A page that must end without a complaint, a failed load or a request that leaves this machine."""
    context = browser.new_context(viewport={"width": WIDTHS[0], "height": 900})
    watched = Watched(context)
    yield watched
    context.close()
    assert not watched.complaints
    assert all(url.startswith(("http://127.0.0.1:", "file://", "data:", "blob:")) for url in watched.asked)


@pytest.fixture
def offline(browser):
    """The same with the network off."""
    context = browser.new_context(viewport={"width": WIDTHS[0], "height": 900}, offline=True)
    watched = Watched(context)
    yield watched
    context.close()
    assert not watched.complaints
    assert all(url.startswith(("file://", "data:", "blob:")) for url in watched.asked)

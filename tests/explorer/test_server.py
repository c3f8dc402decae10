"""Laws of the local server: every state has an address, nothing planted runs, nobody else may read."""

import re
import shutil

import pytest
from starlette.testclient import TestClient

from eyechart.explorer.links import ServerLinks
from eyechart.explorer.screens import Screens
from eyechart.explorer.server import ServedPictures, build_server
from eyechart.explorer.study import read_study

from .conftest import SCRIPT


@pytest.fixture(scope="module")
def client(study, data):
    with TestClient(build_server(study, data), base_url="http://127.0.0.1") as client:
        yield client


PAGES = [
    "/",
    "/run?run=1",
    "/grid?run=0",
    "/question?run=0&id=q/0 é",
    "/compare?first=0&second=1",
    "/pair?first=0&second=1&seed=3",
]
GONE = ["/run?run=9", "/run?run=x", "/grid?run=0&right=nowhere", "/question?run=0&id=gone", "/grid?run=0&sort=odd"]


@pytest.mark.parametrize("path", PAGES)
def test_every_screen_is_whole_and_runs_nothing_planted(client, path):
    reply = client.get(path)
    assert reply.status_code == 200
    assert SCRIPT not in reply.text
    assert not {"\x1b", "\u202e"} & set(reply.text)
    assert "script-src 'self'" in reply.headers["content-security-policy"]
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", reply.text)


def test_planted_markup_is_shown_as_text(client):
    text = client.get("/question?run=0&id=q/0 é").text
    assert "&lt;script&gt;document.title" in text
    assert "y&lt;b&gt;" in text


def test_data_for_scripts_cannot_end_their_tag(client):
    text = client.get("/question?run=0&id=q/0 é").text
    data = text.split('id="pane-data">')[1].split("</script>")[0]
    assert "<" not in data


@pytest.mark.parametrize("path", GONE)
def test_what_is_not_there_is_said_in_words(client, path):
    reply = client.get(path)
    assert reply.status_code == 404
    assert "Not here" in reply.text
    assert "Traceback" not in reply.text


def test_other_hosts_are_refused(client):
    """A page that rebinds its name to this machine must not read the runs."""
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400


def test_htmx_gets_only_the_part_that_changes(client):
    part = client.get("/grid?run=0&wrong=original", headers={"HX-Request": "true"})
    assert "<html" not in part.text
    assert part.text.count("open-question") == 3
    assert "<html" in client.get("/grid?run=0&wrong=original").text


def test_tiles_are_pictures_and_only_known_sizes_are_drawn(client, study):
    run = study.run(0)
    request = run.entries(0)["original"][0].request
    good = client.get(f"/tiles/0/{request.id}/0/sent/10/0_0.png")
    assert good.headers["content-type"] == "image/png"
    for bad in (f"/tiles/0/{request.id}/0/99999x99999/10/0_0.png", f"/tiles/0/{request.id}/7/sent/10/0_0.png",
                "/tiles/0/nothing/0/sent/10/0_0.png", f"/tiles/9/{request.id}/0/sent/10/0_0.png"):  # fmt: skip
        assert client.get(bad).status_code == 404


def test_no_file_but_the_bundled_ones_is_served(client):
    assert client.get("/static/question.js").status_code == 200
    for name in ("..%2fserver.py", "server.py", "%2e%2e/study.py"):
        assert client.get(f"/static/{name}").status_code == 404


def test_lost_pictures_are_said_and_the_rest_is_shown(explored_folders):
    with TestClient(build_server(read_study(explored_folders[:1])), base_url="http://127.0.0.1") as client:
        text = client.get("/question?run=0&id=q/1 é").text
    assert "The pictures of folder are not here" in text
    assert "The answer is" in text


def test_what_first_openings_wait_for_is_prepared_until_nobody_wants_it(explored_folders, data):
    study = read_study(explored_folders)
    screens = Screens(study, ServerLinks(), ServedPictures(study, data))
    asked = []
    screens.prepare(lambda: asked.append(1) or len(asked) < 3)
    assert len(asked) == 3
    screens.prepare(lambda: True)
    made = []
    study.remember(("contrasts", 0, 1), lambda: made.append("contrasts"))
    study.runs[1].remember(("order", "pattern"), lambda: made.append("order"))
    assert made == []
    key = screens.boards.keys[0]
    assert screens.boards.board(key) is screens.boards.board(key)


def test_pages_are_the_same_whether_prepared_or_not(explored_folders, data):
    pages = []
    for is_prepared in (False, True):
        server = build_server(read_study(explored_folders), data, is_prepared=is_prepared)
        with TestClient(server, base_url="http://127.0.0.1") as client:
            pages.append([client.get(path).text for path in ("/", "/grid?run=1", "/compare?first=0&second=1")])
    assert pages[0] == pages[1]


TOO_LONG = "9" * 5000
"""More digits than Python reads as a number."""


@pytest.mark.parametrize(
    "path",
    [f"/{screen}={TOO_LONG}" for screen in ("run?run", "grid?run", "grid?page", "question?run", "compare?first",
     "compare?second", "pair?first", "pair?second", "pair?seed", "grid?run=0&right=original@")]
    + [f"/tiles/{TOO_LONG}/x/0/sent/0/0_0.png", f"/tiles/0/x/{TOO_LONG}/sent/0/0_0.png",
       f"/tiles/0/x/0/sent/{TOO_LONG}/0_0.png", f"/thumbnail/{TOO_LONG}/x/0.png", "/tiles/-1/x/0/sent/0/0_0.png"],
)  # fmt: skip
def test_numbers_without_end_are_refused_in_words(study, data, path):
    path = path.replace("@=", "@")
    with TestClient(build_server(study, data), base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        reply = client.get(path)
    assert reply.status_code == 404
    assert re.search("is too large|not a whole number|there is no such picture", reply.text)
    assert len(reply.text) < 4000


@pytest.mark.parametrize("path", ["/nope", "/run/1/2", "/static/nope.js"])
def test_address_of_nothing_is_answered_by_a_sentence(client, path):
    reply = client.get(path)
    assert reply.status_code == 404
    assert "there is no" in reply.text


def test_run_that_vanishes_while_it_is_looked_at_is_missed_in_words(explored_folders, tmp_path):
    gone = tmp_path / "gone"
    shutil.copytree(explored_folders[0], gone)
    with TestClient(build_server(read_study([gone])), base_url="http://127.0.0.1") as client:
        shutil.rmtree(gone)
        reply = client.get("/question?run=0&id=q/1 é")
        assert client.get("/grid?run=0").status_code == 200
    assert reply.status_code == 404
    assert "questions.jsonl cannot be read" in reply.text

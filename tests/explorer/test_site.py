"""Laws of the static site: it loads nothing from elsewhere, says its size, and is the same each time."""

import json
import re

import msgspec
import pytest
from starlette.testclient import TestClient

from eyechart.cli._app import run_app
from eyechart.cli._events import Event, Progressed
from eyechart.errors import UsageError
from eyechart.explorer.pair import shown_pair
from eyechart.explorer.server import build_server
from eyechart.explorer.site import SiteOptions, write_site
from eyechart.explorer.study import read_study

from .conftest import SCRIPT, VIEWS, N


@pytest.fixture(scope="module")
def site(study, data, tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "out"
    return out, write_site(study, out, data)


def test_counts_are_those_of_the_folder(site):
    out, written = site
    files = [path for path in out.rglob("*") if path.is_file()]
    assert len(files) == written.n_files
    assert sum(path.stat().st_size for path in files) == written.n_bytes
    assert written.index == out / "index.html"
    assert not written.notes


def test_no_page_or_script_of_ours_names_another_host_or_fetches(site):
    out, _ = site
    for path in [*out.rglob("*.html"), *out.rglob("*.css"), *out.rglob("*.js")]:
        if path.name in {"openseadragon.min.js", "htmx.min.js"}:
            continue
        text = path.read_text()
        assert not re.search(r"https?://|fetch\(|XMLHttpRequest|import\(", text), path.name
        assert SCRIPT not in text


def test_every_address_of_a_page_is_a_file(site):
    out, _ = site
    for page in out.rglob("*.html"):
        for address in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text()):
            if not address.startswith("data:"):
                assert (page.parent / address).is_file(), (page.name, address)


def test_runs_that_asked_other_things_and_runs_of_one_view_leave_no_dead_link(explored_folders, tmp_path):
    """Three runs of one benchmark: two answer other questions than the first, and one of these knows one view."""
    rows = [json.loads(line) for line in (explored_folders[0].parent / "questions.jsonl").read_text().splitlines()]
    asked = [{**row, "question": "Another question?"} for row in rows]
    questions = explored_folders[0].parent / "others.jsonl"
    questions.write_text("\n".join(map(json.dumps, asked)))
    common = ["run", "folder", "--data", str(questions), "--option", "box_format=xyxy", "--no-report"]
    common += ["--model", "simulated/vlm"]
    assert run_app([*common, "--views", "original,crop_3x", "--out", str(tmp_path / "two")]) == 0
    assert run_app([*common, "--views", "original", "--out", str(tmp_path / "one")]) == 0
    study = read_study([explored_folders[0], tmp_path / "two", tmp_path / "one"])
    assert [study.comparable(number) for number in range(3)] == [(0,), (1, 2), (1,)]
    assert shown_pair(study) == (1, 2)
    write_site(study, tmp_path / "out")
    dead = [
        (page.name, address)
        for page in (tmp_path / "out").rglob("*.html")
        for address in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text())
        if not address.startswith("data:") and not (page.parent / address).is_file()
    ]
    assert dead == []
    with TestClient(build_server(study), base_url="http://127.0.0.1") as client:
        for page in ("/", "/run?run=2", "/grid?run=0"):
            for address in re.findall(r'href="(/compare[^"]+)"', client.get(page).text):
                assert client.get(address.replace("&amp;", "&")).status_code == 200
        answers = client.get("/grid?run=0&right=original@1").text
    assert "0 of 6 questions" in answers  # questions of the same ids, and others


def test_every_question_has_a_page_and_every_pane_a_picture(site):
    out, _ = site
    assert len(list((out / "questions").glob("*.html"))) == 12
    pages = [page.read_text() for page in (out / "questions").glob("*.html")]
    names = {name for page in pages for name in re.findall(r'"url":"\.\./([^"]+)"', page)}
    assert names == {f"pictures/{path.name}" for path in (out / "pictures").iterdir()}


def test_same_runs_give_the_same_bytes(site, study, data, tmp_path):
    out, _ = site
    write_site(study, tmp_path / "again", data)
    for path in out.rglob("*"):
        if path.is_file():
            assert (tmp_path / "again" / path.relative_to(out)).read_bytes() == path.read_bytes()


def test_only_named_views_bring_pictures(study, data, tmp_path):
    few = write_site(study, tmp_path / "few", data, options=SiteOptions(views=("crop_3x",)))
    assert len(list((tmp_path / "few" / "pictures").iterdir())) == 6
    assert few.n_bytes < 4_000_000


def test_folder_of_others_is_not_written_into(study, tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(UsageError, match="holds other files"):
        write_site(study, tmp_path)


def test_writing_a_site_tells_how_many_pages_are_done(explored_folders, data, tmp_path, capsys):
    out = tmp_path / "out"
    folders = list(map(str, explored_folders))
    assert run_app(["export", "site", *folders, "--data", str(data), "--out", str(out), "--json"]) == 0
    captured = capsys.readouterr()
    events = [msgspec.json.decode(line, type=Event) for line in captured.err.splitlines()]
    assert (events[0].work, events[0].folder) == ("site", str(out))
    last = [one for one in events if isinstance(one, Progressed)][-1]
    n_pages = len(list((out / "questions").glob("*.html")))
    assert n_pages == 2 * N
    assert last.unit == "pages"
    assert last.n_done == last.n_all == n_pages + 2 * len(VIEWS.split(","))
    assert json.loads(captured.out)["index"] == str(out / "index.html")

"""Planted keys, script tags and terminal escapes: a whole run shows none of them, whatever the server says."""

import json

import pytest
from runs_made import question_file
from servers.chat_server import ChatServer
from servers.dialects import Answer

from eyechart.cli import run_app

KEY = "sk-planted-0123456789abcdef"
PASSWORD = "planted-password"  # noqa: S105 -- planted
SCRIPT = "<script>window.planted=1</script><img src=x onerror=planted()>"
ESCAPE = "\x1b]0;planted\x07\x1b[31mA\x1b[2J"


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_LOG", "debug")
    data = question_file(tmp_path, n=4)

    def start(server, *flags, query=""):
        place = server.base_url.replace("http://", f"http://user:{PASSWORD}@") + query
        arguments = [
            *("run", "folder", "--data", str(data), "--option", "box_format=xyxy", "--views", "original,crop_3x"),
            *("--model", "openai/local-vlm", "--base-url", place, "--out", str(tmp_path / "run"), *flags),
        ]
        monkeypatch.setattr("sys.argv", ["eyechart", *arguments])
        code = run_app(arguments)
        shown = capfd.readouterr()
        return code, shown.out + shown.err, tmp_path / "run"

    return start


def everything(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.parametrize("status", [200, 400, 401])
def test_no_key_and_no_password_is_shown_or_stored(run, monkeypatch, status):
    def say(received):
        message = f"request with {received.headers.get('authorization')} and {KEY}"
        if status == 200:
            return 200, {"choices": [{"message": {"content": f"A ({KEY})"}, "finish_reason": "stop"}]}
        return status, {"error": {"message": message, "code": None, "param": None}}

    with ChatServer(say=say) as server:
        _, shown, folder = run(
            server, "--max-requests", "3", "--no-preflight", *(("--no-report",) if status != 400 else ())
        )
    stored = everything(folder) if folder.exists() else b""
    assert PASSWORD not in shown
    assert PASSWORD.encode() not in stored
    assert KEY not in shown
    assert KEY.encode() not in stored


def test_a_key_in_the_query_of_an_address_is_neither_shown_nor_stored(run):
    with ChatServer() as server:
        _, shown, folder = run(server, "--no-report", query=f"?api-key={KEY}")
    assert (folder / "run.json").is_file()
    assert KEY not in shown
    assert KEY.encode() not in everything(folder)


def test_a_script_and_a_terminal_escape_do_nothing(run):
    with ChatServer(answer=Answer(text=f"{ESCAPE} {SCRIPT}")) as server:
        _, shown, folder = run(server)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<script>window" not in text
        assert "<img src=x" not in text
    first = next(iter((folder / "responses").iterdir())).read_text().splitlines()[0]
    assert json.loads(first)["text"].endswith(SCRIPT)  # what was said is kept as it is


def test_an_error_that_holds_markup_is_escaped_in_the_report(run):
    def say(received):
        return 400, {"error": {"message": f"bad {SCRIPT} {ESCAPE}", "code": None, "param": None}}

    with ChatServer(say=say) as server:
        _, shown, folder = run(server, "--no-preflight")
    assert "\x1b" not in shown
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script>window" not in report
    assert "&lt;script&gt;window" in report

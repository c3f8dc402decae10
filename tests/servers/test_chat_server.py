"""The misbehaving server itself: its log tells what happened, in this process and in another."""

import json
import urllib.error
import urllib.request

import pytest
from servers.chat_server import ChatServer, ServerProcess
from servers.faults import Script

BODY = {"model": "m", "messages": [{"role": "user", "content": "Which?"}]}


def post(base_url, body=BODY, timeout=60.0):
    request = urllib.request.Request(  # noqa: S310 -- loopback
        f"{base_url}/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=timeout) as reply:  # noqa: S310 -- loopback
        return json.load(reply)["choices"][0]["message"]["content"]


def test_the_log_tells_received_answered_and_failed(tmp_path):
    with ChatServer(script=Script(faults=("500",)), log_file=tmp_path / "log.jsonl") as server:
        with pytest.raises(urllib.error.HTTPError):
            post(server.base_url)
        assert post(server.base_url) == "A"
    events = [(entry.event, entry.n, entry.fault) for entry in server.log]
    assert events == [("received", 0, "500"), ("failed", 0, "500"), ("received", 1, None), ("answered", 1, None)]
    assert list(server.asked.values()) == [2]
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 4


def test_a_server_process_keeps_its_log_when_it_is_killed(tmp_path):
    with ServerProcess(log=tmp_path / "log.jsonl", answer="B", script=Script(first=("503",))) as server:
        with pytest.raises(urllib.error.HTTPError):
            post(server.base_url)
        assert post(server.base_url) == "B"
    assert list(server.asked.values()) == [2]


def test_faults_by_body_strike_each_body_once():
    script = Script(first=("500", None))
    assert [script.fault(n, "body", n) for n in range(3)] == ["500", None, None]


def test_shares_of_faults_are_drawn_from_the_body():
    script = Script(share={"500": 0.3, "drop": 0.2})
    drawn = [script.fault(n, f"body {n}", 0) for n in range(2000)]
    assert drawn == [script.fault(0, f"body {n}", 0) for n in range(2000)]
    assert 0.25 < drawn.count("500") / 2000 < 0.35
    assert 0.15 < drawn.count("drop") / 2000 < 0.25


def test_a_script_may_repeat():
    script = Script(faults=("429", None), repeat=True)
    assert [script.fault(n, "b", 0) for n in range(4)] == ["429", None, "429", None]

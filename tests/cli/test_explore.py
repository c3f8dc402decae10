"""Laws of ``eyechart explore``: what it cannot serve is said before anything slow begins."""

import http.client
import re
import socket
import threading

import pytest
import uvicorn
from runs_made import question_file

import eyechart
from eyechart.cli._app import run_app
from eyechart.cli.explore import listen
from eyechart.errors import UsageError


@pytest.mark.parametrize("port", [-1, 65536, 99999])
def test_port_that_is_none_is_a_usage_error(port):
    with pytest.raises(UsageError, match=f"--port {port} is not a port"):
        listen("127.0.0.1", port)


def test_host_that_is_not_this_machine_is_a_usage_error():
    with pytest.raises(UsageError, match=r"--host no\.\.such is not an address") as caught:
        listen("no..such", None)
    assert "--host" in caught.value.hint


def test_taken_port_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1:{port}"):
            listen("127.0.0.1", port)


def test_pictures_that_do_not_exist_are_a_usage_error(tmp_path, capsys):
    assert run_app(["explore", str(tmp_path), "--data", str(tmp_path / "gone")]) == 2
    assert "gone does not exist" in capsys.readouterr().err


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback")
@pytest.mark.parametrize("given", ["::1", "[::1]"])
def test_the_loopback_of_ipv6_is_served_and_named_as_in_a_url(given, tmp_path, capsys, monkeypatch):
    folder = tmp_path / "run"
    questions = eyechart.benchmark("folder", question_file(tmp_path), box_format="xyxy")
    eyechart.run(questions, model="simulated/oracle", views="original", limit=2, out=folder)
    statuses = []
    serve = uvicorn.Server.run

    def serve_once(server, sockets):
        thread = threading.Thread(target=serve, args=(server, sockets))
        thread.start()
        while not server.started:
            thread.join(0.01)
        port = sockets[0].getsockname()[1]
        for host in (f"[::1]:{port}", "evil.example"):
            connection = http.client.HTTPConnection("::1", port)
            connection.request("GET", "/", headers={"Host": host})
            statuses.append(connection.getresponse().status)
            connection.close()
        server.should_exit = True
        thread.join()

    monkeypatch.setattr(uvicorn.Server, "run", serve_once)
    assert run_app(["explore", str(folder), "--host", given, "--port", "0"]) == 0
    said = capsys.readouterr().err
    assert "at http://[::1]:" in said
    assert "can be reached from other machines" not in said
    assert statuses == [307, 400]  # the only run is opened at once; another name is refused


def test_beyond_loopback_the_address_holds_a_token_of_this_start(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "run"
    questions = eyechart.benchmark("folder", question_file(tmp_path), box_format="xyxy")
    eyechart.run(questions, model="simulated/oracle", views="original", limit=2, out=folder)
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: None)
    told = []
    for _ in range(2):
        assert run_app(["explore", str(folder), "--host", "0.0.0.0", "--port", "0"]) == 0  # noqa: S104 -- that is asked
        said = capsys.readouterr().err
        assert "whoever has this address can read runs and pictures" in said
        told.append(re.search(r"\?token=([\w-]{32})\s", said)[1])
    assert told[0] != told[1]
    assert run_app(["explore", str(folder), "--port", "0"]) == 0
    assert "token" not in capsys.readouterr().err

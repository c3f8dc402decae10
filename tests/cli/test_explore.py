"""Laws of ``eyechart explore``: what it cannot serve is said before anything slow begins."""

import socket

import pytest

from eyechart.cli._app import run_app
from eyechart.cli.explore import listen
from eyechart.errors import UsageError


@pytest.mark.parametrize("port", [-1, 65536, 99999])
def test_port_that_is_none_is_a_usage_error(port):
    with pytest.raises(UsageError, match=f"--port {port} is no port"):
        listen("127.0.0.1", port)


def test_host_that_is_not_this_machine_is_a_usage_error():
    with pytest.raises(UsageError, match=r"--host no\.\.such is no address") as caught:
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

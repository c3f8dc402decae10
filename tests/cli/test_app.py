"""Laws of the command line: exit codes, errors with a hint and no traceback, no terminal control from data."""

import subprocess
import sys

import pytest

from eyechart.cli import _app
from eyechart.cli._app import COMMANDS, printable, run_app
from eyechart.errors import EyechartError


def test_help_names_every_command(capsys):
    assert run_app(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, capsys):
    assert run_app([name, "--help"]) == 0
    assert "Usage" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["lss"], "error: there is no command named 'lss'", "hint: did you mean ls?"),
        (["ls", "--jsn"], "error: Unknown option: --jsn", "hint: did you mean --json"),
        (["draw", "gallry"], "error: there is no draw command named 'gallry'", "hint: did you mean gallery?"),
        (["ls", "vieww"], "error: there is no list named 'vieww'", "hint: did you mean views?"),
    ],
)
def test_wrong_usage_exits_2_with_a_hint(arguments, message, hint, capsys):
    assert run_app(arguments) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(message.split("'--name'", maxsplit=1)[0])
    assert hint in shown


def test_eyechart_error_is_shown_without_traceback(monkeypatch, capsys):
    def broken() -> int:
        raise EyechartError("a \x1b[2J value", hint="do this")

    monkeypatch.setattr(_app, "build_app", lambda: lambda *_, **__: broken())
    assert run_app(["x"]) == 1
    assert capsys.readouterr().err == "error: a \\x1b[2J value\nhint: do this\n"


def test_interrupt_exits_130(monkeypatch, capsys):
    def interrupted(*_, **__) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(_app, "build_app", lambda: interrupted)
    assert run_app(["x"]) == 130
    assert "go on" in capsys.readouterr().err


def test_reader_that_goes_away_is_no_error():
    command = f'"{sys.executable}" -m eyechart ls --json | head -c 1'
    shown = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)  # noqa: S607
    assert "Traceback" not in shown.stderr


def test_control_characters_cannot_reach_the_terminal():
    assert printable("\x1b]0;title\x07") == "\\x1b]0;title\\x07"


def test_a_space_that_does_not_break_is_printed_as_it_is():
    assert printable("95\N{NO-BREAK SPACE}%") == "95\N{NO-BREAK SPACE}%"


@pytest.mark.parametrize("arguments", [["ls"], ["ls", "--json"], ["--help"]])
def test_full_disk_behind_stdout_is_an_error_without_traceback(arguments):
    command = [sys.executable, "-m", "eyechart", *arguments]
    with open("/dev/full", "w") as full:  # noqa: PTH123 -- a device
        finished = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert finished.returncode == 1
    assert "error: No space left on device" in finished.stderr
    assert "Traceback" not in finished.stderr


def test_near_preset_is_suggested(capsys):
    assert run_app(["check", "demo", "--views", "sum30"]) == 2
    assert "did you mean sum29?" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["ls", "views"], ["ls", "views", "--json"]])
def test_command_without_standard_output_runs_to_its_end(arguments):
    """A service manager may start a command with its output closed."""
    command = [sys.executable, "-m", "eyechart", *arguments]
    shell = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *command], check=False, capture_output=True, text=True, timeout=60
    )
    assert (shell.returncode, shell.stderr) == (0, "")


def test_a_name_that_is_too_long_is_no_full_disk(capsys):
    assert run_app(["run", "folder", "--data", "x" * 4000, "--model", "simulated/vlm"]) == 1
    told = capsys.readouterr().err
    assert "File name too long" in told
    assert "disk" not in told
    assert len(told) < 400

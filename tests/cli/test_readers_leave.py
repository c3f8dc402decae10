"""A reader of our output that goes away, as ``| head -1`` does, costs neither a report nor the exit code."""

import os
import sys

import pytest

import eyechart.cli
from eyechart.cli import outliving_reader
from eyechart.cli._output import print_json, print_table, print_text, say


@pytest.fixture
def left_pipe():
    """A stream into a pipe that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as stream:
        yield stream


def test_what_nobody_reads_is_dropped_and_the_command_goes_on(left_pipe, monkeypatch):
    done = []

    def work(arguments):
        for _ in range(3):
            print_table(["view"], [["original"]])
            print_json({"view": "original"})
            print_text("original\n")
            say("a note")
            done.append(arguments)
        return 3

    monkeypatch.setattr(sys, "stdout", left_pipe)
    monkeypatch.setattr(sys, "stderr", left_pipe)
    monkeypatch.setattr(eyechart.cli, "run_app", work)
    with pytest.raises(SystemExit) as ended:
        eyechart.cli.main()
    assert (ended.value.code, len(done)) == (3, 3)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp437", "utf-16"])
def test_a_reader_that_stays_gets_what_was_written(tmp_path, encoding):
    with (tmp_path / "shown").open("w", encoding=encoding, errors="backslashreplace") as stream:
        other = outliving_reader(stream)
        assert (other.encoding, other.errors) == (stream.encoding, stream.errors)
        other.write("a − b\n")
        other.flush()
    expected = "a − b\n".encode(encoding, "backslashreplace").decode(encoding)
    assert (tmp_path / "shown").read_text(encoding=encoding) == expected


def test_a_stream_without_a_file_is_left_alone(capsys):
    assert outliving_reader(sys.stdout) is sys.stdout


def test_missing_streams_lead_nowhere(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(eyechart.cli, "run_app", lambda _: print_text("a") or say("b") or 0)
    with pytest.raises(SystemExit) as ended:
        eyechart.cli.main()
    assert ended.value.code == 0

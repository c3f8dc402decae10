"""Whole or nothing; a torn end is dropped; a full disk is an error that keeps what was written."""

import os
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from eyechart.errors import SchemaError, StoreError
from eyechart.runs.files import LineWriter, read_lines, read_records, write_records, write_whole
from eyechart.schema import Score, encode_record

SCORE = Score(request_id="r", scorer="option_letter.strict@1", value=1.0)


def test_records_come_back_as_they_were_written(tmp_path):
    write_records(tmp_path / "deep" / "scores.jsonl", [SCORE, SCORE])
    assert list(read_records(tmp_path / "deep" / "scores.jsonl", Score)) == [SCORE, SCORE]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["scores.jsonl"]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    write_whole(tmp_path / "run.json", [b"old"])

    def broken():
        yield b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "run.json", broken())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"run.json": b"old"}


def test_the_first_of_two_writers_stands_where_asked(tmp_path):
    write_whole(tmp_path / "run.json", [b"first"], keep_existing=True)
    write_whole(tmp_path / "run.json", [b"second"], keep_existing=True)
    assert (tmp_path / "run.json").read_bytes() == b"first"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("cut", range(1, 20, 3))
def test_a_torn_last_line_is_dropped_at_any_byte(tmp_path, cut):
    line = encode_record(SCORE) + b"\n"
    (tmp_path / "a.jsonl").write_bytes(line + line[:-cut])
    assert len(list(read_records(tmp_path / "a.jsonl", Score, may_be_torn=True))) == 1


def test_a_damaged_line_is_named_by_file_and_number(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(encode_record(SCORE) + b"\n{broken\n" + encode_record(SCORE) + b"\n")
    with pytest.raises(SchemaError, match=r"a\.jsonl:2"):
        list(read_records(tmp_path / "a.jsonl", Score))


def test_a_file_that_is_not_there_is_a_store_error(tmp_path):
    with pytest.raises(StoreError, match=r"gone\.jsonl cannot be read: No such file"):
        list(read_lines(tmp_path / "gone.jsonl"))


def test_a_writer_makes_no_file_before_its_first_line(tmp_path):
    writer = LineWriter(tmp_path / "w.jsonl")
    writer.close()
    assert not (tmp_path / "w.jsonl").exists()


def test_a_line_is_readable_as_soon_as_it_was_appended(tmp_path):
    writer = LineWriter(tmp_path / "room" / "w.jsonl")
    for number in range(1, 4):
        writer.append(encode_record(SCORE))
        assert len(list(read_records(writer.path, Score, may_be_torn=True))) == number
    writer.close()


def test_a_writer_never_appends_to_the_file_of_another(tmp_path):
    (tmp_path / "w.jsonl").write_bytes(b"")
    with pytest.raises(StoreError, match=r"w\.jsonl cannot be written: File exists"):
        LineWriter(tmp_path / "w.jsonl").append(b"{}")


def test_a_full_device_is_an_error_with_a_hint():
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    writer = LineWriter(Path("/dev/full"))
    writer._descriptor = os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(StoreError, match="/dev/full cannot be written: No space left") as caught:
        writer.append(b"{}")
    assert "what was answered is kept" in caught.value.hint


FILL = """
import resource, sys
from pathlib import Path
from eyechart.errors import StoreError
from eyechart.runs.files import LineWriter, write_whole
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
writer = LineWriter(Path(sys.argv[1]) / "w.jsonl")
try:
    for _ in range(1000):
        writer.append(b'{"line": "0123456789"}')
except StoreError as error:
    print(error.message, "|", error.hint)
try:
    write_whole(Path(sys.argv[1]) / "estimates.json", [b"x" * 2000])
except StoreError as error:
    print(error.message, "|", error.hint)
writer.close()
"""


def test_a_file_size_limit_stops_with_an_error_and_whole_lines(tmp_path):
    assert resource.RLIMIT_FSIZE
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FILL), str(tmp_path)], capture_output=True, text=True, check=True
    )
    first, second = done.stdout.splitlines()
    assert "w.jsonl cannot be written: File too large | free some space" in first
    assert "estimates.json cannot be written" in second
    content = (tmp_path / "w.jsonl").read_bytes()
    assert content.endswith(b"\n")
    assert len(content) > 900
    assert [path.name for path in tmp_path.iterdir()] == ["w.jsonl"]


def test_a_folder_that_may_not_be_written_is_an_error_with_a_hint(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot be written") as caught:
        write_whole(tmp_path / "file" / "run.json", [b"x"])
    assert "--out" in caught.value.hint


def test_a_file_that_was_begun_is_seen_at_once_and_goes_again_without_a_line(tmp_path):
    writer = LineWriter(tmp_path / "room" / "w.jsonl")
    writer.begin()
    assert (tmp_path / "room" / "w.jsonl").is_file()
    writer.close()
    assert list((tmp_path / "room").iterdir()) == []
    with_line = LineWriter(tmp_path / "room" / "v.jsonl")
    with_line.begin()
    with_line.append(b"{}")
    with_line.close()
    assert (tmp_path / "room" / "v.jsonl").read_bytes() == b"{}\n"


def test_a_file_that_cannot_be_begun_is_an_error(tmp_path):
    (tmp_path / "room").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        LineWriter(tmp_path / "room" / "w.jsonl").begin()

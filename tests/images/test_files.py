"""Files appear whole or not at all."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from eyechart.errors import ImageError, StoreError
from eyechart.images.files import link_or_copy, read_whole, write_pieces


def test_pieces_are_written_hashed_and_counted(tmp_path):
    path = tmp_path / "new" / "folder" / "a.bin"
    assert write_pieces(path, [b"eye", b"", b"chart"]) == (hashlib.sha256(b"eyechart").hexdigest(), 8)
    assert path.read_bytes() == b"eyechart"


def test_a_failure_half_way_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def failing():
        yield b"new"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_pieces(path, failing())
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.bin"]


def test_a_file_larger_than_may_be_written_is_refused_and_removed(tmp_path):
    script = """
import resource, signal, sys
from pathlib import Path
from eyechart.errors import StoreError
from eyechart.images.files import write_pieces
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    write_pieces(Path(sys.argv[1]), [bytes(4_000)] * 5)
except StoreError as error:
    print(error.message, "|", error.hint)
"""
    path = tmp_path / "big.png"
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{path}: cannot write (File too large) | free some space and run again"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "write", [lambda path: write_pieces(path, [b"1"]), lambda path: link_or_copy(Path(__file__), path)]
)
def test_a_place_that_is_no_folder_is_refused(tmp_path, write):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot write") as caught:
        write(tmp_path / "file" / "a.png")
    assert "folder" in caught.value.hint


def test_a_link_has_the_same_bytes_and_replaces_whole(tmp_path):
    source, path = tmp_path / "a", tmp_path / "deep" / "b"
    source.write_bytes(b"same")
    link_or_copy(source, path)
    link_or_copy(source, path)
    assert path.read_bytes() == b"same"
    assert [entry.name for entry in path.parent.iterdir()] == ["b"]


def test_a_missing_source_is_refused(tmp_path):
    with pytest.raises(StoreError, match=r"cannot write \(No such file"):
        link_or_copy(tmp_path / "absent", tmp_path / "b")
    with pytest.raises(ImageError, match=r"item 7: cannot read \(No such file"):
        read_whole(tmp_path / "absent", "item 7")

"""Laws of reading single lines."""

import pytest

from eyechart.errors import SchemaError, StoreError
from eyechart.explorer.lines import LineIndex, read_places
from eyechart.schema import Score, encode_record


def test_every_whole_line_reads_back_by_itself_and_a_torn_one_is_left_out(tmp_path):
    records = [Score(request_id=f"r{index}", scorer="é" * index, value=index / 4) for index in range(5)]
    lines = [encode_record(record) + b"\n" for record in records]
    (tmp_path / "s.jsonl").write_bytes(b"".join(lines) + b'{"torn')
    places = [place for place, _ in read_places(tmp_path / "s.jsonl")]
    index = LineIndex(dict(zip(("r0", "r1", "r2", "r3", "r4"), places, strict=True)))
    assert [index.read(f"r{number}", Score) for number in range(5)] == records
    assert index.read("r9", Score) is None


def test_damaged_line_names_file_and_line(tmp_path):
    (tmp_path / "s.jsonl").write_text('{"schema_version":1}\nnothing\n')
    places = [place for place, _ in read_places(tmp_path / "s.jsonl")]
    with pytest.raises(SchemaError, match=r"s\.jsonl:2"):
        LineIndex({"x": places[1]}).read("x", Score)


def test_lost_file_is_said(tmp_path):
    with pytest.raises(StoreError, match="cannot be read"):
        list(read_places(tmp_path / "gone.jsonl"))

"""Laws of reading single lines."""

from pathlib import Path

import msgspec
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


def test_many_records_are_read_with_each_file_opened_once(tmp_path, monkeypatch):
    files = [tmp_path / f"{number}.jsonl" for number in range(2)]
    for number, file in enumerate(files):
        scores = [Score(request_id=f"{number}-{at}", scorer="s", value=1.0) for at in range(50)]
        file.write_bytes(b"".join(encode_record(one) + b"\n" for one in scores))
    places = {msgspec.json.decode(text)["request_id"]: place for file in files for place, text in read_places(file)}
    opened = []
    own_open = Path.open

    def noting(path, *rest, **named):
        opened.append(path)
        return own_open(path, *rest, **named)

    monkeypatch.setattr(Path, "open", noting)
    wanted = [f"{number}-{at}" for at in (40, 3, 7) for number in (0, 1)]
    found = LineIndex(places).read_many([*wanted, "no such"], Score)
    assert {key: one.request_id for key, one in found.items()} == {key: key for key in wanted}
    assert sorted(opened) == sorted(files)

"""Laws of HR-Bench: TSV and parquet say the same, rotations find their base, pictures are unpacked once."""

import csv
import json

import pytest
from benchmarks.sources import hrbench_rows, picture, write_parquet, write_tsv

from eyechart.benchmarks.hrbench import HRBenchKind, HRBenchOptions
from eyechart.cli._app import run_app
from eyechart.contracts.benchmark import check_benchmark
from eyechart.errors import BenchmarkError, UsageError
from eyechart.schema import Box, Size

NAME = "hr_bench_4k.tsv"


@pytest.fixture
def table(tmp_path):
    return write_tsv(tmp_path / NAME, hrbench_rows())


def open_table(table, **options):
    return HRBenchKind().open(table, HRBenchOptions(**options))


def stripped(question):
    return question.id, question.text, question.choices, question.answer, question.image


def changed(table, number, **changes):
    rows = hrbench_rows()
    rows[number] |= changes
    return write_tsv(table, rows)


def test_hrbench_keeps_the_contract_of_a_benchmark(table):
    check_benchmark(open_table(table))


def test_tsv_and_parquet_give_the_same_questions_and_revision(table, tmp_path):
    parquet = write_parquet(tmp_path / "p" / "hr_bench_4k.parquet", hrbench_rows())
    first, second = open_table(table), open_table(parquet)
    strip = [
        [
            (question.id, question.text, question.choices, question.answer, question.image)
            for question in one.questions()
        ]
        for one in (first, second)
    ]
    assert strip[0] == strip[1]
    bare = write_tsv(tmp_path / "q" / NAME, hrbench_rows(), quoting=csv.QUOTE_MINIMAL)
    assert open_table(bare).identity.revision == first.identity.revision


def test_rotations_share_a_base_and_a_group_and_keep_their_right_text(table):
    questions = list(open_table(table).questions())
    assert len(questions) == 8
    assert {question.extra["base_id"] for question in questions} == {"0", "4"}
    assert len({question.image_group for question in questions}) == 2
    for question in questions:
        base = "0" if int(question.id) < 4 else "1"
        assert question.choices["ABCD".index(question.answer)] == f"sign {base}"
    assert [question.extra["cycle_category"] for question in questions[:2]] == ["cycle_0", "cycle_1"]


def test_bases_and_categories_can_be_chosen(table):
    assert [question.id for question in open_table(table, rows="base").questions()] == ["0", "4"]
    assert {question.task for question in open_table(table, category="single").questions()} == {"single"}
    assert len(list(open_table(table, category="cross", rows="base").questions())) == 1


def test_odd_rotations_are_warned_of(table):
    assert open_table(table).warnings[0].startswith("this source has no target boxes")
    rows = hrbench_rows()[:-1]
    rows[0]["answer"] = "B"
    warnings = open_table(write_tsv(table, rows)).warnings
    assert warnings[0] == "1 of 2 base questions have not 4 rotations: 4"
    assert warnings[1] == "the right answer is not the same in all rotations of 1 base questions: 0"


def test_each_picture_is_written_once_and_the_table_is_read_once(table, monkeypatch):
    first = list(open_table(table).questions())
    folder = table.with_name(f"{NAME}.images")
    assert len(list(folder.glob("*.png"))) == 2
    monkeypatch.setattr("eyechart.benchmarks._unpacked.read_rows", None)
    assert list(open_table(table).questions()) == first
    monkeypatch.undo()
    rows = hrbench_rows()
    rows[0]["question"] = "Another?"
    write_tsv(table, rows)
    assert next(open_table(table).questions()).text == "Another?"


def test_a_cut_index_or_a_lost_picture_is_mended(table):
    first = list(open_table(table).questions())
    folder = table.with_name(f"{NAME}.images")
    (folder / "rows.jsonl").write_bytes((folder / "rows.jsonl").read_bytes()[:-40])
    assert list(open_table(table).questions()) == first
    next(folder.glob("*.png")).unlink()
    assert list(open_table(table).questions()) == first
    assert len(list(folder.glob("*.png"))) == 2


def test_repeated_pictures_may_be_references_as_vlmevalkit_writes_them(table, tmp_path):
    rows = hrbench_rows()
    for row in rows:
        if row["index"] % 4:
            row["image"] = str(row["index"] - row["index"] % 4)
    other = write_tsv(tmp_path / "ref" / NAME, rows)
    assert [question.image for question in open_table(other).questions()] == [
        question.image for question in open_table(table).questions()
    ]


def test_pictures_may_be_files_beside_the_table(table, tmp_path):
    (tmp_path / "pics").mkdir()
    rows = [{**row, "image": f"pics/{row['index'] // 4}.png"} for row in hrbench_rows()]
    for base in range(2):
        (tmp_path / "pics" / f"{base}.png").write_bytes(picture(base))
    assert next(open_table(write_tsv(table, rows)).questions()).image.size == Size(40, 30)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"image": "[" + "x" * 80}, "a list of pictures"),
        ({"image": "../../secret.png"}, "lies outside"),
        ({"image": ""}, "no picture"),
        ({"question": ""}, "no question"),
        ({"B": ""}, "column B is empty but C and D are not"),
        ({"answer": "E"}, "answer 'E' is none of A–D"),
    ],
)
def test_a_damaged_row_is_named_with_file_and_row(table, changes, message):
    changed(table, 5, **changes)
    with pytest.raises(BenchmarkError, match=message) as caught:
        open_table(table)
    assert f"{NAME}:" in caught.value.message


def test_boxes_come_from_a_file_by_base_and_serve_all_rotations(table, tmp_path):
    boxes = tmp_path / "boxes.jsonl"
    boxes.write_text("\n".join(json.dumps({"id": name, "box": [2, 3, 12, 9]}) for name in ("0", "4")))
    benchmark = open_table(table, boxes=str(boxes))
    assert {question.targets for question in benchmark.questions()} == {(Box(2, 3, 12, 9),)}
    assert benchmark.warnings == ()
    assert benchmark.identity.revision != open_table(table).identity.revision
    boxes.write_text(json.dumps({"id": "0", "box": [[2, 3, 12, 9], [20, 3, 25, 9]]}))
    benchmark = open_table(table, boxes=str(boxes))
    assert len(next(benchmark.questions()).targets) == 2
    assert benchmark.warnings == ("4 of 8 questions have no box in the file",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "77", "box": [2, 3, 12, 9]}', "no box belongs to any of 8 questions"),
        ('{"box": [2, 3, 12, 9]}', "no id or no box"),
        ('{"id": "0", "box": [12, 9, 2, 3]}', "has no area"),
        ('{"id": "0", "box": [1, 1, 2, 2]}\n{"id": "0", "box": [1, 1, 2, 2]}', "stands already"),
    ],
)
def test_wrong_boxes_are_refused_by_name(table, tmp_path, line, message):
    (tmp_path / "boxes.jsonl").write_text(line)
    with pytest.raises(BenchmarkError, match=message):
        open_table(table, boxes=str(tmp_path / "boxes.jsonl"))


def test_a_folder_with_several_tables_needs_a_name(table, tmp_path):
    write_tsv(tmp_path / "hr_bench_8k.tsv", hrbench_rows(1))
    with pytest.raises(UsageError, match="holds 2 tables"):
        open_table(tmp_path)
    assert len(list(open_table(tmp_path, file="hr_bench_8k.tsv").questions())) == 4
    with pytest.raises(UsageError, match="no file in"):
        open_table(tmp_path, file="hr_bench_2k.tsv")
    with pytest.raises(UsageError, match="hrbench needs data") as caught:
        open_table(tmp_path / "absent")
    assert "eyechart fetch hrbench" in caught.value.hint


def test_views_without_boxes_are_called_impossible_before_anything_is_built(table, tmp_path, capsys):
    out = tmp_path / "out"
    assert run_app(["build", "hrbench", "--data", str(table), "--out", str(out), "--views", "sum29"]) == 2
    shown = capsys.readouterr().err
    assert "17 of 29 views need a target box" in shown
    assert "hint: give --boxes FILE, or --views original,downsample_0_9375" in shown
    assert not out.exists()
    command = ["run", "hrbench", "--data", str(table), "--model", "simulated/oracle", "--views", "original,crop_3x"]
    assert run_app(command) == 2
    boxes = tmp_path / "boxes.csv"
    boxes.write_text('id,box\n0,"2,3,12,9"\n4,"2,3,12,9"\n')
    more = ["--boxes", str(boxes), "--views", "original,crop_3x", "--out", str(out), "--jobs", "1"]
    assert run_app(["build", "hrbench", "--data", str(table), "--option", "rows=base", *more]) == 0
    assert len(list((out / "data/crop_3x/test/images").iterdir())) == 2


def test_cells_longer_than_pythons_limit_leave_the_limit_as_it_was(tmp_path):
    rows = hrbench_rows()
    limit = csv.field_size_limit()
    for row in rows:
        row["question"] += "x" * (limit + 1)
    opened = open_table(write_tsv(tmp_path / NAME, rows))
    assert len(next(iter(opened.questions())).text) > limit
    assert csv.field_size_limit() == limit

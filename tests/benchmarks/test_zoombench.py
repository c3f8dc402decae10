"""Laws of ZoomBench: both generations of columns say the same, stems lose their options and nothing else."""

import pytest
from benchmarks.sources import write_parquet, zoombench_rows

from eyechart.benchmarks.zoombench import ZoomBenchKind, ZoomBenchOptions
from eyechart.contracts.benchmark import check_benchmark
from eyechart.errors import BenchmarkError
from eyechart.schema import Box

PICTURES = ("image", "crop_image")


def write(folder, rows):
    return write_parquet(folder / "data" / "test.parquet", rows, PICTURES)


def questions_of(folder, **options):
    benchmark = ZoomBenchKind().open(folder, ZoomBenchOptions(**options))
    return {question.id: question for question in benchmark.questions()}


def test_zoombench_keeps_the_contract_of_a_benchmark(tmp_path):
    write(tmp_path, zoombench_rows())
    check_benchmark(ZoomBenchKind().open(tmp_path, ZoomBenchOptions(questions="all")))


def test_both_generations_of_columns_give_the_same_questions(tmp_path):
    write(tmp_path / "old", zoombench_rows("query"))
    write(tmp_path / "new", zoombench_rows("prompt"))
    assert questions_of(tmp_path / "old", questions="all") == questions_of(tmp_path / "new", questions="all")


def test_stem_and_options_are_taken_apart_and_the_source_text_is_kept(tmp_path):
    write(tmp_path, zoombench_rows())
    first, second = questions_of(tmp_path).values()
    assert (first.text, first.choices, first.answer) == ("How many lamps are there?", ("0", "2", "1 (one)", "3"), "C")
    assert first.text_raw == zoombench_rows()[0]["query"]
    assert (second.choices, second.answer) == (("出口", "入口"), "B")
    assert (first.task, first.source, first.targets) == ("Fine-Grained Counting", "ZoomBench", (Box(2, 3, 12, 9),))


def test_open_questions_come_only_when_asked_for(tmp_path):
    write(tmp_path, zoombench_rows())
    assert set(questions_of(tmp_path)) == {"z0", "z1"}
    opened = questions_of(tmp_path, questions="all")["z2"]
    assert (opened.choices, opened.answer, opened.answers) == ((), None, ("B-17",))


def test_two_questions_about_one_picture_are_one_group(tmp_path):
    write(tmp_path, zoombench_rows())
    questions = questions_of(tmp_path, questions="all")
    assert questions["z1"].image_group == questions["z2"].image_group != questions["z0"].image_group


def test_a_table_without_types_is_sorted_by_its_texts(tmp_path):
    write(tmp_path, [{**row, "question_type": None} for row in zoombench_rows()])
    assert set(questions_of(tmp_path)) == {"z0", "z1"}


def test_a_table_without_boxes_says_what_that_rules_out(tmp_path):
    write(tmp_path, [{key: value for key, value in row.items() if key != "bbox"} for row in zoombench_rows()])
    assert "no target boxes" in ZoomBenchKind().open(tmp_path, ZoomBenchOptions()).warnings[0]


@pytest.mark.parametrize("response", ["(C)", "C.", "C. 1 (one)", "(C) 1 (one)", " C "])
def test_the_right_letter_is_read_from_its_usual_forms(tmp_path, response):
    rows = zoombench_rows()
    rows[0]["response"] = response
    write(tmp_path, rows)
    assert questions_of(tmp_path)["z0"].answer == "C"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"response": "E"}, "is not among 4 options"),
        ({"query": "How many?"}, "no options"),
        ({"query": None}, "no query or prompt"),
        ({"image": None}, "no picture"),
        ({"bbox": [90.0, 3.0, 99.0, 9.0]}, "lies outside the 40×30 picture"),
    ],
)
def test_a_damaged_row_is_named(tmp_path, changes, message):
    rows = zoombench_rows()
    rows[0] |= changes
    write(tmp_path, rows)
    with pytest.raises(BenchmarkError, match=message) as caught:
        questions_of(tmp_path)
    assert "test.parquet: row 1" in caught.value.message

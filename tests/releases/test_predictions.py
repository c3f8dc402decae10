import csv
import json

import numpy as np
import pytest
from strategies import question_about

from eyechart.errors import BenchmarkError, UsageError
from eyechart.opening import open_scorer
from eyechart.releases.evaluate import _macro_interval, evaluate_predictions
from eyechart.releases.kits import rows_in
from eyechart.releases.predictions import read_predictions
from eyechart.schema import ResponseState, Size

VIEWS = ("original", "crop_3x", "crop_6x", "downsample_0_5")
# 24 questions on 20 pictures, 12 of each answer; two sources and three tasks of unequal size.
QUESTIONS = tuple(
    question_about(
        Size(10, 10),
        id=f"{number:06d}",
        answer="AB"[number % 2],
        choices=("red", "blue", "green", "grey") if number else ("red", "blue"),
        image_group=f"g{number % 20}",
        task=("OCR", "OCR", "Color", "Shape")[number % 4],
        source="V*" if number < 8 else "Zoom",
    )
    for number in range(24)
)
IDS = {question.id for question in QUESTIONS}


def write_jsonl(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def rows_of(answer, view="original", questions=QUESTIONS):
    return [{"id": question.id, "view_id": view, "response": answer(question)} for question in questions]


def read(*paths, **options):
    return read_predictions(paths, IDS, VIEWS, **options)


def evaluate(predictions, scorer="option_letter.strict", questions=QUESTIONS):
    return evaluate_predictions(questions, predictions, VIEWS, *open_scorer(scorer))


def cell_of(report, view="original", subset=None):
    return next(cell for cell in report.cells if (cell.view, cell.subset) == (view, subset))


def test_no_prediction_at_all_is_zero_with_everything_absent(tmp_path):
    rows = [{"id": "000000", "view_id": "original", "response": None}]
    cell = cell_of(evaluate(read(write_jsonl(tmp_path / "p.jsonl", rows))))
    assert (cell.n_questions, cell.n_absent, cell.accuracy_sum.value, cell.accuracy_answered) == (24, 24, 0.0, None)


def test_gold_everywhere_is_one_in_every_cell(tmp_path):
    rows = [row for view in VIEWS for row in rows_of(lambda question: question.answer, view)]
    report = evaluate(read(write_jsonl(tmp_path / "p.jsonl", rows)))
    assert {cell.accuracy_sum.value for cell in report.cells} == {1.0}
    assert {estimate.value for estimate in report.macro} == {1.0}


def test_always_a_is_the_share_of_gold_a(tmp_path):
    cell = cell_of(evaluate(read(write_jsonl(tmp_path / "p.jsonl", rows_of(lambda question: "A")))))
    assert cell.accuracy_sum.value == 0.5
    assert cell.accuracy_sum.low < 0.5 < cell.accuracy_sum.high
    assert cell.accuracy_sum.n_clusters == 20
    assert cell.accuracy_sum.chance == pytest.approx((23 * 0.25 + 0.5) / 24)


def test_missing_and_invalid_are_counted_apart_and_the_denominator_stays(tmp_path):
    rows = rows_of(lambda question: question.answer)[:18]
    rows[0]["response"] = "C"  # beyond its two choices
    rows[1]["response"] = "no idea whatsoever"
    rows[2]["response"] = ""
    cell = cell_of(evaluate(read(write_jsonl(tmp_path / "p.jsonl", rows))))
    assert (cell.n_questions, cell.n_absent, cell.n_correct) == (24, 6, 15)
    assert cell.accuracy_sum.value == pytest.approx(15 / 24)
    assert cell.accuracy_answered.value == pytest.approx(15 / 18)
    assert cell.accuracy_answered.n_missing == 6
    assert sum(cell.reasons.values()) == 3
    assert {"beyond_range", "empty"} <= set(cell.reasons)


def test_state_of_a_row_says_whether_it_was_answered(tmp_path):
    rows = rows_of(lambda question: question.answer)
    rows[0] |= {"state": "refused_input", "response": None}
    rows[1] |= {"state": "refusal", "response": "I cannot."}
    predictions = read(write_jsonl(tmp_path / "p.jsonl", rows))
    assert predictions["000000", "original"].state is ResponseState.REFUSED_INPUT
    cell = cell_of(evaluate(predictions))
    assert (cell.n_absent, cell.reasons) == (1, {"refusal": 1})


@pytest.mark.parametrize(("error", "n_absent"), [("timed out", 1), (True, 1), ("", 0), (None, 0), (False, 0)])
def test_empty_text_beside_an_error_is_no_answer(tmp_path, error, n_absent):
    """A request that failed was scored as a wrong answer."""
    rows = rows_of(lambda question: question.answer)
    rows[0] |= {"error": error, "response": " "}
    rows[1] |= {"error": error}
    cell = cell_of(evaluate(read(write_jsonl(tmp_path / "p.jsonl", rows))))
    assert cell.n_absent == n_absent


def test_subsets_add_up_to_the_whole(tmp_path):
    rows = rows_of(lambda question: "A" if question.task == "OCR" else "B")
    report = evaluate(read(write_jsonl(tmp_path / "p.jsonl", rows)))
    for field in ("task=", "source="):
        parts = [cell for cell in report.cells if (cell.subset or "").startswith(field)]
        assert sum(cell.n_correct for cell in parts) == cell_of(report).n_correct
        assert sum(cell.n_questions for cell in parts) == 24


def test_macro_is_the_unweighted_mean_over_groups(tmp_path):
    rows = rows_of(lambda question: question.answer if question.task == "OCR" else "D")
    report = evaluate(read(write_jsonl(tmp_path / "p.jsonl", rows)))
    macro = {estimate.name: estimate for estimate in report.macro}
    assert cell_of(report).accuracy_sum.value == 0.5
    assert macro["macro_accuracy_over_tasks"].value == pytest.approx(1 / 3)
    assert macro["macro_accuracy_over_tasks"].low <= 1 / 3 <= macro["macro_accuracy_over_tasks"].high
    by_source = [cell_of(report, subset=f"source={name}").accuracy_sum.value for name in ("V*", "Zoom")]
    assert macro["macro_accuracy_over_sources"].value == pytest.approx(sum(by_source) / 2)


def test_family_is_the_mean_over_its_views_of_each_question(tmp_path):
    rows = rows_of(lambda question: question.answer, "crop_3x") + rows_of(lambda question: "D", "crop_6x")
    cell = cell_of(evaluate(read(write_jsonl(tmp_path / "p.jsonl", rows))), "family:crop")
    assert (cell.accuracy_sum.value, cell.accuracy_sum.n_questions) == (0.5, 24)
    # 24 of 48 answers, not of 24 questions.
    assert (cell.n_questions, cell.n_asked, cell.n_correct) == (24, 48, 24)


def test_lenient_mode_reads_more_than_strict(tmp_path):
    predictions = read(write_jsonl(tmp_path / "p.jsonl", rows_of(lambda question: "red")))
    strict, lenient = (cell_of(evaluate(predictions, f"option_letter.{mode}")) for mode in ("strict", "lenient"))
    assert (strict.n_correct, lenient.n_correct) == (0, 12)
    assert strict.accuracy_sum.scorer == "option_letter.strict@2"


def test_hidden_answers_are_left_out(tmp_path):
    hidden = (*QUESTIONS[:3], question_about(Size(1, 1), id="000003", answer=None))
    report = evaluate(read(write_jsonl(tmp_path / "p.jsonl", rows_of(lambda question: "A"))), questions=hidden)
    assert cell_of(report).n_questions == 3


@pytest.mark.parametrize(
    "row",
    [
        {"id": 7, "view_id": "crop_3x", "response": "A"},
        {"base_sample_id": "000007", "id": "000007-crop_3x", "view": "crop_3x", "prediction": "A"},
        {"id": "000007", "view_id": "crop_3x", "answer": "A", "seconds": 3},
    ],
)
def test_columns_may_have_either_name(tmp_path, row):
    (prediction,) = read(write_jsonl(tmp_path / "p.jsonl", [row])).values()
    assert (prediction.question_id, prediction.view, prediction.text) == ("000007", "crop_3x", "A")


def test_csv_and_one_file_per_view_are_read(tmp_path):
    for view in ("original", "crop_3x"):
        with (tmp_path / f"{view}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["id", "response"])
            writer.writeheader()
            writer.writerows([{"id": "000001", "response": f"A, says {view}"}, {"id": "000002", "response": ""}])
    predictions = read(tmp_path / "original.csv", tmp_path / "crop_3x.csv")
    assert predictions["000001", "crop_3x"].text == "A, says crop_3x"
    assert predictions["000002", "original"].text is None
    write_jsonl(tmp_path / "mine.jsonl", [{"id": "000001", "response": "A"}])
    assert list(read(tmp_path / "mine.jsonl", view="crop_6x")) == [("000001", "crop_6x")]


def test_identical_rows_are_one(tmp_path):
    row = {"id": "000001", "view_id": "original", "response": "A"}
    assert len(read(write_jsonl(tmp_path / "p.jsonl", [row, row]))) == 1


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (
            [{"id": "000099", "view_id": "original", "response": "A"}],
            BenchmarkError,
            ":1: id '000099' is not a question",
        ),
        ([{"id": "000001", "view_id": "crop_33x", "response": "A"}], UsageError, "named 'crop_33x'"),
        ([{"id": "000001", "response": "A"}], BenchmarkError, ":1: no view"),
        ([{"id": "000001", "view_id": "original"}], BenchmarkError, r":1: no response \(columns: id, view_id\)"),
        ([{"view_id": "original", "response": "A"}], BenchmarkError, ":1: no id"),
        ([{"id": "000001", "view_id": "original", "response": "A", "state": "odd"}], BenchmarkError, ":1: state 'odd'"),
        (
            [{"id": "000001", "view_id": "original", "response": text} for text in "AB"],
            BenchmarkError,
            ":2: another response to 000001 in original than .*:1",
        ),
    ],
)
def test_fault_names_file_and_line(tmp_path, rows, error, message):
    with pytest.raises(error, match=message):
        read(write_jsonl(tmp_path / "p.jsonl", rows))


def macro_of(predictions, questions=QUESTIONS):
    report = evaluate(predictions, questions=questions)
    return next(estimate for estimate in report.macro if estimate.name == "macro_accuracy_over_tasks")


def test_macro_interval_never_has_zero_width(tmp_path):
    right = macro_of(read(write_jsonl(tmp_path / "p.jsonl", rows_of(lambda question: question.answer))))
    wrong = macro_of(read(write_jsonl(tmp_path / "q.jsonl", rows_of(lambda question: "D"))))
    assert right.low < right.value == right.high == 1.0
    assert wrong.low == wrong.value == 0.0 < wrong.high


def test_macro_interval_covers_the_truth_and_shrinks():
    """300 simulated collections of 150 and of 600 questions, three tasks of unequal size and difficulty."""
    truth = {"a": 0.9, "b": 0.5, "c": 0.2}
    rng = np.random.default_rng(5)
    widths = {}
    for n_questions in (150, 600):
        n_covered = 0
        for _ in range(300):
            groups = rng.choice(3, n_questions, p=[0.6, 0.3, 0.1])
            members = np.eye(3)[groups]
            right = rng.random(n_questions) < np.array(list(truth.values()))[groups]
            low, high = _macro_interval(members * right[:, np.newaxis], members)
            n_covered += low <= np.mean(list(truth.values())) <= high
        widths[n_questions] = high - low
        assert 0.92 <= n_covered / 300 <= 0.985
    assert widths[600] == pytest.approx(widths[150] / 2, rel=0.3)


def test_id_that_a_table_program_took_for_a_number_is_found(tmp_path):
    (tmp_path / "original.csv").write_text("id,response\n7,A\n")
    assert list(read(tmp_path / "original.csv")) == [("000007", "original")]


def test_pair_uses_the_same_ids_on_both_sides_and_says_how_many(tmp_path):
    """One question is missing in the crop: its wrong answer in the original must not count against the original."""
    rows = rows_of(lambda question: "D" if question.id == "000005" else question.answer)
    rows += rows_of(lambda question: question.answer, "crop_3x", [one for one in QUESTIONS if one.id != "000005"])
    (contrast,) = evaluate(read(write_jsonl(tmp_path / "p.jsonl", rows))).contrasts
    assert (contrast.condition, contrast.baseline) == ("crop_3x", "original")
    assert (contrast.value, contrast.n_questions, contrast.gained, contrast.lost) == (0.0, 23, 0, 0)


def test_no_pair_without_the_original(tmp_path):
    rows = [row for view in ("crop_3x", "crop_6x") for row in rows_of(lambda question: "A", view)]
    assert evaluate(read(write_jsonl(tmp_path / "p.jsonl", rows))).contrasts == ()


@pytest.mark.parametrize("given", [101, "101", 101.0])
def test_ids_of_a_benchmark_of_ones_own_are_not_padded_as_those_of_sum_are(tmp_path, given):
    rows = write_jsonl(tmp_path / "p.jsonl", [{"id": given, "view_id": "original", "response": "A"}])
    assert list(read_predictions([rows], {"101", "102"}, VIEWS)) == [("101", "original")]
    assert list(read_predictions([rows], {"000101", "102"}, VIEWS)) == [("000101", "original")]
    with pytest.raises(BenchmarkError, match=r"id '101(\.0)?' is not a question"):
        read_predictions([rows], {"102"}, VIEWS)


@pytest.mark.parametrize("container", ["jsonl", "json"])
def test_a_key_that_stands_twice_in_a_row_of_a_kit_is_refused(tmp_path, container):
    row = '{"doc_id": 1, "doc": {"answer": "A", "answer": "B"}}'
    path = tmp_path / f"samples.{container}"
    path.write_text(row if container == "jsonl" else f"[{row}]")
    with pytest.raises(BenchmarkError, match="key 'answer' stands twice"):
        list(rows_in(path, container))

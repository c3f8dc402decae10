"""Files of VLMEvalKit and lmms-eval: failures stay failures, and no score of theirs is believed."""

import csv
import json
import pickle

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st
from releases.kit_files import (
    API_FAILURE,
    RANDOM_LOG,
    kit_table,
    sample,
    write_json,
    write_samples,
    write_tsv,
    write_xlsx,
)
from strategies import question_about

from eyechart.errors import BenchmarkError, EyechartError, UsageError
from eyechart.opening import open_scorer
from eyechart.releases.evaluate import evaluate_predictions
from eyechart.releases.given import read_given
from eyechart.releases.kits import lettered_options
from eyechart.releases.rescore import compare_scores
from eyechart.schema import ResponseState, Size

COLOURS = ("red", "blue", "green", "white")
# Ids as SUM has them; the right letters are A, B, C, D, A, ….
QUESTIONS = tuple(
    question_about(
        Size(9, 9),
        id=f"{number:06d}",
        text=f"What colour is thing {number}?",
        text_raw=f"What colour is thing {number}? Select.",
        choices=COLOURS,
        answer="ABCD"[number % 4],
        image_group=f"g{number}",
        task="Color",
    )
    for number in range(8)
)
GOLD = [question.answer for question in QUESTIONS]


class Asked:
    """What is needed of a benchmark here."""

    def __init__(self, questions=QUESTIONS, views=("original", "crop_3x")):
        self._questions, self._views = questions, views

    def questions(self):
        return iter(self._questions)

    def released_views(self):
        return self._views


def scored(path, benchmark=None, scorer="option_letter.strict", **options):
    """Return what was read, our report, and the comparison of the only view."""
    given = read_given([path], benchmark, **options)
    report = evaluate_predictions(given.questions, given.predictions, given.views, *open_scorer(scorer))
    compared = compare_scores(given.questions, given.predictions, report)
    return given, report, compared[0] if compared else None


def overall(report):
    return next(cell for cell in report.cells if cell.subset is None)


# --- the forms --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "write"), [("xlsx", write_xlsx), ("tsv", write_tsv), ("json", write_json)])
def test_vlmevalkit_table_is_scored_with_and_without_its_benchmark(tmp_path, suffix, write):
    path = write(tmp_path / f"GPT_SUM_crop_3x.{suffix}", kit_table(QUESTIONS, [*GOLD[:6], "D", "no idea"]))
    for benchmark, view in ((Asked(), "crop_3x"), (None, "crop_3x")):
        given, report, compared = scored(path, benchmark)
        assert [key[1] for key in given.predictions] == [view] * 8
        assert (overall(report).n_correct, overall(report).n_questions) == (6, 8)
        assert compared is None


def test_lmms_eval_samples_are_scored_with_and_without_their_benchmark(tmp_path):
    samples = [
        sample(question, f"Answer: {gold}", 99, exact=1.0) for question, gold in zip(QUESTIONS, GOLD, strict=True)
    ]
    path = write_samples(tmp_path / "20261130_samples_sum_crop_3x.jsonl", samples)
    for benchmark in (Asked(), None):
        _, report, compared = scored(path, benchmark)
        assert overall(report).n_correct == 8
        assert (compared.theirs.value, compared.ours.value, compared.changed) == (1.0, 1.0, ())


def test_judged_table_beside_the_predictions_gives_their_scores(tmp_path):
    write_xlsx(tmp_path / "m_D.xlsx", kit_table(QUESTIONS, GOLD))
    judged = kit_table(QUESTIONS, GOLD, hit=[1, 1, 1, 1, 0, 0, 1, 1], log=["x"] * 8)
    write_xlsx(tmp_path / "m_D_gpt-4o-mini_result.xlsx", judged)
    _, _, compared = scored(tmp_path / "m_D.xlsx")
    assert (compared.theirs.value, compared.ours.value) == (0.75, 1.0)
    assert (compared.difference.value, compared.difference.gained, compared.difference.lost) == (0.25, 2, 0)
    assert [item.question_id for item in compared.changed] == ["4", "5"]


def test_judged_table_of_other_answers_is_not_taken_for_theirs(tmp_path):
    """m_D_crop_gpt_result is of the data set D_crop, and stands beside m_D too."""
    write_xlsx(tmp_path / "m_D.xlsx", kit_table(QUESTIONS, GOLD))
    others = kit_table(QUESTIONS, [*GOLD[:7], "another answer"], hit=[1] * 7 + [0])
    write_xlsx(tmp_path / "m_D_crop_gpt_result.xlsx", others)
    given, _, compared = scored(tmp_path / "m_D.xlsx")
    assert (compared.n_rows, given.predictions["7", "original"].theirs) == (7, None)


def test_two_judged_tables_are_not_chosen_between(tmp_path):
    write_xlsx(tmp_path / "m_D.xlsx", kit_table(QUESTIONS, GOLD))
    for judge in ("a", "b"):
        write_xlsx(tmp_path / f"m_D_{judge}_result.xlsx", kit_table(QUESTIONS, GOLD, hit=[1] * 8))
    with pytest.raises(BenchmarkError, match="2 judged files"):
        scored(tmp_path / "m_D.xlsx")


def test_options_in_another_order_are_scored_as_they_were_shown(tmp_path):
    turned = [
        question_about(Size(9, 9), id=q.id, text=q.text, choices=COLOURS[::-1], answer="D") for q in QUESTIONS[:1]
    ]
    path = write_json(tmp_path / "m_original.json", kit_table(turned, ["D"]))
    given, report, _ = scored(path, Asked())
    assert given.predictions["000000", "original"].choices == COLOURS[::-1]
    assert overall(report).n_correct == 1


def test_row_is_found_by_its_text_when_its_id_is_another(tmp_path):
    rows = kit_table(QUESTIONS[::-1], GOLD[::-1])
    for number, row in enumerate(rows):
        row["index"] = number  # the row number, which fits the id of another question
    given, report, _ = scored(write_tsv(tmp_path / "m_original.tsv", rows), Asked())
    assert overall(report).n_correct == 8
    assert given.unmatched == ()


def test_rows_of_other_data_are_named_with_the_reason(tmp_path):
    strange = question_about(Size(9, 9), id="x", text="Why?", choices=COLOURS)
    other_options = question_about(Size(9, 9), id="y", text=QUESTIONS[0].text, choices=("a", "b"), answer="A")
    given, _, _ = scored(write_json(tmp_path / "m_original.json", kit_table([strange, other_options], "AA")), Asked())
    reasons = [row.reason for row in given.unmatched]
    assert reasons == ["no question has its id or its text", "its options are not those of 000000, which asks the same"]


def test_text_of_two_questions_is_never_guessed(tmp_path):
    twins = (*QUESTIONS[:2], question_about(Size(9, 9), id="twin", text=QUESTIONS[0].text, choices=COLOURS))
    rows = kit_table([QUESTIONS[0]], ["A"])
    rows[0]["index"] = 777
    given, _, _ = scored(write_json(tmp_path / "m_original.json", rows), Asked(twins))
    assert "those of 2 questions (000000, twin" in given.unmatched[0].reason


def test_another_right_answer_in_their_file_is_named(tmp_path):
    rows = kit_table(QUESTIONS, GOLD)
    rows[3]["answer"] = "A"
    given, report, _ = scored(write_json(tmp_path / "m_original.json", rows), Asked())
    assert given.other_answers == ("000003",)
    assert overall(report).n_correct == 8


def test_view_must_be_known(tmp_path):
    path = write_json(tmp_path / "m_SUM.json", kit_table(QUESTIONS, GOLD))
    with pytest.raises(UsageError, match="names no view"):
        scored(path, Asked())
    assert len(scored(path, Asked(), view="crop_3x")[0].predictions) == 8


# --- defects of the kits (peers.md 2), by symptom ---------------------------------------------------------------------


def test_d4_random_letter_after_a_failed_judge_is_not_right_by_luck(tmp_path):
    answers = [*GOLD[:7], "I would rather not say"]
    rows = kit_table(QUESTIONS, answers, hit=[1] * 8, log=[*["x"] * 7, RANDOM_LOG])
    _, _, compared = scored(write_xlsx(tmp_path / "m_D_gpt_result.xlsx", rows))
    (item,) = compared.changed
    assert (item.theirs, item.ours, item.our_answer) == (1.0, 0.0, None)
    assert "the kit drew a random letter" in item.why


def test_d4_question_with_an_option_z_is_scored_and_ends_nothing(tmp_path):
    """The kit takes Z for "no option fits", and fails where Z is an option; a Z that it read is none of ours."""
    letters = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    rows = [
        {"index": number, "question": f"Which {number}?", **{name: f"thing {name}" for name in letters}}
        | {"answer": "Z", "prediction": said, "hit": 0, "opt": "Z"}
        for number, said in enumerate(["Z", "Answer: Y", "no idea"])
    ]
    _, report, compared = scored(write_xlsx(tmp_path / "m_D_gpt_result.xlsx", rows))
    assert (overall(report).n_questions, overall(report).n_correct) == (3, 1)
    assert [(item.question_id, item.theirs, item.ours) for item in compared.changed] == [("0", 0.0, 1.0)]


def test_d5_d8_pickled_predictions_are_never_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (exec, ("raise SystemExit('loaded')",))

    (tmp_path / "m_D.pkl").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(BenchmarkError, match="pickle files are never loaded"):
        scored(tmp_path / "m_D.pkl")


def test_d6_stale_accuracy_file_is_not_believed(tmp_path):
    (tmp_path / "m_D_acc.csv").write_text("split,Overall\nnone,0.1\n")
    _, report, _ = scored(write_xlsx(tmp_path / "m_D.xlsx", kit_table(QUESTIONS, GOLD)))
    assert overall(report).accuracy_sum.value == 1.0
    with pytest.raises(BenchmarkError, match="hold scores and no answers"):
        read_given([tmp_path / "m_D_acc.csv"], None)


@pytest.mark.filterwarnings("ignore:Ignoring URL")
def test_d9_answer_that_vanished_from_the_sheet_is_missing_not_wrong(tmp_path):
    long_link = "https://example.org/" + "x" * 2100 + " so the answer is A"
    path = write_xlsx(tmp_path / "m_D.xlsx", kit_table(QUESTIONS, [long_link, *GOLD[1:]]))
    given, report, _ = scored(path)
    assert given.predictions["0", "original"].text is None
    assert (overall(report).n_absent, overall(report).accuracy_answered.value) == (1, 1.0)
    assert given.predictions["0", "original"].notes == ("no answer in the file",)


def test_answer_as_long_as_a_cell_counts_as_cut(tmp_path):
    path = write_xlsx(tmp_path / "m_D.xlsx", kit_table(QUESTIONS[:2], ["so " * 10922 + "x", "B"]))
    given, report, _ = scored(path)
    assert given.predictions["0", "original"].state is ResponseState.TRUNCATED
    assert overall(report).reasons == {"truncated": 1}


def test_long_reasoning_in_a_tsv_leaves_pythons_own_limit_as_it_was(tmp_path):
    limit = csv.field_size_limit()
    path = write_tsv(tmp_path / "m_D.tsv", kit_table(QUESTIONS[:2], ["so " * limit + "A", "B"]))
    given, _, _ = scored(path)
    assert len(given.predictions["0", "original"].text) > limit
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    "failure", ["[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout", "[LMMS_EVAL_BUDGET_EXCEEDED]"]
)
def test_d10_failure_stored_as_an_answer_is_a_failure(tmp_path, failure):
    samples = [sample(QUESTIONS[0], failure, exact=0.0), sample(QUESTIONS[1], "B", exact=1.0)]
    _, report, compared = scored(
        write_samples(tmp_path / "d_samples_t.jsonl", samples), Asked(QUESTIONS[:2]), view="original"
    )
    assert (overall(report).n_absent, compared.n_failures) == (1, 1)
    assert compared.ours_answered.value == 1.0


def test_vlmevalkit_failure_stored_as_an_answer_is_a_failure(tmp_path):
    path = write_xlsx(tmp_path / "m_D.xlsx", kit_table(QUESTIONS, [f"{API_FAILURE} ", *GOLD[1:]], hit=[0, *[1] * 7]))
    _, report, compared = scored(path)
    assert (overall(report).n_absent, compared.n_failures, compared.changed) == (1, 1, ())


@pytest.mark.parametrize(
    ("response", "theirs"),
    [("Based on the image, the answer is D.", "B"), ("Blue", "B"), ("Cannot determine", "C"), ("Definitely red", "D")],
)
def test_d11_first_capital_of_a_sentence_is_no_answer(tmp_path, response, theirs):
    gold = "ABCD".index(theirs)
    metric = {"question_id": f"{gold:06d}", "score": 1.0, "prediction": theirs}
    path = write_samples(
        tmp_path / "d_samples_vstar.jsonl", [sample(QUESTIONS[gold], response, vstar_overall_acc=metric)]
    )
    _, _, compared = scored(path)
    (item,) = compared.changed
    assert (item.theirs, item.ours, item.their_answer) == (1.0, 0.0, theirs)
    assert item.our_answer != theirs


def test_d12_exception_stored_as_an_empty_answer_is_a_failure(tmp_path):
    samples = [sample(QUESTIONS[0], "", exact=0.0), sample(QUESTIONS[1], "B", exact=1.0)]
    _, report, _ = scored(write_samples(tmp_path / "d_samples_t.jsonl", samples))
    assert (overall(report).n_absent, overall(report).reasons) == (1, {})


def test_d13_equal_document_hashes_do_not_make_rows_one(tmp_path):
    samples = [sample(question, gold, 0) for question, gold in zip(QUESTIONS, GOLD, strict=True)]
    assert len({row["doc_hash"] for row in samples}) == 1
    given, _, _ = scored(write_samples(tmp_path / "d_samples_t_original.jsonl", samples), Asked())
    assert len(given.predictions) == 8


@pytest.mark.parametrize("read", [None, False])
def test_d14_row_that_their_judge_never_read_is_still_scored(tmp_path, read):
    metric = {"index": 0, "category": "single", "answer": "A", "gpt_prediction": read}
    _, report, _ = scored(write_samples(tmp_path / "d_samples_hr.jsonl", [sample(QUESTIONS[0], "A", average=metric)]))
    assert overall(report).n_correct == 1


def test_d17_failures_do_not_leave_the_denominator(tmp_path):
    answers = [API_FAILURE, API_FAILURE, API_FAILURE, "D", *GOLD[4:]]
    _, report, _ = scored(write_xlsx(tmp_path / "m_D.xlsx", kit_table(QUESTIONS, answers)))
    cell = overall(report)
    assert (cell.n_questions, cell.n_absent) == (8, 3)
    assert cell.accuracy_sum.value == pytest.approx(5 / 8)
    assert cell.accuracy_answered.n_missing == 3


# --- parts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "options"),
    [
        (
            "Which?\n(A) Shop (new)\n(B) Shop (old)\n(C) Bar\n(D) Inn\nAnswer.",
            ("Shop (new)", "Shop (old)", "Bar", "Inn"),
        ),
        ("A. was here before?\nQ?\nA. yes\nB. no", ("yes", "no")),
        ("Which?\nA: 1\nB: 2", ("1", "2")),
        ("Which letter is A. or B.?", ()),
        ("A. alone", ()),
    ],
)
def test_options_are_read_whole_from_the_last_list(prompt, options):
    assert lettered_options(prompt)[1] == options


def test_several_responses_are_said_to_be_several(tmp_path):
    row = sample(QUESTIONS[0], "A") | {"resps": [["A", "B"]]}
    given, _, _ = scored(write_samples(tmp_path / "d_samples_t.jsonl", [row]))
    assert given.predictions["000000", "original"].notes == ("the first of 2 responses",)


def test_metric_that_is_no_number_is_no_score(tmp_path):
    path = write_samples(tmp_path / "d_samples_t.jsonl", [sample(QUESTIONS[0], "A", exact=float("nan"))])
    given, _, compared = scored(path)
    assert given.predictions["000000", "original"].theirs is None
    assert compared is None


def test_torn_last_line_is_named(tmp_path):
    path = write_samples(tmp_path / "d_samples_t.jsonl", [sample(QUESTIONS[0], "A")])
    path.write_text(path.read_text() + '\n{"doc_id": 1, "res')
    with pytest.raises(BenchmarkError, match=r"d_samples_t\.jsonl:2: not JSON"):
        scored(path)


def test_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / "d_samples_t.jsonl").write_bytes(b"\xff\xfe{}")
    with pytest.raises(BenchmarkError, match="UTF-16 text"):
        scored(tmp_path / "d_samples_t.jsonl")


def test_metric_can_be_named(tmp_path):
    path = write_samples(tmp_path / "d_samples_t.jsonl", [sample(QUESTIONS[0], "A", lax=1.0, exact=0.0)])
    assert scored(path)[2].theirs.value == 1.0
    assert scored(path, metric="exact")[2].theirs.value == 0.0
    with pytest.raises(BenchmarkError, match="no metric 'other'"):
        scored(path, metric="other")


def test_repeated_rows_count_once_and_an_answer_beats_a_failure(tmp_path):
    rows = kit_table([QUESTIONS[0], QUESTIONS[0], QUESTIONS[1]], [API_FAILURE, "A", "B"])
    given, report, _ = scored(write_json(tmp_path / "m_original.json", rows), Asked(QUESTIONS[:2]))
    assert (given.n_repeated, overall(report).n_correct) == (1, 2)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.tsv", 'index\tprediction\n"0"\n', "not as many cells"),
        ("x.tsv", "index\tanswer\n0\tA\n", r"no known form \(columns: index, answer\)"),
        ("x.tsv", "index\tprediction\n", "holds no prediction"),
        ("x.tsv", "index\tprediction\n0\tA\n", "no options in this row"),
        ("x.json", '[{"index": 0, "prediction": "A"', "not JSON"),
        ("x.pickle", "x", "no known form"),
        ("20261130_results.json", '{"results": {}, "configs": {}}', "hold scores and no answers"),
    ],
)
def test_fault_in_a_file_is_named(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(BenchmarkError, match=message):
        scored(tmp_path / name)


def test_plain_rows_need_their_questions(tmp_path):
    (tmp_path / "p.jsonl").write_text('{"id": "000000", "view_id": "original", "response": "A"}')
    with pytest.raises(UsageError, match="cannot be scored without the questions"):
        scored(tmp_path / "p.jsonl")
    _, report, compared = scored(tmp_path / "p.jsonl", Asked())
    assert (overall(report).n_correct, compared) == (1, None)


def test_table_written_by_columns_is_read(tmp_path):
    (tmp_path / "m.json").write_text(
        '{"index": {"0": 0}, "question": {"0": "Q?"}, "A": {"0": "x"}, "B": {"0": "y"}, "answer": {"0": "B"},'
        ' "prediction": {"0": "B"}}'
    )
    given = read_given([tmp_path / "m.json"], None)
    assert given.predictions["0", "original"].text == "B"


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["A", "B", API_FAILURE]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KIT_COLUMNS = ("index", "question", "A", "B", "C", "answer", "prediction", "hit", "log", "category", "view", "view_id")
LMMS_COLUMNS = ("doc_id", "target", "input", "resps", "filtered_resps", "exact", "metric")


@forall(
    st.lists(st.fixed_dictionaries(dict.fromkeys(KIT_COLUMNS, VALUES)), min_size=1, max_size=3)
    | st.lists(st.fixed_dictionaries(dict.fromkeys(LMMS_COLUMNS, VALUES)), min_size=1, max_size=3)
)
def test_no_value_in_a_file_ends_in_a_traceback(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("odd")
    is_kit = "index" in rows[0]
    path = folder / ("m_original.json" if is_kit else "d_samples_original.jsonl")
    path.write_text(json.dumps(rows) if is_kit else "\n".join(map(json.dumps, rows)))
    for benchmark in (Asked(), None):
        try:
            given, report, _ = scored(path, benchmark)
        except EyechartError:
            continue
        assert len(report.question_ids) == len(given.questions)


def test_an_empty_option_of_a_table_keeps_the_letters_of_those_after_it(tmp_path):
    """The kit shows A, C and D where B is empty: the answer C is violet, not ivory."""
    row = {"index": "1", "question": "Which?", "A": "teal", "B": None, "C": "violet", "D": "ivory", "answer": "C"}
    for prediction, n_right in (("C", 1), ("D", 0)):
        path = write_tsv(tmp_path / f"m_{prediction}.tsv", [{**row, "prediction": prediction}])
        question = question_about(
            Size(9, 9), id="1", text="Which?", choices=("teal", "violet", "ivory"), answer="B", image_group="g"
        )
        for benchmark in (None, Asked((question,), ("original",))):
            _, report, _ = scored(path, benchmark)
            assert overall(report).n_correct == n_right


def test_options_of_a_prompt_are_read_as_those_of_a_question():
    assert lettered_options("Which? (A) one (B) two") == ("Which?", ("one", "two"))
    assert lettered_options("Which?\nA. one\nmore\nB. two\nAnswer:")[1] == ("one\nmore", "two")

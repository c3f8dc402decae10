"""Files of answers: read in any spelling, never contradicted, errors kept as errors."""

import asyncio
import csv
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.asks import ask, asked

from eyechart.errors import BadRequestError, RefusedInputError, SchemaError, UsageError
from eyechart.kinds import ModelOptions
from eyechart.models._answer_file import AnswerKey, read_answer_file
from eyechart.opening import open_model

ROW = {"id": "000112", "view": "crop_3x", "response": "B"}


def write(path, *rows):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def opened(path, **settings):
    return open_model(f"replay/{path}", ModelOptions(settings=settings))


def answer(model, question_id="000112", view="crop_3x", condition=None, repeat=0):
    return asyncio.run(model.answer(ask(identity=asked(question_id, view, condition, repeat))))


@pytest.mark.parametrize(
    "row",
    [
        ROW,
        {"base_sample_id": "000112", "view_id": "crop_3x", "prediction": "B"},
        {"id": 112, "view": "crop_3x", "answer": "B"},
        {"question_id": "000112", "view": "crop_3x", "text": "B", "other": [1, 2]},
        {"id": "000112", "view": "crop_3x", "response": "B", "error": None, "repeat": 0},
    ],
)
def test_columns_are_found_under_their_common_names(tmp_path, row):
    assert answer(opened(write(tmp_path / "a.jsonl", row))).text == "B"


def test_a_spreadsheet_that_dropped_leading_zeros_is_matched(tmp_path):
    model = opened(write(tmp_path / "a.csv", "id,view,response", "112,crop_3x,B"))
    assert answer(model).text == "B"


def test_file_with_leading_zeros_answers_a_benchmark_without(tmp_path):
    model = opened(write(tmp_path / "a.jsonl", ROW))
    assert answer(model, "112").text == "B"


def test_one_number_in_two_spellings_is_never_guessed(tmp_path):
    model = opened(write(tmp_path / "a.jsonl", ROW | {"id": "1"}))
    model.review_plan([("1", "crop_3x"), ("01", "crop_3x")])
    assert answer(model, "1").text == "B"
    with pytest.raises(BadRequestError, match="no answer to question 01"):
        answer(model, "01")
    both = opened(write(tmp_path / "b.jsonl", ROW | {"id": "1"}, ROW | {"id": "01", "response": "C"}))
    with pytest.raises(BadRequestError, match="no answer to question 001"):
        answer(both, "001")


def test_right_answers_of_a_question_file_are_no_answers_of_a_model(tmp_path):
    with pytest.raises(SchemaError, match="a question with its right answer"):
        opened(write(tmp_path / "q.jsonl", {"id": 1, "view": "original", "image": "a.png", "answer": "A"}))


def test_options_that_rows_tell_are_handed_on(tmp_path):
    model = opened(write(tmp_path / "a.jsonl", ROW | {"choices": ["x", "y"]}, ROW | {"id": "7", "A": "y", "B": "x"}))
    told = [(name, row) for _, name, row in model.told_options()]
    assert told == [("000112", {"choices": ["x", "y"]}), ("7", {"A": "y", "B": "x"})]


def test_csv_and_jsonl_of_the_same_answers_are_read_alike(tmp_path):
    rows = [{"id": f"q{n}", "view": "original", "response": f'A, "quoted"\nline {n}'} for n in range(5)]
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["id", "view", "response"])
        writer.writeheader()
        writer.writerows(rows)
    from_csv = read_answer_file(tmp_path / "a.csv").answers
    from_json = read_answer_file(write(tmp_path / "a.jsonl", *rows)).answers
    assert {key: row.text for key, row in from_csv.items()} == {key: row.text for key, row in from_json.items()}


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_any_text_survives_the_file(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("answers") / "a.jsonl"
    rows = [{"id": str(n), "view": "original", "response": text} for n, text in enumerate(texts)]
    path.write_bytes(b"\n".join(json.dumps(row, ensure_ascii=False).encode() for row in rows))
    answers = read_answer_file(path).answers
    assert [answers[AnswerKey(str(n), "original")].text for n in range(len(texts))] == texts


def test_a_long_answer_in_csv_is_read_whole(tmp_path):
    limit = csv.field_size_limit()
    path = write(tmp_path / "a.csv", "id,view,response", f"q1,original,{'x' * 300_000}")
    assert len(answer(opened(path), "q1", "original").text) == 300_000
    assert csv.field_size_limit() == limit


def test_identity_is_the_files_content_and_no_folder(tmp_path):
    path = write(tmp_path / "secret-folder.jsonl", ROW)
    identity = opened(path).identity
    assert identity.fingerprint == hashlib.sha256(path.read_bytes()).hexdigest()
    assert identity.name == "secret-folder.jsonl"
    assert str(tmp_path) not in repr(identity)


def test_the_same_row_twice_is_one_answer(tmp_path):
    assert answer(opened(write(tmp_path / "a.jsonl", ROW, ROW))).text == "B"


def test_a_key_that_stands_twice_in_a_row_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(ROW) + '\n{"id": "000113", "view": "crop_3x", "response": "A", "response": "B"}')
    with pytest.raises(SchemaError, match=r"a\.jsonl:2: key 'response' stands twice"):
        opened(path)


def test_two_answers_to_one_question_are_refused(tmp_path):
    path = write(tmp_path / "a.jsonl", ROW, {**ROW, "response": "C"})
    with pytest.raises(SchemaError, match=r"a\.jsonl:2: question 000112 in view crop_3x was already .* line 1"):
        opened(path)


def test_numbered_repeats_are_kept_apart(tmp_path):
    model = opened(write(tmp_path / "a.jsonl", {**ROW, "repeat": 0}, {**ROW, "repeat": 1, "response": "C"}))
    assert [answer(model, repeat=n).text for n in (0, 1)] == ["B", "C"]
    with pytest.raises(BadRequestError, match="holds no answer"):
        answer(model, repeat=2)


def test_an_unnumbered_answer_serves_every_repeat(tmp_path):
    assert answer(opened(write(tmp_path / "a.jsonl", ROW)), repeat=5).text == "B"


def test_a_condition_of_its_own_is_found_before_the_view(tmp_path):
    model = opened(write(tmp_path / "a.jsonl", ROW, {**ROW, "view": "match_px_32", "response": "C"}))
    assert answer(model, condition="match_px_32").text == "C"


def test_a_file_of_one_view_is_told_its_view(tmp_path):
    path = write(tmp_path / "a.jsonl", {"id": "000112", "response": "B"})
    assert answer(opened(path, view="crop_3x")).text == "B"
    with pytest.raises(SchemaError, match=r"a\.jsonl:1: no view"):
        opened(path)


def test_a_question_without_row_is_a_final_error(tmp_path):
    model = opened(write(tmp_path / "a.jsonl", ROW))
    with pytest.raises(BadRequestError, match=r"a\.jsonl holds no answer to question q9 in view crop_3x") as caught:
        answer(model, "q9")
    assert caught.value.parameter is None


@pytest.mark.parametrize(
    ("row", "kind", "match"),
    [
        ({**ROW, "error": "HTTP 500"}, BadRequestError, "HTTP 500"),
        ({**ROW, "state": "transient"}, BadRequestError, "transient"),
        ({**ROW, "state": "refused_input", "error": "too large"}, RefusedInputError, "too large"),
        ({**ROW, "response": None}, BadRequestError, "the file holds no response"),
        ({**ROW, "response": "[LMMS_EVAL_REQUEST_FAILED after 5]"}, BadRequestError, "LMMS_EVAL_REQUEST_FAILED"),
        ({**ROW, "response": "Failed to obtain answer via API."}, BadRequestError, "Failed to obtain"),
        ({"id": "000112", "view": "crop_3x", "error": "no reply"}, BadRequestError, "no reply"),
    ],
)
def test_the_files_own_errors_stay_errors(tmp_path, row, kind, match):
    with pytest.raises(kind, match=match):
        answer(opened(write(tmp_path / "a.jsonl", row)))


def test_an_empty_response_is_an_empty_answer(tmp_path):
    assert answer(opened(write(tmp_path / "a.jsonl", {**ROW, "response": ""}))).text == ""
    assert answer(opened(write(tmp_path / "a.csv", "id,view,response", "000112,crop_3x,"))).text == ""


def test_thoughts_and_finish_of_the_file_are_kept(tmp_path):
    row = {**ROW, "response": "<think>B?</think>B", "reasoning": "First.", "finish_reason": "stop"}
    reply = answer(opened(write(tmp_path / "a.jsonl", row)))
    assert (reply.text, reply.reasoning, reply.finish) == ("B", "First.\nB?", "stop")
    cut = answer(opened(write(tmp_path / "b.jsonl", {**ROW, "response": "<think>B or"})))
    assert (cut.text, cut.finish) == ("", "length")
    refused = answer(opened(write(tmp_path / "c.jsonl", {**ROW, "state": "refusal"})))
    assert refused.is_refusal


MALFORMED = [
    ("a.jsonl", ['{"id": "q1", "view": "original", "response": "A"}', '{"id": '], r"a\.jsonl:2: no JSON object"),
    ("a.jsonl", ['["q1"]'], r"a\.jsonl:1: no JSON object"),
    ("a.jsonl", ["", '{"view": "original", "response": "A"}'], r"a\.jsonl:2: no id"),
    ("a.jsonl", ['{"id": true, "view": "original", "response": "A"}'], r"a\.jsonl:1: no id"),
    ("a.jsonl", ['{"id": "q1", "view": "original"}'], r"a\.jsonl:1: no response"),
    ("a.jsonl", ['{"id": "q1", "view": "original", "response": ["A"]}'], r"a\.jsonl:1: the response is not a text"),
    ("a.jsonl", ['{"id": "q1", "view": "original", "response": "A", "repeat": "x"}'], r"a\.jsonl:1: repeat 'x'"),
    ("a.jsonl", [""], r"a\.jsonl holds no answers"),
    ("a.csv", ["id,view,response", "q1,original,A", "q2,original"], r"a\.csv:3: the row has not 3 columns"),
    ("a.csv", ["id,view,response", "q1,original,A,B"], r"a\.csv:2: the row has not 3 columns"),
    ("a.csv", ["id,view,response", 'q1,original,"A'], r"a\.csv:2: unexpected end of data"),
]


@pytest.mark.parametrize(("name", "lines", "match"), MALFORMED)
def test_a_malformed_row_is_named_by_file_and_line(tmp_path, name, lines, match):
    with pytest.raises(SchemaError, match=match):
        opened(write(tmp_path / name, *lines))


def test_bytes_that_are_no_utf8_are_named_by_line(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(json.dumps(ROW).encode() + b"\n\xff\n")
    with pytest.raises(SchemaError, match=r"a\.jsonl:2: not UTF-8"):
        opened(tmp_path / "a.jsonl")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"none\.jsonl cannot be read"):
        opened(tmp_path / "none.jsonl")


def test_extra_body_means_nothing_to_a_file(tmp_path):
    with pytest.raises(UsageError, match="takes no --extra-body"):
        open_model(f"replay/{write(tmp_path / 'a.jsonl', ROW)}", ModelOptions(extra_body={"a": 1}))


def test_rows_that_nobody_planned_are_reported(tmp_path):
    model = opened(write(tmp_path / "a.jsonl", ROW, {**ROW, "id": 7}, {**ROW, "view": "crop_3"}))
    assert model.unknown_rows([("000112", "crop_3x"), ("000007", "crop_3x")]) == (AnswerKey("000112", "crop_3"),)


def test_a_run_says_which_answers_of_the_file_nobody_asks_for(tmp_path):
    model = opened(write(tmp_path / "a.jsonl", ROW, {**ROW, "id": 7}, {**ROW, "view": "crop_3"}))
    (note,) = model.review_plan([("000112", "crop_3x"), ("000007", "crop_3x")])
    assert note.startswith("1 of 3 answers in a.jsonl belong to nothing that is asked")
    assert note.endswith("question 000112 in view crop_3")
    assert model.review_plan([("000112", "crop_3x"), ("000007", "crop_3x"), ("000112", "crop_3")]) == ()


def test_a_replay_must_be_told_who_is_asked(tmp_path):
    with pytest.raises(BadRequestError, match="not told which question"):
        asyncio.run(opened(write(tmp_path / "a.jsonl", ROW)).answer(ask()))

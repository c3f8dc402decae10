"""Files of answers are told apart by their content: every form of the ecosystem, whatever a file is called."""

import json
import pickle
import resource
import shutil
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from releases.kit_files import write_tsv
from strategies import question_about

from eyechart.cli._app import run_app
from eyechart.errors import BenchmarkError, EyechartError, UsageError
from eyechart.releases.forms import FORMS, not_read, recognise
from eyechart.releases.given import read_given
from eyechart.schema import Size

READ = Path(__file__).parents[1] / "interop" / "read"
EXPECTED = {name: entry["form"] for name, entry in json.loads((READ / "expected.json").read_text()).items()}


def written(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", EXPECTED)
def test_form_is_told_by_content_and_not_by_name(tmp_path, name):
    assert recognise(READ / name).form.name == EXPECTED[name]
    if (READ / name).is_file():
        assert recognise(Path(shutil.copy(READ / name, tmp_path / "x.bin"))).form.name == EXPECTED[name]


@pytest.mark.parametrize("name", [name for name, form in EXPECTED.items() if FORMS[form].reader is None])
def test_file_that_is_not_read_yet_is_named_with_its_columns_and_the_known_forms(name, capsys):
    assert run_app(["score", "--predictions", str(READ / name)]) == 1
    said = capsys.readouterr().err
    assert f"({EXPECTED[name]}, columns: " in said
    assert "eyechart does not read it yet" in said
    assert "Known forms are inspect-eval" in said
    assert "id, view and response" in said


@pytest.mark.parametrize("name", ["inspect_deflate.eval", "lm_eval_samples_own_gen.jsonl", "helm_run"])
@pytest.mark.parametrize("command", [("import",), ("import", "hrscene-explorer")])
def test_import_names_the_same_forms(tmp_path, capsys, name, command):
    assert run_app([*command, str(READ / name), "--out", str(tmp_path)]) == 1
    assert f"({EXPECTED[name]}, columns: " in capsys.readouterr().err


def test_import_says_what_reads_a_file_that_it_does_not_read(tmp_path, capsys):
    assert run_app(["import", str(READ / "mock_OwnColours.tsv"), "--out", str(tmp_path)]) == 2
    assert "eyechart score --predictions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("row", "form"),
    [
        ({"doc_id": 0, "resps": [["A"]], "arguments": {"gen_args_0": {"arg_0": "Q"}}}, "lm-eval"),
        ({"doc_id": 0, "filtered_resps": ["A"], "arguments": [["Q", {}]], "token_counts": [None]}, "lm-eval"),
        ({"doc_id": 0, "resps": [["A"]], "arguments": ["Q"]}, "lmms-eval"),
        ({"doc_id": 0, "filtered_resps": "A", "input": "Q"}, "lmms-eval"),
        ({"id": 1, "response": "A"}, "plain"),
        ({"question_id": 1, "output": "A"}, "plain"),
        ({"base_sample_id": "1", "answer": "B. red"}, "plain"),
        ({"id": 1, "response": None}, "plain"),
        ({"index": 1, "prediction": "A", "id": 1}, "vlmevalkit"),
        ({"id": 1, "image": "a.png", "question": "Q", "answer": "A"}, "questions"),
    ],
)
@pytest.mark.parametrize("n_rows", [1, 3])
def test_rows_have_one_form(tmp_path, row, form, n_rows):
    path = written(tmp_path / "x", "\n".join([json.dumps(row)] * n_rows))
    assert recognise(path).form.name == form
    assert recognise(written(tmp_path / "y", [row] * n_rows)).form.name == form


@pytest.mark.parametrize(
    "row", [{"id": 1, "response": 3}, {"id": 1, "response": ["A"]}, {"name": "x", "response": "A"}]
)
def test_rows_without_an_id_or_an_answer_in_words_have_no_form(tmp_path, row):
    with pytest.raises(BenchmarkError, match=r"no known form \(columns: ") as caught:
        recognise(written(tmp_path / "x.jsonl", row))
    assert "known are inspect-eval" in caught.value.hint


@pytest.mark.parametrize(
    "row",
    [
        {"index": 1, "model_output": {}, "sample_score": {}},
        {"index": 1, "prediction": "A", "pred_ans": "A", "pred_output": []},
    ],
)
def test_file_that_fits_two_forms_asks_and_takes_the_one_named(tmp_path, row, capsys):
    path = written(tmp_path / "x.jsonl", "\n".join([json.dumps(row)] * 2))
    assert run_app(["score", "--predictions", str(path)]) == 2
    said = capsys.readouterr().err
    assert " fits " in said
    assert "hint: --form " in said
    named = said.split("hint: --form ")[1].split()[0]
    assert recognise(path, named).form.name == named
    with pytest.raises(UsageError, match="no form named 'lmms'"):
        recognise(path, "lmms")


def test_rows_of_different_forms_ask(tmp_path):
    rows = [{"index": 1, "prediction": "A"}, {"index": 1, "model_output": {}}]
    with pytest.raises(UsageError, match="evalscope-predictions and vlmevalkit"):
        recognise(written(tmp_path / "x.jsonl", "\n".join(map(json.dumps, rows))))


@pytest.mark.parametrize(
    ("content", "form", "hint"),
    [
        ({"results": {"t": {}}, "configs": {}}, "lm-eval-scores", "samples_colours_2026.jsonl, which stands beside it"),
        ({"schema_version": "1", "dataset_name": "d", "metrics": []}, "evalscope-scores", "predictions and reviews"),
        ({"schema_version": "1", "evaluation_results": []}, "eee-aggregate", "detailed_evaluation_results.file_path"),
    ],
)
def test_file_of_scores_is_refused_and_names_the_file_of_answers(tmp_path, content, form, hint):
    (tmp_path / "samples_colours_2026.jsonl").touch()
    path = written(tmp_path / "any.json", content)
    found = recognise(path)
    assert found.form.name == form
    with pytest.raises(BenchmarkError, match="scores and no answers") as caught:
        raise not_read(path, found)
    assert hint in caught.value.hint


def test_promptfoo_results_are_not_called_scores_by_their_name(tmp_path):
    path = Path(shutil.copy(READ / "promptfoo_results.json", tmp_path / "20261201_results.json"))
    with pytest.raises(BenchmarkError, match=r"is a promptfoo result \(promptfoo"):
        read_given([path], None)


def test_questions_are_never_scored_as_answers(tmp_path):
    """A question file has an id and an answer: read as answers it would be right in every row."""
    rows = [{"id": f"q{n}", "image": "a.png", "question": "Q", "choices": ["x", "y"], "answer": "A"} for n in range(3)]
    path = written(tmp_path / "q.jsonl", "\n".join(map(json.dumps, rows)))
    with pytest.raises(BenchmarkError, match="a file of questions, not of answers"):
        read_given([path], None)


# --- views and options ------------------------------------------------------------------------------------------------


class Asked:
    def __init__(self, questions, views=()):
        self._questions, self._views = questions, views

    def questions(self):
        return iter(self._questions)

    def released_views(self):
        return self._views


def test_lmms_eval_samples_without_their_data_keep_the_view_of_their_rows():
    given = read_given([READ / "20261201_samples_own_crop_3x.jsonl"], None)
    assert given.views == ("crop_3x",)


def test_lmms_eval_samples_without_their_data_keep_the_view_of_their_task(tmp_path):
    rows = [json.loads(line) for line in (READ / "20261201_samples_own_crop_3x.jsonl").read_text().splitlines()]
    for row in rows:
        del row["eyechart_strict"]["view_id"]
    path = written(tmp_path / "20261201_samples_own_downsample_0_5.jsonl", "\n".join(map(json.dumps, rows)))
    assert read_given([path], None).views == ("downsample_0_5",)


def test_samples_of_two_views_in_one_file_are_two_views_of_the_same_questions(tmp_path):
    rows = [json.loads(line) for line in (READ / "20261201_samples_own_crop_3x.jsonl").read_text().splitlines()]
    others = json.loads(json.dumps(rows))
    for row in others:
        row["eyechart_strict"]["view_id"] = "original"
    path = written(tmp_path / "samples.jsonl", "\n".join(map(json.dumps, rows + others)))
    given = read_given([path], None)
    assert (given.views, len(given.questions), len(given.predictions)) == (("crop_3x", "original"), 3, 6)


COLOURS = ("teal", "violet", "ivory")
GAP = {"index": 0, "question": "Which?", "A": "teal", "B": None, "C": "violet", "D": "ivory", "answer": "C"}


@pytest.mark.parametrize(("said", "is_right"), [("C", True), ("D", False), ("A", False), ("B", False)])
def test_empty_option_cell_keeps_the_letters_behind_it(tmp_path, said, is_right):
    """Columns A, C and D: the reader stopped at B, so that C and D were beyond the options."""
    from eyechart.opening import open_scorer
    from eyechart.releases.evaluate import evaluate_predictions

    path = write_tsv(tmp_path / "x.tsv", [{**GAP, "prediction": said}])
    question = question_about(Size(9, 9), id="0", text="Which?", choices=COLOURS, answer="B")
    for benchmark in (None, Asked([question])):
        given = read_given([path], benchmark, view="original")
        report = evaluate_predictions(given.questions, given.predictions, given.views, *open_scorer("option_letter"))
        cell = next(one for one in report.cells if one.subset is None)
        assert (cell.n_correct, cell.accuracy_sum.chance) == (float(is_right), pytest.approx(1 / 3))


def test_answers_of_several_models_in_one_file_are_refused():
    questions = [question_about(Size(9, 9), id=str(number), choices=COLOURS, answer="B") for number in range(4)]
    with pytest.raises(BenchmarkError, match="answers of several models"):
        read_given([READ / "hf_answers.jsonl"], Asked(questions))


def test_rows_that_tell_their_options_are_scored_in_that_order(tmp_path):
    question = question_about(Size(9, 9), id="7", choices=COLOURS, answer="A")
    path = written(tmp_path / "x.jsonl", {"id": "007", "response": "C", "choices": ["ivory", "violet", "teal"]})
    given = read_given([path], Asked([question]), view="original")
    assert given.predictions["7", "original"].choices == ("ivory", "violet", "teal")
    written(path, {"id": "007", "response": "C", "choices": ["ivory", "violet", "pink"]})
    with pytest.raises(BenchmarkError, match="are not those of question 7"):
        read_given([path], Asked([question]), view="original")


def test_answers_under_another_order_print_no_accuracy_by_letter(tmp_path, capsys):
    shutil.copytree(READ.parent, tmp_path, dirs_exist_ok=True)
    command = ["score", "--predictions", str(tmp_path / "read" / "other_order.jsonl"), "--benchmark", "folder"]
    command += ["--data", str(tmp_path / "other_order_questions.jsonl")]
    assert run_app(command) == 1
    shown = capsys.readouterr()
    assert "25.0" not in shown.out + shown.err
    assert "100.0" in shown.out
    assert "error: OPTION_ORDER: of 24 questions whose answers copy the text of an option, 18 copy" in shown.err
    assert "--options-as FILE" in shown.err
    assert run_app([*command, "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert (printed["report"], printed["order"]["accuracy_by_text"]["value"]) == (None, 1.0)
    assert run_app([*command, "--allow", "OPTION_ORDER"]) == 0
    shown = capsys.readouterr()
    assert "25.0" in shown.out
    assert "despite OPTION_ORDER" in shown.out


def test_given_order_of_the_options_scores_them_as_shown(tmp_path, capsys):
    questions = [json.loads(line) for line in (READ.parent / "other_order_questions.jsonl").read_text().splitlines()]
    orders = {}
    for line in (READ / "other_order.jsonl").read_text().splitlines():
        row = json.loads(line)
        question = next(one for one in questions if one["id"] == row["id"])
        letter, _, text = row["response"].partition(". ")
        first = question["choices"].index(text) - "ABCD".index(letter)
        orders[row["id"]] = [question["choices"][(first + step) % 4] for step in range(4)]
    command = ["score", "--predictions", str(READ / "other_order.jsonl"), "--benchmark", "folder", "--json"]
    command += ["--data", str(READ.parent / "other_order_questions.jsonl")]
    assert run_app([*command, "--options-as", str(written(tmp_path / "orders.json", orders))]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["order"] is None
    assert printed["report"]["cells"][0]["accuracy_sum"]["value"] == 1.0
    assert run_app(["score", "--predictions", str(READ / "mock_OwnColours.tsv"), "--options-as", "x.json"]) == 2


# --- hostile files ----------------------------------------------------------------------------------------------------


def archive_of(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


class Trap:
    """Ends the process if it is ever loaded."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('loaded')",))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_objects_are_never_loaded(tmp_path, protocol):
    (tmp_path / "answers.jsonl").write_bytes(pickle.dumps(Trap(), protocol=protocol))
    with pytest.raises(BenchmarkError, match="pickle files are never loaded"):
        recognise(tmp_path / "answers.jsonl")


def test_weights_in_an_archive_are_never_loaded(tmp_path):
    path = archive_of(tmp_path / "model.pt", {"model/data.pkl": pickle.dumps(Trap())})
    with pytest.raises(BenchmarkError, match="pickle files are never loaded"):
        recognise(path)


@pytest.mark.parametrize("content", ["[]", "[1, 2]"])
def test_list_without_rows_is_not_said_to_lack_columns(tmp_path, content):
    with pytest.raises(BenchmarkError, match="no row in it could be looked at"):
        recognise(written(tmp_path / "x.json", content))


HOSTILE_TEXTS = {
    "deep list": "[" * 1_000_000,
    "deep object": '{"a":' * 1_000_000,
    "deep row": '{"id": 1, "response": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}\n" + '{"id": 2, "response": "A"}',
    "call in JavaScript": "alert(fetch('x'))",
    "code": "import os\nos.system('x')\n",
    "no text": "\x00\x01\x02",
    "open quote": 'id,response\n1,"A' + "x" * 100_000,
    "numbers": "9" * 100_000,
    "blank": " \n\n",
}


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_hostile_text_ends_in_a_clear_error(tmp_path, name):
    path = written(tmp_path / "x.json", HOSTILE_TEXTS[name])
    started = time.process_time()
    with pytest.raises(EyechartError):
        read_given([path], Asked([question_about(Size(9, 9), id="1", choices=COLOURS, answer="A")]))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        '{"id": 1, "response": "A", "response": "B"}\n{"id": 2, "response": "A"}',
        '[{"id": 1, "response": "A", "response": "B"}]',
        "id,response,response\n1,A,B",
    ],
)
def test_response_that_stands_twice_in_a_row_is_refused(tmp_path, text):
    """The last one was scored without a word."""
    with pytest.raises(BenchmarkError, match=r"'response' stands (there )?twice"):
        recognise(written(tmp_path / "x", text))


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_response_that_stands_twice_is_refused_in_any_row(tmp_path, suffix):
    """Only the first rows are looked at to tell the form of a file."""
    rows = [f'{{"id": "{number}", "response": "A"}}' for number in range(60)]
    rows[50] = '{"id": "50", "response": "A", "response": "B"}'
    text = "\n".join(rows) if suffix == "jsonl" else f"[{', '.join(rows)}]"
    questions = [question_about(Size(9, 9), id=str(number), choices=COLOURS, answer="A") for number in range(60)]
    with pytest.raises(BenchmarkError, match="'response' stands twice"):
        read_given([written(tmp_path / f"original.{suffix}", text)], Asked(questions))


def test_table_divided_by_semicolons_is_named(tmp_path):
    with pytest.raises(BenchmarkError, match="divided by semicolons, not by commas"):
        recognise(written(tmp_path / "x", "id;response\n1;A\n"))


def test_javascript_is_known_by_its_beginning_and_never_run(tmp_path):
    for text in (
        "test_data = [evil()]",
        'cache["m"] = `${evil()}`',
        "var test_data=[]",
        "// made here\n/* by us */ test_data = []",
    ):
        assert recognise(written(tmp_path / "x", text)).form.name == "hrscene-explorer"


@pytest.mark.parametrize("names", [("../../etc/passwd", "header.json"), ("/header.json",), ("a\\..\\b",), ("x",) * 3])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_of_members_lead_nowhere(tmp_path, names):
    with zipfile.ZipFile(tmp_path / "x", "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    if "header.json" in names:
        assert recognise(tmp_path / "x").form.name == "inspect-eval"
    else:
        with pytest.raises(BenchmarkError, match=r"no known form \(members: "):
            recognise(tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_archive_that_lists_too_many_members_is_refused_unread(tmp_path):
    path = archive_of(tmp_path / "x", {"header.json": "{}"})
    content = bytearray(path.read_bytes())
    struct.pack_into("<I", content, content.rfind(b"PK\x05\x06") + 12, 1 << 30)
    path.write_bytes(content)
    with pytest.raises(BenchmarkError, match="more members"):
        recognise(path)


@pytest.mark.parametrize("member", ["xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"])
def test_sheet_that_unpacks_to_gigabytes_is_refused_in_bounded_memory(tmp_path, member):
    """In a process of its own, whose memory is bounded from outside."""
    path = tmp_path / "bomb.xlsx"
    shutil.copy(READ / "mock_OwnColours.xlsx", path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != member}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        with archive.open(member, "w") as bomb:
            bomb.write(b"<sst><si><t>")
            for _ in range(300):
                bomb.write(b"a" * (1 << 20))
    code = (
        "import sys; from pathlib import Path; from eyechart.releases.forms import recognise\n"
        "from eyechart.errors import EyechartError\n"
        "try: recognise(Path(sys.argv[1]))\n"
        "except EyechartError as error: print(error)"
    )

    def bound():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=bound,
    )
    assert "not an xlsx file" in done.stdout, done.stderr
    assert "unpacks to more than" in done.stdout


NAMES = st.sampled_from(
    [
        *("id", "question_id", "base_sample_id", "response", "prediction", "output", "answer", "index", "model_output"),
        *(
            "sample_score",
            "doc_id",
            "resps",
            "filtered_resps",
            "arguments",
            "input",
            "token_counts",
            "pred_ans",
            "logs",
        ),
        *(
            "pred_output",
            "options",
            "test_type",
            "schema_version",
            "evaluation_id",
            "sample_id",
            "evaluation",
            "results",
        ),
        *("configs", "version", "status", "eval", "plan", "evalId", "config", "questions", "responses", "metrics", "A"),
        *("adapter_spec", "request_states", "dataset_name", "evaluation_results", "image", "question", "", "\u00e9"),
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
LISTS = st.lists(SCALARS | st.lists(SCALARS, max_size=2), max_size=2)
VALUES = SCALARS | LISTS | st.dictionaries(st.text(max_size=3), SCALARS | LISTS, max_size=2)
ROWS = st.lists(st.dictionaries(NAMES, VALUES, max_size=8), min_size=1, max_size=3)


@given(ROWS, st.sampled_from(["lines", "list", "object", "pretty"]))
@settings(max_examples=120)
def test_no_set_of_keys_ends_in_a_traceback_and_rows_have_one_form_in_every_container(tmp_path_factory, rows, how):
    path = tmp_path_factory.getbasetemp() / "any.bin"
    whole = rows[0] if how in {"object", "pretty"} else rows
    written(
        path,
        "\n".join(map(json.dumps, rows))
        if how == "lines"
        else json.dumps(whole, indent=1 if how == "pretty" else None),
    )
    try:
        found = recognise(path)
    except (BenchmarkError, UsageError) as error:
        assert error.hint  # noqa: PT017 -- either outcome is allowed
    else:
        assert found.form.name in {*FORMS, "questions"}


@given(
    st.binary(max_size=200)
    | st.sampled_from([b"PK\x03\x04", b"PAR1", b"\x80\x04", b"\x1f\x8b", b"{", b"["]).map(lambda b: b + b"\x00rest")
)
@settings(max_examples=120)
def test_no_bytes_end_in_a_traceback(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "bytes.bin"
    path.write_bytes(content)
    try:
        recognise(path)
    except EyechartError as error:
        assert str(path) in str(error)  # noqa: PT017 -- either outcome is allowed

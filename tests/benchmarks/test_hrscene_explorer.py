"""Files of HRScene's site as published: data written as JavaScript is read, and nothing in it is run."""

import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.benchmarks._hrscene.explorer import read_explorer
from eyechart.benchmarks._hrscene.literals import MAX_BYTES, MAX_DEPTH, read_assignments
from eyechart.cli._app import run_app
from eyechart.errors import BenchmarkError

QUESTIONS = """\
// own words, in the form of the site
test_data = [
  {
    id: "ArtBench_1",
    id_row_col: null,
    question:
      "Which style is it?\\n",
    answer: "B",
    dataset: "ArtBench",
    image_id: "1",
    choices: [
      "(A) baroque",
      "(B) realism",
      "",
    ],
    image: "ArtBench/1",
  },
  {id: 'ArtBench_2', id_row_col: undefined, question: 'Which "style" is it?', answer: "A", dataset: "ArtBench",
   image_id: "2", choices: ["(A) baroque", "(B) realism"], /* own */ image: "ArtBench/2"},
];
"""
ANSWERS = (
    """cache["%s"] = {"0": {"id": "ArtBench_1", "response": "<ans>B</ans>"}, 1: {id: 'ArtBench_2', response: null}}"""
)


@pytest.fixture
def site(tmp_path):
    for model in ("Own-7B", "Own-2B"):
        (tmp_path / "site/model_responses" / model).mkdir(parents=True)
        (tmp_path / "site/model_responses" / model / "data.js").write_text(ANSWERS % model)
    (tmp_path / "site/data.js").write_text(QUESTIONS)
    return tmp_path / "site"


def test_folder_of_the_site_is_read_as_published(site):
    explorer = read_explorer(site)
    assert [question.id for question in explorer.questions] == ["ArtBench_1", "ArtBench_2"]
    assert explorer.questions[0].choices == ("baroque", "realism")
    assert explorer.questions[1].text == 'Which "style" is it?'
    assert explorer.answers == {"Own-2B": ("<ans>B</ans>", None), "Own-7B": ("<ans>B</ans>", None)}


@pytest.mark.parametrize(
    ("names", "models"),
    [
        (["data.js"], {"Own-7B", "Own-2B"}),
        (["model_responses/Own-7B/data.js"], {"Own-7B"}),
        (["data.js", "model_responses/Own-2B/data.js"], {"Own-2B"}),
        (["model_responses/Own-2B/data.js", "data.js", "model_responses/Own-7B/data.js"], {"Own-7B", "Own-2B"}),
    ],
)
def test_single_files_find_what_they_belong_to(site, names, models):
    assert set(read_explorer(*(site / name for name in names)).answers) == models


def test_root_of_the_site_and_files_of_other_names_are_read(site, tmp_path):
    shutil.copytree(site, tmp_path / "root/data/explorer")
    assert len(read_explorer(tmp_path / "root").answers) == 2
    (tmp_path / "q.txt").write_text(QUESTIONS)
    (tmp_path / "m.txt").write_text(ANSWERS % "M")
    assert set(read_explorer(tmp_path / "q.txt", tmp_path / "m.txt").answers) == {"M"}


def test_answers_of_one_model_keep_their_fingerprint_beside_others(site):
    alone = read_explorer(site / "model_responses/Own-7B/data.js")
    assert read_explorer(site).sha256["Own-7B"] == alone.sha256["Own-7B"]


def test_import_writes_a_run_per_model(site, tmp_path, capsys):
    assert run_app(["import", "hrscene-explorer", str(site), "--out", str(tmp_path / "runs")]) == 0
    assert "Own-7B: 1 answers, 1 missing" in capsys.readouterr().err
    assert sorted(folder.name for folder in (tmp_path / "runs").iterdir()) == ["Own-2B", "Own-7B"]
    assert run_app(["import", "hrscene-explorer"]) == 2


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("data.js", "", "there is no data.js with the questions"),
        ("data.js", QUESTIONS + QUESTIONS, "test_data stands twice"),
        ("data.js", QUESTIONS + "other = 1", "other is neither test_data nor the answers of a model"),
        ("data.js", QUESTIONS.replace('"ArtBench_1"', "7"), r"Expected `str`, got `int` - at `\$\[0\].id`"),
        ("model_responses/Own-7B/data.js", ANSWERS.replace("ArtBench_2", "X_9") % "M", "the unknown question 'X_9'"),
        ("model_responses/Own-7B/data.js", ANSWERS.replace("_2", "_1") % "M", "two answers to 'ArtBench_1'"),
        ("model_responses/Own-7B/data.js", "load('data')", r"Own-7B/data.js, line 1: \"\('data'\)\" is not data"),
        ("model_responses/Own-7B/data.js", "{}", "a JSON file stands alone"),
    ],
)
def test_fault_in_a_file_of_the_site_is_named(site, name, text, message):
    (site / name).write_text(text)
    with pytest.raises(BenchmarkError, match=message):
        read_explorer(site)


def test_folder_without_the_files_and_missing_files_are_named(tmp_path):
    with pytest.raises(BenchmarkError, match=r"holds no data\.js"):
        read_explorer(tmp_path)
    with pytest.raises(BenchmarkError, match="cannot read"):
        read_explorer(tmp_path / "gone.js")
    (tmp_path / "data.js").write_text(QUESTIONS)
    with pytest.raises(BenchmarkError, match=r"there is no model_responses/MODEL/data\.js with"):
        read_explorer(tmp_path / "data.js")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def as_script(value, draw):
    """Write a value as JavaScript in one of the ways that mean the same."""
    space = draw(st.sampled_from(["", " ", "\n", "/* a, b */", "// c }\n"]))
    comma = draw(st.sampled_from(["", ","]))
    if isinstance(value, list):
        body = ",".join(as_script(entry, draw) for entry in value)
        return f"{space}[{body}{comma if value else ''}]{space}"
    if isinstance(value, dict):
        body = ",".join(f"{space}{key_as_script(key, draw)}{space}:{as_script(v, draw)}" for key, v in value.items())
        return f"{space}{{{body}{comma if value else ''}{space}}}"
    if isinstance(value, str):
        return space + text_as_script(value, draw) + space
    return space + (draw(st.sampled_from(["null", "undefined"])) if value is None else json.dumps(value)) + space


def key_as_script(key, draw):
    is_bare = key.isascii() and key.isidentifier()
    return key if is_bare and draw(st.booleans()) else text_as_script(key, draw)


def text_as_script(text, draw):
    if draw(st.booleans()):
        return json.dumps(text, ensure_ascii=draw(st.booleans()))
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n\\\n").replace("\r", "\\x0d")
    return f"'{escaped}'"


@settings(max_examples=80)
@given(VALUES, st.data())
def test_any_data_is_read_back_however_it_is_written(value, data):
    text = f"const a = {as_script(value, data.draw)}{data.draw(st.sampled_from([';', '', ';;']))[:1]}"
    (assignment,) = read_assignments(text.encode(), "x.js")
    assert assignment == (("a",), value)


@pytest.mark.parametrize(
    "code",
    [
        *("f()", "a = f(1)", "a = b", "a = `x`", "a = `${f()}`", "a = new Date()", "a = function () {}", "a = () => 1"),
        *("a = 1 + 2", 'a = "x" + "y"', "a = [...b]", "a = {...b}", "a = {b}", "a = {[b]: 1}", "a = {get b() {}}"),
        *("a = /x/", "a = !0", "a = void 0", "a = (1)", "a = [1, , 2]", "a = 0x1f", "a = 012", "a = NaN", "a[b] = 1"),
        *("a += 1", "a", "a =", 'a = "x', "a = 'x\ny'", "a = {b: 1", "a = [1", "a = '\\u{110000}'", "a = '\\1'"),
        *("import x from 'y'", "a = 1 b = 2", "a = {b: 1, b: 2}", "a = {1e3: 2}", "a = 1n", "<script>", "a = 1; }"),
    ],
)
def test_code_and_torn_data_are_refused(code):
    with pytest.raises(BenchmarkError, match=r"x\.js, line \d"):
        read_assignments(code.encode(), "x.js")


def test_size_depth_and_encoding_have_bounds():
    deep = MAX_DEPTH + 2
    with pytest.raises(BenchmarkError, match="nested deeper than"):
        read_assignments(b"a = " + b"[" * deep + b"]" * deep, "x.js")
    with pytest.raises(BenchmarkError, match="nested deeper than"):
        read_assignments(b"a = " + b"[" * 1_000_000, "x.js")
    with pytest.raises(BenchmarkError, match=f"more than {MAX_BYTES}"):
        read_assignments(b" " * (MAX_BYTES + 1), "x.js")
    with pytest.raises(BenchmarkError, match="not UTF-8 text"):
        read_assignments(b"a = '\xff'", "x.js")


def test_statements_end_by_semicolon_or_line_and_targets_have_keys():
    read = read_assignments(b'\xef\xbb\xbfvar a = 1\nlet b = -2.5e1; cache.M = [] // x\ncache["N o"] = {};', "x.js")
    assert read == ((("a",), 1), (("b",), -25.0), (("cache", "M"), []), (("cache", "N o"), {}))
    assert read_assignments(b"a = '\\ud83d\\ude00\\ud83d'", "x.js")[0].value == "😀\N{REPLACEMENT CHARACTER}"

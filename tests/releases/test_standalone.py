"""The programs that a release carries: one file each, standard library only, and exactly our numbers."""

import ast
import json
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from releases.made import make_release

from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.opening import open_prompt, open_scorer
from eyechart.releases.bundle import bundle_modules
from eyechart.releases.evaluate import evaluate_predictions
from eyechart.releases.given import read_given
from eyechart.scorers.option_letter.extraction import extract

NOTICE = "Made by a test."
PROGRAMS = ("evaluate", "prompts")
# Answers of every kind that a scorer tells apart.
RESPONSES = (
    *("A", "B", "The answer is **C**.", "<think>A?</think>D", "E", "", "no idea", "I cannot help with that.", "A or B"),
    *("red", "\uff21", "<answer></answer>", "It is brown", "答案:B", None),
)
STATES = ("answered", "answered", "answered", "truncated", "refusal", "content_filter", "refused_input", "transient")


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    root = make_release(tmp_path_factory.mktemp("standalone"))
    (root / "scripts").mkdir(exist_ok=True)
    for name in PROGRAMS:
        text = bundle_modules(f"eyechart.releases.standalone.{name}", NOTICE)
        (root / "scripts" / f"{name}.py").write_text(text, encoding="utf-8")
    return root


def run_alone(root, name, *arguments):
    """Run a program isolated from every installed package."""
    command = [sys.executable, "-I", "-S", str(root / "scripts" / f"{name}.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_needs_the_standard_library_only(release, name):
    tree = ast.parse((release / "scripts" / f"{name}.py").read_text(encoding="utf-8"))
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= sys.stdlib_module_names
    assert NOTICE in ast.get_docstring(tree)
    assert "eyechart." not in "".join(ast.unparse(node) for node in tree.body if not isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("mode", ["strict", "lenient"])
@pytest.mark.parametrize("seed", range(3))
def test_evaluate_gives_exactly_our_numbers(release, tmp_path, seed, mode):
    chosen = random.Random(seed)  # noqa: S311 -- made answers
    benchmark = SumKind().open(release, SumOptions())
    rows = []
    for view in chosen.sample(benchmark.released_views(), 5):
        for question in benchmark.questions():
            if chosen.random() < 0.8:
                row = {"id": question.id, "view_id": view, "response": chosen.choice(RESPONSES)}
                rows.append(row if row["response"] is None else {**row, "state": chosen.choice(STATES)})
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    given = read_given([path], benchmark)
    ours = evaluate_predictions(given.questions, given.predictions, given.views, *open_scorer(f"option_letter.{mode}"))
    ended = run_alone(release, "evaluate", path, "--json", "--mode", mode)
    assert ended.returncode == 0, ended.stderr
    theirs = json.loads(ended.stdout)
    assert theirs["scorer"] == ours.scorer
    assert [
        (
            *(cell.view, cell.subset, cell.n_questions, cell.n_correct, cell.n_absent, cell.reasons),
            pytest.approx(cell.accuracy_sum.value, abs=1e-12),
            None if cell.accuracy_answered is None else pytest.approx(cell.accuracy_answered.value, abs=1e-12),
        )
        for cell in ours.cells
    ] == [tuple(cell.values()) for cell in theirs["cells"]]
    assert [(one.condition, pytest.approx(one.value, abs=1e-12)) for one in ours.macro] == [
        (one["view"], one["accuracy"]) for one in theirs["macro"]
    ]


def test_table_is_printed_and_says_where_intervals_are(release, tmp_path):
    (tmp_path / "crop_3x.csv").write_text("id,response\n0,B\n1,\n", encoding="utf-8")
    ended = run_alone(release, "evaluate", tmp_path / "crop_3x.csv")
    assert ended.returncode == 0
    assert (
        "crop_3x                  all                                    4        1    25.00%       3" in ended.stdout
    )
    assert "Intervals" in ended.stdout


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "000099", "view_id": "original", "response": "A"}, "unknown id or view"),
        ({"id": "000000", "response": "A"}, "names no view"),
        ({"id": "000000", "view_id": "original"}, "has no response"),
        ({"id": "000000", "view_id": "original", "response": "A", "state": "odd"}, "state 'odd'"),
        ({"view_id": "original", "response": "A"}, "has no id"),
    ],
)
def test_fault_of_a_row_ends_the_program(release, tmp_path, row, message):
    (tmp_path / "p.jsonl").write_text(json.dumps(row), encoding="utf-8")
    ended = run_alone(release, "evaluate", tmp_path / "p.jsonl")
    assert (ended.returncode, message in ended.stderr) == (1, True)


@pytest.mark.parametrize(("form", "prompt_id"), [("normalized", "letter_normalized"), ("legacy", "letter_legacy")])
def test_prompts_are_exactly_ours(release, form, prompt_id):
    ended = run_alone(release, "prompts", form)
    printed = [json.loads(line) for line in ended.stdout.splitlines()]
    questions = list(SumKind().open(release, SumOptions()).questions())
    expected = [open_prompt(prompt_id).render(question, question.choices) for question in questions]
    assert [line["prompt"] for line in printed] == expected
    assert [line["id"] for line in printed] == [question.id for question in questions]
    assert {line["prompt_id"] for line in printed} == {f"{prompt_id}@1"}


@pytest.fixture(scope="module")
def bundled():
    """The letter reader as it stands in the bundled file."""
    names: dict[str, object] = {"__name__": "bundled"}
    exec(bundle_modules("eyechart.releases.standalone.evaluate", NOTICE), names)  # noqa: S102 -- our own text
    return names["extract"]


@given(st.text(st.sampled_from('ABCDabcd()[]*.:, \nanswer is notred选是<>/\\boxed{}"'), max_size=60))
def test_bundled_reader_reads_like_ours(bundled, text):
    choices = ("red", "A. Smith", "blue", "Red")
    for mode in ("strict", "lenient"):
        assert tuple(bundled(text, choices, mode)) == tuple(extract(text, choices, mode))


def test_modules_that_are_missing_or_clash_are_refused():
    with pytest.raises(ValueError, match="there is no module"):
        bundle_modules("eyechart.releases.nowhere", NOTICE)
    with pytest.raises(ValueError, match="is defined in"):
        bundle_modules("eyechart.releases.verify", NOTICE)

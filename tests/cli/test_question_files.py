"""Laws of ``check`` and ``run`` on question files: what cannot be scored is refused before anything is asked."""

import json

import pytest
from PIL import Image

import eyechart
from eyechart.cli._app import run_app
from eyechart.errors import BenchmarkError

ROW = {"image": "0.png", "question": "Which?", "choices": ["x", "y"], "answer": "A"}
FREE = {"image": "0.png", "question": "What is written?", "answer": "EXIT"}


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    Image.new("RGB", (64, 48), "red").save(tmp_path / "0.png")

    def write(*rows):
        lines = [json.dumps({"id": f"q{number}", **row}) for number, row in enumerate(rows)]
        (tmp_path / "questions.jsonl").write_text("\n".join(lines))
        return tmp_path

    return write


def command(name, *more):
    return run_app([name, "folder", "--data", "questions.jsonl", "--views", "original", *more])


def run(*more):
    return command("run", "--model", "simulated/oracle", "--out", "kept", "--no-report", *more)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**ROW, "choices": ["x", None, "y"]}, "choices skip B"),
        ({**ROW, "answer": None}, "no row has a right answer"),
        ({**ROW, "answer": ["A", "B"]}, "two right answers"),
        ({**FREE, "answer": "B"}, "every answer is a letter"),
    ],
)
def test_check_and_run_refuse_the_same_with_the_row_and_write_nothing(write, capsys, row, message):
    folder = write(row)
    for start in (lambda: command("check"), run):
        assert start() == 1
        assert message in (said := capsys.readouterr().err)
        assert "questions.jsonl" in said
        assert "hint: " in said
    assert not (folder / "kept").exists()


def test_hidden_answers_are_asked_where_that_is_said(write, capsys):
    write({**ROW, "answer": None})
    assert command("check", "--allow-hidden", "--model", "openai/gpt-4o") == 0
    assert "--option allow_hidden=true" in capsys.readouterr().err
    assert run_app(["check", "demo", "--allow-hidden", "--views", "original"]) == 0  # of question files alone
    code = command("run", "--model", "simulated/chance", "--out", "kept", "--no-report", "--allow-hidden")
    assert code == 0


def test_free_questions_choose_their_scorer_and_refuse_a_reader_of_letters(write, capsys):
    folder = write(FREE)
    assert run("--scorer", "option_letter") == 1
    assert "1 of 1 questions have no options (the first is 'q0')" in capsys.readouterr().err
    assert not (folder / "kept").exists()
    assert run() == 0
    assert json.loads((folder / "kept" / "run.json").read_bytes())["scorer"].startswith("vqa_soft")
    assert capsys.readouterr().err.count("read: no question has options: the scorer is vqa_soft") == 1


def test_python_refuses_what_the_command_line_refuses(write):
    folder = write(FREE)
    bench = eyechart.benchmark("folder", data=folder / "questions.jsonl")
    with pytest.raises(BenchmarkError, match="option_letter reads the letter of an option"):
        eyechart.run(bench, model="simulated/oracle", views="original", scorer="option_letter")
    write({**ROW, "answer": None})
    with pytest.raises(BenchmarkError, match="no row has a right answer"):
        eyechart.benchmark("folder", data=folder / "questions.jsonl")


def test_a_suite_tells_the_reading_of_its_files_and_refuses_alike(write, capsys):
    folder = write({**FREE, "answer": None, "gold": "EXIT"})
    suite = (
        'out = "runs"\n[[models]]\nmodel = "simulated/oracle"\n[[benchmarks]]\nname = "folder"\n'
        'data = "questions.jsonl"\n'
        '[[views]]\nviews = "original"\n[[settings]]\n'
    )
    (folder / "suite.toml").write_text(suite)
    assert run_app(["run", "--suite", "suite.toml", "--no-report"]) == 0
    assert "answer from column 'gold'" in capsys.readouterr().err
    (folder / "suite.toml").write_text(suite + 'scorer = "option_letter"\nlabel = "letters"\n')
    assert run_app(["run", "--suite", "suite.toml", "--no-report"]) == 1
    assert "reads the letter of an option" in capsys.readouterr().err


def test_options_that_speak_of_others_keep_their_order_counted_and_said(write, capsys):
    four = ["teal", "amber", "violet", "ivory"]
    rows = ({**ROW, "choices": four}, {**ROW, "choices": [*four[:3], "None of the above"]})
    folder = write(*rows)
    assert run("--rotate-choices", "all", "--json") == 0
    shown = capsys.readouterr()
    assert "1 of 2 questions keep the order of their options: one speaks of the others ('None of the above' in q1)" in (
        shown.err
    )
    requests = [json.loads(line) for line in (folder / "kept" / "requests.jsonl").read_text().splitlines()]
    asked = {name: [one["choice_order"] for one in requests if one["question_id"] == name] for name in ("q0", "q1")}
    assert len(asked["q0"]) == 4
    assert asked["q1"] == [[0, 1, 2, 3]]
    (condition,) = json.loads(shown.out)["conditions"]
    assert condition["n_missing"] == 0
    names = {one["name"]: one["value"] for one in json.loads(shown.out)["proportions"]}
    assert names.get("all rotations right", 1.0) == 1.0


@pytest.mark.parametrize(
    ("line", "error", "hint"),
    [
        (
            "run folder questions.jsonl --model simulated/oracle",
            "'questions.jsonl' belongs to no flag",
            "--data questions",
        ),
        (
            "run questions.jsonl --model simulated/oracle",
            "'questions.jsonl' is a file",
            "folder --data questions.jsonl",
        ),
        ("check . --model simulated/oracle", "'.' is a file or folder", "folder --data ."),
        ("check folder --box-format xyxy", "there is no flag --box-format", "--option box_format="),
        ("check folder --option box_format=pixels", "box_format=pixels is not known", "is one of: xyxy, xywh"),
        ("check folder --option allow_hidden=perhaps", "allow_hidden=perhaps is not true or false", "known settings"),
        ("check folder --option empty_options=9", "empty_options=9 is not known", "is one of: refuse, drop, text"),
        ("check folder --views original,crop_3x", "need a target box", "write a column box"),
    ],
)
def test_first_mistakes_are_answered_by_what_to_write(write, capsys, line, error, hint):
    write(ROW)
    name, benchmark, *words = line.split()
    data = ["--data", "questions.jsonl"] if benchmark == "folder" and "questions.jsonl" not in words else []
    assert run_app([name, benchmark, *data, *words]) == 2
    said = capsys.readouterr().err
    assert error in said
    assert hint in said
    assert "`" not in said

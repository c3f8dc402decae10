import json

import pytest
from needles_made import write_needles

from eyechart.cli._app import run_app


def test_board_is_printed_with_its_rule_and_sources(capsys):
    assert run_app(["leaderboard", "hrscene", "--split", "test"]) == 0
    captured = capsys.readouterr()
    assert "Qwen2-VL-72B-Instruct" in captured.out
    assert "size_weighted" in captured.out
    assert "published 2025-04-25" in captured.out
    assert "https://yszh8.github.io/hrscene/" in captured.err


@pytest.mark.parametrize(
    ("name", "start"),
    [("b.md", "**hrscene"), ("b.tex", "% Written"), ("b.html", "<!doc"), ("b.txt", "hrscene,")],
)
def test_suffix_of_the_file_chooses_the_format(tmp_path, name, start):
    assert run_app(["leaderboard", "hrscene", "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_json_holds_every_row_with_source_and_rank(capsys):
    assert run_app(["leaderboard", "hrscene", "--split", "testmini", "--average", "macro_category", "--json"]) == 0
    board = json.loads(capsys.readouterr().out)
    assert (board["split"], board["rule"], len(board["rows"])) == ("testmini", "macro_category", 31)
    assert board["rows"][0]["rank"] == 1


def test_file_of_unknown_format_is_refused(tmp_path, capsys):
    assert run_app(["leaderboard", "hrscene", "--out", str(tmp_path / "b.pdf")]) == 2
    assert "b.pdf says no format" in capsys.readouterr().err


def test_grouped_text_keeps_models_of_a_size_together(capsys):
    assert run_app(["leaderboard", "hrscene", "--grouped"]) == 0
    lines = capsys.readouterr().out.splitlines()
    places = [index for index, line in enumerate(lines) if " closed " in line]
    assert places == list(range(places[0], places[0] + 6))


def ask_grid(folder, out, grid, model="simulated/oracle"):
    option = ["--option", f"needles={folder / 'needles'}", "--option", f"grid={grid}"]
    assert (
        run_app(["run", "whitebackground", *option, "--model", model, "--out", str(folder / out), "--no-report"]) == 0
    )
    return str(folder / out)


def own_rows(capsys, *folders):
    capsys.readouterr()
    assert run_app(["leaderboard", "whitebackground", *folders, "--json"]) == 0
    board = json.loads(capsys.readouterr().out)
    return {row["name"]: row["cells"] for row in board["rows"] if row["kind"] == "own"}, board["notes"]


def test_size_is_taken_against_1x1_asked_in_another_run_of_the_same_model_and_needles(tmp_path, capsys):
    write_needles(tmp_path / "needles", 5)
    one, two = ask_grid(tmp_path, "one", 1), ask_grid(tmp_path, "two", 2)
    rows, notes = own_rows(capsys, one, two)
    assert rows["two"]["2x2 size"]["percent"] == 0.0
    assert rows["two"]["2x2 size"]["n_questions"] == 5
    assert "two: Size of grid_white_2x2 is against grid_white_1x1 of run one." in notes
    rows, _ = own_rows(capsys, two)
    assert "2x2 size" not in rows["simulated/oracle"]


def test_size_is_not_taken_against_1x1_of_another_model_or_other_needles(tmp_path, capsys):
    write_needles(tmp_path / "needles", 5)
    other_model = ask_grid(tmp_path, "chance", 1, "simulated/chance")
    two = ask_grid(tmp_path, "two", 2)
    write_needles(tmp_path / "needles", 6)
    other_needles = ask_grid(tmp_path, "more", 1)
    rows, _ = own_rows(capsys, other_model, two, other_needles)
    assert "2x2 size" not in rows["two"]


def test_an_anonymous_board_tells_neither_run_nor_organisation(tmp_path, capsys):
    write_needles(tmp_path / "needles", 3)
    runs = [ask_grid(tmp_path, f"secret{grid}", grid) for grid in (1, 2)]
    file = tmp_path / "secret1" / "run.json"
    capsys.readouterr()
    assert run_app(["leaderboard", "whitebackground", *runs, "--anonymous"]) == 0
    shown = capsys.readouterr()
    assert "secret" not in shown.out + shown.err
    assert "simulated/oracle, run 2: Size of grid_white_2x2 is against grid_white_1x1 of another own run." in shown.err
    file.write_text(file.read_text().replace('"name":"oracle"', '"name":"Secret-Lab/oracle"'))
    assert run_app(["leaderboard", "whitebackground", runs[0], "--anonymous", "--json"]) == 0
    assert '"simulated/oracle"' in (text := capsys.readouterr().out)
    assert "Secret" not in text

import json

import pytest

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

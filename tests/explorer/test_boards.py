"""Laws of the leaderboards of a study: each has an address, the same rows as the command, and nothing is hidden."""

import json

import pytest
from starlette.testclient import TestClient

from eyechart.cli._app import run_app
from eyechart.errors import UsageError
from eyechart.explorer.boards import BoardKey, Boards
from eyechart.explorer.server import build_server
from eyechart.explorer.site import write_site
from eyechart.explorer.study import read_study
from eyechart.stats.averages import RULES


@pytest.fixture(scope="module")
def scene(own_words):
    return read_study(own_words)


def test_every_split_and_rule_has_a_board_own_splits_first(scene):
    keys = Boards(scene).keys
    assert keys[0] == BoardKey("hrscene", "explorer", "size_weighted")
    assert {key.split for key in keys} == {"explorer", "test", "testmini"}
    assert {key.rule for key in keys} == set(RULES)
    assert len(keys) == 12


@pytest.mark.parametrize("rule", RULES)
def test_board_is_that_of_the_command(scene, own_words, rule, capsys):
    board = Boards(scene).board(BoardKey("hrscene", "explorer", rule))
    arguments = ["leaderboard", "hrscene", *map(str, own_words), "--split", "explorer", "--average", rule, "--json"]
    capsys.readouterr()
    assert run_app(arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [(row.name, row.rank, row.cells.get("all")) for row in board.rows] == [
        (row["name"], row.get("rank"), None if "all" not in row["cells"] else board.rows[at].cells["all"])
        for at, row in enumerate(printed["rows"])
    ]
    assert [row.cells["all"].percent for row in board.rows if "all" in row.cells] == pytest.approx(
        [row["cells"]["all"]["percent"] for row in printed["rows"] if "all" in row["cells"]]
    )


def test_a_ranked_run_is_not_said_to_have_no_rank(scene):
    for rule in RULES:
        board = Boards(scene).board(BoardKey("hrscene", "explorer", rule))
        assert any(row.rank for row in board.rows) == (not any("has no rank" in note for note in board.notes))


def test_board_of_another_split_says_which_runs_are_elsewhere(scene):
    board = Boards(scene).board(BoardKey("hrscene", "test", "size_weighted"))
    assert {row.kind for row in board.rows} == {"published", "mean", "reference"}
    assert any("asked split explorer, which has a board of its own" in note for note in board.notes)


def test_board_that_is_none_is_refused(scene):
    with pytest.raises(UsageError, match="there is no board hrscene train"):
        Boards(scene).find("hrscene", "train")


def test_own_runs_of_any_benchmark_are_ranked_with_interval_and_n(study):
    board = Boards(study).board(BoardKey("folder"))
    assert board.columns[0].key == "original"
    own = [row for row in board.rows if row.kind == "own"]
    assert [row.rank for row in own] == [1, 2]
    assert own[0].cells["original"].percent >= own[1].cells["original"].percent
    for row in own:
        for cell in row.cells.values():
            assert (cell.low, cell.high) == (None, None)  # five or six pictures are too few for an interval
            assert cell.n_questions in {5, 6}
    guessing = board.rows[-1]
    assert (guessing.kind, guessing.cells["original"].percent) == ("reference", 25.0)


def test_pages_of_server_and_site_hold_the_same_table(scene, tmp_path):
    write_site(scene, tmp_path / "site")
    with TestClient(build_server(scene), base_url="http://127.0.0.1") as client:
        served = client.get("/leaderboard?benchmark=hrscene&split=test&average=macro_category").text
    written = (tmp_path / "site" / "leaderboard-hrscene-test-macro_category.html").read_text()
    table = served[served.index("<table") : served.index("</table>")]
    assert table == written[written.index("<table") : written.index("</table>")]
    assert table.count("<tr") == 1 + 28 + 1 + 2
    assert "–" in table

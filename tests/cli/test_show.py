"""Laws of ``show``: the question on the terminal, the page beside it."""

import json

import pytest
from releases.made import make_release

from eyechart.cli._app import run_app


@pytest.fixture
def release(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make_release(tmp_path)


def test_question_is_printed_and_its_page_written(release, tmp_path, capsys):
    assert run_app(["show", "2", "--data", str(release)]) == 0
    shown = capsys.readouterr()
    for text in (
        "What is it?",
        "C. Brown   ← the recorded answer",
        "target -3, 40, 10, 50",
        "errata",
        "target_only_3x",
    ):
        assert text in shown.out
    assert "page: question-000002.html" in shown.err
    assert (tmp_path / "question-000002.html").stat().st_size > 10_000


def test_json_has_the_views_without_pictures(release, tmp_path, capsys):
    assert run_app(["show", "000000", "--data", str(release), "--views", "crop_1x", "--no-page", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [view["view_id"] for view in content["views"]] == ["crop_1x"]
    assert content["views"][0]["preview"] is None
    assert not list(tmp_path.glob("*.html"))


def test_unknown_id_is_a_usage_error(release, capsys):
    assert run_app(["show", "nobody", "--data", str(release)]) == 2
    assert "nobody" in capsys.readouterr().err

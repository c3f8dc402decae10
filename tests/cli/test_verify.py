"""Laws of ``verify`` on the command line."""

import json

import pytest
from releases.made import make_release

from eyechart.cli._app import run_app


@pytest.fixture
def release(tmp_path):
    return make_release(tmp_path)


def test_explain_says_which_policy_made_the_release(release, capsys):
    assert run_app(["verify", str(release), "--explain", "--jobs", "1"]) == 0
    shown = capsys.readouterr()
    assert "border=clip box_rounding=outward target_basis=clipped explains all 24 rows, and nothing else does" in (
        shown.err
    )
    assert "pillow-lanczos@1" in shown.out
    assert "pixels of crop_1x = target_only_1x" in shown.out
    assert "1 of 4 source boxes leave their image: 000002" in shown.err


def test_explain_as_json_holds_both_reports(release, capsys):
    assert run_app(["verify", str(release), "--explain", "--pixels", "0", "--jobs", "1", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["verified"]["n_images"] == 36
    assert content["explained"]["crop_boxes"][0]["n_explained"] == 24
    assert content["explained"]["resamplers"] == []


def test_explain_leaves_damaged_images_out(release, capsys):
    (release / "data/crop_1x/test/images/000000.png").write_bytes(b"x")
    assert run_app(["verify", str(release), "--explain", "--jobs", "1"]) == 1
    shown = capsys.readouterr()
    assert "not_an_image" in shown.out
    assert "Pixels of 3 of 4 questions" in shown.out


@pytest.mark.parametrize(("name", "message"), [("a.png", "a.png is a file"), ("gone", "gone does not exist")])
def test_what_is_no_folder_is_named(tmp_path, name, message, capsys):
    (tmp_path / "a.png").write_bytes(b"")
    assert run_app(["verify", str(tmp_path / name)]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "report.html" in shown

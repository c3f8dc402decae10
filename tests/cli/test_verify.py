"""Laws of ``verify`` on the command line."""

import json

import pytest
from releases.made import IMAGES, QUESTIONS, as_built_before, make_release

from eyechart.cli._app import run_app


@pytest.fixture
def release(tmp_path):
    return make_release(tmp_path)


def test_explain_says_which_policy_made_the_release(release, capsys):
    assert run_app(["verify", str(release), "--explain", "--no-open", "--jobs", "1"]) == 0
    shown = capsys.readouterr()
    assert "border=clip box_rounding=outward target_basis=clipped explains all 24 rows, and nothing else does" in (
        shown.err
    )
    assert "pillow-lanczos@1" in shown.out
    assert "pixels of crop_1x = target_only_1x" in shown.out
    assert "1 of 4 source boxes leave their image: 000002" in shown.err


def test_explain_as_json_holds_both_reports(release, capsys):
    assert run_app(["verify", str(release), "--explain", "--pixels", "0", "--no-open", "--jobs", "1", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["verified"]["n_images"] == 36
    assert content["explained"]["crop_boxes"][0]["n_explained"] == 24
    assert content["explained"]["resamplers"] == []


def test_explain_leaves_damaged_images_out(release, capsys):
    (release / "data/crop_1x/test/images/000000.png").write_bytes(b"x")
    assert run_app(["verify", str(release), "--explain", "--no-open", "--jobs", "1"]) == 1
    shown = capsys.readouterr()
    assert "not_an_image" in shown.out
    assert "Pixels of 3 of 4 questions" in shown.out


def test_what_is_known_stands_in_one_line_per_kind(tmp_path, capsys):
    release = make_release(tmp_path, [{**QUESTIONS[2], "image": IMAGES[n % 3]} for n in range(5)])
    assert run_app(["verify", str(release), "--jobs", "1", "--no-open"]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert sum(line.startswith("known") for line in lines) == 2
    assert "5 ×: the source box leaves the image" in shown.out
    assert "000000, 000001, 000002, …" in shown.out
    assert "0 errors, 2 warnings, 10 known" in shown.err
    run_app(["verify", str(release), "--jobs", "1", "--no-open", "--json"])
    assert sum(one["level"] == "known" for one in json.loads(capsys.readouterr().out)["findings"]) == 10


def test_without_datasets_nothing_is_opened_and_that_is_said(release, capsys, monkeypatch):
    monkeypatch.setattr("eyechart.releases.opening.can_open", lambda: False)
    assert run_app(["verify", str(release), "--jobs", "1"]) == 0
    assert "not opened as the card says, because datasets is not installed" in capsys.readouterr().err
    assert run_app(["verify", str(release), "--jobs", "1", "--open"]) == 1
    assert "hint: python -m pip install datasets" in capsys.readouterr().err


def test_rows_of_an_earlier_build_are_named_with_what_helps(release, capsys):
    as_built_before(release)
    assert run_app(["verify", str(release), "--jobs", "1", "--no-open", "--explain", "--pixels", "0"]) == 0
    shown = capsys.readouterr()
    assert "answers: absent in 36 rows of original, crop_1x, crop_3x, …" in " ".join(shown.out.split())
    assert "Where rows differ from what eyechart build writes" in shown.out
    assert "the same eyechart build into the same folder writes its rows anew" in " ".join(shown.err.split())


@pytest.mark.parametrize(("name", "message"), [("a.png", "a.png is a file"), ("gone", "gone does not exist")])
def test_what_is_no_folder_is_named(tmp_path, name, message, capsys):
    (tmp_path / "a.png").write_bytes(b"")
    assert run_app(["verify", str(tmp_path / name)]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "report.html" in shown

"""A release may spell the ids of its views as it likes: its rows tell what they are."""

import json
import shutil

import pytest
from releases.made import CLEAN_QUESTIONS, make_release, respell

from eyechart.benchmarks._foreign_views import known_view
from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.errors import UsageError
from eyechart.releases.conform import explain_release
from eyechart.releases.given import read_given
from eyechart.releases.verify import verify_release
from eyechart.runs.choosing import choose_views
from eyechart.schema import Crop, Downsample, Original, TargetOnly, Whiteground
from eyechart.views import format_view

NAMES = {
    "crop_3x": "crop-3.0",
    "whiteground_3x": "pasted3",
    "downsample_0_5": "downsample_0_50",
    "target_only_3x": "only3",
    "target_only_original": "only-full",
}


@pytest.mark.parametrize(
    ("view_id", "values", "view"),
    [
        ("crop_3x", None, Crop(3.0)),
        ("crop_3x", {"view_family": "downsample", "downsample_linear_scale": 0.5}, Crop(3.0)),
        ("whole", {"view_family": "original"}, Original()),
        ("zoom", {"view_family": "crop", "crop_area_multiplier": 1.5}, Crop(1.5)),
        ("pasted", {"view_family": "White-Ground", "crop_area_multiplier": 3}, Whiteground(3.0)),
        ("half", {"view_family": "downsample", "downsample_linear_scale": 0.6875}, Downsample(0.6875)),
        ("only", {"view_family": "target-only", "crop_area_multiplier": 6}, TargetOnly(6.0)),
        ("only", {"view_family": "target_only", "crop_area_multiplier": None}, TargetOnly(None)),
        ("zoom", {"view_family": "crop"}, None),
        ("zoom", {"view_family": "crop", "crop_area_multiplier": 0.25}, None),
        ("zoom", {"view_family": "crop", "crop_area_multiplier": True}, None),
        ("half", {"view_family": "downsample", "downsample_linear_scale": 1 / 3}, None),
        ("half", {"view_family": "downsample", "downsample_linear_scale": float("nan")}, None),
        ("turned", {"view_family": "rotation", "crop_area_multiplier": 3}, None),
        ("turned", {"view_family": 7}, None),
        ("turned", {}, None),
    ],
)
def test_view_is_told_by_its_id_else_by_family_and_scale(view_id, values, view):
    assert known_view(view_id, values) == view


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    plain = make_release(folder, CLEAN_QUESTIONS)
    other = folder / "respelled"
    shutil.copytree(plain, other)
    respell(other, NAMES)
    return plain, other


def opened(root):
    return SumKind().open(root, SumOptions())


def test_views_spelled_otherwise_are_read_as_ours(made):
    plain, other = map(opened, made)
    assert other.read_as == {spelled: view_id for view_id, spelled in NAMES.items()}
    assert sorted(other.released_views()) == sorted(plain.released_views())
    assert "crop-3.0 as crop_3x" in other.warnings[0]
    assert not plain.warnings
    for question in plain.questions():
        for view_id in plain.released_views():
            mine, theirs = plain.released_image(question, view_id), other.released_image(question, view_id)
            assert (mine.image.file_sha256, mine.target_in_view) == (theirs.image.file_sha256, theirs.target_in_view)


def test_run_takes_the_ids_of_the_release_and_ours(made):
    other = opened(made[1])
    assert [format_view(view) for view in choose_views(other, "original, crop-3.0,downsample_0_5").views] == [
        "original",
        "crop_3x",
        "downsample_0_5",
    ]
    assert choose_views(other, None).unknown == ()
    assert len(choose_views(other, None).views) == 9
    with pytest.raises(UsageError, match=r"no view named 'crop-3\.5'|crop-3\.5"):
        choose_views(other, "crop-3.5")


def test_views_spelled_otherwise_are_verified_and_explained_alike(made):
    plain, other = made
    assert verify_release(other, n_processes=1).findings == ()
    mine, theirs = explain_release(plain), explain_release(other)
    assert [fit.n_rows for fit in theirs.crop_boxes] == [fit.n_rows for fit in mine.crop_boxes]
    assert theirs.sizes[0].n_rows == mine.sizes[0].n_rows == 4
    assert theirs.identities == mine.identities
    assert {rule.rule: rule.n_pairs for rule in theirs.rules} == {rule.rule: rule.n_pairs for rule in mine.rules}


def test_wrong_pixels_of_a_view_spelled_otherwise_are_found(made, tmp_path):
    root = tmp_path / "wrong"
    shutil.copytree(made[1], root)
    images = root / "data" / "crop-3.0" / "test" / "images"
    first, second = sorted(images.iterdir())[:2]
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    assert {finding.view for finding in verify_release(root, n_processes=1).findings} == {"crop-3.0"}


def test_predictions_may_name_a_view_by_either_id(made, tmp_path):
    other = opened(made[1])
    path = tmp_path / "answers.jsonl"
    rows = [("000000", "crop-3.0"), ("000001", "crop_3x"), ("000000", "original")]
    path.write_text(
        "\n".join(json.dumps({"id": name, "view_id": view, "response": "A"}) for name, view in rows), encoding="utf-8"
    )
    assert set(read_given([path], other).predictions) == {
        ("000000", "crop_3x"),
        ("000001", "crop_3x"),
        ("000000", "original"),
    }

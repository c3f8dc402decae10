import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from releases.made import QUESTIONS, make_release

from eyechart.errors import BenchmarkError, ImageError
from eyechart.geometry import GeometryPolicy
from eyechart.releases.conform import explain_release
from eyechart.releases.conform_pixels import IdentityCount, area_average
from eyechart.schema import Size

CROPS = ("original", "crop_1x", "crop_1_5x", "crop_18x")
# Odd scales of a 64×48 picture, so that the three roundings differ.
SCALES = ("original", "downsample_0_9375", "downsample_0_33", "downsample_0_132813")
# A target in a corner tells shift from clip; fractions tell the roundings apart.
CORNER = ({**QUESTIONS[0], "box": [0.6, 0.6, 7.7, 6.2]}, {**QUESTIONS[1], "box": [30.5, 5.4, 45.3, 15.6]}, QUESTIONS[2])


@pytest.mark.parametrize("border", ["clip", "shift"])
@pytest.mark.parametrize("box_rounding", ["outward", "nearest", "trunc"])
@pytest.mark.parametrize("target_basis", ["clipped", "source"])
def test_policy_of_the_crops_is_found(tmp_path, border, box_rounding, target_basis):
    policy = GeometryPolicy(border=border, box_rounding=box_rounding, target_basis=target_basis)
    release = make_release(tmp_path, CORNER, views=CROPS, geometry=policy)
    best, second, *_ = explain_release(release, n_pixel_questions=0).crop_boxes
    assert best.policy == f"border={border} box_rounding={box_rounding} target_basis={target_basis}"
    assert best.explains_all
    assert best.n_rows == 9
    assert not second.explains_all
    assert second.first_unexplained is not None


@pytest.mark.parametrize("rounding", ["half_up", "trunc", "half_even"])
def test_rounding_of_sizes_is_found(tmp_path, rounding):
    release = make_release(tmp_path, views=SCALES, geometry=GeometryPolicy(size_rounding=rounding))
    fits = explain_release(release, n_pixel_questions=0).sizes
    assert f"size_rounding={rounding}" in {fit.policy for fit in fits if fit.explains_all}
    assert fits[-1].n_explained < fits[-1].n_rows


@pytest.mark.parametrize("resampler", ["pillow-lanczos@1", "pillow-bicubic@1", "pillow-box@1"])
def test_resampler_is_found_by_its_pixels(tmp_path, resampler):
    report = explain_release(make_release(tmp_path, views=SCALES, resampler=resampler))
    best, second, *_ = report.resamplers
    assert (best.resampler, best.n_equal, best.n_views, best.mean_levels) == (resampler, 12, 12, 0.0)
    assert second.mean_levels > 0
    assert report.n_pixel_questions == 4


def test_resampler_is_nearest_where_the_views_are_jpeg(tmp_path):
    release = make_release(
        tmp_path,
        (QUESTIONS[1],),
        views=("original", "downsample_0_5"),
        resampler="pillow-box@1",
        encoding="like-original",
    )
    best = explain_release(release).resamplers[0]
    assert (best.resampler, best.n_equal) == ("pillow-box@1", 0)


def test_identities_saturated_and_crossing_boxes_are_counted(tmp_path):
    report = explain_release(make_release(tmp_path))
    assert report.identities == (
        IdentityCount("crop_1x", "target_only_1x", 4, 4, 0),
        IdentityCount("whiteground_1x", "target_only_original", 4, 4, 0),
        # The box of question 3 is the whole picture, so its two crops and two whitegrounds are the original.
        IdentityCount("saturated crop or whiteground", "original", 4, 4, 0),
    )
    assert len(report.rules) == 6
    assert all(rule.n_hold == rule.n_pairs > 0 for rule in report.rules)
    assert report.n_questions == 4
    assert report.saturated["crop_3x"] == 1
    assert "original" not in report.saturated
    assert report.boxes_across_border == ("000002",)


def test_pair_that_is_not_equal_is_counted_with_its_difference(tmp_path):
    release = make_release(tmp_path)
    path = release / "data/crop_1x/test/images/000000.png"
    image = Image.open(path).convert("RGB")
    image.putpixel((0, 0), tuple((value + 100) % 256 for value in image.getpixel((0, 0))))
    image.save(path)
    (release / "data/target_only_1x/test/images/000001.png").write_bytes(
        (release / "data/crop_3x/test/images/000001.png").read_bytes()
    )
    pair = explain_release(release).identities[0]
    assert (pair.n_equal, pair.n_compared) == (2, 4)
    assert pair.max_levels > 90


def test_row_that_breaks_an_identity_is_named(tmp_path):
    release = make_release(tmp_path)
    path = release / "data/target_only_3x/test/metadata.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[1]["width"] += 1
    rows[2]["bbox_view"][0] += 1
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    broken = {rule.rule: rule.first_broken for rule in explain_release(release, n_pixel_questions=0).rules}
    assert {name: row for name, row in broken.items() if row} == {
        "canvas of target_only_m = canvas of crop_m": "target_only_3x/000001",
        "bbox_view of target_only_m = bbox_view of crop_m": "target_only_3x/000002",
    }


def test_area_average_of_another_library_is_recognised(tmp_path):
    release = make_release(tmp_path, views=("original", "downsample_0_75"))
    for path in (release / "data/original/test/images").iterdir():
        with Image.open(path) as original:
            # Each pixel three times, then the mean of four by four: exactly the area under each new pixel.
            fine = np.asarray(original.convert("RGB"), float).repeat(3, axis=0).repeat(3, axis=1)
        Image.fromarray(np.rint(fine.reshape(36, 4, 48, 4, 3).mean(axis=(1, 3))).astype(np.uint8)).save(
            release / f"data/downsample_0_75/test/images/{path.stem}.png"
        )
    best, second, *_ = explain_release(release).resamplers
    assert best.resampler.startswith("area-average")
    assert best.mean_levels < 0.01 < second.mean_levels


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_area_average_keeps_the_mean_and_flat_pictures(width, height, data):
    size = Size(data.draw(st.integers(1, width)), data.draw(st.integers(1, height)))
    flat = np.full((height, width, 3), 77, np.uint8)
    assert (area_average(flat, size) == 77).all()
    noise = np.random.default_rng(width * 41 + height).integers(0, 255, (height, width, 3), np.uint8)
    assert area_average(noise, size).mean() == pytest.approx(noise.mean(), abs=0.51)


def test_damaged_question_is_left_out_of_the_sample(tmp_path):
    release = make_release(tmp_path)
    (release / "data/crop_1x/test/images/000000.png").write_bytes(b"x")
    assert explain_release(release, without=["000000"]).n_pixel_questions == 3


def test_sample_is_no_larger_than_asked_and_needs_no_pixel_at_zero(tmp_path):
    release = make_release(tmp_path)
    assert explain_release(release, n_pixel_questions=3).n_pixel_questions == 3
    report = explain_release(release, n_pixel_questions=0)
    assert (report.n_pixel_questions, report.resamplers, report.identities) == (0, (), ())


def test_row_that_no_policy_explains_is_named(tmp_path):
    release = make_release(tmp_path)
    path = release / "data/crop_3x/test/metadata.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[1]["crop_box_original"] = [1, 1, 9, 9]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    best = explain_release(release, n_pixel_questions=0).crop_boxes[0]
    assert (best.first_unexplained, best.n_rows - best.n_explained) == ("crop_3x/000001", 1)


def test_damaged_image_and_missing_release_are_errors(tmp_path):
    release = make_release(tmp_path)
    (release / "data/crop_1x/test/images/000000.png").write_bytes(b"x")
    with pytest.raises(ImageError, match="not a picture"):
        explain_release(release)
    with pytest.raises(BenchmarkError, match="holds no release"):
        explain_release(tmp_path / "source")

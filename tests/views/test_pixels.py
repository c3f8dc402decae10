"""Identities between views, by equality of pixels after a lossless round trip."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from strategies import boxes_over_the_border, question_about

from eyechart.images.compose import compose
from eyechart.images.encode import encode_composition
from eyechart.schema import Size
from eyechart.views import IDENTICAL_VIEWS, parse_view, plan_view

IMAGE = Size(61, 47)
PIXELS = np.random.default_rng(0).integers(0, 256, (IMAGE.height, IMAGE.width, 3), np.uint8)
LANCZOS = "pillow-lanczos@1"


def sent(view_id: str, question) -> np.ndarray:
    """The pixels that arrive after encoding and decoding a view."""
    (picture,) = plan_view(parse_view(view_id), question)
    encoded = encode_composition(PIXELS, picture.geometry, LANCZOS)
    return np.asarray(Image.open(io.BytesIO(encoded)).convert("RGB"))


@settings(max_examples=40)
@given(boxes_over_the_border(IMAGE))
def test_identical_views_are_equal_pixel_by_pixel(box):
    question = question_about(IMAGE, box)
    for one, other in IDENTICAL_VIEWS:
        assert np.array_equal(sent(one, question), sent(other, question))


@settings(max_examples=20)
@given(boxes_over_the_border(IMAGE))
def test_saturated_crop_equals_the_original_pixel_by_pixel(box):
    question = question_about(IMAGE, box)
    for view_id in ("crop_1000000000x", "whiteground_1000000000x"):
        assert np.array_equal(sent(view_id, question), PIXELS)


@settings(max_examples=40)
@given(boxes_over_the_border(IMAGE), st.sampled_from(["1x", "1_5x", "3x", "6x", "18x"]))
def test_white_views_are_white_outside_and_the_original_inside(box, factor):
    question = question_about(IMAGE, box)
    (picture,) = plan_view(parse_view(f"whiteground_{factor}"), question)
    shown = sent(f"whiteground_{factor}", question)
    x0, y0, x1, y1 = (int(edge) for edge in picture.source_region)
    inside = np.zeros(PIXELS.shape[:2], dtype=bool)
    inside[y0:y1, x0:x1] = True
    assert np.array_equal(shown[inside], PIXELS[inside])
    assert (shown[~inside] == 255).all()


@settings(max_examples=40)
@given(boxes_over_the_border(IMAGE), st.sampled_from(["1x", "3x", "18x"]))
def test_target_only_keeps_nothing_of_its_crop_but_the_target(box, factor):
    question = question_about(IMAGE, box)
    crop, alone = sent(f"crop_{factor}", question), sent(f"target_only_{factor}", question)
    (picture,) = plan_view(parse_view(f"target_only_{factor}"), question)
    x, y = picture.geometry.offset
    width, height = int(picture.geometry.kept.width), int(picture.geometry.kept.height)
    inside = np.zeros(crop.shape[:2], dtype=bool)
    inside[y : y + height, x : x + width] = True
    assert np.array_equal(alone[inside], crop[inside])
    assert (alone[~inside] == 255).all()


@pytest.mark.parametrize("view_id", ["downsample_0_5", "downsample_0_0625", "downsample_0_33"])
def test_downsample_is_pillows_lanczos_of_the_whole_picture(view_id):
    (picture,) = plan_view(parse_view(view_id), question_about(IMAGE))
    expected = Image.fromarray(PIXELS).resize(picture.geometry.size, Image.Resampling.LANCZOS)
    assert np.array_equal(compose(PIXELS, picture.geometry, LANCZOS), np.asarray(expected))

"""Where a picture lies inside an array that was made from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.schema import Box, Size
from eyechart.seen.local.tracks import Track, finest_pass

sides = st.integers(1, 3000)
sizes = st.builds(Size, sides, sides)


def whole(size, picture=0):
    return Track(picture, Size(*size), Box(0, 0, *size))


@given(sent=sizes, after=sizes)
def test_resize_to_a_size_shows_the_whole_picture_at_that_size(sent, after):
    arrived = finest_pass([whole(sent).resized(sent, after)])
    assert arrived.size == after
    assert arrived.kept is None
    assert arrived.lost_area == 0


@given(sent=sizes, left=st.integers(-50, 50), top=st.integers(-50, 50), size=sizes)
def test_what_is_left_after_a_cut_or_a_padding_lies_inside_both(sent, left, top, size):
    moved = whole(sent).moved(left, top, size)
    region = Box(max(0, -left), max(0, -top), min(sent.width, size.width - left), min(sent.height, size.height - top))
    if region.x0 >= region.x1 or region.y0 >= region.y1:
        assert moved is None
    else:
        assert moved.region == region


def test_padding_to_a_square_keeps_the_aspect_ratio():
    padded = whole((1920, 1080)).moved(0, 420, Size(1920, 1920)).resized(Size(1920, 1920), Size(336, 336))
    assert padded.scale == pytest.approx((0.175, 0.175))
    assert finest_pass([padded]).size == Size(336, 189)


def test_center_crop_loses_the_sides():
    cut = whole((1920, 1080)).resized(Size(1920, 1080), Size(597, 336)).moved(-130, 0, Size(336, 336))
    arrived = finest_pass([cut])
    assert arrived.stages == (Size(597, 336),)
    assert arrived.size == Size(336, 336)
    assert arrived.lost_area == pytest.approx(1 - 336 / 597)
    assert arrived.kept == pytest.approx(Box(130 / 597 * 1920, 0, 466 / 597 * 1920, 1080))


def test_large_tiles_win_over_a_small_whole_and_a_detail_does_not():
    sent = Size(1000, 500)
    thumbnail = whole(sent).resized(sent, Size(100, 50))
    large = whole(sent).resized(sent, Size(800, 400))
    tiles = [large.moved(-x, -y, Size(400, 200)) for x in (0, 400) for y in (0, 200)]
    detail = whole(sent).moved(-10, -10, Size(100, 100)).resized(Size(100, 100), Size(400, 400))
    assert finest_pass([thumbnail, detail, *tiles]).size == Size(800, 400)
    assert finest_pass([thumbnail, detail, *tiles[:3]]).size == Size(100, 50)


def test_smaller_stage_on_the_way_is_kept_for_the_information_scale():
    sent = Size(1000, 500)
    enlarged = whole(sent).resized(sent, Size(100, 50)).resized(Size(100, 50), Size(400, 400))
    assert finest_pass([enlarged]).stages == (Size(100, 50), Size(400, 400))


def test_nothing_that_arrives_is_no_pass():
    assert finest_pass([]) is None
    assert whole((10, 10)).moved(-10, 0, Size(5, 5)) is None

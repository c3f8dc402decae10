"""Laws of box and size arithmetic."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import boxes_inside, boxes_over_the_border, sizes

from eyechart.errors import GeometryError
from eyechart.geometry import (
    GeometryPolicy,
    check_area,
    clip,
    downsampled_size,
    grow_area,
    integer_box,
    intersect,
    rotate_box,
    scale_box,
    target_of,
    union,
    whole,
)
from eyechart.schema import Box, Size

IMAGE = Size(321, 200)
RATIOS = st.floats(1, 40)
BORDERS = st.sampled_from(["clip", "shift"])


def inside(box: Box, image: Size) -> bool:
    return 0 <= box.x0 < box.x1 <= image.width and 0 <= box.y0 < box.y1 <= image.height


@given(boxes_inside(IMAGE), RATIOS, BORDERS)
def test_grown_box_contains_target_and_stays_inside_image(box, area_ratio, border):
    grown = grow_area(box, area_ratio, IMAGE, GeometryPolicy(border=border))
    assert inside(grown, IMAGE)
    tolerance = 1e-9 * max(IMAGE)  # a shifted float box may round one ulp inwards
    assert grown.x0 <= box.x0 + tolerance
    assert grown.y0 <= box.y0 + tolerance
    assert grown.x1 >= box.x1 - tolerance
    assert grown.y1 >= box.y1 - tolerance


@given(boxes_over_the_border(IMAGE), RATIOS, BORDERS, st.sampled_from(["outward", "nearest", "trunc"]))
def test_box_over_the_border_grows_to_a_box_inside_the_image(box, area_ratio, border, rounding):
    assert inside(grow_area(box, area_ratio, IMAGE, GeometryPolicy(border=border, box_rounding=rounding)), IMAGE)


@given(boxes_inside(IMAGE), RATIOS, RATIOS)
def test_grown_area_is_monotone_in_the_ratio(box, one, other):
    smaller, larger = sorted((one, other))
    inner, outer = grow_area(box, smaller, IMAGE), grow_area(box, larger, IMAGE)
    assert intersect(inner, outer) == inner


@given(boxes_inside(Size(10_000, 10_000)), st.floats(1, 18))
def test_far_from_the_border_the_area_is_the_ratio_up_to_rounding(box, area_ratio):
    assume(box.width > 40 and box.height > 40)
    image = Size(100_000, 100_000)
    moved = Box(box.x0 + 45_000, box.y0 + 45_000, box.x1 + 45_000, box.y1 + 45_000)
    grown = grow_area(moved, area_ratio, image)
    side = math.sqrt(area_ratio)
    assert 0 <= grown.width - box.width * side <= 2 + 1e-6
    assert 0 <= grown.height - box.height * side <= 2 + 1e-6


@given(boxes_inside(IMAGE, whole_numbers=True))
def test_ratio_one_is_the_integer_target_itself(box):
    assert grow_area(box, 1.0, IMAGE) == box


@given(st.integers(0, 320), st.integers(0, 199), RATIOS)
def test_one_pixel_box_grows_and_keeps_its_pixel(x, y, area_ratio):
    grown = grow_area(Box(x, y, x + 1, y + 1), area_ratio, IMAGE)
    assert intersect(Box(x, y, x + 1, y + 1), grown) == Box(x, y, x + 1, y + 1)


@given(boxes_inside(IMAGE), RATIOS)
def test_shift_never_keeps_less_than_clip(box, area_ratio):
    clipped = grow_area(box, area_ratio, IMAGE)
    shifted = grow_area(box, area_ratio, IMAGE, GeometryPolicy(border="shift"))
    assert shifted.width + 1 >= clipped.width
    assert shifted.height + 1 >= clipped.height


@given(sizes(), st.sampled_from([15, 14, 13, 12, 10, 8, 6, 4, 3, 2, 1]))
def test_downsampled_size_is_half_up_and_at_least_one_px(image, sixteenths):
    # independent of floats: floor(n·k/16 + 1/2) = (2·n·k + 16) // 32
    expected = Size(*(max(1, (2 * side * sixteenths + 16) // 32) for side in image))
    assert downsampled_size(image, sixteenths / 16) == expected


def test_the_three_size_roundings_differ_where_they_should():
    image = Size(5, 3)
    found = {rounding: downsampled_size(image, 0.5, rounding) for rounding in ("half_up", "trunc", "half_even")}
    assert found == {"half_up": Size(3, 2), "trunc": Size(2, 1), "half_even": Size(2, 2)}


@given(sizes(), st.floats(0.01, 1), st.data())
def test_scaled_box_stays_inside_the_resized_picture(image, linear_scale, data):
    box = data.draw(boxes_inside(image))
    resized = downsampled_size(image, linear_scale)
    scaled = scale_box(box, image, resized)
    assert scaled.x0 >= 0
    assert scaled.x1 <= resized.width * (1 + 1e-12)
    assert scaled.width * image.width == pytest.approx(box.width * resized.width)


@given(boxes_inside(IMAGE))
def test_outward_rounding_never_cuts(box):
    rounded = integer_box(box, "outward")
    assert rounded.x0 <= box.x0
    assert rounded.x1 >= box.x1


def test_vanishing_box_keeps_one_pixel():
    assert integer_box(Box(3.4, 3.4, 3.45, 3.45), "nearest") == Box(3, 3, 4, 4)


@given(boxes_inside(IMAGE), st.integers(1, 8))
def test_rotated_box_keeps_its_area_inside_the_rotated_picture(box, orientation):
    rotated = rotate_box(box, IMAGE, orientation)
    image = Size(IMAGE.height, IMAGE.width) if orientation >= 5 else IMAGE
    assert rotated.area == pytest.approx(box.area)
    assert rotated.x0 >= -1e-9
    assert rotated.x1 <= image.width + 1e-9
    assert rotated.y1 <= image.height + 1e-9


@pytest.mark.parametrize("orientation", range(1, 9))
def test_rotated_box_follows_pillows_transposition(orientation):
    from PIL import Image, ImageOps

    picture = Image.new("L", (10, 6))
    picture.paste(255, (2, 1, 5, 3))
    exif = Image.Exif()
    exif[274] = orientation
    picture.getexif()[274] = orientation
    assert rotate_box(Box(2, 1, 5, 3), Size(10, 6), orientation) == ImageOps.exif_transpose(picture).getbbox()


def test_target_policy_takes_all_boxes_or_the_first():
    boxes = (Box(0, 0, 2, 2), Box(5, 1, 7, 9))
    assert target_of(boxes, "union") == union(boxes) == Box(0, 0, 7, 9)
    assert target_of(boxes, "first") == boxes[0]


def test_whole_picture_is_unchanged_by_clipping():
    assert clip(whole(IMAGE), IMAGE) == whole(IMAGE)


def test_box_outside_names_the_box_and_the_image():
    with pytest.raises(GeometryError, match=r"\(2000, 0, 2010, 10\) has no area inside the 1000×800 image"):
        clip(Box(2000, 0, 2010, 10), Size(1000, 800))


@pytest.mark.parametrize("box", [Box(3, 3, 3, 5), Box(3, 3, 5, 2)])
def test_box_of_zero_area_is_refused(box):
    with pytest.raises(GeometryError, match="has no area"):
        check_area(box)


def test_box_of_nan_is_refused():
    with pytest.raises(GeometryError, match="is not a number"):
        check_area(Box(0, 0, math.nan, 1))


@pytest.mark.parametrize("area_ratio", [0.5, math.nan, math.inf])
def test_ratio_below_one_or_not_finite_is_refused(area_ratio):
    with pytest.raises(GeometryError, match="is below 1"):
        grow_area(Box(0, 0, 1, 1), area_ratio, IMAGE)


@pytest.mark.parametrize("linear_scale", [0, -0.5, 1.5, math.nan])
def test_scale_outside_zero_to_one_is_refused(linear_scale):
    with pytest.raises(GeometryError, match=r"outside \(0, 1\]"):
        downsampled_size(IMAGE, linear_scale)


def test_union_of_no_boxes_is_refused():
    with pytest.raises(GeometryError, match="no target box"):
        union(())


def test_unknown_exif_orientation_is_refused():
    with pytest.raises(GeometryError, match="orientation 9"):
        rotate_box(Box(0, 0, 1, 1), IMAGE, 9)

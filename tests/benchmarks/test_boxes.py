import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import boxes_inside

from eyechart.benchmarks._boxes import GivenBox, check_convention, fault_of, parse_quads, to_xyxy
from eyechart.schema import Box, Size

IMAGE = Size(400, 300)


def quad_of(box, convention):
    """The inverse of to_xyxy, written apart."""
    x0, y0, x1, y1 = box
    if convention.startswith("unit"):
        x0, x1, y0, y1 = x0 / IMAGE.width, x1 / IMAGE.width, y0 / IMAGE.height, y1 / IMAGE.height
    return (x0, y0, x1 - x0, y1 - y0) if convention.endswith("xywh") else (x0, y0, x1, y1)


@given(boxes_inside(IMAGE), st.sampled_from(["xyxy", "xywh", "unit", "unit_xywh"]))
def test_every_convention_brings_a_box_inside_back(box, convention):
    quad = quad_of(box, convention)
    assert to_xyxy(quad, convention, IMAGE) == pytest.approx(box, abs=1e-6)
    assert fault_of(GivenBox(quad, IMAGE, "q"), convention) is None


@given(st.lists(boxes_inside(IMAGE, whole_numbers=True), min_size=1, max_size=30))
def test_right_declaration_of_inside_boxes_never_fails(boxes):
    given_boxes = [GivenBox(tuple(box), IMAGE, "q") for box in boxes]
    warnings = check_convention(given_boxes, "xyxy")
    assert all("smaller than a pixel" in warning for warning in warnings)


@given(st.lists(boxes_inside(IMAGE, whole_numbers=True).filter(lambda box: max(box) > 2), min_size=1, max_size=30))
def test_pixels_declared_as_fractions_are_refused(boxes):
    assert any(fault_of(GivenBox(tuple(box), IMAGE, "q"), "unit") for box in boxes)


@pytest.mark.parametrize(
    ("cell", "quads"),
    [
        (None, ()),
        ("", ()),
        ([], ()),
        ("[1, 2, 3, 4]", ((1, 2, 3, 4),)),
        ("[[1,2,3,4],[5,6,7,8]]", ((1, 2, 3, 4), (5, 6, 7, 8))),
        ("1 2 3 4", ((1, 2, 3, 4),)),
        ("0.5, 1, 2.25, 3", ((0.5, 1, 2.25, 3),)),
        ([[1, 2, 3, 4]], ((1, 2, 3, 4),)),
    ],
)
def test_cells_of_every_writing_are_read(cell, quads):
    assert parse_quads(cell, "q.csv:2") == quads


@pytest.mark.parametrize("n_across", [5, 6])
def test_warning_begins_above_five_percent(n_across):
    # Read as xywh the first kind ends at 300 + 350 > 400; read as xyxy all boxes lie inside.
    across = [GivenBox((300, 100, 350, 150), IMAGE, "q")] * n_across
    inside = [GivenBox((10, 20, 40, 50), IMAGE, "q")] * (100 - n_across)
    assert bool(check_convention([*across, *inside], "xywh")) is (n_across > 5)


def test_box_is_a_half_open_tuple_of_the_numbers_given():
    assert to_xyxy((1, 2, 3, 4), "xyxy", IMAGE) == Box(1, 2, 3, 4)

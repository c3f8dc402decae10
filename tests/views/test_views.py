"""Laws of the views: ids, geometry against golden values, identities by array equality."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import boxes_inside, boxes_over_the_border, question_about

from eyechart.errors import GeometryError, UsageError
from eyechart.geometry import GeometryPolicy
from eyechart.schema import (
    Blank,
    Box,
    Composition,
    Crop,
    Downsample,
    Grid,
    NoImage,
    Original,
    OriginalPlusCrop,
    Size,
    TargetOnly,
    Whiteground,
)
from eyechart.views import IDENTICAL_VIEWS, PRESETS, format_view, parse_view, plan_view, resolve_views

GOLDEN = json.loads((Path(__file__).parent / "sum_geometry_golden.json").read_text())
IMAGE = Size(321, 200)
AREA_FACTORS = st.integers(1_000_000, 99_000_000).map(lambda millionths: millionths / 1_000_000)
SCALES = st.integers(1, 1_000_000).map(lambda millionths: millionths / 1_000_000)
VIEWS = st.one_of(
    st.just(Original()),
    st.just(NoImage()),
    st.just(Blank()),
    st.builds(Crop, AREA_FACTORS),
    st.builds(Whiteground, AREA_FACTORS),
    st.builds(OriginalPlusCrop, AREA_FACTORS),
    st.builds(TargetOnly, st.one_of(st.none(), AREA_FACTORS)),
    st.builds(Downsample, SCALES),
)
GRIDS = st.tuples(st.integers(1, 99), st.integers(1, 99)).flatmap(
    lambda shape: st.builds(
        Grid,
        st.sampled_from(["white", "captioned"]),
        st.just(shape[0]),
        st.just(shape[1]),
        st.integers(0, shape[0] - 1),
        st.integers(0, shape[1] - 1),
        st.integers(0, 10**6),
    )
)


def geometry_of(view_id: str, question, policy=None) -> Composition:
    (picture,) = plan_view(parse_view(view_id), question, policy)
    return picture.geometry


@given(VIEWS | GRIDS)
def test_view_id_is_read_back_as_the_same_view(view):
    assert parse_view(format_view(view)) == view


@given(GRIDS.filter(lambda view: view.style == "white"), boxes_inside(IMAGE))
def test_target_in_a_grid_lies_inside_its_own_tile(view, box):
    (picture,) = plan_view(view, question_about(IMAGE, box))
    left, top = picture.geometry.corner(view.row, view.column)
    assert left <= picture.target.x0 < picture.target.x1 <= left + 448
    assert top <= picture.target.y0 < picture.target.y1 <= top + 448
    assert left + 448 <= picture.geometry.size.width
    assert top + 448 <= picture.geometry.size.height


@pytest.mark.parametrize(
    "view",
    [Grid("white", 3, 3, 3, 0), Grid("white", 3, 3, 0, -1), Grid("white", 100, 3, 0, 0), Grid("white", 0, 0, 0, 0)],
)
def test_a_cell_outside_its_grid_has_no_id(view):
    with pytest.raises(UsageError, match="no cell at row"):
        format_view(view)


@pytest.mark.parametrize(
    "view_id", ["grid_white_3x3_r3_c0", "grid_white_03x3_r0_c0", "grid_3x3_r0_c0", "grid_white_0x3"]
)
def test_a_text_that_names_no_cell_is_no_view(view_id):
    with pytest.raises(UsageError, match="no view named"):
        parse_view(view_id)


def test_a_grid_without_a_cell_means_all_its_cells():
    views, preset = resolve_views("original,grid_white_2x3_s4")
    assert [format_view(view) for view in views[1:]] == [
        f"grid_white_2x3_r{row}_c{column}_s4" for row in range(2) for column in range(3)
    ]
    assert preset is None


def test_sum29_has_1_6_6_11_5_views_and_the_seven_certain_ids():
    views, preset = resolve_views("sum29")
    families = [view.family for view in views]
    assert preset == "sum29-candidate-a"
    assert [families.count(family) for family in ("original", "crop", "whiteground", "downsample", "target_only")] == [
        1, 6, 6, 11, 5,
    ]  # fmt: skip
    ids = {format_view(view) for view in views}
    assert len(ids) == 29
    assert ids >= {
        "original", "crop_3x", "crop_1_5x", "whiteground_3x", "downsample_0_75", "downsample_0_25",
        "target_only_original",
    }  # fmt: skip
    assert 700 * len(ids) == 20_300


def test_preset_order_is_that_of_the_golden_file():
    assert [format_view(view) for view in PRESETS["sum29-candidate-a"]] == GOLDEN["view_ids"]


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
@pytest.mark.parametrize("border", ["clip", "shift"])
def test_geometry_equals_the_golden_values(case, border):
    question = question_about(
        Size(case["width"], case["height"]),
        Box(*case["bbox_original"]),
        targets_clipped=(Box(*case["bbox_clipped"]),),
    )
    for view_id, expected in case[f"{border}_outward"].items():
        (picture,) = plan_view(parse_view(view_id), question, GeometryPolicy(border=border))
        assert list(picture.geometry.size) == expected["size"], view_id
        assert list(picture.target) == pytest.approx(expected["bbox_view"], abs=5e-5), view_id
        if expected["crop_box"] is not None:
            assert list(picture.source_region) == expected["crop_box"], view_id
        if isinstance(expected.get("effective"), float):
            assert picture.area_multiplier == pytest.approx(expected["effective"], abs=5e-5), view_id


@given(boxes_over_the_border(IMAGE), st.sampled_from(["clip", "shift"]))
def test_pairs_identical_by_definition_have_the_same_composition(box, border):
    question = question_about(IMAGE, box)
    for one, other in IDENTICAL_VIEWS:
        policy = GeometryPolicy(border=border)
        assert geometry_of(one, question, policy) == geometry_of(other, question, policy)


@given(boxes_inside(IMAGE), AREA_FACTORS)
def test_canvas_of_target_only_is_the_canvas_of_the_crop(box, area_ratio):
    question = question_about(IMAGE, box)
    (crop,), (alone,) = (plan_view(view(area_ratio), question) for view in (Crop, TargetOnly))
    assert crop.geometry.size == alone.geometry.size
    assert crop.source_region == alone.source_region
    assert crop.target == alone.target


@given(boxes_inside(IMAGE))
def test_saturated_crop_is_the_original(box):
    question = question_about(IMAGE, box)
    (crop,), (original,), (white,) = (plan_view(view, question) for view in (Crop(1e9), Original(), Whiteground(1e9)))
    assert crop.geometry == original.geometry == white.geometry
    assert crop.notes == ("saturated",)


@given(boxes_over_the_border(IMAGE), VIEWS)
def test_target_lies_inside_every_picture_that_shows_it(box, view):
    for picture in plan_view(view, question_about(IMAGE, box)):
        if picture.target is not None:
            width, height = picture.geometry.size
            assert picture.target.x0 >= -1e-9
            assert picture.target.x1 <= width + 1e-9
            assert picture.target.y1 <= height + 1e-9


@given(boxes_over_the_border(IMAGE), VIEWS)
def test_kept_pixels_fit_on_the_canvas_and_come_from_the_image(box, view):
    for picture in plan_view(view, question_about(IMAGE, box)):
        geometry = picture.geometry
        if geometry.kept is not None:
            assert geometry.offset[0] >= 0
            assert geometry.offset[0] + geometry.kept.width <= geometry.canvas.width
            assert geometry.offset[1] + geometry.kept.height <= geometry.canvas.height
            assert geometry.kept.x1 <= IMAGE.width
            assert geometry.kept.y1 <= IMAGE.height


def test_source_basis_grows_from_the_box_as_given():
    question = question_about(Size(1001, 777), Box(-7, 700, 120, 790))
    clipped = geometry_of("crop_3x", question)
    source = geometry_of("crop_3x", question, GeometryPolicy(target_basis="source"))
    assert clipped != source


def test_downsample_needs_no_target():
    (picture,) = plan_view(Downsample(0.5), question_about(IMAGE))
    assert picture.target is None


def test_other_factors_are_views_too():
    assert parse_view("crop_2x") == Crop(2.0)
    assert parse_view("downsample_0_33") == Downsample(0.33)


@pytest.mark.parametrize(
    "view_id",
    ["crop_0_5x", "crop_01x", "crop_1_50x", "crop_x", "downsample_1_5", "downsample_0", "target_only_", "CROP_1x"],
)
def test_ids_with_another_spelling_or_an_impossible_factor_are_no_views(view_id):
    with pytest.raises(UsageError, match="there is no view named"):
        parse_view(view_id)


def test_misspelt_view_suggests_the_nearest():
    with pytest.raises(UsageError) as caught:
        parse_view("crop_3")
    assert "did you mean crop_3x?" in caught.value.hint


@pytest.mark.parametrize("view_id", ["crop_0_5x", "crop_3_1234567x", "crop_1_50x"])
def test_impossible_factor_is_told_the_rule_and_no_other_view(view_id):
    with pytest.raises(UsageError) as caught:
        parse_view(view_id)
    assert caught.value.hint == (
        "the views crop_<area ratio>x, ratio at least 1: crop_1x is exactly the target box; "
        "a factor is written 1_5 for 1.5, with at most six decimals"
    )


def test_factor_with_seven_decimals_is_refused():
    with pytest.raises(UsageError, match="cannot be written in a view id"):
        format_view(Crop(1.0000001))


def test_view_named_twice_is_refused():
    with pytest.raises(UsageError, match="named twice: crop_3x"):
        resolve_views("crop_3x,crop_3x")


def test_no_view_is_refused():
    with pytest.raises(UsageError, match="no view was named"):
        resolve_views(" , ")


def test_view_without_registered_family_is_refused():
    class Turned(Grid, frozen=True, tag="turned"):
        pass

    with pytest.raises(UsageError, match="view family named 'Turned'"):
        format_view(Turned("white", 1, 1, 0, 0))


def test_error_names_benchmark_question_and_view():
    question = question_about(Size(1000, 800), Box(2000, 0, 2010, 10))
    with pytest.raises(GeometryError, match=r"made/000001 in view crop_3x: box \(2000, 0, 2010, 10\)"):
        plan_view(Crop(3.0), question)


def test_crop_without_target_is_refused():
    with pytest.raises(GeometryError, match="no target box"):
        plan_view(Crop(3.0), question_about(IMAGE))


def test_view_without_a_crop_is_never_saturated():
    (alone,) = plan_view(TargetOnly(None), question_about(Size(9, 9), Box(0, 0, 9, 9)))
    assert (alone.notes, alone.area_multiplier) == ((), None)

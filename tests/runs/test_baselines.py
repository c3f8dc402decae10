from hypothesis import given
from hypothesis import strategies as st

from eyechart.runs.baselines import baselines, level_of
from eyechart.runs.matching import MatchDesign
from eyechart.schema import Original
from eyechart.views import format_view, parse_view

VIEWS = tuple(parse_view(view) for view in ("original", "crop_3x", "whiteground_3x", "target_only_original"))


def conditions_of(design, views, blind=()):
    found = {design.condition(level, view): format_view(view) for view in views for level in design.levels or (None,)}
    return found | {view: view for view in blind}


@given(
    st.sampled_from(("target-px", "tokens")),
    st.lists(st.sampled_from((0.5, 8.0, 16.0, 32.0)), max_size=4, unique=True),
    st.permutations(VIEWS),
    st.sampled_from(((), ("no_image",))),
)
def test_views_of_a_matched_design_are_compared_with_the_original_of_their_own_level(quantity, levels, views, blind):
    view_of = conditions_of(MatchDesign(quantity, tuple(levels)), views, blind)
    found = baselines(tuple(view_of), view_of)
    assert list(found) == list(view_of)
    originals = [name for name, view in view_of.items() if view == "original"]
    for name, baseline in found.items():
        assert view_of[baseline] == "original"
        is_alone = name in originals or name in blind
        expected = originals[0] if is_alone else name.removesuffix(f"_{view_of[name]}")
        assert baseline == expected


@given(st.permutations(("original", "crop_3x", "crop_5x", "blank")))
def test_plain_views_are_compared_with_the_original_wherever_it_stands(names):
    found = baselines(names, {name: name for name in names})
    assert set(found.values()) == {"original"}


def test_without_an_original_the_first_condition_of_a_level_is_compared_with():
    view_of = conditions_of(MatchDesign("target-px", (8.0, 16.0)), VIEWS[1:3])
    assert baselines(tuple(view_of), view_of) == {
        "match_px_8_crop_3x": "match_px_8_crop_3x",
        "match_px_16_crop_3x": "match_px_8_crop_3x",
        "match_px_8_whiteground_3x": "match_px_8_crop_3x",
        "match_px_16_whiteground_3x": "match_px_16_crop_3x",
    }
    assert baselines(("crop_3x", "crop_5x"), {"crop_3x": "crop_3x", "crop_5x": "crop_5x"})["crop_5x"] == "crop_3x"
    assert baselines((), {}) == {}


def test_a_level_is_what_stands_before_the_view():
    design = MatchDesign("tokens")
    assert {level_of(design.condition(None, view), format_view(view)) for view in VIEWS} == {"match_tokens"}
    assert level_of("original", format_view(Original())) == ""

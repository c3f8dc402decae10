"""One rule decides what is claimed, and one pair has one p and one verdict wherever it stands."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.schema import Contrast
from eyechart.stats.claims import adjust_family, decide, take_record

P = st.floats(0.0, 1.0)


def contrast(condition="crop_3x", baseline="original", **changes):
    made = Contrast(
        name="paired difference",
        condition=condition,
        baseline=baseline,
        value=0.1,
        low=0.04,
        high=0.16,
        n_questions=200,
        n_clusters=180,
        gained=24,
        lost=4,
        method="",
        p=0.001,
        p_worst=0.001,
        p_adjusted=0.002,
        p_if_like_others=0.002,
    )
    return msgspec.structs.replace(made, **changes)


@pytest.mark.parametrize(
    ("changes", "made", "claimed", "standing"),
    [
        ({}, "exploratory", True, "exploratory"),
        ({}, "confirmatory", True, "confirmatory"),
        ({}, "interim", False, "interim"),
        ({"p_adjusted": 0.2}, "confirmatory", False, "conditional"),
        ({"p_adjusted": 0.2, "p_if_like_others": 0.2}, "confirmatory", False, "confirmatory"),
        ({"p_adjusted": 0.2}, "interim", False, "interim"),
        ({"blocked_by": ("DIFFERENT_PROMPTS",)}, "exploratory", False, "exploratory"),
        ({"blocked_by": ("MISSING_BY_VIEW",), "p_adjusted": 0.2}, "exploratory", False, "exploratory"),
        ({"secondary": True}, "exploratory", False, "exploratory"),
        ({"secondary": True, "p_adjusted": 0.2}, "exploratory", False, "exploratory"),
        ({"low": -0.01}, "exploratory", False, "exploratory"),
        ({"low": None, "high": None}, "exploratory", False, "exploratory"),
        ({"p_adjusted": None, "p_if_like_others": None}, "exploratory", False, "exploratory"),
        ({"p_adjusted": 0.05}, "exploratory", False, "conditional"),
        ({"p_adjusted": 0.03, "confidence": 0.99, "p_if_like_others": 0.03}, "exploratory", False, "exploratory"),
    ],
)
def test_star_and_standing_follow_from_the_record(changes, made, claimed, standing):
    found = decide(contrast(**changes), made)
    assert (found.claimed, found.standing) == (claimed, standing)


@settings(max_examples=40)
@given(st.lists(st.tuples(P, P), min_size=1, max_size=6), st.lists(P, max_size=3))
def test_adjusted_p_is_never_below_raw_and_grows_with_the_family(pairs, others):
    family = [contrast(f"v{at}", p=min(pair), p_worst=max(pair)) for at, pair in enumerate(pairs)]
    alone = adjust_family(family, "holm", "alone").contrasts
    beside = adjust_family(family, "holm", "beside", others=others)
    assert len(beside.others) == len(others)
    for raw, one, more in zip(family, alone, beside.contrasts, strict=True):
        assert raw.p <= one.p_if_like_others <= one.p_adjusted <= more.p_adjusted
        assert raw.p_worst <= one.p_adjusted


def test_a_pair_has_the_p_of_the_headline_family_in_either_direction():
    one = decide(contrast(family="2 contrasts shown"), "exploratory")
    turned = contrast("original", "crop_3x", value=-0.1, low=-0.3, high=0.1, p_adjusted=0.5, name="visual gain")
    found = take_record(turned, [one])
    assert (found.p_adjusted, found.claimed, found.family) == (0.002, True, "2 contrasts shown")
    assert (found.name, found.value, found.interval) == ("visual gain", -0.1, (-0.16, -0.04))


def test_a_pair_on_other_questions_has_no_p_beside_the_first_one():
    one = decide(contrast(), "exploratory")
    found = take_record(contrast(n_questions=190, n_missing=10), [one])
    assert found.p is found.p_adjusted is None
    assert found.secondary
    assert not found.claimed


def test_a_pair_outside_the_family_is_secondary_and_never_claimed():
    found = decide(take_record(contrast("crop_3x", "crop_1x"), [decide(contrast(), "exploratory")]), "exploratory")
    assert found.secondary
    assert not found.claimed

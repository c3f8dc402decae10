"""A sentence claims no more than its contrast holds."""

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eyechart.runs.findings import BLOCKED, CANNOT_TELL, CONDITIONAL, CROSSOVER, HIGHER, LOWER, find
from eyechart.schema import ConditionSummary, Contrast
from eyechart.stats.claims import decide, decide_all
from eyechart.stats.conditions import ScoreTable, contrasts_against

CONDITIONS = (
    ConditionSummary("original", "original", "original"),
    ConditionSummary("downsample_0_5", "downsample_0_5", "downsample", linear_scale=0.5),
    ConditionSummary("crop_3x", "crop_3x", "crop", area_ratio=3.0),
)


def contrast(condition="crop_3x", value=0.1, low=0.04, high=0.16, p=0.001, **changes):
    made = Contrast(
        name="paired difference",
        condition=condition,
        baseline="original",
        value=value,
        low=low,
        high=high,
        n_questions=200,
        n_clusters=180,
        gained=24,
        lost=4,
        method="",
        p=p,
        p_adjusted=p,
        correction="holm",
    )
    return decide(msgspec.structs.replace(made, **changes), made="exploratory")


@pytest.mark.parametrize(
    ("one", "code", "words"),
    [
        (contrast(), HIGHER, "crop_3x scores 10.0 points above original"),
        (contrast(value=-0.1, low=-0.16, high=-0.04), LOWER, "crop_3x scores 10.0 points below original"),
        (contrast("downsample_0_5"), CROSSOVER, "with fewer pixels and scores 10.0 points above original"),
        (contrast("downsample_0_5", -0.1, -0.16, -0.04), LOWER, "below original"),
        (contrast(p=0.2), CANNOT_TELL, "cannot be told apart"),
        (contrast(value=0.02, low=-0.01, high=0.05, p=0.04), CANNOT_TELL, "cannot be told apart"),
        (contrast(p=None), CANNOT_TELL, "cannot be told apart on so few questions"),
        (contrast(blocked_by=("DIFFERENT_PROMPTS",)), BLOCKED, "are not compared: DIFFERENT_PROMPTS"),
    ],
)
def test_each_contrast_gives_the_sentence_it_supports(one, code, words):
    (finding,) = find([one], CONDITIONS)
    assert finding.code == code
    assert words in finding.text
    assert finding.contrast == (one.condition, "original")


def test_a_difference_that_missing_answers_could_undo_is_conditional_without_a_star():
    one = contrast(p_adjusted=0.3, p_if_like_others=0.001, n_missing=12, bound_low=-0.02, bound_high=0.2)
    (finding,) = find([one], CONDITIONS)
    assert finding.code == CONDITIONAL
    assert not one.claimed
    assert finding.text.startswith("If the missing answers are like the others, crop_3x scores 10.0 points above")
    assert "whatever they are: −2.0 to +20.0 points" in finding.text
    assert "12 questions without an answer" in finding.text
    assert "--ask-again" in finding.text


def test_no_sentence_is_made_of_an_unfinished_run_or_outside_the_family():
    interim = decide(contrast(), "interim")
    secondary = decide(contrast(), "exploratory", secondary=True)
    assert find([interim, secondary], CONDITIONS) == ()


def test_what_is_blocked_says_what_would_unblock_it():
    (finding,) = find([contrast(blocked_by=("MISSING_BY_VIEW",), n_missing=30)], CONDITIONS)
    assert finding.code == BLOCKED
    assert "30 questions without an answer" in finding.text
    assert "--ask-again" in finding.text


def test_many_questions_about_few_pictures_are_not_called_few_questions():
    one = msgspec.structs.replace(contrast(p=None), n_questions=240, n_clusters=6, low=None, high=None)
    (finding,) = find([one], CONDITIONS)
    assert "cannot be told apart on so few pictures" in finding.text
    assert "too few pictures for an interval" in finding.text


def test_numbers_in_a_sentence_are_those_of_the_record():
    (finding,) = find([contrast(value=-0.0312, low=-0.05, high=-0.0124, p=0.00003)], CONDITIONS)
    assert "difference −3.1 points, 95 % interval −5.0 to −1.2" in finding.text
    assert "n = 200 questions on 180 pictures, p < 0.0001 after Holm correction" in finding.text


def test_claims_come_before_what_cannot_be_told_apart():
    found = find([contrast(p=0.2), contrast("downsample_0_5")], CONDITIONS)
    assert [finding.code for finding in found] == [CROSSOVER, CANNOT_TELL]


def test_an_interval_without_0_beside_a_large_corrected_p_is_explained():
    (finding,) = find([contrast(p=0.3)], CONDITIONS)
    assert "the interval alone is not corrected" in finding.text


def test_identical_pictures_are_no_finding():
    assert find([contrast()], CONDITIONS, [("original", "crop_3x")]) == ()


@pytest.mark.parametrize(("p", "words"), [(0.4, "cannot be told apart: "), (None, "cannot be told apart on so few")])
def test_smaller_picture_that_scored_higher_is_named_though_it_cannot_be_told_apart(p, words):
    (finding,) = find([contrast("downsample_0_5", 0.05, -0.02, 0.12, p)], CONDITIONS)
    assert finding.code == CANNOT_TELL
    assert "with fewer pixels and scored higher here than original" in finding.text
    assert words in finding.text


@pytest.mark.parametrize(
    ("condition", "value"), [("downsample_0_5", -0.05), ("downsample_0_5", 0.0), ("crop_3x", 0.05)]
)
def test_only_a_smaller_whole_picture_that_scored_higher_is_named(condition, value):
    (finding,) = find([contrast(condition, value, -0.2, 0.2, 0.4)], CONDITIONS)
    assert "fewer pixels" not in finding.text


def test_one_picture_is_not_called_pictures():
    (finding,) = find([contrast(n_clusters=1, n_questions=1)], CONDITIONS)
    assert "n = 1 question on 1 picture," in finding.text


@given(
    low=st.floats(-1, 1),
    width=st.floats(0, 1),
    p=st.none() | st.floats(0, 1),
)
@example(low=1.0, width=0.0, p=0.05)
def test_nothing_is_claimed_when_the_interval_covers_0_or_p_is_not_small(low, width, p):
    one = contrast(value=low + width / 2, low=low, high=low + width, p=p)
    if low <= 0 <= low + width or p is None or p >= 0.05:
        assert not one.claimed
        assert {finding.code for finding in find([one], CONDITIONS)} == {CANNOT_TELL}


def test_null_data_give_only_ties_in_95_of_100_runs():
    """200 seeds without any effect, three questions in five on shared pictures."""
    n_claiming = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, 6])
        values = (rng.random((100, 4)) < rng.random(100)[:, None]).astype(float)
        images = [f"i{min(index, 70)}" if index < 70 else f"i{index - 70}" for index in range(100)]
        table = ScoreTable(values, values >= 0, images, ("original", "crop_3x", "crop_6x", "downsample_0_5"))
        contrasts = decide_all(contrasts_against(table, "original"), "exploratory")
        n_claiming += any(finding.code != CANNOT_TELL for finding in find(contrasts, ()))
    assert n_claiming <= 10


def test_a_small_p_beside_an_interval_that_holds_0_is_explained():
    (said,) = find([contrast(low=-0.01, p=0.043)], CONDITIONS)
    assert said.code == CANNOT_TELL
    assert said.text.endswith("p = 0.0430 after Holm correction, and the interval reaches over 0, so that p alone "
                              "claims nothing.")  # fmt: skip
    (said,) = find([contrast(low=-0.01, p=0.3)], CONDITIONS)
    assert said.text.endswith("p = 0.3000 after Holm correction.")

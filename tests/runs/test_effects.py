"""Named effects of whole runs: identities that hold exactly, and truths that are found again."""

import numpy as np
import pytest
from runs_made import SCORER, draw, make_run

from eyechart.kinds import Reply
from eyechart.runs.cells import read_table
from eyechart.runs.summarise import estimate
from eyechart.schema import Summary, decode_record, encode_record
from eyechart.views import IDENTICAL_VIEWS

VIEWS = "original,crop_1x,crop_3x,whiteground_1x,whiteground_3x,target_only_1x,target_only_3x,target_only_original"
RATES = {"original": 0.5, "crop_3x": 0.9, "whiteground_3x": 0.6, "target_only_3x": 0.8, "target_only_original": 0.55}


@pytest.fixture
def summary_of(make, tmp_path):
    """A function that runs questions and estimates."""

    def build(script, *, n=120, views=VIEWS, question=lambda index: {}) -> Summary:
        questions = [make.question(index, **question(index)) for index in range(n)]
        store = make_run(make, tmp_path / "run", script, questions=questions, views=views)
        return estimate(read_table(store, SCORER), SCORER, tuple(store.views()))

    return build


def answering(rates, default=0.7):
    def script(ask):
        asked = ask.identity
        return "A" if draw(asked.question_id, asked.condition) < rates.get(asked.condition, default) else "B"

    return script


def test_every_named_effect_is_the_difference_of_its_two_accuracies(summary_of):
    summary = summary_of(answering(RATES))
    accuracy = {one.condition: one.value for one in summary.estimates}
    plain = [one for one in summary.effects if one.condition in accuracy]
    assert {one.name for one in plain} >= {
        "context curve", "canvas effect", "distraction effect", "in-crop context at original canvas",
        "in-crop context at crop canvas", "canvas effect without context", "negative control",
    }  # fmt: skip
    for one in plain:
        assert one.value == pytest.approx(accuracy[one.condition] - accuracy[one.baseline], abs=1e-12)


def test_distraction_and_canvas_add_up_to_the_gain_exactly(summary_of):
    summary = summary_of(answering(RATES))
    assert [part.area_ratio for part in summary.decompositions] == [1.0, 3.0]
    for part in summary.decompositions:
        assert part.total.value == pytest.approx(part.distraction.value + part.canvas.value, abs=1e-12)
    three = summary.decompositions[1]
    effects = {(one.name, one.condition): one.value for one in summary.effects}
    inside = effects["in-crop context at crop canvas", "crop_3x"]
    outside = effects["in-crop context at original canvas", "whiteground_3x"]
    assert three.interaction is not None
    assert three.interaction.value == pytest.approx(inside - outside, abs=1e-12)
    assert three.is_order_dependent is not (three.interaction.low <= 0 <= three.interaction.high)


def test_negative_controls_are_never_corrected(summary_of):
    controls = [one for one in summary_of(answering(RATES)).effects if one.name == "negative control"]
    assert {(one.condition, one.baseline) for one in controls} == set(IDENTICAL_VIEWS)
    assert all(one.p is not None and one.p_adjusted is None for one in controls)


def test_flips_add_up_and_stand_beside_guessing_and_repetition(summary_of):
    summary = summary_of(answering(RATES))
    contrasts = {(one.condition, one.baseline): one for one in summary.contrasts}
    for flip in summary.flips:
        contrast = contrasts[flip.condition, flip.baseline]
        assert flip.gained.value - flip.lost.value == pytest.approx(contrast.value, abs=1e-12)
        assert flip.gained.value + flip.lost.value == pytest.approx(flip.churn.value, abs=1e-12)
        assert 0.0 <= flip.guessing <= 0.375
        assert flip.repetition is not None


def test_shares_over_views_are_ordered(summary_of):
    shares = {one.name: one.value for one in summary_of(answering(RATES)).proportions}
    assert shares["right on all views"] <= shares["right on any view"]
    assert 0.0 <= shares["pairs of views that agree"] <= 1.0
    assert shares["family mean"] <= 1.0


def test_chance_corrected_accuracy_is_the_formula_for_mixed_options(summary_of):
    def question(index):
        return {"choices": ("yes", "no")} if index % 3 == 0 else {}

    summary = summary_of(answering({}), question=question, views="original,crop_3x")
    accuracy = {one.condition: one for one in summary.estimates}
    for one in summary.proportions:
        if one.name == "chance-corrected accuracy":
            plain = accuracy[one.condition]
            assert one.value == pytest.approx((plain.value - plain.chance) / (1.0 - plain.chance), abs=1e-12)
            moved = [(bound - plain.chance) / (1.0 - plain.chance) for bound in plain.interval]
            assert one.interval == pytest.approx(moved, abs=1e-12)
            assert one.method == f"{plain.method}, moved to the scale where guessing is 0"  # it said "linearisation"


def test_accuracy_above_blind_is_the_formula(summary_of):
    summary = summary_of(answering({"original": 0.9, "no_image": 0.4}), views="original,no_image")
    accuracy = {one.condition: one.value for one in summary.estimates}
    (above,) = [one for one in summary.proportions if one.name == "accuracy above blind"]
    expected = (accuracy["original"] - accuracy["no_image"]) / (1.0 - accuracy["no_image"])
    assert above.value == pytest.approx(expected)
    assert above.low < above.value < above.high
    gains = {(one.condition, one.baseline): one.value for one in summary.effects if one.name == "visual gain"}
    assert gains == {("original", "no_image"): pytest.approx(accuracy["original"] - accuracy["no_image"])}


def test_groups_partition_the_questions(summary_of):
    def question(index):
        return {"task": ("OCR", "Color", "Count")[index % 3]}

    summary = summary_of(answering(RATES), views="original,crop_3x", question=question)
    for condition in ("original", "crop_3x"):
        own = [one for one in summary.breakdowns if one.condition == condition and one.subset.startswith("task")]
        total = sum(one.value * one.n_questions for one in own)
        (whole,) = [one for one in summary.estimates if one.condition == condition]
        assert total / sum(one.n_questions for one in own) == pytest.approx(whole.value)
    assert {one.grouping for one in summary.group_tests} == {"task"}
    assert all(one.detectable is None or one.detectable > 0.1 for one in summary.group_effects)


def test_an_effect_in_one_task_only_is_found_and_an_equal_one_is_not(summary_of):
    def one_sided(ask):
        asked = ask.identity
        is_ocr = int(asked.question_id[1:]) % 2 == 0
        rate = 0.2 if asked.condition == "crop_3x" and is_ocr else 0.8
        return "A" if draw(asked.question_id, asked.condition) < rate else "B"

    def question(index):
        return {"task": "OCR" if index % 2 == 0 else "Color"}

    (test,) = summary_of(one_sided, n=240, views="original,crop_3x", question=question).group_tests
    assert test.p < 0.01


def test_the_threshold_of_a_falling_curve_is_found_again(summary_of):
    scales = {"original": 0.0, "downsample_0_5": -1.0, "downsample_0_25": -2.0, "downsample_0_125": -3.0}

    def falling(ask):
        asked = ask.identity
        is_seen = scales[asked.condition] > -4.0 * draw(asked.question_id)
        return "A" if is_seen else "BCD"[int(3 * draw("x", asked.question_id, asked.condition))]

    summary = summary_of(falling, n=300, views=",".join(scales))
    half = next(one for one in summary.thresholds if one.fraction == 0.5 and one.unit == "linear scale")
    expected = np.log2(half.value)
    # 3/4 of wrong answers differ from a guess, so the chance-corrected curve falls past zero; half is at about −1.5.
    assert -2.0 < expected < -1.0
    assert half.low <= half.value <= half.high
    assert summary.movement is not None
    assert summary.movement.ace_p < 0.05


def test_no_threshold_is_given_for_a_model_that_guesses(summary_of):
    def guessing(ask):
        return "ABCD"[int(4 * draw(ask.identity.question_id, ask.identity.condition))]

    assert summary_of(guessing, views="original,downsample_0_5,downsample_0_25").thresholds == ()


def test_readings_differ_only_where_answers_are_unread_or_missing(summary_of):
    assert summary_of(answering(RATES), views="original,crop_3x").sensitivity == ()


def test_unread_answers_give_further_readings(summary_of):
    def mumbling(ask):
        return Reply(text="hm", finish="stop") if ask.identity.question_id == "q003" else answering(RATES)(ask)

    (check,) = summary_of(mumbling, views="original,crop_3x").sensitivity
    assert [one.subset for one in check.readings] == ["as scored", "readable only", "unreadable by chance"]
    assert [one.n_questions for one in check.readings] == [120, 119, 120]


def test_a_summary_with_everything_survives_the_disk(summary_of):
    summary = summary_of(answering(RATES))
    assert decode_record(encode_record(summary), Summary, "estimates.json") == summary

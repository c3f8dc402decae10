"""What a study can detect follows the tables of the power calculation, and a pilot replaces assumptions."""

import pytest
from runs_made import draw, make_side

from eyechart.errors import UsageError
from eyechart.runs.plan import PlanOptions
from eyechart.runs.study import ASSUMED_DISCORDANCE, StudyOptions, study_power
from eyechart.stats.power import Design, detectable_difference

PAIR = ("crop_3x", "original")


@pytest.fixture
def questions(make):
    return [make.question(index, task=("OCR", "Color", "Count")[index % 3]) for index in range(700)]


def test_the_detectable_difference_is_that_of_the_formula(questions):
    study = study_power(questions, [PAIR], StudyOptions(discordance=0.1))
    assert study.pairs[0].detectable == pytest.approx(detectable_difference(700, 0.1))
    assert study.pairs[0].detectable == pytest.approx(0.033, abs=0.001)
    assert [group.group for group in study.pairs[0].groups] == ["Color", "Count", "OCR"]
    assert sum(group.n_questions for group in study.pairs[0].groups) == 700


def test_more_comparisons_views_and_repeats_cost(questions):
    many = study_power(questions, [PAIR] * 28, StudyOptions(discordance=0.1, n_views=29, n_repeats=2))
    assert many.pairs[0].detectable == pytest.approx(detectable_difference(700, 0.1, Design(n_comparisons=28)))
    assert many.n_requests == 700 * 29 * 2


def test_without_a_pilot_the_discordance_is_assumed_and_shared_pictures_count_fully(make):
    shared = [make.question(index, picture=f"p{index // 4}") for index in range(400)]
    pair = study_power(shared, [PAIR], StudyOptions()).pairs[0]
    assert (pair.discordance, pair.source, pair.variance_inflation) == (ASSUMED_DISCORDANCE, "assumed", 4.0)


@pytest.mark.parametrize(("effect", "is_possible"), [(0.05, True), (0.3, False)])
def test_an_effect_beyond_the_discordance_is_impossible(questions, effect, is_possible):
    pair = study_power(questions, [PAIR], StudyOptions(discordance=0.2, effect=effect)).pairs[0]
    assert (pair.n_needed is not None) is is_possible


def test_a_pilot_gives_discordance_clustering_and_what_repeats_are_worth(make, tmp_path, questions):
    def noisy(ask):
        asked = ask.identity
        return "A" if draw(asked.question_id, asked.condition, asked.repeat) < 0.5 else "B"

    pilot = make_side(
        make, tmp_path / "a", noisy, n=60, views="original,crop_3x,crop_6x", plan=PlanOptions(repeats=2)
    ).table
    study = study_power(questions, [PAIR, ("crop_6x", "original")], StudyOptions(), pilot)
    assert study.pairs[0].source == "pilot"
    assert study.pairs[0].discordance > 0.3
    assert study.pairs[0].variance_inflation == 1.0
    assert study.useful_repeats is None or study.useful_repeats > 0.0


def test_a_grid_needs_the_bases_of_the_noise_floor(questions):
    assert study_power(questions, [PAIR], StudyOptions(grid=5)).bases_needed == 758


def test_nothing_to_compare_is_refused(questions):
    with pytest.raises(UsageError, match="nothing to compare"):
        study_power(questions, [], StudyOptions())

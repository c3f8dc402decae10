import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.power import (
    Design,
    bases_needed,
    detectable_difference,
    discordance_from,
    exact_detectable_difference,
    exact_power,
    questions_needed,
)


def test_detectable_differences_equal_the_reference(reference):
    for row in reference["expected_mde"]:
        n, discordance = row["n"], row["disc"]
        for column, design in (
            ("mde_norm", Design()),
            ("mde_norm_deff1_05", Design(variance_inflation=1.05)),
            ("mde_bonf28", Design(n_comparisons=28)),
            ("mde_bonf435", Design(n_comparisons=435)),
        ):
            found = detectable_difference(n, discordance, design)
            assert found is None if row[column] is None else found == pytest.approx(row[column], abs=1e-6)
        found = exact_detectable_difference(n, discordance)
        assert found is None if row["mde_exact"] is None else found == pytest.approx(row["mde_exact"], abs=5e-6)


@given(st.integers(50, 2000), st.floats(0.02, 0.9), st.floats(1, 2))
def test_questions_needed_for_the_detectable_difference_are_those_asked(n, discordance, inflation):
    design = Design(variance_inflation=inflation)
    difference = detectable_difference(n, discordance, design)
    if difference is not None:
        assert questions_needed(difference, discordance, design) == pytest.approx(n, abs=1)


def test_power_of_no_difference_is_the_error_rate():
    assert 0.03 < exact_power(700, 0.2, 0.0) <= 0.05


@pytest.mark.parametrize(("n", "discordance"), [(115, 0.2), (700, 0.05)])
def test_power_grows_with_the_difference_and_reaches_the_promise(n, discordance):
    powers = [exact_power(n, discordance, share * discordance) for share in (0.0, 0.3, 0.6, 1.0)]
    assert powers == sorted(powers)
    assert exact_power(n, discordance, exact_detectable_difference(n, discordance)) == pytest.approx(0.8, abs=1e-6)


def test_simulated_power_agrees():
    from eyechart.stats.sign_flip import sign_flip

    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 0.0, 1.0], size=(115, 2000), p=[0.05, 0.8, 0.15])
    found = float((sign_flip(signs).mid <= 0.05).mean())
    assert found == pytest.approx(exact_power(115, 0.2, 0.1), abs=0.03)


def test_discordance_of_independent_and_identical_scores():
    assert discordance_from(0.7, 0.7) == pytest.approx(0.42)
    assert discordance_from(0.7, 0.7, covariance=0.21) == pytest.approx(0.0)


def test_grid_of_the_specification_needs_its_bases():
    assert bases_needed(0.05, 0.35, 25) == pytest.approx(757, abs=1)


@pytest.mark.parametrize(
    ("n", "discordance", "design"),
    [
        (0, 0.1, Design()),
        (10, 0.0, Design()),
        (10, 1.5, Design()),
        (10, 0.1, Design(alpha=1.0)),
        (10, 0.1, Design(power=0.0)),
        (10, 0.1, Design(n_comparisons=0)),
        (10, 0.1, Design(variance_inflation=0.0)),
    ],
)
def test_impossible_designs_are_refused(n, discordance, design):
    with pytest.raises(StatisticsError, match="questions with discordance"):
        detectable_difference(n, discordance, design)


@pytest.mark.parametrize("difference", [0.0, 0.3])
def test_difference_beyond_the_discordance_is_refused(difference):
    with pytest.raises(StatisticsError, match=r"with discordance 0\.2"):
        questions_needed(difference, 0.2)


def test_target_must_be_positive():
    with pytest.raises(StatisticsError, match="target 0 is not positive"):
        bases_needed(0, 0.3, 9)

"""A small version of benchmarks/simulate_looks.py: looks at runs without a difference claim none, and find one."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

_PATH = Path(__file__).parents[1] / "benchmarks" / "simulate_looks.py"
_SPEC = importlib.util.spec_from_file_location("simulate_looks", _PATH)
simulated = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(simulated)


@pytest.mark.parametrize("setting", [simulated.Setting(80), simulated.Setting(80, size=4, drift=0.15)])
def test_looks_at_runs_without_a_difference_hold_the_error_rate_together(setting):
    found = simulated.simulate(setting, 14, 200, np.random.default_rng(5))
    assert simulated.alarm_of(found) <= 0.095  # 5 % and three times its Monte-Carlo error


def test_early_looks_in_the_order_of_a_file_would_claim_what_drifts_over_it():
    rng = np.random.default_rng(6)
    in_file = simulated.simulate(simulated.Setting(200, drift=0.15, is_file_order=True), 5, 100, rng)
    in_plan = simulated.simulate(simulated.Setting(200, drift=0.15), 5, 100, rng)
    assert simulated.alarm_of(in_file) > 0.2 > simulated.alarm_of(in_plan)


def test_looks_find_what_one_look_finds_with_fewer_pictures():
    found = simulated.simulate(simulated.Setting(80, effect=0.25), 5, 100, np.random.default_rng(7))
    assert found.claimed[:, 0].mean() > 0.9
    assert found.asked.mean() < 0.8

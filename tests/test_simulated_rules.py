"""A small version of benchmarks/simulate_rules.py: rules about counts are silent without a fault and find their own."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

_PATH = Path(__file__).parents[1] / "benchmarks" / "simulate_rules.py"
_SPEC = importlib.util.spec_from_file_location("simulate_rules", _PATH)
simulated = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(simulated)


@pytest.mark.parametrize(("layout", "n_reports"), [((29, 700, 1), 3), ((8, 300, 4), 10), ((2, 40, 1), 40)])
def test_reports_without_a_fault_have_no_rule(layout, n_reports):
    rng = np.random.default_rng(7)
    fired = [code for _ in range(n_reports) for code in simulated.report(*layout, rng)]
    assert len(fired) <= max(1, 0.05 * n_reports)


@pytest.mark.parametrize("rule", simulated.RULES)
def test_a_fault_of_25_points_fires_its_own_rule(rule):
    assert rule in simulated.report(8, 300, 1, np.random.default_rng(3), simulated.FAULTS[rule])

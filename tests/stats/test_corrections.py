from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.corrections import Correction, adjust

p_lists = st.lists(st.floats(0, 1), max_size=30)


@pytest.mark.parametrize(
    ("correction", "column"),
    [
        ("holm", "holm"),
        ("hochberg", "hochberg"),
        ("benjamini-hochberg", "BH"),
        ("benjamini-yekutieli", "BY"),
        ("bonferroni", "bonferroni"),
    ],
)
def test_adjusted_p_equals_r_in_any_order(reference, expected, correction, column):
    p = np.array(reference["inputs"]["d5"]["pvals"])
    order = np.random.default_rng(0).permutation(p.size)
    assert adjust(p, correction) == pytest.approx(expected["d5"][column], abs=1e-12)
    assert adjust(p[order], correction) == pytest.approx(np.array(expected["d5"][column])[order], abs=1e-12)


@given(p_lists, st.sampled_from(get_args(Correction)))
def test_adjusting_never_lowers_p_and_keeps_the_ranking(p_values, correction):
    p = np.array(p_values)
    adjusted = adjust(p, correction)
    assert (adjusted >= p - 1e-15).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


@given(p_lists)
def test_corrections_are_ordered_by_strictness(p_values):
    p = np.array(p_values)
    by_name = {name: adjust(p, name) for name in get_args(Correction)}
    tolerance = 1e-12
    assert (by_name["benjamini-hochberg"] <= by_name["hochberg"] + tolerance).all()
    assert (by_name["hochberg"] <= by_name["holm"] + tolerance).all()
    assert (by_name["holm"] <= by_name["bonferroni"] + tolerance).all()


@pytest.mark.parametrize("p_values", [[1.2], [float("nan")], [[0.1]]])
def test_what_is_no_list_of_p_values_is_refused(p_values):
    with pytest.raises(StatisticsError, match="are not a flat list in 0–1"):
        adjust(np.array(p_values), "holm")

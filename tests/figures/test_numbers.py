"""Numbers are written one way, and no rounding changes what they say."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.figures._numbers import (
    MINUS,
    format_contrast,
    format_count,
    format_label,
    format_p,
    format_percent,
    format_points,
    format_px,
)
from eyechart.schema import Contrast


def contrast(**changes) -> Contrast:
    fields = {"value": -0.125, "low": -0.3, "high": 0.05, "n_questions": 40, "n_clusters": 20, "gained": 1, "lost": 6}
    return Contrast(name="", condition="blank", baseline="original", method="", **{**fields, **changes})


@given(st.floats(-1, 1))
def test_written_difference_is_within_half_a_tenth_and_keeps_its_sign(difference):
    text = format_points(difference)
    number = float(text.replace(MINUS, "-"))
    assert abs(number - 100 * difference) <= 0.05 + 1e-9
    assert number * difference >= 0
    assert re.fullmatch(rf"[+{MINUS}]\d+\.\d|0\.0", text)


@given(st.floats(0, 1))
def test_percentage_has_one_decimal_and_is_within_half_a_tenth(fraction):
    assert re.fullmatch(r"\d{1,3}\.\d", format_percent(fraction))
    assert abs(float(format_percent(fraction)) - 100 * fraction) <= 0.05 + 1e-9


@given(st.floats(0, 1), st.floats(0, 1))
def test_smaller_p_is_never_written_as_larger(first, second):
    low, high = sorted((first, second))
    assert float(format_p(low).lstrip("<")) <= float(format_p(high).lstrip("<"))


@pytest.mark.parametrize(
    ("length_px", "text"), [(0.04, "0.0"), (9.94, "9.9"), (9.96, "10"), (31.5, "32"), (4000.4, "4000"), (None, "–")]
)
def test_lengths_have_a_decimal_below_ten_pixels_only(length_px, text):
    assert format_px(length_px) == text


def test_blocked_contrast_is_written_without_its_numbers():
    text = format_contrast(contrast(blocked_by=("DIFFERENT_PROMPTS",)))
    assert text == "blocked: DIFFERENT_PROMPTS"


def test_difference_is_written_with_its_interval():
    assert format_contrast(contrast()) == "−12.5 [−30.0, +5.0]"


@given(st.integers(0, 10**9))
def test_count_is_readable_back(count):
    assert int(format_count(count).replace("\N{THIN SPACE}", "")) == count


@given(st.text())
def test_label_is_short_and_has_no_control_character(name):
    label = format_label(name)
    assert len(label) <= 28
    assert label.isprintable()

"""Rules that were renamed: files and command lines of before are still understood, and nothing else is touched."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.schema import Finding as Sentence
from eyechart.schema import ValidityRule
from eyechart.stats.codes import FORMER, Code, current_code, with_current_codes
from eyechart.stats.findings import Finding


def test_every_former_name_has_a_rule_and_is_none():
    assert set(FORMER.values()) <= set(Code)
    assert not set(FORMER) & set(Code)


@pytest.mark.parametrize(("former", "now"), FORMER.items())
def test_a_stored_finding_of_before_is_read_under_the_new_name(former, now):
    stored = msgspec.json.encode({"code": former, "level": "warning", "message": "x"})
    assert msgspec.json.decode(stored, type=Finding).code == now


@given(st.text())
def test_any_other_name_stays(name):
    assert current_code(name) == FORMER.get(name, name)


def test_a_name_that_no_rule_ever_had_is_refused():
    with pytest.raises(ValueError, match="is not a valid Code"):
        Code("VIEW_COLLAPSES")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a and b are not compared: MNAR, VIEW_COLLAPSE.", "a and b are not compared: MISSING_BY_VIEW, SAME_PICTURE."),
        ("MNARS, mnar and MNAR_2 are other words", "MNARS, mnar and MNAR_2 are other words"),
    ],
)
def test_sentences_name_rules_as_they_are_called_now(text, expected):
    assert with_current_codes(Sentence("BLOCKED", text)).text == expected


def test_names_of_views_are_no_codes():
    rule = ValidityRule("PROMPT_MIX", "error", "two prompts", ("MNAR",))
    assert with_current_codes(rule) == ValidityRule("DIFFERENT_PROMPTS", "error", "two prompts", ("MNAR",))

"""Thoughts and answer are parted, and a cut-off thought is never an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.models._reasoning import join_reasoning, split_reasoning

CASES = [
    ("B", "B", None, False),
    ("<think>A or B?</think>\n\nB", "B", "A or B?", False),
    ("<THINKING>A?</THINKING>B", "B", "A?", False),
    ("◁think▷A?◁/think▷B", "B", "A?", False),
    ("A? No.</think>B", "B", "A? No.", False),
    ("<think></think>B", "B", None, False),
    ("<think>one</think>A<think>two</think>B", "B", "oneAtwo", False),
    ("<think>A or", "", "A or", True),
    ("<think>one</think>B<think>two", "B", "one\ntwo", True),
    ("B<think>", "B", None, True),
    ("I think <b>B</b>", "I think <b>B</b>", None, False),
    ("  B \n", "  B \n", None, False),
]


@pytest.mark.parametrize(("text", "answer", "reasoning", "is_cut_off"), CASES)
def test_thoughts_are_parted_from_the_answer(text, answer, reasoning, is_cut_off):
    assert split_reasoning(text) == (answer, reasoning, is_cut_off)


@given(st.text())
def test_a_text_without_tags_is_untouched(text):
    if "think" not in text.lower():
        assert split_reasoning(text.replace("<", "")).answer == text.replace("<", "")


@given(st.lists(st.sampled_from(["<think>", "</think>", "A", " ", "<reasoning>", "</thought>"])))
def test_no_tag_is_left_in_the_answer(pieces):
    assert "<" not in split_reasoning("".join(pieces)).answer


@given(st.text(alphabet="AB <>/think", max_size=60))
def test_what_follows_an_open_thought_never_reaches_the_answer(text):
    split = split_reasoning(f"{text}<think>SECRET")
    assert split.is_cut_off
    assert "SECRET" not in split.answer


def test_splitting_is_linear_in_length():
    assert split_reasoning("<think>" * 20_000).is_cut_off
    assert split_reasoning("</think>" * 20_000).answer == ""


def test_thoughts_of_several_channels_are_joined():
    assert join_reasoning(None, "") is None
    assert join_reasoning("a", None, "b") == "a\nb"

"""Stems: exactly the option list is cut, nothing is guessed, and what looks like a list and is none is reported."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.releases.stems import report_splits, split_stem

ZOOM = "How many table lamps are in the image? Select from the following choices.\n(A) 0\n(B) 2\n(C) 1\n(D) 3"
GLOVE = """What is the material of the glove?
(A) rubber
(B) cotton
(C) kevlar
(D) leather
Answer with the option's letter from the given choices directly."""
WORDS = st.text(st.characters(categories=("L", "N", "P"), include_characters=" ()"), min_size=1, max_size=20).filter(
    lambda text: text.strip() == text and "  " not in text
)


@pytest.mark.parametrize(
    ("text", "choices", "stem"),
    [
        (ZOOM, ["0", "2", "1", "3"], "How many table lamps are in the image?"),
        (GLOVE, ["rubber", "cotton", "kevlar", "leather"], "What is the material of the glove?"),
        ("Which? (A) Shop (new) (B) Shop (old) (C) Bar", ["Shop (new)", "Shop (old)", "Bar"], "Which?"),
        ("Which?\nOptions:\nA. (B) block\nB. A. Smith", ["(B) block", "A. Smith"], "Which?"),
        ("看板上写着什么\nA: 出口\nB: 入口", ["出口", "入口"], "看板上写着什么"),
        ("Which?\nA) red,\nB) blue.", ["red", "blue"], "Which?"),
        ("Is it (A) or (B)?\n(A) left\n(B) right", ["left", "right"], "Is it (A) or (B)?"),
    ],
)
def test_list_of_the_options_is_cut(text, choices, stem):
    split = split_stem(text, choices)
    assert (split.stem, split.state) == (stem, "split")
    assert split.stem + split.cut == text


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        (ZOOM, ["0", "2", "1", "4"]),  # another option
        (ZOOM, ["2", "0", "1", "3"]),  # another order
        (ZOOM, ["0", "2", "1"]),  # an option too many in the text
        (f"{ZOOM}\nThe lamps may be hidden.", ["0", "2", "1", "3"]),  # a sentence that belongs to the question
        ("(A) red\n(B) blue", ["red", "blue"]),  # nothing would be left
    ],
)
def test_what_is_not_exactly_the_list_stays_whole(text, choices):
    assert split_stem(text, choices) == (text, "not_split", "")


@pytest.mark.parametrize(
    ("text", "choices"),
    [("What colour is the bag?", ["red", "blue"]), ("What does the sign A say?", ["x", "y"]), ("Read it.", [])],
)
def test_text_without_options_stays(text, choices):
    assert split_stem(text, choices) == (text, "no_options_in_text", "")


@given(st.lists(WORDS, min_size=2, max_size=6), st.sampled_from(["({}) ", "{}. ", "{}) ", "{}: "]), st.booleans())
def test_any_list_that_was_written_is_cut_again(choices, form, is_one_line):
    options = [form.format(letter) + choice for letter, choice in zip("ABCDEF", choices, strict=False)]
    text = "What is it?" + "".join((" " if is_one_line else "\n") + option for option in options)
    split = split_stem(text, choices)
    assert (split.stem, split.state) == ("What is it?", "split")


@given(st.text(max_size=60), st.lists(WORDS, max_size=4))
def test_nothing_is_lost(text, choices):
    split = split_stem(text, choices)
    assert split.stem + split.cut == text


def test_report_names_what_was_not_split():
    splits = [
        ("1", split_stem(ZOOM, ["0", "2", "1", "3"])),
        ("2", split_stem(ZOOM, ["0", "9"])),
        ("3", split_stem("?", [])),
    ]
    report = report_splits(splits)
    assert (report.n_split, report.n_without_options, report.not_split) == (1, 1, ("2",))

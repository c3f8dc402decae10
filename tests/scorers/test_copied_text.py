"""Which option's text stands behind a letter: a table of how models write it, and of what says nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.scorers.option_letter.copied_text import copied_option, may_copy
from eyechart.scorers.option_letter.extraction import extract

COLOURS = ("red", "blue", "green", "white")


def named(text, choices=COLOURS):
    """The letter read and the option copied, as a letter."""
    read = extract(text, choices)
    found = copied_option(text, choices, read.letter, read.span)
    return read.letter, None if found is None else "ABCDEFG"[found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B. red", ("B", "A")),
        ("B. blue", ("B", "B")),
        ("(B) Red.", ("B", "A")),
        ("**B**. Red", ("B", "A")),
        ("B: the red", ("B", "A")),
        ("Answer: B. red", ("B", "A")),
        ("Answer: (C) white, because it is bright", ("C", "D")),
        ("The answer is B (red).", ("B", "A")),
        ("Answer: B - red", ("B", "A")),
        ("<answer>B. red</answer>", ("B", "A")),
        ("I think so.\nAnswer: D) green\nIt is on the left.", ("D", "C")),
        ("B", ("B", None)),
        ("B.", ("B", None)),
        ("B.\nred", ("B", None)),
        ("Answer: B because red is not there", ("B", None)),
        ("B. redder", ("B", None)),
        ("B. It is red", ("B", None)),
        ("B. purple", ("B", None)),
    ],
)
def test_text_directly_behind_the_letter_is_read(text, expected):
    assert named(text) == expected


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [
        ("A. No", ("Yes", "No"), None),
        ("A. No sign is there", ("Yes", "No"), None),
        ("A. False", ("True", "False"), None),
        ("A. No, it is closed", ("Yes, it is open", "No, it is closed"), None),
        ("B. left", ("left", "left of the car"), None),  # an abbreviation of its own option
        ("A. left of the car", ("left", "left of the car"), None),
        ("B. left of the car", ("left", "left of the car"), "B"),
        ("A. red and blue", ("red", "blue", "red and blue"), None),
        ("B. red, not blue", ("red", "blue"), None),  # its own option stands there, too
        ("B. Red", ("red", "blue", "Red"), None),  # two options say so
        ("C. 2.5", ("2", "2.5", "25"), "B"),
        ("C. 25", ("2", "2.5", "25"), "C"),
    ],
)
def test_texts_that_two_options_share_speak_for_neither(text, choices, expected):
    found = copied_option(text, choices, text[0], (0, 1))
    assert (None if found is None else "ABC"[found]) == expected


@pytest.mark.parametrize("text", ["A. red\nB. blue\nC. green\nD. white", "A. red B. blue C. green D. white"])
def test_response_that_lists_every_option_says_nothing(text):
    assert copied_option(text, COLOURS, "A", (0, 1)) is None


@given(
    st.text(alphabet="ABC.():*-<>\\ \nredblu12", max_size=30),
    st.lists(st.text(alphabet="redblu 12", max_size=6), max_size=4),
    st.sampled_from([None, "A", "B", "AB", "r1c2", "Z", ""]),
    st.none() | st.tuples(st.integers(0, 30), st.integers(0, 30)),
)
@settings(max_examples=150)
def test_no_text_ends_in_a_traceback_and_what_is_found_may_be_found(text, choices, letter, span):
    found = copied_option(text, choices, letter, span)
    assert found is None or 0 <= found < len(choices)
    assert found is None or may_copy(text, letter, span)


@given(st.permutations(range(4)), st.integers(0, 3))
@settings(max_examples=20)
def test_copied_option_follows_the_order_shown(order, place):
    shown = tuple(COLOURS[index] for index in order)
    assert copied_option(f"Answer: A. {shown[place]}", shown, "A", (8, 9)) == place

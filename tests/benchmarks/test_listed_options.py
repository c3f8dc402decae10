"""Laws of questions that list their own options: nothing is lost, and letters inside options stay there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.benchmarks._listed_options import take_apart

LETTERS = "ABCDEFGH"
words = st.text(st.characters(categories=["L", "N"], include_characters=" -'%"), min_size=1, max_size=20).map(
    lambda text: " ".join(text.split()) or "x"
)


@given(words, st.lists(words, min_size=2, max_size=8), st.sampled_from(["({}) ", "{}. ", "{}) ", "{}: "]))
def test_every_listed_option_comes_back_in_order(stem, options, form):
    listed = "\n".join(f"{form.format(letter)}{option}" for letter, option in zip(LETTERS, options, strict=False))
    taken = take_apart(f"{stem}?\n{listed}")
    assert taken.stem == f"{stem}?"
    assert taken.options == tuple(options)


@pytest.mark.parametrize(
    ("text", "stem", "options"),
    [
        ("Which? (A) Shop (new) (B) Shop (old) (C) Bar (D) Inn", "Which?", ("Shop (new)", "Shop (old)", "Bar", "Inn")),
        ("Which?\n(A) Gate B\n(B) Gate A. West\n", "Which?", ("Gate B", "Gate A. West")),
        ("How many?\nSelect from the following choices.\n(A) 0\n(B) 2", "How many?", ("0", "2")),
        (
            "What is it?\n(A) rubber\n(B) cotton\nAnswer with the option's letter from the given choices directly.",
            "What is it?",
            ("rubber", "cotton"),
        ),
        ("Platform A. is where?\nA. left\nB. right", "Platform A. is where?", ("left", "right")),
        ("Which word?\n(A) 出口\n(B) 入口", "Which word?", ("出口", "入口")),
        ("Which?\n(A) first\nline\n(B) second", "Which?", ("first\nline", "second")),
        ("What is written (A) on the door?", "What is written (A) on the door?", ()),
        ("Which?\n(A) one\n(C) three", "Which?\n(A) one\n(C) three", ()),
        ("(A) one\n(B) two", "(A) one\n(B) two", ()),
        ("What is it?", "What is it?", ()),
    ],
)
def test_texts_are_taken_apart_as_a_reader_would(text, stem, options):
    taken = take_apart(text)
    assert (taken.stem, taken.options) == (stem, options)

"""Laws of the wordings: choices once or twice as declared, only the letters there are, options unchanged."""

import pytest
from strategies import question_about

from eyechart.prompts._lettered import with_choices
from eyechart.prompts.letter_legacy import LetterLegacy
from eyechart.prompts.letter_normalized import LetterNormalized
from eyechart.schema import Size

ODD = ("Shop (new)", "(A) first", "two\nlines", "青い看板", "a. b")


def test_normalized_prints_each_choice_once():
    question = question_about(Size(9, 9), text="Which?", text_raw="Which?\n(A) red\n(B) blue")
    assert LetterNormalized().render(question, ("red", "blue")) == (
        "Which?\nA. red\nB. blue\nAnswer with the option's letter from the given choices directly."
    )


def test_legacy_prints_choices_twice_where_the_source_text_has_them():
    question = question_about(Size(9, 9), text="Which?", text_raw="Which?\n(A) red\n(B) blue")
    text = LetterLegacy().render(question, ("red", "blue"))
    assert text.count("red") == 2
    assert text.startswith("Which?\n(A) red\n(B) blue\nA. red")


def test_legacy_without_source_text_is_the_normalized_form():
    question = question_about(Size(9, 9))
    assert LetterLegacy().render(question, question.choices) == LetterNormalized().render(question, question.choices)


def test_two_options_list_only_a_and_b():
    text = LetterNormalized().render(question_about(Size(9, 9)), ("yes", "no"))
    assert "\nB. no\n" in text
    assert "C." not in text


def test_odd_options_survive_unchanged():
    text = LetterNormalized().render(question_about(Size(9, 9)), ODD)
    assert all(choice in text for choice in ODD)


def test_free_form_question_asks_for_words():
    text = LetterNormalized().render(question_about(Size(9, 9)), ())
    assert "letter" not in text


def test_27_choices_have_no_letters():
    with pytest.raises(ValueError, match="27 choices"):
        with_choices("Which?", ["x"] * 27)

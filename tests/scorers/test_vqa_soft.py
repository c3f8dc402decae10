"""Soft VQA accuracy: published substring score with its faults, and the corrected equality score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import UsageError
from eyechart.schema import Response, ResponseState
from eyechart.scorers.vqa_soft import VQASoft, last_line, normalise_answer, soft_score


def _score(text, answers, ask, answered, mode):
    return VQASoft().score(answered(text), ask(answers=answers), (), None, mode)


# Observed from the published score: substrings count, and dots vanish from the response only.
@pytest.mark.parametrize(
    ("text", "answers", "published", "corrected"),
    [
        ("No", ("no",) * 10, 1.0, 1.0),
        ("unknown", ("no",) * 10, 1.0, 0.0),
        ("I do not know", ("no",) * 10, 1.0, 0.0),
        ("it is 3.5 m", ("3.5",) * 10, 0.0, 0.0),
        ("3.5", ("3.5",) * 10, 0.0, 1.0),
        ("two", ("2",) * 10, 0.0, 1.0),
        ("cat", ("a",) * 10, 1.0, 0.0),
        ("", ("no",) * 10, 0.0, 0.0),
        ("Yes and no", ("yes",) * 4 + ("no",) * 6, 1.0, 0.0),
        ("red", ("red",) * 2 + ("blue",) * 8, 2 / 3, 0.6),
        ("red", ("red",) * 3 + ("blue",) * 7, 1.0, 0.9),
        ("red", ("red",) * 4 + ("blue",) * 6, 1.0, 1.0),
        ("yes\n", ("yes",) * 10, 0.0, 1.0),
        ("I look.\n**Answer:** Yes.", ("yes",) * 10, 1.0, 1.0),
        ("<think>no</think>yes", ("yes",) * 10, 1.0, 1.0),
        ("The dog", ("dog",) * 10, 1.0, 1.0),
        ("<ans>dog</ans>", ("dog",) * 10, 1.0, 1.0),
        ("dog</s>", ("dog",) * 10, 1.0, 1.0),
        ("dog<|im_end|>", ("dog",) * 10, 1.0, 1.0),
        ("'dog'.", ("dog",) * 10, 1.0, 1.0),
        ("No, it is not.", ("no",) * 10, 1.0, 0.0),
        ("2 of 3", ("2",) * 10, 1.0, 0.0),
    ],
)
def test_score_is_as_published_and_as_corrected(text, answers, published, corrected, ask, answered):
    assert _score(text, answers, ask, answered, "compat").value == pytest.approx(published)
    assert _score(text, answers, ask, answered, "corrected").value == pytest.approx(corrected)


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("A red car.", "red car"),
        ("1,000", "1000"),
        ("three", "3"),
        ("None", "0"),
        ("dont", "don't"),
        ("don't", "don't"),
        ("red/white", "red white"),
        ("10:30", "10:30"),
        ("-5", "-5"),
        ("3.5 m.", "3.5 m"),
        ("  Two\tdogs ", "2 dogs"),
        ("u.s.", "us"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("$.50", "$0.50"),
        ("No.5", "no5"),
        ("...5", "5"),
    ],
)
def test_answers_are_normalised_as_the_vqa_evaluation_describes(text, normalised):
    assert normalise_answer(text) == normalised


@given(st.text())
def test_normalising_twice_changes_nothing(text):
    once = normalise_answer(text)
    assert normalise_answer(once) == once


@given(st.integers(0, 10))
def test_soft_score_is_the_mean_over_leaving_one_person_out(n_equal):
    answers = ["yes"] * n_equal + ["no"] * (10 - n_equal)
    left_out = [min(sum(a == "yes" for j, a in enumerate(answers) if j != i) / 3, 1) for i in range(10)]
    assert soft_score("yes", answers) == pytest.approx(sum(left_out) / 10)


@pytest.mark.parametrize("text", ["Which pet?\nNo words but the answer.\ndog", "Which  pet? dog", "Which pet?\ndog"])
def test_an_echoed_question_is_not_part_of_the_answer(text, ask, answered):
    score = VQASoft().score(answered(text), ask("Which pet?", answers=("dog",) * 10), (), None, "corrected")
    assert (score.value, score.answer) == (1.0, "dog")


def test_an_echo_without_an_answer_says_so(ask, answered):
    score = VQASoft().score(answered("Which pet?"), ask("Which pet?", answers=("dog",) * 10), (), None, "corrected")
    assert (score.value, score.answer, score.reason) == (0.0, None, "prompt_echo")


def test_a_single_accepted_text_scores_by_equality():
    assert soft_score("yes", ["Yes."]) == 1.0
    assert soft_score("no", ["Yes."]) == 0.0


def test_two_agreeing_people_of_two_give_the_full_score():
    assert soft_score("yes", ["yes", "yes"]) == 1.0


def test_last_line_that_is_not_blank_is_the_answer():
    assert last_line("Let me see\n\nFinal answer: red \n\n") == "red"
    assert last_line("") == ""


def test_empty_and_hidden_answers_say_so(ask, answered):
    assert _score("", ("no",) * 10, ask, answered, "corrected").reason == "empty"
    hidden = _score("red", (), ask, answered, "corrected")
    assert (hidden.value, hidden.reason) == (None, "hidden_answer")


def test_truncated_response_without_text_says_truncated(ask):
    response = Response(request_id="r", state=ResponseState.TRUNCATED, text="")
    score = VQASoft().score(response, ask(answers=("no",) * 10), (), None, "corrected")
    assert (score.value, score.reason, score.diagnostics) == (0.0, "truncated", ("truncated",))


def test_unknown_mode_is_a_usage_error(ask, answered):
    with pytest.raises(UsageError, match="no mode 'strict'"):
        _score("a", ("a",), ask, answered, "strict")


@pytest.mark.parametrize("text", ["a", "A", "A.", "**A**", "The answer is A.", "<ans>a</ans>"])
def test_the_letter_a_is_an_answer_and_no_article(text, ask, answered):
    score = VQASoft().score(answered(text), ask(answers=("a",) * 9 + ("b",)), (), None, "corrected")
    assert (score.value, score.answer) == (1.0, "a")


def test_articles_alone_are_not_all_the_same_answer():
    assert soft_score(normalise_answer("the"), ["a"] * 10) == 0.0
    assert soft_score(normalise_answer("the cat"), ["a cat"] * 10) == 1.0

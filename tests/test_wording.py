"""Prompts from a user's file: nothing but the places changes, and the hash names the wording."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import question_about

from eyechart.errors import UsageError
from eyechart.opening import open_prompt
from eyechart.schema import Size
from eyechart.wording import FilePrompt

QUESTION = question_about(Size(9, 9), text="Which?", text_raw="Which?\n(A) x")


def written(tmp_path, text, name="mine.txt"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return FilePrompt(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [
        ("{question}\n{options}\nLetter?\n", ("red", "blue"), "Which?\nA. red\nB. blue\nLetter?"),
        ("Q: {question_raw}\n{options:({}) }", ("red", "blue"), "Q: Which?\n(A) x\n(A) red\n(B) blue"),
        ("{question}\nA) {A}\nB) {B}\nC) {C}\nend", ("red", "blue"), "Which?\nA) red\nB) blue\nend"),
        ('{question} {"keep": {}} {{x}}', ("red",), 'Which? {"keep": {}} {{x}}'),
    ],
)
def test_places_are_filled_and_the_rest_stays(tmp_path, text, choices, expected):
    if "{{x}}" in text:
        with pytest.raises(UsageError, match=r"unknown place \{x\}"):
            written(tmp_path, text)
        return
    assert written(tmp_path, text).render(QUESTION, choices) == expected


@given(st.text(max_size=30), st.lists(st.text(max_size=20), min_size=2, max_size=5))
def test_braces_inside_questions_and_options_survive(tmp_path_factory, text, choices):
    prompt = written(tmp_path_factory.mktemp("p"), "{question}|{options}|{A}")
    question = question_about(Size(9, 9), text=f"{{A}} {text} {{options}}")
    odd = [f"{{question}} {choice}" for choice in choices]
    options = "\n".join(f"{letter}. {choice}" for letter, choice in zip("ABCDE", odd, strict=False))
    assert prompt.render(question, odd) == f"{question.text}|{options}|{odd[0]}"


def test_hash_of_the_file_is_part_of_the_name(tmp_path):
    one, other = written(tmp_path, "{question}", "a.txt"), written(tmp_path, "{question} ", "b.txt")
    assert one.name == f"a-{hashlib.sha256(b'{question}').hexdigest()[:12]}"
    assert one.sha256 != other.sha256
    assert open_prompt(str(tmp_path / "a.txt")).name == one.name


@pytest.mark.parametrize(
    ("text", "message"),
    [("{options}", "shows no question"), ("{question} {choices}", r"unknown place \{choices\}")],
)
def test_file_that_is_no_prompt_is_refused(tmp_path, text, message):
    with pytest.raises(UsageError, match=message):
        written(tmp_path, text)


def test_missing_and_binary_files_are_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        open_prompt(str(tmp_path / "none.txt"))
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8"):
        open_prompt(str(tmp_path / "b.txt"))


def test_27_choices_have_no_letters(tmp_path):
    with pytest.raises(ValueError, match="27 choices"):
        written(tmp_path, "{question}").render(QUESTION, tuple("x" * 27))

"""The option-letter scorer: tables of responses, laws over any text, states, and growth with length."""

import json
from pathlib import Path

import numpy as np
import pytest
from growth import MAX_GROWTH, growth
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart import registry
from eyechart.errors import UsageError
from eyechart.kinds import Scorer
from eyechart.schema import ImageRef, Question, Response, ResponseState, Size
from eyechart.scorers.option_letter import OptionLetter
from eyechart.scorers.option_letter.extraction import VERSIONS, extract

COLOURS = ("red", "blue", "green", "white")
QUESTION = Question(
    id="q", benchmark="b", text="?", image=ImageRef("0", Size(1, 1), "image/png"), image_group="g", choices=COLOURS
)


# What version 1 left unread and a careful person reads: a list or an object with one letter, an echoed prompt, a number
# written otherwise, a letter that is called the correct one.
READ_ANEW = {
    '{"answer": ["B"]}': ("B", "B"),
    '{"answers": ["B"]}': ("B", "B"),
    '{"answer": {"letter": "B"}}': ("B", "B"),
    "[INST] x [/INST] B": ("B", "B"),
    "4.0": (None, "B"),
    "The correct letter is B": ("B", "B"),
}


def _cases(name):
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("file", ["option_letter_cases.jsonl", "option_letter_variants.jsonl"])
def test_every_case_of_the_table_reads_as_expected(file):
    wrong = []
    for case in _cases(file):
        choices = tuple(case["choices"])
        expected = case["expect_strict"], case["expect_lenient"]
        for version, wanted in ((1, expected), (2, READ_ANEW.get(case["response"], expected))):
            read = tuple(extract(case["response"], choices, mode, version).letter for mode in ("strict", "lenient"))
            if read != wanted:
                wrong.append((case["response"], choices, version, read))
    assert not wrong


def _check_laws(text, choices):
    for version in VERSIONS:
        _check_laws_of(text, choices, version)


def _check_laws_of(text, choices, version):
    strict, lenient = extract(text, choices, "strict", version), extract(text, choices, "lenient", version)
    assert (strict, lenient) == tuple(extract(text, choices, mode, version) for mode in ("strict", "lenient"))
    for read in (strict, lenient):
        assert read.letter is None or read.letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(choices)]
        assert (read.letter is None) == (read.reason is not None)
        if read.span is not None:
            start, end = read.span
            assert 0 <= start < end <= len(text)
    if strict.letter is not None:
        assert lenient.letter == strict.letter


FRAGMENTS = (
    (
        "A",
        "B",
        "C",
        "E",
        "(B)",
        "b) ",
        " ",
        "\n",
        "not ",
        " or ",
        ", ",
        "answer is ",
        "Answer: ",
        "I choose ",
        " is correct",
    ),
    (
        "is wrong",
        "red",
        "blue",
        "答案",
        "选",
        "是",
        "正解は",
        "정답은 ",
        "<answer>",
        "</answer>",
        "<think>",
        "</think>",
    ),
    ("<tool_call>", "<B>", "</B>", "\\boxed{", "}", "{", '{"answer": "', '"', "**", "_", "$", "`", "~~", "&lt;"),
    (
        "</s>",
        "<|im_end|>",
        "<s>",
        "[INST]",
        "\nQuestion: ",
        "\nQ: ",
        "\\cap",
        "=",
        "see above",
        '["',
        "none of ",
        " that is not ",
    ),
    ("\u0301", "\ud800", "\u0130", "\u0131", "ß", "ﷺ", "\x00", "Ⓑ", "\U0001d401"),
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(sum(FRAGMENTS, ())), max_size=14).map("".join), st.lists(st.text(max_size=6), max_size=5)
)
def test_laws_hold_for_any_mix_of_what_the_rules_look_for(text, choices):
    _check_laws(text, tuple(choices))


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(), max_size=80), st.integers(0, 30))
def test_laws_hold_for_any_unicode_and_any_number_of_options(text, n_choices):
    _check_laws(text, tuple(f"item {i}" for i in range(n_choices)))


@pytest.mark.parametrize(
    "n_texts",
    [pytest.param(20_000, marks=pytest.mark.slow(seconds=3)), pytest.param(100_000, marks=pytest.mark.full)],
)
def test_random_strings_never_raise_and_keep_the_laws(n_texts):
    rng = np.random.default_rng(20261130)
    alphabets = [
        "ABCDabcd .,:()*\n",
        "".join(map(chr, range(0x20, 0x250))),
        "".join(map(chr, range(0x3000, 0x3100))) + "ABC答案选项",
    ]
    for _ in range(n_texts):
        if rng.random() < 0.3:
            text = "".join(map(chr, rng.integers(0x110000, size=rng.integers(30))))
        else:
            alphabet = alphabets[rng.integers(3)]
            text = "".join(alphabet[i] for i in rng.integers(len(alphabet), size=rng.integers(30)))
        _check_laws_of(text, COLOURS[: rng.integers(5)], VERSIONS[-1])


def test_without_choices_there_is_no_letter():
    assert extract("A", (), "lenient").letter is None


def test_option_text_mentioned_by_a_strict_letter_rule_never_overrides_it():
    assert extract("B. green", COLOURS, "lenient").letter == "B"
    assert extract("B. green", COLOURS).diagnostics == ("letter_text_mismatch",)
    assert extract("B. blue", COLOURS).diagnostics == ()


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("<think>A</think> The answer is **(C)**.", "C"),
        ("\u200b答案\uff1a\uff22。", "\uff22"),
        ('{"answer": "\\u0042"}', "\\u0042"),
        ("It is &quot;D&quot;, so the answer is $\\boxed{\\text{D}}$", "D"),
        ("\r\n\r\n   B\r\n", "B"),
        ("The lid is  reddish,\n\nnot RED... er, BLUE", "BLUE"),
    ],
)
def test_span_points_at_the_matched_characters_of_the_original_response(text, matched):
    read = extract(text, COLOURS, "lenient")
    assert read.letter is not None
    assert text[slice(*read.span)] == matched


@pytest.mark.parametrize(
    ("text", "rule", "reason", "diagnostics"),
    [
        ("E", "whole", "beyond_range", ("beyond_range",)),
        ("Answer: B or C", "declaration", "conflict", ("conflict",)),
        ("<answer></answer>", "tag", "empty_container", ()),
        ("Sorry, I can't help with that.", None, "refusal_like", ("refusal_like",)),
        ("cannot tell", None, "cannot_tell", ("refusal_like",)),
        ("Cannot tell.", None, "cannot_tell", ("refusal_like",)),
        ("2", None, "no_option_letter", ()),
        ("  \n", None, "empty", ()),
    ],
)
def test_no_letter_says_why(text, rule, reason, diagnostics):
    read = extract(text, COLOURS)
    assert (read.letter, read.rule, read.reason, read.diagnostics) == (None, rule, reason, diagnostics)


def test_equal_options_are_flagged_and_their_text_names_none():
    choices = ("red", "Red", "Brown", "Black")
    assert extract("Red", choices, "lenient").reason == "duplicate_choice"
    assert extract("A", choices).diagnostics == ("duplicate_choice",)
    assert extract("C. Brown", choices).letter == "C"


def _score(state, text, gold="B", mode="strict"):
    return OptionLetter().score(Response(request_id="r", state=state, text=text), QUESTION, COLOURS, gold, mode)


@pytest.mark.parametrize("state", [state for state in ResponseState if state.is_error])
def test_an_error_has_no_value_and_names_its_state(state):
    score = _score(state, None)
    assert (score.value, score.reason) == (None, state.value)


@pytest.mark.parametrize(
    ("state", "text", "value", "answer", "reason"),
    [
        (ResponseState.ANSWERED, "B", 1.0, "B", None),
        (ResponseState.ANSWERED, "C", 0.0, "C", None),
        (ResponseState.ANSWERED, "", 0.0, None, "empty"),
        (ResponseState.ANSWERED, None, 0.0, None, "empty"),
        (ResponseState.ANSWERED, "E", 0.0, None, "beyond_range"),
        (ResponseState.TRUNCATED, "Looking at", 0.0, None, "truncated"),
        (ResponseState.TRUNCATED, "", 0.0, None, "truncated"),
        (ResponseState.TRUNCATED, "Answer: B\nbecause", 1.0, "B", None),
        (ResponseState.REFUSAL, "B", 0.0, None, "refusal"),
        (ResponseState.FILTERED, None, 0.0, None, "content_filter"),
        (ResponseState.ANSWERED, "cannot tell", 0.0, None, "cannot_tell"),
    ],
)
def test_every_state_has_its_value_and_reason(state, text, value, answer, reason):
    score = _score(state, text)
    assert (score.value, score.answer, score.reason) == (value, answer, reason)
    assert ("truncated" in score.diagnostics) == (state is ResponseState.TRUNCATED)


def test_hidden_answer_is_not_scored_and_keeps_the_letter():
    score = _score(ResponseState.ANSWERED, "B", gold=None)
    assert (score.value, score.answer, score.reason) == (None, "B", "hidden_answer")


def test_scorer_id_names_mode_and_version():
    assert _score(ResponseState.ANSWERED, "blue", mode="lenient").scorer == "option_letter.lenient@2"


def test_unknown_mode_is_a_usage_error():
    with pytest.raises(UsageError, match="no mode 'loose'"):
        _score(ResponseState.ANSWERED, "B", mode="loose")


def test_scorer_is_found_by_its_name_and_keeps_the_protocol():
    kind = registry.load("scorer", "option_letter")
    assert isinstance(kind(), Scorer)


@pytest.mark.parametrize(
    "token", ["A B ", "not B ", "{", '{"answer": "', "<A>", "\\text{", "answer to ", "选B", "e\u0301", "- \n", "red "]
)
def test_looping_response_is_read_in_time_that_grows_with_its_length_and_not_with_the_square(token):
    # Seconds are measured by benchmarks/bench_option_letter.py.
    assert growth(lambda text: extract(text, COLOURS, "lenient"), token) < MAX_GROWTH


@pytest.mark.parametrize("remark", ["maybe A", "the first", "is wrong", "(B) No", "if", "not"])
def test_a_line_before_the_answer_does_not_reach_into_it(remark):
    read = extract(f"{remark}\nAnswer: A", ("Yes", "No"))
    assert (read.letter, read.rule) == ("A", "declaration")


def test_no_is_an_option_and_no_rejection_before_its_own_letter():
    assert extract("No (B)", ("Yes", "No")).letter == "B"
    assert extract("It is not No (B)", ("Yes", "No")).letter is None
    assert extract("No (B)", ("No", "Yes")).letter is None


def test_an_answer_before_the_list_of_options_is_no_echo_of_the_list():
    options = "A. red\nB. blue\nC. green\nD. white"
    assert extract(f"Answer: C.\n{options}", COLOURS).letter == "C"
    assert extract(f"Answer: A. red\n\n{options}", COLOURS).letter == "A"
    assert extract(f"Answer: {options}", COLOURS).letter is None


def test_a_letter_beyond_the_options_is_noted_though_the_text_is_read():
    read = extract("Answer: E. blue", COLOURS, "lenient")
    assert (read.letter, read.diagnostics) == ("B", ("beyond_range",))

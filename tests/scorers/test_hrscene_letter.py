"""HRScene's letter parser: published fixtures, echoes, only offered letters, and the public answers where present."""

import json
import os
from pathlib import Path

import pytest

from eyechart.errors import UsageError
from eyechart.scorers.hrscene_letter import HRSceneLetter

FOUR = ("motor", "engine", "wheel", "gear")
TEN = tuple(f"item {i}" for i in range(10))
PROMPT = (
    "Which part is it?\n(A) motor\n(B) engine\n(C) wheel\n(D) gear\nGive the letter as <ans>ANSWER</ans>, nothing else."
    "         For example: <ans>A</ans>."
)


def _read(text, ask, answered, mode, choices=FOUR, question="Which part is it?"):
    return HRSceneLetter().score(answered(text), ask(question), choices, "A", mode)


# Observed from the published parser and recommended values: facts about the defect list of the specification.
@pytest.mark.parametrize(
    ("text", "published", "corrected"),
    [
        ("<ans>A</ans>", "A", "A"),
        ("<ans> A </ans>", None, "A"),
        ("<ans>a</ans>", None, "A"),
        ("<ans>B. yes</ans>", None, "B"),
        ("(B) because (A) is wrong", "B", "B"),
        ("The answer is C", None, "C"),
        ("<ans>(D)</ans>", "D", "D"),
        ("<ans>ANSWER</ans>", None, None),
        ("<ans>AB</ans>", None, None),
        ("A.", None, "A"),
        ("<ans>J</ans>", "J", None),
        ("**B**", None, "B"),
        ("<answer>B</answer>", None, "B"),
        ("A</s>", None, "A"),
        ("<ans>C", None, "C"),
        ("<ans>C</a", None, "C"),
        ("D", "D", "D"),
        ("", None, None),
        ("<ans>wheel</ans>", None, "C"),
        ("<ans>A</ans> or <ans>B</ans>", "A", None),
        ("<ans>B</ans>, that is <ans>b</ans>", "B", "B"),
        ("<think><ans>A</ans></think><ans>B</ans>", "A", "B"),
        ("The (M) mark is on it", "M", None),
        ("I see (A) or (B)", "A", None),
        ("<ans>D<ans>", None, "D"),
        ("<ans>(D).<ans>", "D", "D"),
        ("<ans>D</ ans>", None, "D"),
        ("(A) is wrong", "A", None),
        ("(A) is clearly incorrect.", "A", None),
        ("(A) is wrong, so (C)", "A", "C"),
        ("It can't be A. The answer must be C.", None, "C"),
        ("I would choose option (B), because (A) looks rusty.", "B", "B"),
        ("Both A and B", None, None),
        ("<ans>A, B</ans>", None, None),
        ("None of the above", None, None),
        ("<ans>E</ans>", "E", None),
        ("<ans>B</ans><|im_end|>", "B", "B"),
        ("\\boxed{B}", None, "B"),
    ],
)
def test_parser_reads_fixture_as_published_and_as_corrected(text, published, corrected, ask, answered):
    assert _read(text, ask, answered, "compat").answer == published
    assert _read(text, ask, answered, "corrected").answer == corrected


def test_tenth_letter_is_read_only_where_ten_options_are_offered(ask, answered):
    assert _read("<ans>J</ans>", ask, answered, "corrected", TEN).answer == "J"


def test_options_in_the_question_text_are_offered_where_no_list_is_given(ask, answered):
    question = "Which?\n(A) red\n(B) blue"
    assert _read("<ans>B</ans>", ask, answered, "corrected", (), question).answer == "B"
    assert _read("<ans>C</ans>", ask, answered, "corrected", (), question).answer is None


@pytest.mark.parametrize(
    "prompt", [PROMPT, " ".join(PROMPT.split()), f"<|im_start|> user\n{PROMPT}\n<|im_start|> assistant\n"]
)
@pytest.mark.parametrize("answer", ["<ans>C</ans>", " C", "\n(C) wheel"])
def test_echoing_model_is_scored_by_its_answer_never_by_the_example(prompt, answer, ask, answered):
    score = _read(prompt + answer, ask, answered, "corrected")
    assert score.answer == "C"
    assert "prompt_echo" in score.diagnostics
    assert (prompt + answer)[slice(*score.span)] == "C"


@pytest.mark.parametrize("prompt", [PROMPT, " ".join(PROMPT.split())])
def test_echo_without_an_answer_has_no_letter(prompt, ask, answered):
    assert _read(prompt, ask, answered, "corrected").reason == "prompt_echo"


def test_published_parser_takes_the_example_of_an_echoed_prompt_for_the_answer(ask, answered):
    assert _read(PROMPT + "<ans>C</ans>", ask, answered, "compat").answer == "A"


@pytest.mark.parametrize("gold", [None, "A", "B", "C"])
def test_letter_read_does_not_depend_on_the_right_one(gold, ask, answered):
    score = HRSceneLetter().score(answered("It is (B)."), ask(), FOUR, gold, "corrected")
    assert score.answer == "B"
    assert score.value == (None if gold is None else float(gold == "B"))


def test_unknown_mode_is_a_usage_error(ask, answered):
    with pytest.raises(UsageError, match="no mode 'strict'"):
        _read("A", ask, answered, "strict")


# Right answers of the published parser and of a tolerant one, out of 125 public questions.
EXPLORER = {
    "Claude-Haiku": (63, 63),
    "Claude-Sonnet": (81, 81),
    "DeepSeek-VL2": (70, 71),
    "InternVL2-1B": (31, 31),
    "Llava-Next-34B": (23, 67),
    "Llava-hr-7B": (5, 52),
    "Molmo-7B": (65, 65),
    "Phi-3.5-Vision-Instruct": (60, 61),
    "Qwen2-72B-Instruct": (44, 70),
    "gpt-4o-mini": (66, 66),
}


@pytest.mark.skipif("EYECHART_HRSCENE_EXPLORER" not in os.environ, reason="names the file of public answers")
def test_public_answers_count_as_published_and_never_fewer_when_corrected(ask, answered):
    explorer = json.loads(Path(os.environ["EYECHART_HRSCENE_EXPLORER"]).read_text(encoding="utf-8"))
    for model, (published, tolerant) in EXPLORER.items():
        right = dict.fromkeys(HRSceneLetter.modes, 0.0)
        for question, text in zip(explorer["questions"], explorer["responses"][model], strict=True):
            for mode in right:
                score = HRSceneLetter().score(
                    answered(text), ask(question["question"]), question["choices"], question["answer"], mode
                )
                right[mode] += score.value
        assert right["compat"] == published, model
        assert right["corrected"] >= max(published, tolerant), model

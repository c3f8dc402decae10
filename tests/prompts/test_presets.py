"""Wordings of other kits, byte for byte as their code prints them (sum.md 2 and 3)."""

import pytest
from strategies import question_about

from eyechart.opening import open_prompt
from eyechart.schema import Size

GLOVE = question_about(Size(9, 9), text="What is the material of the glove?")
MATERIALS = ("rubber", "cotton", "kevlar", "leather")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "vlmevalkit_mcq",
            (
                "Question: What is the material of the glove?\nOptions:\nA. rubber\nB. cotton\nC. kevlar\nD. leather\n"
                "Please select the correct answer from the options above. \n"
            ),
        ),
        (
            "lmms_hrbench",
            (
                "What is the material of the glove?\nA. rubber\nB. cotton\nC. kevlar\nD. leather\n"
                "Answer the option letter directly."
            ),
        ),
        (
            "vstar_lettered",
            (
                "What is the material of the glove?\n(A) rubber\n(B) cotton\n(C) kevlar\n(D) leather\n"
                "Answer with the option's letter from the given choices directly."
            ),
        ),
        (
            "zoombench_query",
            (
                "What is the material of the glove? Select from the following choices.\n"
                "(A) rubber\n(B) cotton\n(C) kevlar\n(D) leather"
            ),
        ),
    ],
)
def test_wording_is_that_of_the_kit(name, expected):
    assert open_prompt(name).render(GLOVE, MATERIALS) == expected


def test_hint_of_vlmevalkit_comes_first():
    question = question_about(Size(9, 9), text="Q?", extra={"hint": "Look left."})
    assert (
        open_prompt("vlmevalkit_mcq")
        .render(question, ("a", "b"))
        .startswith("Hint: Look left.\nQuestion: Q?\nOptions:")
    )


@pytest.mark.parametrize("name", ["vlmevalkit_mcq", "lmms_hrbench", "vstar_lettered", "zoombench_query"])
def test_free_form_question_has_no_options(name):
    text = open_prompt(name).render(GLOVE, ())
    assert GLOVE.text in text
    assert "A." not in text
    assert "(A)" not in text

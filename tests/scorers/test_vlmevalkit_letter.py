"""VLMEvalKit's rules, fault by fault: what is known of them from the outside, and no more."""

import pytest

from eyechart.schema import ImageRef, Question, Response, ResponseState, Size
from eyechart.scorers.vlmevalkit_letter import VlmevalkitLetter, read_letter

COLOURS = ("red", "blue", "green", "white")
ANIMALS = ("cat", "bird", "dog", "horse")


@pytest.mark.parametrize(
    ("response", "choices", "letter"),
    [
        ("A", COLOURS, "A"),
        ("(C)", COLOURS, "C"),
        ("**D**", COLOURS, "D"),
        ('"B"', COLOURS, None),
        ("Answer: B", COLOURS, "B"),
        ("Choice: D", COLOURS, "D"),
        ("The answer is **B**", COLOURS, "B"),
        ("The correct answer is d.", COLOURS, "D"),
        ("red", COLOURS, "A"),
        ("Based on the picture, the panel is green.", COLOURS, None),
        ("Definitely white", COLOURS, "D"),
        ("The answer is A dog.", ANIMALS, "A"),
        ("A blue car", COLOURS, "A"),
        ("A or B", COLOURS, None),
        ("The answer is B and D", COLOURS, "B"),
        ("A. red\nB. blue\nC. green\nD. white", COLOURS, None),
        ("", COLOURS, None),
        ("N/A", COLOURS, None),
        ("Cannot be determined from the image.", COLOURS, None),
        ("E", COLOURS, None),
        ("C", ("yes", "no"), None),
        ("<answer>B</answer>", COLOURS, None),
        ("<think>B looks wrong, A too</think>C", COLOURS, "A"),
        ("<think>I believe it is B", COLOURS, "B"),
        ("\\boxed{C}", COLOURS, "C"),
        ("First \\boxed{A}, after checking \\boxed{C}", COLOURS, None),
        ('{"answer": "B"}', COLOURS, None),
        ("答案:B", COLOURS, "B"),
        ("答案：B", COLOURS, None),
        ("选B", COLOURS, None),
        ("Answer: A\nWait… Answer: C", COLOURS, None),
        ("The answer is B. Note that A is a common distractor.", COLOURS, "B"),
        ("Gate B", ("Gate A", "Gate C", "Gate B", "Gate D"), "B"),
        ("Brown", ("red", "Red", "Brown", "Black"), "C"),
        ("A is what comes to my mind when I look at this", COLOURS, None),
    ],
)
def test_the_rules_read_what_the_kit_reads(response, choices, letter):
    assert read_letter(response, choices)[0] == letter


def test_an_unread_answer_is_wrong_and_never_a_random_letter():
    image = ImageRef("", Size(4, 3), "image/png")
    question = Question(id="q", benchmark="b", text="?", image=image, image_group="g", choices=COLOURS, answer="A")
    response = Response(request_id="r", state=ResponseState.ANSWERED, text='"B"')
    scores = {VlmevalkitLetter().score(response, question, COLOURS, "A", "compat") for _ in range(20)}
    assert len(scores) == 1
    score = scores.pop()
    assert (score.value, score.answer, score.reason) == (0.0, None, "no_option_letter")

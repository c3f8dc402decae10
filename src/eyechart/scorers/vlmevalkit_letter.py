"""The letter as VLMEvalKit's rules read it, before it asks a judge: for comparison with its numbers."""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from eyechart.schema import Question, Response, Score
from eyechart.scorers._verdicts import scorer_id, state_notes, state_reason, unread_score

__all__ = ["VlmevalkitLetter"]

# open-compass/VLMEvalKit e8e78f05, vlmeval/utils/matching_util.py: what its rules do, in our own words.
_BLANKED = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_LAST_WORDS = 4
_LONGEST_TEXT = 2
_DECLARED = re.compile(r"(?:correct\s+)?answer\s+is\s+\**([A-D])\**", re.IGNORECASE)
_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)


class VlmevalkitLetter:
    """VLMEvalKit's ``can_infer``, with its faults: ``"A blue car"`` is A, and JSON or tags are not read.

    A single letter among the last four words counts, else "answer is X", else the one option whose text the response
    contains, if it is short. Four fixed refusals are wrong. What is left unread goes to a judge there; here it is 0.0
    until ``eyechart judge`` asked one. It never fills in a random letter, as the kit does when its judge fails.
    """

    name = "vlmevalkit_letter"
    version = 1
    modes = ("compat",)

    def score(
        self,
        response: Response,
        question: Question,  # noqa: ARG002 -- the kit reads the options alone
        choices: Sequence[str],
        gold: str | None,
        mode: str,
    ) -> Score:
        """Judge one response.

        Args:
            response: The stored response.
            question: Not consulted.
            choices: Options in the order shown.
            gold: The right letter, None where hidden.
            mode: ``compat``.

        Raises:
            UsageError: If there is no such mode.
        """
        scorer = scorer_id(self.name, self.version, self.modes, mode)
        unread = unread_score(response, scorer)
        if unread is not None:
            return unread
        letter, rule = read_letter(response.text or "", choices)
        reason = (
            None if letter else state_reason(response, "refusal" if rule == "fixed_refusal" else "no_option_letter")
        )
        return Score(
            request_id=response.request_id,
            scorer=scorer,
            value=None if gold is None else float(letter == gold),
            answer=letter,
            rule=rule,
            reason="hidden_answer" if gold is None else reason,
            diagnostics=state_notes(response),
        )


def read_letter(text: str, choices: Sequence[str]) -> tuple[str | None, str | None]:
    """Return the letter that VLMEvalKit's rules infer, and by which rule; None where they infer nothing.

    Example:
        >>> read_letter("Answer: B", ["red", "blue"]), read_letter('{"answer": "B"}', ["red", "blue"])
        (('B', 'single_letter'), (None, None))
    """
    if any(refusal in text for refusal in _REFUSALS):
        return None, "fixed_refusal"
    letters = ascii_uppercase[: len(choices)]
    words = text.translate(_BLANKED).split()
    present = [letter for letter in letters if letter in words]
    if len(present) == 1 and words.index(present[0]) >= len(words) - _LAST_WORDS:
        return present[0], "single_letter"
    declared = _DECLARED.search(text)
    if declared is not None and declared[1].upper() in letters:
        return declared[1].upper(), "declared"
    return _by_text(text, choices, letters)


def _by_text(text: str, choices: Sequence[str], letters: str) -> tuple[str | None, str | None]:
    if len(text) > _LONGEST_TEXT * sum(map(len, choices)):
        return None, None
    contained = [letter for letter, choice in zip(letters, choices, strict=True) if choice.lower() in text.lower()]
    return (contained[0], "option_text") if len(contained) == 1 else (None, None)

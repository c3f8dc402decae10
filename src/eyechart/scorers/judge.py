"""What a judge model said of an answer: its stored reply, read strictly."""

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase

from eyechart.schema import Question, Response, Score
from eyechart.scorers._verdicts import scorer_id, state_notes, unread_score

__all__ = ["Judge"]

JUDGEMENT = "judgement"
"""Key in ``Response.extra`` of a judge's reply: ``{"text": …, "model": "provider/name"}``."""

_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_NONE = "Z"


class Judge:
    """The verdict of a judge model. No model is called: ``eyechart judge`` stored its replies beside the run.

    ``yes_no`` asked whether the answer is right, ``letter`` which option it means. A reply must be the word or the
    letter alone: "Yes" somewhere in a sentence is not a verdict. A missing or unclear reply is missing, never wrong.
    """

    name = "judge"
    version = 1
    modes = ("yes_no", "letter")

    def score(
        self,
        response: Response,
        question: Question,  # noqa: ARG002 -- the judge has read it
        choices: Sequence[str],
        gold: str | None,
        mode: str,
    ) -> Score:
        """Judge one response by the reply that stands in its ``extra``.

        Args:
            response: The stored response, with the judge's reply.
            question: Not consulted.
            choices: Options in the order shown.
            gold: The right letter; needed by ``letter``.
            mode: ``yes_no`` or ``letter``.

        Raises:
            UsageError: If there is no such mode.
        """
        scorer = scorer_id(self.name, self.version, self.modes, mode)
        unread = unread_score(response, scorer)
        if unread is not None:
            return unread
        value, answer, reason = _verdict(_reply(response), choices, gold, mode)
        model = _field(response, "model")
        return Score(
            request_id=response.request_id,
            scorer=scorer,
            value=value,
            answer=answer,
            rule=f"judge_{mode}" if value is not None else None,
            reason=reason,
            diagnostics=state_notes(response, (f"judge: {model}",) if model else ()),
        )


def _verdict(
    reply: str | None, choices: Sequence[str], gold: str | None, mode: str
) -> tuple[float | None, str | None, str | None]:
    """Return value, letter and reason."""
    if reply is None:
        return None, None, "judge_missing"
    word = _EDGES.sub("", reply)
    if mode == "yes_no":
        value = {"yes": 1.0, "no": 0.0}.get(word.casefold())
        reason = "judge_unclear" if value is None else "judged_wrong" if value == 0.0 else None
        return value, None, reason
    letters = ascii_uppercase[: len(choices)]
    letter = word.upper() if len(word) == 1 else ""
    if gold is None:
        return None, letter or None, "hidden_answer"
    if letter == _NONE:
        return 0.0, None, "no_option_letter"
    if letter and letter in letters:
        return float(letter == gold), letter, None
    return None, None, "judge_unclear"


def _reply(response: Response) -> str | None:
    text = _field(response, "text")
    return text if text and text.strip() else None


def _field(response: Response, name: str) -> str | None:
    judgement = response.extra.get(JUDGEMENT)
    value = judgement.get(name) if isinstance(judgement, Mapping) else None
    return value if isinstance(value, str) else None

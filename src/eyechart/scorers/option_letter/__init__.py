"""Option letters: which choice a response names, strictly as SUM scores it or leniently."""

from collections.abc import Sequence

from eyechart.schema import Question, Response, Score
from eyechart.scorers._verdicts import chosen_version, scorer_id, state_notes, state_reason, unread_score
from eyechart.scorers.option_letter.extraction import VERSIONS, Mode, extract

__all__ = ["OptionLetter"]


class OptionLetter:
    """Exact option-letter accuracy: 1.0 if the letter read from the response is the right one.

    Errors and hidden answers have no value. Whatever else yields no letter is wrong, 0.0, with its reason:
    ``truncated``, ``refusal``, ``content_filter``, ``empty``, ``empty_container``, ``beyond_range``, ``conflict``,
    ``duplicate_choice``, ``refusal_like``, ``cannot_tell`` or ``no_option_letter``.

    Args:
        version: Of the reading rules, one of ``versions``; the newest if left out. What version 2 reads otherwise is
            said in ``eyechart.scorers.option_letter.extraction.VERSIONS``.

    Raises:
        UsageError: If there is no such version.
    """

    name = "option_letter"
    versions = VERSIONS
    modes = ("strict", "lenient")

    def __init__(self, version: int | None = None) -> None:
        self.version = chosen_version(self.name, self.versions, version)

    def score(
        self,
        response: Response,
        question: Question,  # noqa: ARG002 -- the letter alone decides
        choices: Sequence[str],
        gold: str | None,
        mode: str,
    ) -> Score:
        """Judge one response.

        Args:
            response: The stored response.
            question: The question; not consulted.
            choices: Options in the order shown.
            gold: The right letter as shown, None where hidden.
            mode: ``strict`` or ``lenient``.

        Raises:
            UsageError: If there is no such mode.

        Example:
            >>> from eyechart.schema import ResponseState
            >>> response = Response(request_id="r", state=ResponseState.ANSWERED, text="Answer: B")
            >>> score = OptionLetter().score(response, None, ("red", "blue"), "B", "strict")
            >>> score.value, score.answer, score.rule, score.scorer
            (1.0, 'B', 'declaration', 'option_letter.strict@2')
        """
        scorer = scorer_id(self.name, self.version, self.modes, mode)
        unread = unread_score(response, scorer)
        if unread is not None:
            return unread
        reading: Mode = "lenient" if mode == "lenient" else "strict"
        read = extract(response.text or "", tuple(choices), reading, self.version)
        value = float(read.letter == gold) if read.letter else 0.0
        return Score(
            request_id=response.request_id,
            scorer=scorer,
            value=value if gold is not None else None,
            answer=read.letter,
            span=read.span,
            rule=read.rule,
            reason=state_reason(response, read.reason) if gold is not None else "hidden_answer",
            diagnostics=state_notes(response, read.diagnostics),
        )

"""Option letters: which choice a response names, strictly as SUM scores it or leniently."""

from collections.abc import Sequence

from eyechart.errors import UsageError
from eyechart.schema import Question, Response, ResponseState, Score
from eyechart.scorers.option_letter.extraction import Extraction, extract

__all__ = ["OptionLetter"]


class OptionLetter:
    """Exact option-letter accuracy: 1.0 if the letter read from the response is the right one.

    Errors and hidden answers have no value. Whatever else yields no letter is wrong, 0.0, with its reason:
    ``truncated``, ``refusal``, ``content_filter``, ``empty``, ``empty_container``, ``beyond_range``, ``conflict``,
    ``duplicate_choice``, ``refusal_like``, ``cannot_tell`` or ``no_option_letter``.
    """

    name = "option_letter"
    version = 1
    modes = ("strict", "lenient")

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
            >>> response = Response(request_id="r", state=ResponseState.ANSWERED, text="Answer: B")
            >>> score = OptionLetter().score(response, None, ("red", "blue"), "B", "strict")
            >>> score.value, score.answer, score.rule, score.scorer
            (1.0, 'B', 'declaration', 'option_letter.strict@1')
        """
        if mode not in self.modes:
            raise UsageError(f"scorer {self.name} has no mode {mode!r}", hint=f"one of: {', '.join(self.modes)}")
        scorer = f"{self.name}.{mode}@{self.version}"
        if response.state.is_error:
            return Score(request_id=response.request_id, scorer=scorer, value=None, reason=str(response.state))
        read = extract(response.text or "", tuple(choices), "lenient" if mode == "lenient" else "strict")
        read = _in_state(read, response.state)
        value = float(read.letter == gold) if read.letter else 0.0
        return Score(
            request_id=response.request_id,
            scorer=scorer,
            value=value if gold is not None else None,
            answer=read.letter,
            span=read.span,
            rule=read.rule,
            reason=read.reason if gold is not None else "hidden_answer",
            diagnostics=read.diagnostics,
        )


def _in_state(read: Extraction, state: ResponseState) -> Extraction:
    """Let the way a response ended decide the reason where it names no letter; a refusal never scores."""
    if state in {ResponseState.REFUSAL, ResponseState.CONTENT_FILTER}:
        return Extraction(None, reason=str(state), diagnostics=read.diagnostics)
    if state is ResponseState.TRUNCATED:
        notes = tuple(sorted({*read.diagnostics, "truncated"}))
        reason = None if read.letter else "truncated"
        return Extraction(read.letter, read.span, read.rule, reason, notes)
    return read

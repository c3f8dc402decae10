"""The probability share of the right option letter, for answers read off the first token."""

from collections.abc import Sequence

from eyechart.schema import Question, Response, Score
from eyechart.scorers._verdicts import scorer_id, unread_score

__all__ = ["LetterShare"]

_PROBABILITIES = "letter_probabilities"  # as models store it beside the answer


class LetterShare:
    """How much of the option letters' probability lies on the right one, in [0, 1].

    An answer that was written instead of read has no score: it was not asked with ``--score-mode logprob``.
    """

    name = "letter_share"
    version = 1
    modes = ("plain",)

    def score(
        self, response: Response, question: Question, choices: Sequence[str], gold: str | None, mode: str
    ) -> Score:
        """Judge one response.

        Args:
            response: The stored response, with the shares in ``extra``.
            question: Not looked at.
            choices: Not looked at: the shares are those of the options shown.
            gold: The right letter, None where hidden.
            mode: ``plain``.

        Raises:
            UsageError: If there is no such mode.
        """
        del question, choices
        scorer = scorer_id(self.name, self.version, self.modes, mode)
        unread = unread_score(response, scorer)
        if unread is not None:
            return unread
        shares = response.extra.get(_PROBABILITIES)
        if not isinstance(shares, dict):
            # With a mass of 0 the model was asked and favoured other tokens than letters.
            is_other = response.extra.get("letter_mass") == 0
            value, reason = (0.0, "no_option_letter") if is_other else (None, "no_probabilities")
            return Score(request_id=response.request_id, scorer=scorer, value=value, reason=reason)
        value = None if gold is None else min(1.0, max(0.0, float(shares.get(gold, 0.0))))
        return Score(request_id=response.request_id, scorer=scorer, value=value, answer=response.text or None)

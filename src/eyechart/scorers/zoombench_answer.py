"""The answer as ZoomBench's own evaluation cuts it out, before it asks a judge: for comparison with its numbers."""

from collections.abc import Sequence

from eyechart.schema import Question, Response, Score
from eyechart.scorers._verdicts import scorer_id, state_notes, state_reason, unread_score

__all__ = ["ZoombenchAnswer"]

# inclusionAI/Zooming-without-Zooming fdc0ba1a, mm-eval: what it does, in our own words.
_TAG, _TAG_END = "<answer>", "</answer>"
_LABEL = "Answer:"
_LAST_LINES = 3


class ZoombenchAnswer:
    """ZoomBench's rule stage: what stands behind the first ``<answer>``, else behind ``Answer:``, else the last lines.

    It is right only if it equals the right letter or an accepted text. All else goes to a judge there; here it is 0.0
    until ``eyechart judge`` asked one.
    """

    name = "zoombench_answer"
    version = 1
    modes = ("compat",)

    def score(
        self, response: Response, question: Question, choices: Sequence[str], gold: str | None, mode: str
    ) -> Score:
        """Judge one response.

        Args:
            response: The stored response.
            question: Its accepted texts count where it has no options.
            choices: Options in the order shown.
            gold: The right letter, None where hidden or free-form.
            mode: ``compat``.

        Raises:
            UsageError: If there is no such mode.
        """
        scorer = scorer_id(self.name, self.version, self.modes, mode)
        unread = unread_score(response, scorer)
        if unread is not None:
            return unread
        accepted = (gold,) if choices else question.answers
        known = tuple(text.strip() for text in accepted if text)
        said = cut_out(response.text or "")
        is_right = said in known
        return Score(
            request_id=response.request_id,
            scorer=scorer,
            value=float(is_right) if known else None,
            answer=said if is_right else None,
            rule="equal" if is_right else None,
            reason=("hidden_answer" if not known else None if is_right else state_reason(response, "not_equal")),
            diagnostics=state_notes(response),
        )


def cut_out(text: str) -> str:
    """Return the part of a response that is compared.

    Example:
        >>> cut_out("I look. <answer> C </answer>"), cut_out("Answer: B"), cut_out("C")
        ('C', 'B', 'C')
    """
    if _TAG in text:
        return text.partition(_TAG)[2].partition(_TAG_END)[0].strip()
    if _LABEL in text:
        return text.partition(_LABEL)[2].strip()
    return "\n".join(text.strip().splitlines()[-_LAST_LINES:]).strip()

"""HRScene's answer letter: read tolerantly among the offered letters, or as the published code reads it."""

import re
from collections.abc import Sequence

from eyechart.schema import Question, Response, Score
from eyechart.scorers._echo import echo_end
from eyechart.scorers._verdicts import chosen_version, scorer_id, state_notes, state_reason, unread_score
from eyechart.scorers.option_letter.containers import without_thinking
from eyechart.scorers.option_letter.extraction import VERSIONS, Extraction, extract, own_answer
from eyechart.scorers.option_letter.traced import Traced

__all__ = ["HRSceneLetter"]

_PUBLISHED = (re.compile(r"<ans>([A-Z])</ans>"), re.compile(r"\(([A-Z])\)"))
_TAGGED = re.compile(r"<ans>\s*\W?([A-Za-z])\W?\s*</ans>")
# A tag that is closed by opening another, or by the slash of another system: <ans>D<ans>, <ans>D<\\ans>.
_MISCLOSED = re.compile(r"(<ans>\s*\(?[A-Za-z]\)?\.?\s*)<[\\|]?ans>", re.IGNORECASE)
_DENIAL = re.compile(
    r"\W{0,3}(?:is|was|looks|seems|would\sbe)\s(?:clearly\s|definitely\s|obviously\s)?"
    r"(?:wrong|incorrect|false|not\s(?:right|correct|true|it|the\sanswer))\b",
    re.IGNORECASE,
)
_ENUMERATED_CHOICE = re.compile(r"(?:^|\n)\s*\(?([A-Z])[.)]\s*([^\n]*)")


class HRSceneLetter:
    """Accuracy on HRScene's real-world questions.

    ``corrected`` cuts an echoed prompt, then reads the letter as ``option_letter`` does in lenient mode, so only
    letters that are offered; different letters in several ``<ans>`` tags are ambiguous and stay unparsed.
    ``compat`` reproduces the published parser: the first ``<ans>X</ans>`` with exactly one capital, else the first
    ``(X)``, else the whole text, compared with the right letter, whatever is offered and whatever is an echo.

    Args:
        version: Of the reading rules, those of ``option_letter``; the newest if left out. ``compat`` never changes.

    Raises:
        UsageError: If there is no such version.
    """

    name = "hrscene_letter"
    versions = VERSIONS
    modes = ("corrected", "compat")

    def __init__(self, version: int | None = None) -> None:
        self.version = chosen_version(self.name, self.versions, version)

    def score(
        self, response: Response, question: Question, choices: Sequence[str], gold: str | None, mode: str
    ) -> Score:
        """Judge one response.

        Args:
            response: The stored response.
            question: Its text is recognised where the response echoes it.
            choices: Options in the order shown; if empty, lines such as "(A) red" of the question count.
            gold: The right letter, None where hidden.
            mode: ``corrected`` or ``compat``.

        Raises:
            UsageError: If there is no such mode.
        """
        scorer = scorer_id(self.name, self.version, self.modes, mode)
        unread = unread_score(response, scorer)
        if unread is not None:
            return unread
        text = response.text or ""
        read = _published(text) if mode == "compat" else _corrected(text, question, tuple(choices), self.version)
        return Score(
            request_id=response.request_id,
            scorer=scorer,
            value=None if gold is None else float(read.letter is not None and read.letter == gold),
            answer=read.letter,
            span=read.span,
            rule=read.rule,
            reason="hidden_answer" if gold is None else state_reason(response, read.reason),
            diagnostics=state_notes(response, read.diagnostics),
        )


def _published(text: str) -> Extraction:
    """Return what the published parser makes of a response."""
    for rule, pattern in zip(("ans_tag", "parenthesised"), _PUBLISHED, strict=True):
        match = pattern.search(text)
        if match is not None:
            return Extraction(match[1], match.span(1), rule)
    if len(text) == 1 and text.isascii() and text.isupper():
        return Extraction(text, (0, 1), "whole")
    return Extraction(None, reason="no_option_letter")


def _corrected(text: str, question: Question, choices: tuple[str, ...], version: int) -> Extraction:
    """Return the letter that the response gives behind any echo of its prompt."""
    choices = choices or tuple(match[2] for match in _ENUMERATED_CHOICE.finditer(question.text))
    start = max(echo_end(text, asked, choices) for asked in (question.text_raw or "", question.text))
    answer = text[start:]
    if start and not answer.strip():
        return Extraction(None, reason="prompt_echo", diagnostics=("prompt_echo",))
    told = without_thinking(Traced(answer)) if version == 1 else own_answer(answer, choices)
    tagged = {match[1].upper() for match in _TAGGED.finditer(told.text)}
    if len(tagged) > 1:
        return Extraction(None, rule="ans_tag", reason="conflict", diagnostics=("conflict",))
    read = extract(_MISCLOSED.sub(r"\1</ans>", answer), choices, "lenient", version)
    span = None if read.span is None else (read.span[0] + start, read.span[1] + start)
    if span is not None and _DENIAL.match(text, span[1]):
        return Extraction(None, span, read.rule, "denied", read.diagnostics)
    notes = tuple(sorted({*read.diagnostics, "prompt_echo"})) if start else read.diagnostics
    return Extraction(read.letter, span, read.rule, read.reason, notes)

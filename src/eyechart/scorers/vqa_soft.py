"""Agreement with ten human answers: the VQA accuracy, or HRScene's published substring score."""

import re
from collections.abc import Sequence
from functools import lru_cache

from eyechart.schema import Question, Response, Score
from eyechart.scorers._echo import echo_end
from eyechart.scorers._verdicts import scorer_id, state_notes, state_reason, unread_score
from eyechart.scorers.grid_cell import clean_published
from eyechart.scorers.option_letter.containers import without_thinking
from eyechart.scorers.option_letter.traced import Traced

__all__ = ["VQASoft"]

N_AGREEING = 3
"""So many people must have given an answer for it to count fully (Antol et al., 2015, doi:10.1109/ICCV.2015.279)."""

_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {"none": "0"} | {word: str(n) for n, word in enumerate(_NUMBER_WORDS)}
_ARTICLES = frozenset({"a", "an", "the"})
_CONTRACTED = re.compile(
    r"\b(?P<stem>ai|are|ca|could|did|do|does|had|has|have|is|might|must|need|should|was|were|wo|would)nt\b"
)
_COMMA_IN_NUMBER = re.compile(r"(?<=\d),(?=\d)")
_BARE_POINT = re.compile(r"(?<![\w.])\.(?=\d)")
_STOP = re.compile(r"(?<!\d)\.|\.(?!\d)")
_PUNCTUATION = re.compile(r"[^\w\s':.%°$€£+-]|-(?!\d)|(?<=\w)-|_")
# Tags such as <ans>, and the special tokens that end a turn.
_MARKUP = re.compile(r"</?[A-Za-z]\w{0,20}>|<\|\w{1,20}\|>")
_QUOTED = re.compile(r"['\u2018]([^'\u2018\u2019]+)['\u2019][.!]?")
_LABEL = re.compile(r"^(?:the\s)?(?:final\s)?answer(?:\sis)?\s*:?\s+|^answer:", re.IGNORECASE)


class VQASoft:
    """Soft accuracy against the answers of several people.

    ``corrected`` compares normalised texts for equality and averages over leaving out one person at a time, so that
    3 of 10 equal answers give 0.9 and 4 give 1.0. ``compat`` reproduces the published score: each human answer that
    is a *substring* of the response's last line counts one third, at most 1.
    """

    name = "vqa_soft"
    version = 1
    modes = ("corrected", "compat")

    def score(
        self,
        response: Response,
        question: Question,
        choices: Sequence[str],  # noqa: ARG002 -- the answer is free text
        gold: str | None,
        mode: str,
    ) -> Score:
        """Judge one response.

        Args:
            response: The stored response.
            question: Its accepted texts are the human answers.
            choices: Not consulted: the answer is free text.
            gold: One accepted text for questions without a list, None otherwise.
            mode: ``corrected`` or ``compat``.

        Raises:
            UsageError: If there is no such mode.
        """
        scorer = scorer_id(self.name, self.version, self.modes, mode)
        unread = unread_score(response, scorer)
        if unread is not None:
            return unread
        answers = question.answers or (() if gold is None else (gold,))
        text = response.text or ""
        start = 0 if mode == "compat" else echo_end(text, question.text)
        said = clean_published(text) if mode == "compat" else _said(text[start:])
        value = published_score(said, answers) if mode == "compat" else soft_score(said, answers)
        reason = None if said else state_reason(response, "prompt_echo" if start else "empty")
        return Score(
            request_id=response.request_id,
            scorer=scorer,
            value=value if answers else None,
            answer=said or None,
            reason=reason if answers else "hidden_answer",
            diagnostics=state_notes(response),
        )


def _said(text: str) -> str:
    """Return the normalised answer of a response, without thinking, tags and quotation marks round it."""
    line = _MARKUP.sub(" ", last_line(without_thinking(Traced(text)).text)).strip()
    quoted = _QUOTED.fullmatch(line)
    return normalise_answer(quoted[1] if quoted else line)


def soft_score(said: str, answers: Sequence[str]) -> float:
    """Return the VQA accuracy: the mean over people of min(equal answers of the others / 3, 1).

    With a single accepted answer it is 1.0 for equality. Fewer than four answers need no third person: the divisor is
    the number of the others, at most 3.

    Args:
        said: Normalised answer of the model.
        answers: Human answers, not normalised.

    References:
        Antol et al., "VQA: Visual Question Answering", ICCV 2015, doi:10.1109/ICCV.2015.279, and the evaluation page
        of the challenge for the leave-one-out mean.

    Example:
        >>> soft_score("2", ["two"] * 3 + ["3"] * 7), soft_score("unknown", ["no"] * 10)
        (0.9, 0.0)
    """
    if not said or not answers:
        return 0.0
    equal = [normalise_answer(answer) == said for answer in answers]
    if len(equal) == 1:
        return float(equal[0])
    needed = min(N_AGREEING, len(equal) - 1)
    total = sum(equal)
    with_others = min((total - 1) / needed, 1.0) if total else 0.0
    return (total * with_others + (len(equal) - total) * min(total / needed, 1.0)) / len(equal)


def published_score(cleaned: str, answers: Sequence[str]) -> float:
    """Return HRScene's published score: a third for every human answer found anywhere in the response, at most 1.

    Example:
        >>> published_score("unknown", ["no"] * 10), published_score("35", ["3.5"] * 10)
        (1.0, 0.0)
    """
    if not cleaned:
        return 0.0
    return min(sum(answer.lower() in cleaned for answer in answers) / N_AGREEING, 1.0)


def last_line(text: str) -> str:
    """Return the last line that is not blank, without Markdown stars and an "Answer:" label."""
    lines = [line.replace("*", "").strip() for line in text.splitlines()]
    return _LABEL.sub("", next((line for line in reversed(lines) if line), ""))


@lru_cache(maxsize=1 << 14)  # people's answers come back in every region of a grid
def normalise_answer(text: str) -> str:
    """Normalise an answer as the VQA evaluation describes it.

    Lower case; dots only inside numbers, ".5" as "0.5"; no commas inside numbers; other punctuation becomes a space,
    apostrophes and colons stay; number words become digits; articles go, but for an answer that is nothing else, as the
    letter "A" on a sign; a contraction gets its apostrophe back.

    References:
        The evaluation page of the VQA challenge (visualqa.org), "Evaluation code".

    Example:
        >>> normalise_answer("The two red-ish cars, dont 1,000."), normalise_answer("3.5")
        ("2 red ish cars don't 1000", '3.5')
    """
    text = _COMMA_IN_NUMBER.sub("", text.lower().replace("’", "'"))
    text = _PUNCTUATION.sub(" ", _STOP.sub("", _BARE_POINT.sub("0.", text)))
    text = _CONTRACTED.sub(r"\g<stem>n't", text)
    words = [_NUMBERS.get(word, word) for word in text.split()]
    return " ".join([word for word in words if word not in _ARTICLES] or words)

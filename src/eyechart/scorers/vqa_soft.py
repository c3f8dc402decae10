"""Agreement with ten human answers: the VQA accuracy, or HRScene's published substring score."""

import re
from collections.abc import Sequence
from functools import lru_cache

from eyechart.schema import Question, Response, Score
from eyechart.scorers._echo import echo_end
from eyechart.scorers._verdicts import chosen_version, scorer_id, state_notes, state_reason, unread_score
from eyechart.scorers.grid_cell import clean_published
from eyechart.scorers.option_letter.containers import tokens_as_tags, without_thinking, without_tokens
from eyechart.scorers.option_letter.held import lay_out
from eyechart.scorers.option_letter.numbers import plain_number
from eyechart.scorers.option_letter.traced import Traced
from eyechart.scorers.option_letter.turns import own_questions, own_turn

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
# A first line that promises an answer and is none, so that a question behind it is the one that was asked.
_OPENING = re.compile(
    r"(?:sure|ok|okay|certainly|of course|let me|let's|here|first|i will|i'll|to answer)\b", re.IGNORECASE
)
_FEW_WORDS = 5
_MATH = re.compile(r"\$([^$]+)\$|\\\((.+)\\\)|\\\[(.+)\\\]")
_ESCAPED = re.compile(r"\\(?=[%$#&_ ])")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[,\u00a0\u2009\u202f]\d{3})+(?![\d,]*\d)")
_GROUPING = re.compile(r"[,\u00a0\u2009\u202f]")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d{1,2})(?![\d.,]*\d)")
_DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\d.])")
_PLUS = re.compile(r"(?<!\S)\+(?=\d)")
_PERCENT = re.compile(r"(?<=\d)\s?(?:%|percent\b|per cent\b)")
_LABEL = re.compile(r"^(?:the\s)?(?:final\s)?answer(?:\sis)?\s*:?\s+|^answer:", re.IGNORECASE)


class VQASoft:
    """Soft accuracy against the answers of several people.

    ``corrected`` compares normalised texts for equality and averages over leaving out one person at a time, so that
    3 of 10 equal answers give 0.9 and 4 give 1.0. ``compat`` reproduces the published score: each human answer that
    is a *substring* of the response's last line counts one third, at most 1.

    Args:
        version: Of the corrected reading; the newest if left out. Version 2 compares numbers as numbers (2.50 is 2.5),
            opens boxes, tags and JSON fields, and ends a response at its end token and where the model asks itself
            another question. ``compat`` is the same in all.

    Raises:
        UsageError: If there is no such version.
    """

    name = "vqa_soft"
    versions = (1, 2)
    modes = ("corrected", "compat")

    def __init__(self, version: int | None = None) -> None:
        self.version = chosen_version(self.name, self.versions, version)

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
        said = clean_published(text) if mode == "compat" else _said(text[start:], self.version)
        value = published_score(said, answers) if mode == "compat" else soft_score(said, answers, self.version)
        reason = None if said else state_reason(response, "prompt_echo" if start else "empty")
        return Score(
            request_id=response.request_id,
            scorer=scorer,
            value=value if answers else None,
            answer=said or None,
            reason=reason if answers else "hidden_answer",
            diagnostics=state_notes(response),
        )


def _said(text: str, version: int) -> str:
    """Return the normalised answer of a response, without thinking, tags and quotation marks round it."""
    line = last_line(without_thinking(Traced(text)).text) if version == 1 else _answering_line(text)
    line = _MARKUP.sub(" ", line).strip()
    quoted = _QUOTED.fullmatch(line)
    return normalise_answer(quoted[1] if quoted else line, version)


def _answering_line(text: str) -> str:
    r"""Return the line that answers: the last one of the first container that holds something, else of the response.

    Example:
        >>> _answering_line("It is \\boxed{3}.\n\nQuestion: Why?\nAnswer: 7"), _answering_line("$2.50$")
        ('3', '2.50')
    """
    read = without_thinking(without_tokens(own_turn(tokens_as_tags(Traced(text)))))
    for asked in own_questions(read.text):
        before = read.text[: asked.start].strip()
        is_short = len(before.split()) <= _FEW_WORDS
        if (asked.is_apart or is_short) and not _OPENING.match(before) and not before.endswith(":"):
            read = read.cut(0, asked.start)
            break
    laid = lay_out(read)
    outside = [line.replace("*", "").strip() for line in laid.outside.text.splitlines()]
    labelled = next(
        (line for line in reversed(outside) if _LABEL.match(line) and re.search(r"\w", _LABEL.sub("", line))), ""
    )
    held = next(
        (held for held in laid.containers if held.content.text.strip().lower() not in {"", "null", "nan"}), None
    )
    if held is None or (labelled and held.container == "box"):
        line = last_line(laid.outside.text)
    else:
        line = last_line(held.content.text)
    line = line.rstrip(". ") if line.startswith(("$", "\\")) else line
    math = _MATH.fullmatch(line)
    return _ESCAPED.sub("", next(filter(None, math.groups())) if math else line).strip()


def soft_score(said: str, answers: Sequence[str], version: int = 2) -> float:
    """Return the VQA accuracy: the mean over people of min(equal answers of the others / 3, 1).

    With a single accepted answer it is 1.0 for equality. Fewer than four answers need no third person: the divisor is
    the number of the others, at most 3.

    Args:
        said: Normalised answer of the model.
        answers: Human answers, not normalised.
        version: Of the normalisation.

    References:
        Antol et al., "VQA: Visual Question Answering", ICCV 2015, doi:10.1109/ICCV.2015.279, and the evaluation page
        of the challenge for the leave-one-out mean.

    Example:
        >>> soft_score("2", ["two"] * 3 + ["3"] * 7), soft_score("unknown", ["no"] * 10)
        (0.9, 0.0)
    """
    if not said or not answers:
        return 0.0
    equal = [normalise_answer(answer, version) == said for answer in answers]
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
def normalise_answer(text: str, version: int = 2) -> str:
    """Normalise an answer as the VQA evaluation describes it.

    Lower case; dots only inside numbers, ".5" as "0.5"; no commas inside numbers; other punctuation becomes a space,
    apostrophes and colons stay; number words become digits; articles go, but for an answer that is nothing else, as the
    letter "A" on a sign; a contraction gets its apostrophe back. Since version 2 numbers are compared as numbers: a
    comma groups thousands only where three digits follow it each time, "2,5" is 2.5, zeros that end decimals go, and
    "5 percent" is 5%.

    References:
        The evaluation page of the VQA challenge (visualqa.org), "Evaluation code".

    Example:
        >>> normalise_answer("The two red-ish cars, dont 1,000."), normalise_answer("3.5")
        ("2 red ish cars don't 1000", '3.5')
        >>> [normalise_answer("1,2 m and 2.50 m", version) for version in (1, 2)]
        ['12 m and 2.50 m', '1.2 m and 2.5 m']
    """
    text = text.lower().replace("’", "'")
    text = _COMMA_IN_NUMBER.sub("", text) if version == 1 else _with_plain_numbers(text)
    text = _PUNCTUATION.sub(" ", _STOP.sub("", _BARE_POINT.sub("0.", text)))
    text = _CONTRACTED.sub(r"\g<stem>n't", text)
    words = [_NUMBERS.get(word, word) for word in text.split()]
    return " ".join([word for word in words if word not in _ARTICLES] or words)


def _with_plain_numbers(text: str) -> str:
    text = _GROUPED.sub(lambda number: _GROUPING.sub("", number.group()), text.replace("\u2212", "-"))
    text = _PLUS.sub("", _PERCENT.sub("%", _DECIMAL_COMMA.sub(r"\1.\2", text)))
    return _DECIMAL.sub(lambda number: plain_number(number.group()), text)

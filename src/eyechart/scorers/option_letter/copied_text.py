"""Which option a response names by its text, directly behind the letter it gives: "B. red"."""

import re
from collections.abc import Sequence
from itertools import islice

from eyechart.scorers.option_letter.extraction import VERSIONS, extract
from eyechart.scorers.option_letter.option_texts import options_of, tokens

# What stands between a letter and the text of its option: "B. red", "(B) red", "**B**: red", "B - red", "B (red)".
_BETWEEN = re.compile(r"[*_`\"']*[^\S\n]*(?:[)\].:}]|[-–—](?=\s)|\((?=\S))[)\].:}*_`\"'(\u201c\u2018]*[^\S\n]*")
_END = re.compile(r"\n|</?[A-Za-z]")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_MARK = re.compile(r"(?<![\w'])\(?([A-Z])[).:]\s*")
_AGREEING = frozenset({"yes", "no", "true", "false"})
_LONGEST_TEXT = 400
_MOST_MARKS = 100


def may_copy(text: str, letter: str | None, span: tuple[int, int] | None) -> bool:
    """Return whether ``copied_option`` can find anything: quick, so that no other response need be kept for it."""
    if letter is None or len(letter) != 1:
        return False  # the cell of a grid, a word, or nothing
    return span is None or (span[1] - span[0] == 1 and _BETWEEN.match(text, span[1]) is not None)


def copied_option(
    text: str, choices: Sequence[str], letter: str | None, span: tuple[int, int] | None = None
) -> int | None:
    r"""Return the option whose text stands directly behind the letter that a response was read to give.

    The text up to the end of the line or the next tag must be, or begin with, the text of exactly one option; the
    longest one counts. Nothing is said of responses that list every option, of options that begin with yes, no, true or
    false (a model agrees or denies in words of its own), and of a text that another option and the letter's own option
    share, because one contains the other.

    Args:
        text: The response as stored.
        choices: Options in the order shown, the first being A.
        letter: The letter that was read; None if there is none.
        span: Where it stands; found by the strict rules of ``option_letter`` if None.

    Returns:
        The number of the option named, from 0; None where the response names none in this way.

    Example:
        >>> copied_option("Answer: B. red", ("red", "blue"), "B", (8, 9))
        0
        >>> copied_option("Answer: B", ("red", "blue"), "B", (8, 9)) is None
        True
    """
    shown = options_of(tuple(choices), VERSIONS[-1])
    if letter is None or letter not in tuple(shown.letters):
        return None
    if span is None:
        read = extract(text, tuple(choices))
        span = read.span if read.letter == letter else None
    said = _text_behind(text, span)
    fitting = [index for index, own in enumerate(shown.tokens) if own and said[: len(own)] == own]
    longest = max((len(shown.tokens[index]) for index in fitting), default=0)
    named = [index for index in fitting if len(shown.tokens[index]) == longest]
    if len(named) != 1 or _lists_all(text, shown.tokens):
        return None
    own, other = shown.tokens[shown.letters.index(letter)], shown.tokens[named[0]]
    is_agreement = any(words[:1] and words[0] in _AGREEING for words in (own, other))
    return None if is_agreement or (own != other and _could_be_both(said, own, other)) else named[0]


def _text_behind(text: str, span: tuple[int, int] | None) -> tuple[str, ...]:
    """Return the words directly behind a letter, up to the end of its line or the next tag; none where none follow."""
    between = _BETWEEN.match(text, span[1]) if span is not None and span[1] - span[0] == 1 else None
    if between is None:
        return ()
    behind = text[between.end() : between.end() + _LONGEST_TEXT]
    end = _END.search(behind)
    return tokens(_COMMAND.sub(" ", behind[: end.start()] if end else behind))


def _could_be_both(said: tuple[str, ...], own: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether words that begin with another option may mean the letter's own: one option contains the other."""
    return _contains(own, other) or _contains(other, own) or (said != other and _contains(said, own))


def _contains(longer: tuple[str, ...], shorter: tuple[str, ...]) -> bool:
    """Return whether ``shorter`` stands inside ``longer`` as whole words."""
    n = len(shorter)
    return n > 0 and any(longer[start : start + n] == shorter for start in range(len(longer) - n + 1))


def _lists_all(text: str, options: Sequence[tuple[str, ...]]) -> bool:
    """Return whether every option stands in the response behind a letter of its own, as in an echoed prompt."""
    listed: set[int] = set()
    letters: set[str] = set()
    for mark in islice(_MARK.finditer(text), _MOST_MARKS):
        said = tokens(text[mark.end() : mark.end() + _LONGEST_TEXT].split("\n", maxsplit=1)[0])
        fitting = [index for index, own in enumerate(options) if own and said[: len(own)] == own]
        if fitting:
            letters.add(mark[1])
            listed.add(max(fitting, key=lambda index: len(options[index])))
    return len(letters) > 1 and len(listed) >= sum(map(bool, options))

"""The texts of the options: comparing a response with them, and finding them inside it."""

import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from eyechart.scorers.option_letter.characters import read_characters
from eyechart.scorers.option_letter.markup import plain
from eyechart.scorers.option_letter.mentions import CJK, WORD, letter_starts

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TOKEN = re.compile(
    r"(?<![\w)])[-−+](?=[\d.])|\d+(?:[.,:/]\d+)*|(?:[^\W\d_]|[\u0300-\u036f])+(?:'[^\W\d_]+)*|[%€£¥°+#&<>=^]",
)
_LEADING_ARTICLE = re.compile(r"^\W*(?:the|an?)\s(?=\s*\w)")
_ARTICLE = re.compile(r"(?:the|an?)\s(?=\S)")
_EDGE = " \n.,;:!?\"'。"
_BEFORE_TEXT = re.compile(rf"(?<!{WORD})(?<!{WORD}-)(?<![\d][.,:/])(?<!'{WORD})")
_AFTER_TEXT = re.compile(rf"(?!{WORD}|-{WORD})")
_AFTER_NUMBER = re.compile(rf"(?!{WORD}|-{WORD}|[.,:/]\d)")
_SIGNED = re.compile(r"(?<![\w)]\s)(?<![\w)])[-−+]$")
_IS_CJK = re.compile(rf"[{CJK}]")


class Occurrence(NamedTuple):
    """An option text found in a passage: its span and the number of the option, from 0."""

    start: int
    end: int
    choice: int


class OptionTexts:
    """The options of one question in the forms that responses are compared with.

    Args:
        choices: Options as shown; at most 26 can have letters.
    """

    def __init__(self, choices: tuple[str, ...]) -> None:
        self.letters = LETTERS[: len(choices)]
        texts = [
            _without_label(plain(read_characters(choice)).text, letter)
            for choice, letter in zip(choices, LETTERS, strict=False)
        ]
        self.exact = [_exact(text) for text in texts]
        self.tokens = [tokens(text) for text in texts]
        # An option that is itself a letter is never looked for: "It reads B" may mean the letter or the print.
        self.needles = ["" if re.fullmatch(r"[a-z]", needle := _needle(text)) else needle for text in texts]
        mentioned = [letter_starts(text.strip()) for text in texts]
        self.has_stand_alone_letters = any(mentioned)
        self.has_letter_options = any(
            len(text.strip(_EDGE + "()[]")) == 1 for text, found in zip(texts, mentioned, strict=True) if found
        )
        self._lettered = [index for index, found in enumerate(mentioned) if found and len(self.needles[index]) > 1]
        self.has_lettered_texts = bool(self._lettered)
        counts = Counter(self.exact)
        self.duplicated = frozenset(
            letter for letter, text in zip(self.letters, self.exact, strict=True) if counts[text] > 1
        )
        self.max_length = max((len(text) for text in texts), default=0)

    def equal_to(self, text: str) -> tuple[str, ...]:
        """Return the letters of the options that ``text`` as a whole says; several if options are equal.

        Case, punctuation and a leading article are ignored, as long as that tells the options apart.

        Example:
            >>> options = options_of(("dog", "cat", "Cat"))
            >>> options.equal_to("The dog."), options.equal_to("cat")
            (('A',), ('B', 'C'))
        """
        if len(text) > 2 * self.max_length + 40:
            return ()
        exact = _exact(text)
        same = tuple(letter for letter, own in zip(self.letters, self.exact, strict=True) if own == exact)
        if same or not (said := tokens(text)):
            return same
        return tuple(letter for letter, own in zip(self.letters, self.tokens, strict=True) if own == said)

    def occurrences(self, lowered: str) -> tuple[Occurrence, ...]:
        """Return where option texts stand in ``lowered`` as whole words; inside a longer one a shorter does not count.

        Args:
            lowered: Text in lower case.
        """
        haystack = _unified(lowered)
        found: list[Occurrence] = []
        for index in sorted(range(len(self.needles)), key=lambda index: -len(self.needles[index])):
            spans = find_whole(haystack, self.needles[index])
            found += (Occurrence(start, end, index) for start, end in spans)
            haystack = _blanked(haystack, spans)
        return tuple(sorted(found))

    def lettered_spans(self, lowered: str) -> tuple[tuple[int, int, str], ...]:
        """Return the spans of option texts that contain a stand-alone letter, with the option's own letter."""
        haystack = _unified(lowered)
        spans: list[tuple[int, int, str]] = []
        for index in sorted(self._lettered, key=lambda index: -len(self.needles[index])):
            found = find_whole(haystack, self.needles[index])
            spans += ((start, end, self.letters[index]) for start, end in found)
            haystack = _blanked(haystack, found)
        return tuple(sorted(spans))


@lru_cache(maxsize=1024)
def options_of(choices: tuple[str, ...]) -> OptionTexts:
    """Return the forms of these options, computed once."""
    return OptionTexts(choices)


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """Return words, numbers and meaningful signs in lower case, without a leading article.

    Example:
        >>> tokens("The blue-green, 3.5 m"), tokens("-5%")
        (('blue', 'green', '3.5', 'm'), ('-', '5', '%'))
    """
    return tuple(_TOKEN.findall(_LEADING_ARTICLE.sub("", text.casefold())))


def find_whole(haystack: str, needle: str) -> list[tuple[int, int]]:
    """Return the spans of ``needle`` in ``haystack`` that no word or number continues; CJK needs no border.

    Example:
        >>> find_whole("1000 or 10, not 10.5", "10")
        [(8, 10)]
    """
    spans: list[tuple[int, int]] = []
    if not needle:
        return spans
    start = haystack.find(needle)
    while start >= 0:
        end = start + len(needle)
        if _begins_whole(haystack, start, needle) and _ends_whole(haystack, end, needle):
            spans.append((start, end))
            start = haystack.find(needle, end)
        else:
            start = haystack.find(needle, start + 1)
    return spans


def _begins_whole(haystack: str, start: int, needle: str) -> bool:
    if _IS_CJK.match(needle) or not (needle[0].isalnum()):
        return True
    if needle[0].isdigit() and _SIGNED.search(haystack[max(0, start - 3) : start]):
        return False
    return _BEFORE_TEXT.match(haystack, start) is not None


def _ends_whole(haystack: str, end: int, needle: str) -> bool:
    if _IS_CJK.match(needle[-1]) or not needle[-1].isalnum():
        return True
    return (_AFTER_NUMBER if needle[-1].isdigit() else _AFTER_TEXT).match(haystack, end) is not None


def _blanked(haystack: str, spans: list[tuple[int, int]]) -> str:
    """Replace spans by characters that match nothing and continue no word."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        parts += (haystack[position:start], "\x00" * (end - start))
        position = end
    parts.append(haystack[position:])
    return "".join(parts)


def _unified(lowered: str) -> str:
    return lowered.replace("\n", " ")


def _exact(text: str) -> str:
    return " ".join(text.casefold().split()).strip(_EDGE)


def _needle(text: str) -> str:
    needle = _unified(text.replace("\u0130", "i").lower()).strip(_EDGE)
    article = _ARTICLE.match(needle)
    return needle[article.end() :] if article else needle


def _without_label(text: str, letter: str) -> str:
    """Remove the option's own label, if it is printed in its text: "(A) red" as the first option."""
    return re.sub(rf"^[\s(]*{letter}\s*[.):]\s*(?=\S)", "", text)

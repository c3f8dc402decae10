"""The texts of the options: comparing a response with them, and finding them inside it."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from eyechart.scorers.option_letter.characters import read_characters
from eyechart.scorers.option_letter.markup import plain
from eyechart.scorers.option_letter.mentions import CJK, WORD, letter_starts
from eyechart.scorers.option_letter.numbers import NUMBER_WORDS, number_pattern, plain_number

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
# What may stand between two words of an option in a response, whatever stands there in the option.
_BETWEEN_WORDS = r"[\s.,;:!?'\"()\[\]{}/|*_–—-]"
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(NUMBER_WORDS)})\b")
_COUNTED = re.compile(
    r"\b(?:there (?:is|are|was|were)|i (?:can )?(?:see|count)|i counted|total (?:of|is)|exactly|it is|answer is"
    r"|number is)"
    r" (?:about |exactly |a total of )?(?P<word>[a-z]{3,6})\b"
)


class Occurrence(NamedTuple):
    """An option text found in a passage: its span and the number of the option, from 0."""

    start: int
    end: int
    choice: int


class OptionTexts:
    """The options of one question in the forms that responses are compared with.

    Args:
        choices: Options as shown; at most 26 can have letters.
        version: Of the reading rules.
    """

    def __init__(self, choices: tuple[str, ...], version: int) -> None:
        self.version = version
        self.letters = LETTERS[: len(choices)]
        texts = [
            _without_label(plain(read_characters(choice)).text, letter)
            for choice, letter in zip(choices, LETTERS, strict=False)
        ]
        self.exact = [_exact(text) for text in texts]
        self.tokens = [tokens(text) for text in texts]
        # An option that is itself a letter is never looked for: "It reads B" may mean the letter or the print.
        self.needles = ["" if re.fullmatch(r"[a-z]", needle := _needle(text)) else needle for text in texts]
        mentioned = [letter_starts(text.strip(), version) for text in texts]
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

        Case, punctuation and a leading article are ignored, as long as that tells the options apart; since version 2
        numbers are compared as numbers where nothing else is equal.

        Example:
            >>> options = options_of(("dog", "cat", "Cat"), 2)
            >>> options.equal_to("The dog."), options.equal_to("cat")
            (('A',), ('B', 'C'))
        """
        if len(text) > 2 * self.max_length + 40:
            return ()
        exact = _exact(text)
        same = tuple(letter for letter, own in zip(self.letters, self.exact, strict=True) if own == exact)
        if same or not (said := tokens(text)):
            return same
        same = tuple(letter for letter, own in zip(self.letters, self.tokens, strict=True) if own == said)
        if same or self.version == 1:
            return same
        number = _with_plain_numbers(said)
        numbers = zip(self.letters, self._numbers, strict=True)
        return tuple(letter for letter, own in numbers if own == number)

    def occurrences(self, lowered: str) -> tuple[Occurrence, ...]:
        """Return where option texts stand in ``lowered`` as whole words; inside a longer one a shorter does not count.

        Args:
            lowered: Text in lower case.
        """
        haystack = _unified(lowered)
        found: list[Occurrence] = []
        for index in sorted(range(len(self.needles)), key=lambda index: -len(self.needles[index])):
            spans = self._find(haystack, index)
            found += (Occurrence(start, end, index) for start, end in spans)
            haystack = _blanked(haystack, spans)
        return tuple(sorted(found))

    def lettered_spans(self, lowered: str) -> tuple[tuple[int, int, str], ...]:
        """Return the spans of option texts that contain a stand-alone letter, with the option's own letter."""
        haystack = _unified(lowered)
        spans: list[tuple[int, int, str]] = []
        for index in sorted(self._lettered, key=lambda index: -len(self.needles[index])):
            found = self._find(haystack, index)
            spans += ((start, end, self.letters[index]) for start, end in found)
            haystack = _blanked(haystack, found)
        return tuple(sorted(spans))

    def number_words(self, lowered: str) -> Iterator[Occurrence]:
        """Yield where something is counted in a word, "there are three", and an option is that number."""
        if not any(character.isdigit() for text in self.exact for character in text):
            return
        by_number = {own[0]: index for index, own in enumerate(self._numbers) if len(own) == 1}
        if len({word for word in _NUMBER_WORD.findall(lowered) if word not in {"one", "zero"}}) > 1:
            return
        for counted in _COUNTED.finditer(_unified(lowered)):
            index = by_number.get(NUMBER_WORDS.get(counted["word"], ""))
            if index is not None:
                yield Occurrence(counted.start("word"), counted.end("word"), index)

    def _find(self, haystack: str, index: int) -> list[tuple[int, int]]:
        """Return where the text of an option stands; since version 2 whatever punctuation stands between its words."""
        needle, pattern = self.needles[index], self._patterns[index]
        if pattern is None or not needle:
            return find_whole(haystack, needle)
        return [
            match.span()
            for match in pattern.finditer(haystack)
            if _begins_whole(haystack, match.start(), match.group())
            and _ends_whole(haystack, match.end(), match.group())
        ]

    @cached_property
    def _numbers(self) -> list[tuple[str, ...]]:
        return [_with_plain_numbers(own) for own in self.tokens]

    @cached_property
    def _patterns(self) -> list[re.Pattern[str] | None]:
        """Patterns of the texts that can be spelt in several ways; None where a plain search finds the text."""
        if self.version == 1:
            return [None] * len(self.needles)
        return [_loose_pattern(needle) for needle in self.needles]


def _loose_pattern(needle: str) -> re.Pattern[str] | None:
    words = _TOKEN.findall(needle)
    if needle.isalpha() or not words or (len(words) == 1 and len(words[0]) == 1 and words[0].isalpha()):
        return None
    parts = [number_pattern(word) if word[0].isdigit() else re.escape(word) for word in words]
    gaps = [
        f"{_BETWEEN_WORDS}{{1,4}}" if before[-1].isalpha() and after[0].isalpha() else f"{_BETWEEN_WORDS}{{0,4}}"
        for before, after in pairwise(words)
    ]
    return re.compile("".join(part + gap for part, gap in zip(parts, [*gaps, ""], strict=True)))


def _with_plain_numbers(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(plain_number(NUMBER_WORDS.get(word, word)) for word in words)


@lru_cache(maxsize=1024)
def options_of(choices: tuple[str, ...], version: int) -> OptionTexts:
    """Return the forms of these options, computed once."""
    return OptionTexts(choices, version)


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

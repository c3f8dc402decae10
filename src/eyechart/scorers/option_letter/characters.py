"""Characters as rules read them: compatibility forms folded, invisible ones dropped, entities decoded (rule S1)."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from eyechart.scorers.option_letter.traced import Edit, Traced

# A base with its accents is folded as one, so that "É" is one letter however it was typed; 20 accents bound the work.
_ACCENT = re.compile(r"[\u0300-\u036f\u3099\u309a]")
_WITH_ACCENTS = re.compile(r"[\s\S][\u0300-\u036f\u3099\u309a]{1,20}|[^\x00-\x7f]")
# Kana, ideographs and syllables that are their own compatibility form are skipped, for speed.
_SINGLE = re.compile(r"[^\x00-\x7f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]")
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
    r"\U000e0000-\U000e007f]"
)
_REPLACED = {
    **dict.fromkeys("\u0085\u2028\u2029", "\n"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
}
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f](?:(?<=\r)\n)?")
_ENTITIES = {
    "amp": "&",
    "apos": "'",
    "gt": ">",
    "lt": "<",
    "nbsp": " ",
    "quot": '"',
    "#34": '"',
    "#39": "'",
    "#x27": "'",
    "#40": "(",
    "#41": ")",
}
_ENTITY = re.compile(r"&([a-z]{2,4}|#x?[0-9]{2});")


@lru_cache(maxsize=8192)
def fold(character: str) -> str:
    """Return the compatibility form (NFKC) of one character with its accents; empty for an invisible one.

    Typographic quotation marks become the plain ones, line separators line breaks.
    Homoglyphs stay apart: the Cyrillic letter that looks like B is not a B.

    Example:
        >>> fold("\uff22"), fold("\u24b8"), fold("\u200b"), fold("\u0412") == "B"
        ('B', 'C', '', False)
    """
    if character in _REPLACED:
        return _REPLACED[character]
    if character.isspace():
        return " "
    if _INVISIBLE.fullmatch(character):
        return ""
    return unicodedata.normalize("NFKC", character)


def read_characters(text: str) -> Traced:
    r"""Fold characters, line ends, control characters and HTML entities of a response.

    Example:
        >>> read_characters("\uff22\u200b&gt;\r\n").text
        'B>\n'
    """
    read = Traced(text)
    if not text.isascii():
        read = read.edited(_folding_edits(text))
    if not read.text.replace("\n", "").isprintable():
        read = read.edited(
            Edit(match.start(), match.end(), "\n" if match.group()[0] in "\r\x0b\x0c" else " ")
            for match in _CONTROL.finditer(read.text)
        )
    if "&" in read.text:
        read = read.edited(
            Edit(match.start(), match.end(), _ENTITIES[match[1]])
            for match in _ENTITY.finditer(read.text)
            if match[1] in _ENTITIES
        )
    return read


def _folding_edits(text: str) -> Iterator[Edit]:
    pattern = _WITH_ACCENTS if _ACCENT.search(text) else _SINGLE
    for match in pattern.finditer(text):
        replacement = fold(match.group())
        if replacement != match.group():
            yield Edit(match.start(), match.end(), replacement)

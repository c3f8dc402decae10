"""Text without its typography: HTML, Markdown, LaTeX and runs of white space removed (end of rule S1)."""

import re
from collections.abc import Callable

from eyechart.scorers.option_letter.traced import Edit, Traced

_STRUCK = re.compile(r"~~[^~\n]{1,200}~~|<(del|s|strike)>[^<>\n]{0,200}</\1>", re.IGNORECASE)
_LETTER_TAG = re.compile(r"<([A-Z])>")
_CLOSED_LETTER_TAG = re.compile(r"</([A-Z])>")
_BLOCK_TAG = re.compile(r"</?(?:br|p|div|li|ul|ol|tr|table|h[1-6]|hr|pre)(?:\s[^<>]{0,80})?/?>", re.IGNORECASE)
_INLINE_TAG = re.compile(
    r"</?(?:b|i|u|s|em|strong|span|code|mark|small|big|sup|sub|font|center|a|td|th|tbody|thead|del|ins|strike|kbd|tt"
    r"|html|body|label|q|blockquote|details|summary)(?:\s[^<>]{0,120})?/?>",
    re.IGNORECASE,
)
_FENCE = re.compile(r"`{3,}(?:(?:json|text|txt|markdown|md|python|xml|yaml|html|plaintext|latex|answer)\b)?")
_EMPHASIS = re.compile(r"[*`]+")
_UNDERSCORES = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_MATH = re.compile(r"\\[()\[\]]|\$+|\\(?:[,;:! ]|q?quad\b|displaystyle\b|left\b|right\b|bf\b|rm\b|it\b)")
_ESCAPED = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_LATEX_ARROW = re.compile(r"\\(?:right|Right|long[rR]ight)arrow\b|\\to\b|\\implies\b")
# Two patterns, each with a literal start, because the regex engine then skips to it.
_AFTER_BREAK = re.compile(r"\n\s+")
_AFTER_SPACE = re.compile(r" (?=\s)\s+")


def plain(read: Traced) -> Traced:
    r"""Remove typography. Afterwards every run of white space is one space or one line break.

    Struck-out text is dropped with its marks: what is struck out is not said.

    Example:
        >>> plain(Traced("~~A~~ **(C)**   <b>green</b>")).text
        ' (C) green'
    """
    text = read.text
    if "<" in text or "~" in text:
        read = _without_html(read)
    if "\\" in read.text or "$" in read.text:
        read = _replaced(read, _LATEX_ARROW, lambda _: "→")
        read = _replaced(read, _MATH, _math_replacement)
        read = _replaced(read, _ESCAPED, lambda _: "")
    if "`" in read.text:
        read = _replaced(read, _FENCE, lambda _: "\n")
    if "*" in read.text or "`" in read.text:
        read = _replaced(read, _EMPHASIS, lambda _: "")
    if "_" in read.text:
        read = _replaced(read, _UNDERSCORES, lambda _: "")
    read = _replaced(read, _AFTER_BREAK, lambda _: "\n")
    return _replaced(read, _AFTER_SPACE, lambda match: "\n" if "\n" in match.group() else " ")


def _math_replacement(match: re.Match[str]) -> str:
    """A command leaves a space, a delimiter such as ``$`` nothing."""
    return " " if match.group().startswith("\\") and match.group()[1] not in "()[]" else ""


def _without_html(read: Traced) -> Traced:
    read = _replaced(read, _STRUCK, lambda _: "")
    if "<" not in read.text:
        return read
    closed = set(_CLOSED_LETTER_TAG.findall(read.text))  # <B>blue</B> is bold, a lone <B> is a placeholder filled in
    read = _replaced(read, _LETTER_TAG, lambda match: "" if match[1] in closed else f"({match[1]})")
    read = _replaced(read, _BLOCK_TAG, lambda _: "\n")
    return _replaced(read, _INLINE_TAG, lambda _: "")


def _replaced(read: Traced, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]) -> Traced:
    return read.edited(Edit(match.start(), match.end(), replacement(match)) for match in pattern.finditer(read.text))

"""Text from outside made fit to print: no control characters, nothing that reorders what stands beside it."""

import unicodedata

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# Control (Cc), format such as bidirectional overrides (Cf), surrogates (Cs), line and paragraph separators (Zl, Zp).
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str) -> str:
    r"""Return the text on one line, with characters that have no shape of their own replaced.

    Line breaks and tabs become spaces; every other control or format character becomes U+FFFD, so that a planted
    one is seen.

    Example:
        >>> printable("two\nlines"), printable("a\x00b") == f"a{REPLACEMENT}b"
        ('two lines', True)
    """
    if text.isprintable():
        return text
    return "".join(_printable_character(character) for character in text)


def _printable_character(character: str) -> str:
    """Return what stands for one character."""
    if character in "\n\r\t":
        return " "
    return REPLACEMENT if unicodedata.category(character) in _UNPRINTABLE else character

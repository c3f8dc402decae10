"""Which option stands in the lines of text that were read in a picture."""

import re
import unicodedata
from collections.abc import Sequence

MATCHING_VERSION = 1
"""Part of the model's identity: change it with any change of an answer."""

# One wrong character in four: a longer difference is another text rather than a misreading.
_CHARACTERS_PER_ERROR = 4


def option_read(lines: Sequence[str], options: Sequence[str]) -> int | None:
    """Return the index of the option that stands in the text, None where that cannot be told.

    An option stands in the text if its letters and digits do, in order, whatever case, punctuation and spacing, and
    not inside a longer word or number. If exactly one option does, it is the answer; an option inside a longer one
    that was read as well does not count. If none does, the nearest option is taken only when it is clearly nearest:
    at most one wrong character in four somewhere in the text, and every other option further away.

    Args:
        lines: Lines of text in reading order.
        options: The options.

    Example:
        >>> option_read(["MAPLE 4821"], ["4821", "4827"]), option_read(["MAPLE 482"], ["4821", "4827"])
        (0, None)
        >>> option_read(["maple 4B21"], ["4821", "4327"])
        0
    """
    text = "\n".join(words for words in map(normalised, lines) if words)
    patterns = [normalised(option) for option in options]
    found = [index for index, pattern in enumerate(patterns) if pattern and stands_in(pattern, text)]
    found = [
        index
        for index in found
        if not any(index != other and stands_in(patterns[index], patterns[other]) for other in found)
    ]
    if found:
        return found[0] if len(found) == 1 else None
    return _clearly_nearest(text, patterns)


def normalised(text: str) -> str:
    r"""Return the lower-case words of a text, one space between them, without punctuation.

    Example:
        >>> normalised("  No. 48-21,  \N{FULLWIDTH LATIN CAPITAL LETTER A} ")
        'no 48 21 a'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(sign if sign.isalnum() else " " for sign in folded).split())


def stands_in(pattern: str, text: str) -> bool:
    """Whether a normalised pattern stands in a normalised text, spaces inside a line ignored.

    Digits must not go on in front of or behind it if it begins or ends with a digit; the same holds for letters.

    Example:
        >>> stands_in("4821", "maple4821"), stands_in("4821", "maple 48217"), stands_in("red", "reddish")
        (True, False, False)
    """
    signs = pattern.replace(" ", "")
    body = r"\s?".join(re.escape(sign) for sign in signs)
    return re.search(f"(?<!{_kind(signs[0])}){body}(?!{_kind(signs[-1])})", text) is not None


def distance_within(pattern: str, text: str) -> int:
    """Return the smallest edit distance between a pattern and any part of a text.

    References:
        P. Sellers, J. Algorithms 1 (1980) 359, https://doi.org/10.1016/0196-6774(80)90016-4.

    Example:
        >>> distance_within("4821", "maple 4b21"), distance_within("4821", "")
        (1, 4)
    """
    row = list(range(len(pattern) + 1))
    best = row[-1]
    for sign in text:
        previous, row = row, [0]
        for at, wanted in enumerate(pattern):
            row.append(min(previous[at] + (sign != wanted), previous[at + 1] + 1, row[at] + 1))
        best = min(best, row[-1])
    return best


def _clearly_nearest(text: str, patterns: Sequence[str]) -> int | None:
    # None of them stands in the text, so one inside a longer word is a misreading as well.
    distances = [max(1, distance_within(pattern.replace(" ", ""), text.replace(" ", ""))) for pattern in patterns]
    nearest = min(range(len(patterns)), key=distances.__getitem__, default=None)
    if nearest is None or distances.count(distances[nearest]) > 1:
        return None
    allowed = len(patterns[nearest].replace(" ", "")) // _CHARACTERS_PER_ERROR
    return nearest if distances[nearest] <= allowed else None


def _kind(sign: str) -> str:
    return r"\d" if sign.isdigit() else r"[^\W\d_]"

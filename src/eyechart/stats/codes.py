"""The names of everything that can make a number misleading."""

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)
FORMER: Mapping[str, str] = MappingProxyType(
    {
        "VIEW_COLLAPSE": "SAME_PICTURE",
        "LOW_CEILING": "NEAR_LIMIT",
        "MNAR": "MISSING_BY_VIEW",
        "UNPARSED_BY_VIEW": "UNREADABLE_BY_VIEW",
        "PROMPT_MIX": "DIFFERENT_PROMPTS",
    }
)
"""Name of a rule in files and command lines of before → its name now."""


def current_code(name: str) -> str:
    """Return the name that a rule has now; any other name stays as it is.

    Example:
        >>> current_code("MNAR"), current_code("BLIND"), current_code("OWN_RULE")
        ('MISSING_BY_VIEW', 'BLIND', 'OWN_RULE')
    """
    return FORMER.get(name, name)


_FORMER_WORD = re.compile(rf"\b(?:{'|'.join(FORMER)})\b")
_HOLDS_CODES = frozenset({"code", "warnings", "blocked_by"})


def with_current_codes(record: S) -> S:
    """Return a stored record of results with every rule under the name that it has now.

    Codes stand alone in ``code`` and ``blocked_by``, before a colon in ``warnings``, and within sentences in the
    ``text`` and ``message`` of what has a ``code``. Nothing else is changed, whatever it says.

    Example:
        >>> from eyechart.schema import Finding
        >>> with_current_codes(Finding("BLOCKED", "a and b are not compared: MNAR.")).text
        'a and b are not compared: MISSING_BY_VIEW.'
    """
    names = record.__struct_fields__
    sentences = ("text", "message") if "code" in names else ()
    changed: dict[str, object] = {}
    for name in names:
        value = getattr(record, name)
        if name in sentences and isinstance(value, str):
            new: object = _FORMER_WORD.sub(lambda found: FORMER[found[0]], value)
        else:
            new = _renamed(value, holds_codes=name in _HOLDS_CODES)
        if new is not value:
            changed[name] = new
    return msgspec.structs.replace(record, **changed) if changed else record


def _renamed(value: object, *, holds_codes: bool) -> object:
    if isinstance(value, str) and holds_codes:
        head, colon, rest = value.partition(":")
        return f"{current_code(head)}{colon}{rest}" if head in FORMER else value
    if isinstance(value, msgspec.Struct):
        return with_current_codes(value)
    if isinstance(value, tuple):
        parts = tuple(_renamed(one, holds_codes=holds_codes) for one in value)
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    return value


class Code(StrEnum):
    """Codes of validity rules, as they stand in ``Estimate.warnings``, ``Contrast.warnings`` and ``blocked_by``.

    Former names are read as what they are called now.

    Example:
        >>> Code("MNAR")
        <Code.MISSING_BY_VIEW: 'MISSING_BY_VIEW'>
    """

    DIFFERENT_PROMPTS = "DIFFERENT_PROMPTS"
    SUBSET_MISMATCH = "SUBSET_MISMATCH"
    MISSING_BY_VIEW = "MISSING_BY_VIEW"
    UNREADABLE_BY_VIEW = "UNREADABLE_BY_VIEW"
    RANDOM_FILL = "RANDOM_FILL"
    LENIENT_MATCH = "LENIENT_MATCH"
    LETTER_BIAS = "LETTER_BIAS"
    SHUFFLE = "SHUFFLE"
    BLIND = "BLIND"
    NEAR_LIMIT = "NEAR_LIMIT"
    EPOCHS = "EPOCHS"
    AA_NOISE = "AA_NOISE"
    SAME_INPUT = "SAME_INPUT"
    JUDGE_DRIFT = "JUDGE_DRIFT"
    SHARED_IMAGE = "SHARED_IMAGE"
    TINY_GROUP = "TINY_GROUP"
    MANY_TESTS = "MANY_TESTS"
    OPTION_MIX = "OPTION_MIX"
    ITEM_ERRATA = "ITEM_ERRATA"
    DUP_ROWS = "DUP_ROWS"
    DRIFT = "DRIFT"
    HETEROGENEOUS_SETTINGS = "HETEROGENEOUS_SETTINGS"
    SAME_PICTURE = "SAME_PICTURE"
    VIEW_REJECTED = "VIEW_REJECTED"
    ALLOWED_FAULTS = "ALLOWED_FAULTS"
    OPTION_ORDER = "OPTION_ORDER"
    NO_PICTURE = "NO_PICTURE"
    FLAT_PICTURE_PRICE = "FLAT_PICTURE_PRICE"
    BELOW_CHANCE = "BELOW_CHANCE"

    @classmethod
    def _missing_(cls, value: object) -> "Code | None":
        return cls(FORMER[value]) if isinstance(value, str) and value in FORMER else None

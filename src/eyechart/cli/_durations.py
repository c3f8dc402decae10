"""Durations on the command line: ``90``, ``90s``, ``20m``, ``1.5h``."""

import re
from typing import TYPE_CHECKING

from eyechart.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclopts import Token

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|)")
_UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def parse_seconds(text: str) -> float:
    """Return a duration in seconds.

    Raises:
        UsageError: If the text is not a duration.

    Example:
        >>> parse_seconds("20m"), parse_seconds("90"), parse_seconds("1.5h")
        (1200.0, 90.0, 5400.0)
    """
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None:
        raise UsageError(f"{text!r} is not a duration", hint="write seconds or a number with s, m or h, such as 20m")
    return float(match[1]) * _UNIT_SECONDS[match[2]]


def read_seconds(_type: object, tokens: "Sequence[Token]") -> float:
    """Convert a command-line token; the converter that cyclopts calls."""
    return parse_seconds(tokens[0].value)

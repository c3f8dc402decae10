"""Factors in view ids: a decimal point is written ``_``, trailing zeros are dropped, at most six decimals."""

import math
import re

from eyechart.errors import UsageError

MAX_DECIMALS = 6
# No leading zeros before a digit and no trailing zero after the point: one text per number.
_FACTOR = re.compile(r"(0|[1-9]\d*)(?:_(\d{0,5}[1-9]))?")


def format_factor(factor: float) -> str:
    """Write a factor for a view id.

    Raises:
        UsageError: If it is not positive and finite, or needs more than six decimals.

    Example:
        >>> format_factor(1.5), format_factor(3.0), format_factor(0.0625)
        ('1_5', '3', '0_0625')
    """
    text = f"{factor:.{MAX_DECIMALS}f}" if math.isfinite(factor) else ""
    if not text or factor <= 0 or float(text) != factor:
        raise UsageError(
            f"factor {factor!r} cannot be written in a view id", hint="use a positive number with at most six decimals"
        )
    return text.rstrip("0").rstrip(".").replace(".", "_")


def parse_factor(text: str) -> float | None:
    """Read a factor as ``format_factor`` writes it, None for any other text.

    Example:
        >>> parse_factor("0_0625"), parse_factor("1_50"), parse_factor("3.0")
        (0.0625, None, None)
    """
    match = _FACTOR.fullmatch(text)
    if match is None:
        return None
    factor = float(text.replace("_", "."))
    return factor if factor > 0 else None

"""Random draws that depend on nothing but their names, so that they are the same in any order and process."""

import hashlib
import math
from statistics import NormalDist

_NORMAL = NormalDist()


def uniform(seed: int, purpose: str, key: str) -> float:
    """Return a number in (0, 1) that is fixed by its three names and looks random across them.

    Example:
        >>> uniform(0, "guess", "q1") == uniform(0, "guess", "q1") != uniform(1, "guess", "q1")
        True
    """
    digest = hashlib.sha256(f"{seed}\0{purpose}\0{key}".encode()).digest()
    return (int.from_bytes(digest[:6], "big") + 0.5) / 2**48


def pick(options: str, draw: float) -> str:
    """Return one character by a draw in (0, 1).

    Example:
        >>> pick("ABCD", 0.6)
        'C'
    """
    return options[math.floor(draw * len(options))]


def normal_quantile(share: float) -> float:
    """Return the standard normal quantile of a share in (0, 1)."""
    return _NORMAL.inv_cdf(share)


def normal_share(quantile: float) -> float:
    """Return the share of a standard normal below a quantile."""
    return _NORMAL.cdf(quantile)

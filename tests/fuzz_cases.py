"""How many random cases a test marked ``fuzz`` tries, and the random changes that such tests make.

``EYECHART_FUZZ_CASES`` says how many cases each kind of test tries, 400 if it is not set; ``.ci/full`` sets thousands.
The cases are the same each time, so that a failure can be repeated by its number.
"""

import os
from random import Random

ODD_TEXTS = ["", " ", "\n", "\u200b", "A", "B.", "null", "NaN", "1e999", "\x00", "\ufeff", "é答", "<think>", "x" * 5000]
ODD_VALUES = [None, True, False, 0, -1, 0.5, 10**400, float("nan"), float("inf"), [], {}, [[]], [None], {"a": [{}]}]
ODD_VALUES += [*ODD_TEXTS, "\ud800", "A\udfff"]
ODD_BYTES = [
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b'"',
    b"'",
    b",",
    b";",
    b"\t",
    b"\r",
    b"\n",
    b"\r\n",
    b"\\",
    b"\\u",
    b"[",
    b"]",
]
ODD_BYTES += [
    b"{",
    b"}",
    b":",
    b"null",
    b"NaN",
    b"-",
    b"1e999",
    b"9" * 400,
    b"\\ud800",
    b"[" * 3000,
    "é答".encode(),
    b" ",
]


def n_cases(share=1.0):
    """Return how many cases to try; ``share`` is for one of several tests that try one kind together."""
    return max(1, round(float(os.environ.get("EYECHART_FUZZ_CASES", "400")) * share))


def random_of(*names):
    """Return the random numbers of one case, the same on every machine."""
    return Random(" ".join(map(str, names)))  # noqa: S311 -- repeatable, not secret


def changed_value(rng: Random, value: object, n_changes: int) -> object:
    """Return a value of JSON with some of its parts made odd, taken out, doubled or put into something else."""
    for _ in range(n_changes):
        value = _changed_once(rng, value)
    return value


def _changed_once(rng: Random, value: object) -> object:
    is_inside = rng.random() < 0.9
    if isinstance(value, dict) and value and is_inside:
        return _changed_object(rng, value)
    if isinstance(value, list) and value and is_inside:
        return _changed_list(rng, value)
    wrapped = [
        [value],
        {"type": "text", "text": value},
        [{"type": "text", "text": value}],
        {"value": value},
        str(value),
    ]
    return rng.choice([*ODD_VALUES, *wrapped])


def _changed_object(rng: Random, value: dict) -> dict:
    key = rng.choice(list(value))
    what = rng.random()
    if what < 0.1:
        return {name: one for name, one in value.items() if name != key}
    if what < 0.15:
        return {f"{key}s" if name == key else name: one for name, one in value.items()}
    return {**value, key: _changed_once(rng, value[key])}


def _changed_list(rng: Random, value: list) -> list:
    at = rng.randrange(len(value))
    what = rng.random()
    if what < 0.1:
        return value + value
    if what < 0.2:
        return [*value[:at], rng.choice(ODD_VALUES), *value[at:]]
    return [*value[:at], _changed_once(rng, value[at]), *value[at + 1 :]]


def changed_bytes(rng: Random, content: bytes, n_changes: int) -> bytes:
    """Return bytes with some of them changed, taken out, put in, doubled or cut off."""
    for _ in range(n_changes):
        at = rng.randrange(len(content) + 1)
        to = min(len(content), at + rng.choice([1, 1, 1, 4, 40]))
        what = rng.random()
        if what < 0.3:
            content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
        elif what < 0.6:
            content = content[:at] + rng.choice(ODD_BYTES) + content[at if rng.random() < 0.5 else to :]
        elif what < 0.75:
            content = content[:at] + content[to:]
        elif what < 0.9:
            content = content[:to] + content[at:]
        elif what < 0.93:
            content = content[:at]
    return content

"""Texts inside texts: percent-encoded, escaped as in JSON, in Base64."""

import base64
import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote

_PERCENT = re.compile(r"[^\s'\"<>]*%[0-9A-Fa-f]{2}[^\s'\"<>]*")
_UNICODE = re.compile(r"(?:[^\s'\"<>]*(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|&#x?[0-9A-Fa-f]+;)[^\s'\"<>]*)")
_ONE_UNICODE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})|&#x([0-9A-Fa-f]+);|&#([0-9]+);")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{8,}={0,2}")
_MOST_LAYERS = 3
_LARGEST_CODE = 0x10FFFF


def find_escaped(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield every part of a text that is percent-encoded or has numbers of characters, with what it stands for.

    Example:
        >>> list(find_escaped(r"see %2Fhome%2Fal and \u0061l")) == [("%2Fhome%2Fal", "/home/al"), ("\\u0061l", "al")]
        True
    """
    for pattern in (_PERCENT, _UNICODE):
        for match in pattern.finditer(text):
            decoded = match.group()
            for _ in range(_MOST_LAYERS):
                decoded = _ONE_UNICODE.sub(_character, unquote(decoded))
            if decoded != match.group():
                yield match.group(), decoded


def find_base64(text: str) -> Iterator[tuple[str, str]]:
    """Yield every word of a text that is Base64 of a printable text, with that text.

    Example:
        >>> list(find_base64("Basic YWxpY2U6c2VjcmV0"))
        [('YWxpY2U6c2VjcmV0', 'alice:secret')]
    """
    for match in _BASE64.finditer(text):
        word = match.group()
        letters = word.rstrip("=").replace("-", "+").replace("_", "/")
        if len(letters) % 4 == 1:
            continue
        try:
            decoded = base64.b64decode(letters + "=" * (-len(letters) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        if all(sign.isprintable() or sign.isspace() for sign in decoded):
            yield word, decoded


def _character(match: re.Match[str]) -> str:
    hexadecimal = match.group(1) or match.group(2) or match.group(3)
    code = int(hexadecimal, 16) if hexadecimal else int(match.group(4))
    return chr(code) if code <= _LARGEST_CODE and not 0xD800 <= code <= 0xDFFF else match.group()  # noqa: PLR2004 -- surrogates

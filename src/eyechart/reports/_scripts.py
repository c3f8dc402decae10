"""What stands in the script tags of a report: one script, known to the page by its hash, and data."""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

import msgspec
from markupsafe import Markup

from eyechart.schema import Value

_PARTS = ("vega.min.js", "vega-lite.min.js", "vega-interpreter.js", "charts.js")
_LICENCES = "vega.LICENSE.txt"
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)


class Script(Value, frozen=True):
    """A script and its hash as a Content-Security-Policy names it."""

    text: str
    digest: str


@cache
def chart_script() -> Script:
    """Return the script with the licences of its parts in front; the page's policy lets no other script run."""
    folder = files("eyechart.reports") / "static"
    licences = (folder / _LICENCES).read_text(encoding="utf-8").replace("*/", "* /")
    parts = [(folder / name).read_text(encoding="utf-8") for name in _PARTS]
    text = "\n".join([f"/*\n{licences}*/", *(_SOURCE_MAP.sub("", part).strip() for part in parts), ""])
    return Script(text, script_digest(text))


def script_digest(text: str) -> str:
    """Return the hash of a script's text as a policy writes it.

    Example:
        >>> script_digest("")
        'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def inline_json(value: object) -> Markup:
    r"""Return JSON for the inside of a script tag, with the characters of markup escaped.

    Example:
        >>> str(inline_json("</script>"))
        '"\\u003c/script\\u003e"'
    """
    text = msgspec.json.encode(value).decode()
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704 -- escaped

"""JSON inside an HTML page: markup that nothing in the data can end."""

import msgspec
from markupsafe import Markup


def inline_json(value: object) -> Markup:
    r"""Return JSON for the inside of a script tag, with the characters of markup escaped.

    Example:
        >>> str(inline_json("</script>"))
        '"\\u003c/script\\u003e"'
    """
    text = msgspec.json.encode(value).decode()
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704 -- escaped

"""Start an extension: one file to fill in, and its test."""

import keyword
from pathlib import Path
from typing import Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

from eyechart.cli._output import Json, print_json, say
from eyechart.errors import StoreError, UsageError

Kind = Literal["view", "benchmark", "model", "prompt", "scorer", "figure", "report"]


def new(kind: Kind, name: str, /, *, out: Path = Path(), json: Json = False) -> int:
    """Write ``NAME.py`` with a working start of an extension, and ``test_NAME.py`` with the laws it must keep.

    Use it with ``--plugin NAME.py``, or move it into a package and name it in an entry point ``eyechart.KIND``.

    Args:
        kind: What to start.
        name: Its name, a lower-case Python identifier such as rotate.
        out: Folder to write into.
        json: Print JSON instead of text.
    """
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower() or name.startswith("_"):
        raise UsageError(f"{name!r} is not a lower-case Python name", hint="for example: eyechart new view rotate")
    files = {out / f"{name}.py": f"{kind}.py.jinja", out / f"test_{name}.py": f"test_{kind}.py.jinja"}
    for path in files:
        if path.exists():
            raise UsageError(f"{path} exists already", hint="choose another name or folder")
    environment = Environment(
        loader=PackageLoader("eyechart.cli", "templates"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 -- writes Python, not HTML
    )
    class_name = "".join(part.capitalize() for part in name.split("_"))
    for path, template in files.items():
        text = environment.get_template(template).render(name=name, class_name=class_name)
        _write(path, text)
        say(f"wrote {path}")
    if json:
        print_json({"files": [str(path) for path in files]})
    say(f"try it: python -m pytest {out / f'test_{name}.py'}")
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror})", hint="choose a folder you can write to"
        ) from error

"""Names of picture files as they are told, and why there is no file behind one."""

import os
from collections.abc import Sequence
from pathlib import Path

from eyechart.errors import BenchmarkError
from eyechart.schema import ImageRef

_SHOWN_CHARACTERS = 60
# What no file name may exceed on the file systems in use: NAME_MAX of Linux and macOS, and NTFS.
_MAX_NAME_BYTES = 255
_HEADS_OF_BASE64 = ("/9j/", "iVBORw0KGgo", "R0lGOD", "UklGR", "SUkq", "TU0A", "Qk0", "Qk1")


def shortened(name: str) -> str:
    """Return a name as it is shown: whole, or its beginning with its length where it is not a name but something else.

    Example:
        >>> shortened("a.png"), len(shortened("x" * 40_000)) < 100
        ('a.png', True)
    """
    plain = "".join(character if character.isprintable() else "\ufffd" for character in name[: _MAX_NAME_BYTES + 1])
    if len(name) <= _MAX_NAME_BYTES:
        return plain
    return f"{plain[:_SHOWN_CHARACTERS]}… ({len(name):,} characters)"


def absence_of(path: Path, name: str) -> str:
    """Return why there is no file to read, naming it as the row does; empty if there is one.

    Example:
        >>> absence_of(Path("nowhere/a.png"), "a.png")
        'a.png: there is no such file'
    """
    shown = shortened(name)
    if name.startswith("data:") or (len(name) > _MAX_NAME_BYTES and name.lstrip().startswith(_HEADS_OF_BASE64)):
        return f"{shown}: a picture as base64 text, and not the path of a file"
    if max(len(os.fsencode(part)) for part in (*path.parts, "")) > _MAX_NAME_BYTES:
        return f"{shown}: a file name may have {_MAX_NAME_BYTES} bytes and no more"
    if "\0" in name:
        return f"{shown}: no file name has a character of code 0"
    try:
        if path.is_file():
            return ""
        return f"{shown}: this is a folder" if path.is_dir() else f"{shown}: there is no such file"
    except OSError as error:
        return f"{shown}: cannot read ({error.strerror or error})"


def refuse_if_none_can_be_read(named: Sequence[tuple[str, ImageRef]]) -> None:
    """Refuse questions of which no picture can be read: then it is the file that is wrong, and not a picture.

    Args:
        named: Place and picture of every question.

    Raises:
        BenchmarkError: If there are questions, and none of their pictures can be read.
    """
    if not named or any(image.fault is None for _, image in named):
        return
    place, first = named[0]
    name, _, reason = (first.fault or "").partition(": ")
    more = f"; none of {len(named)} pictures can be read" if len(named) > 1 else ""
    raise BenchmarkError(
        f"{place}: image {name!r}: {reason}{more}",
        hint="paths count from the folder of the question file, or from image_root; JPEG, PNG, WebP, GIF, TIFF and BMP "
        "are read",
    )

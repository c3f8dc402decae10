"""The ``run`` line that asks what ``check`` looked at, with every flag that was given."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from eyechart.cli._flags import NOT_SENT, AskFlags, ModelFlags
from eyechart.cli._named_models import knows_setting
from eyechart.cli._picture_flags import PictureFlags
from eyechart.images.resample import VIPS_PRESHRINK, VIPS_RESAMPLERS
from eyechart.seen.transport import parse_transport

if TYPE_CHECKING:
    from eyechart.seen.check import ModelCheck


@dataclass(frozen=True, kw_only=True)
class RunLine:
    """What ``check`` was given that ``run`` must be given too; model and transport are added per model.

    ``has_large`` is whether a picture has more pixels than are decoded at once: the resampler of any transport that
    resizes it has to read it in parts.
    """

    benchmark: str
    models: Sequence[str]
    data: Path | None = None
    option: Sequence[str] = ()
    boxes: Path | None = None
    plugin: Sequence[Path] = ()
    views: str | None = None
    model_flags: ModelFlags
    ask_flags: AskFlags
    pictures: PictureFlags
    has_large: bool = False

    def text(self, number: int, checked: "ModelCheck", transport: str) -> str:
        """Return the line that asks the model of this number, by the name it was given, under a transport policy."""
        given = {pair.partition("=")[0].strip(): pair for pair in self.model_flags.set}
        own = {name: pair for name, pair in given.items() if knows_setting(checked.model, name)}
        pairs = {**{name: f"{name}={value}" for name, value in checked.settings.items()}, **own}
        pictures = self.pictures
        if self.has_large and parse_transport(transport).kind != "native" and pictures.resampler not in VIPS_RESAMPLERS:
            pictures = replace(pictures, resampler=VIPS_PRESHRINK)
        words = [
            *("eyechart", "run", self.benchmark),
            *_flag("--data", self.data),
            *(word for pair in self.option for word in ("--option", pair)),
            *_flag("--boxes", self.boxes),
            *(word for path in self.plugin for word in ("--plugin", str(path))),
            *_flag("--views", self.views),
            *_given(self.model_flags, ModelFlags(), but="set"),
            *_given(self.ask_flags, AskFlags()),
            *_given(pictures, PictureFlags(), but="transport"),
            *("--model", self.models[number]),
            *(word for pair in pairs.values() for word in ("--set", pair)),
            *("--transport", transport),
        ]
        return shlex.join(words)


def _given(flags: ModelFlags | AskFlags | PictureFlags, default: object, *, but: str = "") -> list[str]:
    """Return the words of the flags that are not the default; one is left out."""
    words: list[str] = []
    for name in (field.name for field in fields(flags)):
        value = getattr(flags, name)
        if name == but or value == getattr(default, name):
            continue
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        elif value is None:
            words += [f"--{flag}", NOT_SENT]
        else:
            values = value if isinstance(value, tuple) else (value,)
            words += [
                word for one in values for word in (f"--{flag}", f"{one:g}" if isinstance(one, float) else str(one))
            ]
    return words


def _flag(name: str, value: object) -> list[str]:
    return [] if value is None else [name, str(value)]

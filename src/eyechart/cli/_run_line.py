"""The ``run`` line that asks what ``check`` looked at, with every flag that decides its pictures."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eyechart.cli._named_models import knows_setting
from eyechart.cli._picture_flags import PictureFlags

if TYPE_CHECKING:
    from eyechart.seen.check import ModelCheck

_CHOICES = ("border", "box_rounding", "size_rounding", "target_basis", "exif", "resampler", "match", "rules")


@dataclass(frozen=True, kw_only=True)
class RunLine:
    """What ``check`` was given that ``run`` must be given too; model and transport are added per model."""

    benchmark: str
    models: Sequence[str]
    data: Path | None = None
    base_url: str | None = None
    option: Sequence[str] = ()
    boxes: Path | None = None
    plugin: Sequence[Path] = ()
    views: str | None = None
    limit: int | None = None
    repeats: int = 1
    pictures: PictureFlags
    allow_faults: bool = False
    settings: Sequence[str] = ()

    def text(self, number: int, checked: "ModelCheck", transport: str) -> str:
        """Return the line that asks the model of this number, by the name it was given, under a transport policy."""
        given = {pair.partition("=")[0].strip(): pair for pair in self.settings}
        own = {name: pair for name, pair in given.items() if knows_setting(checked.model, name)}
        pairs = {**{name: f"{name}={value}" for name, value in checked.settings.items()}, **own}
        words = [
            *("eyechart", "run", self.benchmark),
            *_flag("--data", self.data),
            *_flag("--base-url", self.base_url),
            *(word for pair in self.option for word in ("--option", pair)),
            *_flag("--boxes", self.boxes),
            *(word for path in self.plugin for word in ("--plugin", str(path))),
            *_flag("--views", self.views),
            *_flag("--limit", self.limit),
            *_flag("--repeat", None if self.repeats == 1 else self.repeats),
            *(["--allow-faults"] if self.allow_faults else []),
            *self._chosen(),
            *("--model", self.models[number]),
            *(word for pair in pairs.values() for word in ("--set", pair)),
            *("--transport", transport),
        ]
        return shlex.join(words)

    def _chosen(self) -> list[str]:
        """Return the picture flags that are not the default."""
        default = PictureFlags()
        return [
            word
            for name in _CHOICES
            if (value := getattr(self.pictures, name)) != getattr(default, name)
            for word in _flag(f"--{name.replace('_', '-')}", value)
        ]


def _flag(name: str, value: object) -> list[str]:
    return [] if value is None else [name, str(value)]

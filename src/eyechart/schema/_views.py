"""What of a picture is shown: one record per family of views."""

from typing import ClassVar, Literal

import msgspec


class View(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="family"):
    """Base of all views: how a picture is shown. Its text form is the view id (``eyechart.views.format_view``)."""

    family: ClassVar[str] = ""


class Original(View, frozen=True, tag="original"):
    """The picture as it is."""

    family: ClassVar[str] = "original"


class Crop(View, frozen=True, tag="crop"):
    """A cut-out of ``area_ratio`` times the target's area, at least 1."""

    family: ClassVar[str] = "crop"
    area_ratio: float


class Whiteground(View, frozen=True, tag="whiteground"):
    """The crop of ``area_ratio`` at its own place on a white canvas of the original size."""

    family: ClassVar[str] = "whiteground"
    area_ratio: float


class Downsample(View, frozen=True, tag="downsample"):
    """The whole picture with both sides multiplied by ``linear_scale``, in (0, 1]."""

    family: ClassVar[str] = "downsample"
    linear_scale: float


class TargetOnly(View, frozen=True, tag="target_only"):
    """The target box alone, all else white, on the canvas of a crop or, with None, of the original."""

    family: ClassVar[str] = "target_only"
    area_ratio: float | None


class Grid(View, frozen=True, tag="grid"):
    """The picture in one cell of a grid; rows and columns are counted from 0."""

    family: ClassVar[str] = "grid"
    style: Literal["white", "captioned"]
    rows: int
    columns: int
    row: int
    column: int
    distractor_seed: int = 0


class NoImage(View, frozen=True, tag="no_image"):
    """The question without any picture."""

    family: ClassVar[str] = "no_image"


class Blank(View, frozen=True, tag="blank"):
    """A white picture of the original size."""

    family: ClassVar[str] = "blank"


class OriginalPlusCrop(View, frozen=True, tag="original_plus_crop"):
    """Two pictures: the whole, then the crop of ``area_ratio``."""

    family: ClassVar[str] = "original_plus_crop"
    area_ratio: float

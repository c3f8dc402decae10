"""Views of a release whose ids no family of ours reads, by what their rows say of family and scale."""

import re
from collections.abc import Iterator, Mapping
from typing import cast

from eyechart.errors import UsageError
from eyechart.kinds import ViewKind
from eyechart.registry import load, names
from eyechart.schema import Crop, Downsample, Number, Original, TargetOnly, View, Whiteground

_BY_AREA = {"crop": Crop, "whiteground": Whiteground, "targetonly": TargetOnly}
_NO_LETTER = re.compile(r"[^a-z]")


def known_view(view_id: str, values: Mapping[str, object] | None = None) -> View | None:
    """Return the view of an id, else of its row's ``view_family`` and scale; None where neither tells.

    How a release spells its ids is its own affair, so ``downsample_0_50`` and ``crop@3`` are read by their rows.

    Args:
        view_id: The release's id.
        values: Any of its rows, if there is one.

    Example:
        >>> known_view("crop_3x"), known_view("zoom3")
        (Crop(area_ratio=3.0), None)
        >>> known_view("zoom3", {"view_family": "crop", "crop_area_multiplier": 3})
        Crop(area_ratio=3.0)
    """
    spelled = _parsed(view_id)
    return _told(values) if spelled is None and values is not None else spelled


def family_of(view_id: str) -> str | None:
    """Return the name of the family that an id of ours belongs to, None where it is none.

    Example:
        >>> family_of("crop_3x"), family_of("zoom3")
        ('crop', None)
    """
    view = _parsed(view_id)
    return None if view is None else next(kind.view.family for kind in _families() if type(view) is kind.view)


def is_another_family(told: str, family: str) -> bool:
    """Whether a ``view_family`` names another family of ours; how a release spells its own names is its affair.

    Example:
        >>> [is_another_family(told, "crop") for told in ("downsample", "Crop", "zoom")]
        [True, False, False]
    """
    ours = {_letters(kind.view.family) for kind in _families()} - {_letters(family)}
    return _letters(told) in ours


def _letters(name: str) -> str:
    return _NO_LETTER.sub("", name.lower())


def own_id(view: View) -> str:
    """Return our id of a view.

    Raises:
        UsageError: If a factor cannot be written with six decimals.
    """
    return next(kind.format(view) for kind in _families() if type(view) is kind.view)


def _families() -> Iterator[ViewKind[View]]:
    for name in names("view"):
        yield cast("type[ViewKind[View]]", load("view", name))()


def _parsed(view_id: str) -> View | None:
    return next((view for kind in _families() if (view := kind.parse(view_id)) is not None), None)


def _told(values: Mapping[str, object]) -> View | None:
    family = values.get("view_family")
    name = _letters(family) if isinstance(family, str) else ""
    area, scale = _positive(values.get("crop_area_multiplier")), _positive(values.get("downsample_linear_scale"))
    view: View | None = None
    if name == "original":
        view = Original()
    elif name == "downsample" and scale is not None:
        view = Downsample(scale)
    elif name in _BY_AREA and area is not None:
        view = _BY_AREA[name](area)
    elif name == "targetonly":
        view = TargetOnly(None)
    return view if view is not None and _can_be_written(view) else None


def _positive(value: object) -> float | None:
    return float(value) if isinstance(value, Number) and not isinstance(value, bool) and value > 0 else None


def _can_be_written(view: View) -> bool:
    try:
        return _parsed(own_id(view)) == view
    except UsageError:
        return False

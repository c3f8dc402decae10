"""The version, numbers, sizes and boxes, and what all records are made of."""

from typing import NamedTuple

import msgspec

SCHEMA_VERSION = 1


Number = int | float


JsonObject = dict[str, object]


class Size(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int

    @property
    def n_px(self) -> int:
        """Number of pixels."""
        return self.width * self.height


class Box(NamedTuple):
    """A half-open box ``[x0, x1) × [y0, y1)`` in pixels of the picture it belongs to."""

    x0: Number
    y0: Number
    x1: Number
    y1: Number

    @property
    def width(self) -> Number:
        """Width in pixels."""
        return self.x1 - self.x0

    @property
    def height(self) -> Number:
        """Height in pixels."""
        return self.y1 - self.y0

    @property
    def area(self) -> Number:
        """Area in square pixels."""
        return self.width * self.height


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the small values inside records."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all records that are stored by themselves."""

    schema_version: int = SCHEMA_VERSION

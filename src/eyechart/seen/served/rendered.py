"""Read what vLLM's render endpoint says of each picture: its placeholders, and the tensors that the model will get."""

import base64
import math
from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from eyechart.schema import JsonObject, Size, Value

# vLLM packs an array as (type, shape, bytes), the bytes in this extension (vllm/v1/serial_utils.py, 0.33).
_RAW_VIEW = 3
_BYTES_PER_NUMBER = {"int64": 8, "int32": 4}
# Channels of a patch, and frames that some families (Qwen) put into one.
_CHANNELS, _FRAMES = 3, (1, 2)


class Rendered(Value, frozen=True):
    """One picture in a rendered prompt.

    Args:
        tokens: Placeholders that its features take.
        grid: Columns and rows of patches, where the server tells them.
        patch_px: Side of a patch, where it can be told from the tensors.
        refused: Why the server does not take it; empty where it does.
    """

    tokens: int
    grid: tuple[int, int] | None = None
    patch_px: int | None = None
    refused: str = ""

    @property
    def size(self) -> Size | None:
        """Size on the model's grid, None where it is not told."""
        if self.grid is None or self.patch_px is None:
            return None
        return Size(self.grid[0] * self.patch_px, self.grid[1] * self.patch_px)


def read_rendered(body: JsonObject) -> tuple[Rendered, ...]:
    """Return the pictures in a rendered chat prompt, in order; empty where the server tells none.

    Args:
        body: Reply of ``/v1/chat/completions/render``.

    Example:
        >>> read_rendered({"token_ids": [1], "features": {"mm_placeholders": {"image": [{"offset": 1, "length": 64}]}}})
        (Rendered(tokens=64, grid=None, patch_px=None, refused=''),)
    """
    features = _object(body.get("features"))
    ranges = _object(features.get("mm_placeholders")).get("image")
    if not isinstance(ranges, list):
        return ()
    packed = [
        (_of_image(features.get(name), index), index)
        for name in ("kwargs_data", "mm_metadata")
        for index in range(len(ranges))
    ]
    found = []
    for index, entry in enumerate(ranges):
        length = _object(entry).get("length")
        if not isinstance(length, int):
            return ()
        tensors: dict[str, object] = {}
        for text, place in packed:
            if place == index:
                tensors |= _unpacked(text)
        found.append(Rendered(length, _grid(tensors), _patch_px(tensors)))
    return tuple(found)


def _grid(tensors: Mapping[str, object]) -> tuple[int, int] | None:
    numbers = _numbers(tensors.get("image_grid_thw"))
    return (numbers[2], numbers[1]) if len(numbers) == 3 else None  # noqa: PLR2004 -- frames, rows, columns


def _patch_px(tensors: Mapping[str, object]) -> int | None:
    shape = _shape(tensors.get("pixel_values"))
    if len(shape) == 2:  # noqa: PLR2004 -- (patches, numbers of a patch)
        for frames in _FRAMES:
            side = math.isqrt(shape[1] // (_CHANNELS * frames))
            if side * side * _CHANNELS * frames == shape[1]:
                return side
    return shape[-1] if len(shape) == 4 and shape[-1] == shape[-2] else None  # noqa: PLR2004 -- (patches, channels, side, side)


def _unpacked(text: object) -> dict[str, object]:
    """Return the tensors in one packed item by name, each as (type, shape, bytes); nothing for other texts."""
    if not isinstance(text, str):
        return {}
    try:
        decoded = msgspec.msgpack.decode(base64.b64decode(text, validate=True))
    except (ValueError, RecursionError):
        return {}
    return {str(name): _object(entry).get("data") for name, entry in _object(decoded).items()}


def _shape(tensor: object) -> tuple[int, ...]:
    if isinstance(tensor, list | tuple) and len(tensor) == 3 and isinstance(tensor[1], list | tuple):  # noqa: PLR2004 -- see _unpacked
        return tuple(int(cast("int", side)) for side in tensor[1])
    return ()


def _numbers(tensor: object) -> tuple[int, ...]:
    if not _shape(tensor):
        return ()
    kind, _, data = cast("Sequence[object]", tensor)
    width = _BYTES_PER_NUMBER.get(str(kind).removeprefix("torch."))
    if width is None or not isinstance(data, msgspec.msgpack.Ext) or data.code != _RAW_VIEW:
        return ()
    raw = bytes(data.data)
    return tuple(int.from_bytes(raw[at : at + width], "little", signed=True) for at in range(0, len(raw), width))


def _of_image(value: object, index: int) -> object:
    items = _object(value).get("image")
    return items[index] if isinstance(items, list) and index < len(items) else None


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}

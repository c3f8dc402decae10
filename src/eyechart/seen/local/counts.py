"""Count what a picture costs in a processor's output: its placeholders in the prompt, else what the output says."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from eyechart.schema import Size
from eyechart.seen.algorithms import Resized

# What image processors themselves say of tokens, by the name of the output: Gemma 4, Phi-4, others.
_TOKEN_OUTPUTS = ("num_soft_tokens_per_image", "num_img_tokens", "num_image_tokens")
# Cross-attention: the prompt holds one placeholder whatever the picture.
_CROSS_ATTENTION = ("cross_attention_mask", "aspect_ratio_ids")
_TILE_OUTPUTS = ("pixel_values", "image_pixel_values")
_SMALLEST_TILE_PX = 64
_LARGEST_BLOCK = 4
_STACKED_TILES = 4  # axes of an array (tiles, channels, height, width)


class _Numbers(Protocol):
    shape: Sequence[int]

    def tolist(self) -> list[object]: ...


def placeholders(
    output: Mapping[str, object], candidates: Sequence[int], marker: int, n_pictures: int
) -> tuple[int, ...] | None:
    """Return how many placeholders each picture has in a prompt; None where the output has no prompt.

    Where a tokenizer melts the marker into other text, several pictures cannot be told apart.

    These are the places that the vision features take. Markers of rows and tiles are text, so of several tokens
    that a processor calls its own, the most frequent one is the placeholder; where it calls none of the prompt its
    own (Ovis 2), the most frequent of the prompt.

    Args:
        output: What a processor returned for one prompt.
        candidates: Token ids that may be the placeholder.
        marker: Token id of the text that ends each picture.
        n_pictures: Pictures in the prompt.

    Example:
        >>> placeholders({"input_ids": [[7, 9, 9, 8, 9, 9, 1, 9, 1]]}, [7, 9], 1, 2)
        (4, 1)
        >>> placeholders({"input_ids": [[7, 9, 9, 8, 9, 9, 5]]}, [7, 9], 1, 1)
        (4,)
    """
    if "input_ids" not in output or any(name in output for name in _CROSS_ATTENTION):
        return None
    tokens = [token for row in cast("list[list[int]]", _list(output["input_ids"])) for token in row]
    counts = Counter(tokens)
    placeholder = max(candidates, key=lambda token: counts[token], default=marker)
    if not counts[placeholder] or placeholder == marker:
        placeholder = counts.most_common(1)[0][0]
    found = [0]
    for token in tokens:
        found[-1] += token == placeholder
        if token == marker:
            found.append(0)
    if len(found) - 1 == n_pictures:
        return tuple(found[:-1])
    return (sum(found),) if n_pictures == 1 else None


def told_tokens(output: Mapping[str, object], block: int) -> tuple[int, ...] | None:
    """Return the tokens of each picture as an image processor's own output tells them, None where it does not.

    Args:
        output: What an image processor returned.
        block: Patches per side of a token.
    """
    if "image_grid_thw" in output:
        grids = cast("list[list[int]]", _list(output["image_grid_thw"]))
        return tuple(frames * rows * columns // block**2 for frames, rows, columns in grids)
    for name in _TOKEN_OUTPUTS:
        if name in output:
            return tuple(int(cast("int", count)) for count in _list(output[name]))
    return None


def n_tiles(output: Mapping[str, object]) -> int | None:
    """Return how many tiles one picture became, None where the output is not a stack of tiles.

    Example:
        >>> import numpy as np
        >>> n_tiles({"pixel_values": np.zeros((1, 9, 3, 448, 448), bool)})
        9
        >>> n_tiles({"pixel_values": np.zeros((9, 1176), bool)}) is None
        True
    """
    if "num_tiles" in output:
        return int(cast("list[list[int]]", _list(output["num_tiles"]))[0][0])
    stacks = [_stacked(value) for name, value in output.items() if name.startswith(_TILE_OUTPUTS)]
    return sum(stacks) or None


def cell_px(resized: Resized, tokens: int | None, tiles: int | None, patch_px: int | None) -> int | None:
    """Return the side of the square of the grid that one token stands for, None unless the counts agree exactly.

    Args:
        resized: How the picture arrives.
        tokens: Its tokens.
        tiles: Its tiles.
        patch_px: Side of a patch by the processor's own settings; a token may stand for a block of up to 4 × 4.

    Example:
        >>> cell_px(Resized((Size(1792, 896),)), 2304, 9, None), cell_px(Resized((Size(1932, 1092),)), 2691, None, 14)
        (28, 28)
    """
    size = resized.size
    if size is None or not tokens:
        return None
    for block in range(1, _LARGEST_BLOCK + 1) if patch_px else ():
        cell = block * cast("int", patch_px)
        if math.ceil(size.width / cell) * math.ceil(size.height / cell) == tokens:
            return cell
    n_parts = tiles or 1
    side = round((tokens / n_parts) ** 0.5)
    return _tile_cell(size, n_parts, side) if side * side * n_parts == tokens else None


def _tile_cell(size: Size, n_parts: int, side: int) -> int | None:
    """Return the cell of equal square tiles of side² tokens, with or without a thumbnail of the whole among them."""
    for n_shown in (n_parts - 1, n_parts):
        for columns in range(1, n_shown + 1):
            rows, rest = divmod(n_shown, columns)
            tile = size.width / columns
            if rest == 0 and tile == size.height / rows and tile % side == 0:
                return int(tile) // side
    return None


def _stacked(pixels: object) -> int:
    shape = list(cast("_Numbers", pixels).shape) if hasattr(pixels, "shape") else []
    while len(shape) > _STACKED_TILES and shape[0] == 1:
        shape.pop(0)
    return shape[0] if len(shape) == _STACKED_TILES and min(shape[-2:]) >= _SMALLEST_TILE_PX else 0


def _list(values: object) -> list[object]:
    return cast("_Numbers", values).tolist() if hasattr(values, "tolist") else list(cast("Sequence[object]", values))

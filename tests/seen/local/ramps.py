"""Pictures whose colours are coordinates, so that tiles tell where they were cut out and at which scale."""

import numpy as np

from eyechart.schema import Box

MARK = 200.0  # blue of the picture; padding has another


def ramp(width, height):
    """Return a float picture (3, height, width): red is x, green is y of pixel centres, blue marks the picture."""
    import torch

    x = (torch.arange(width) + 0.5).expand(height, width)
    y = (torch.arange(height) + 0.5)[:, None].expand(height, width)
    return torch.stack([x, y, torch.full((height, width), MARK)]).contiguous()


def tiles_of(pixel_values):
    """Return scale and region of each tile that shows something of a ramp.

    Args:
        pixel_values: Tensor (…, 3, height, width).
    """
    stacked = pixel_values.float().reshape(-1, *pixel_values.shape[-3:]).numpy()
    return [found for tile in stacked if (found := _tile(tile)) is not None]


def _tile(tile):
    is_shown = np.abs(tile[2] - MARK) < 1
    rows, columns = np.flatnonzero(is_shown.any(axis=1)), np.flatnonzero(is_shown.any(axis=0))
    if len(rows) < 20 or len(columns) < 20:
        return None
    middle_row, middle_column = rows[len(rows) // 2], columns[len(columns) // 2]
    scale_x, x0, x1 = _axis(tile[0][middle_row, columns])
    scale_y, y0, y1 = _axis(tile[1][rows, middle_column])
    return (scale_x, scale_y), Box(x0, y0, x1, y1)


def _axis(coordinates):
    """Return pixels per coordinate, and the stretch of coordinates that is shown, from a line through the middle."""
    inner = np.arange(5, len(coordinates) - 5)
    slope, start = np.polyfit(inner, coordinates[inner], 1)
    return 1 / slope, start - slope / 2, start + slope * (len(coordinates) - 0.5)

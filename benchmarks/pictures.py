"""Deterministic test pictures with the statistics of photographs: noise in octaves, soft parts, shapes, text."""

import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

SIZES = {"4k": (3840, 2160), "8k": (7680, 4320)}
JPEG_QUALITY = 90


def ensure_picture(name: str, folder: Path, seed: int = 1) -> Path:
    """Return the JPEG (quality 90, 4:2:0) of a named size, made on first use; an 8K one takes half a minute."""
    path = folder / f"{name}-{seed}.jpg"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        make_picture(*SIZES[name], seed).save(path, quality=JPEG_QUALITY)
    return path


def make_picture(width: int, height: int, seed: int) -> Image.Image:
    rng = np.random.default_rng(seed)
    sharp = _octaves(width, height, rng)
    soft = np.asarray(sharp.filter(ImageFilter.GaussianBlur(2)), dtype=np.float32)
    focus = np.clip((_enlarged(rng.random((5, 7), dtype=np.float32), width, height) - 0.4) * 5, 0, 1)[..., None]
    mixed = np.asarray(sharp, dtype=np.float32) * focus + soft * (1 - focus)
    picture = Image.fromarray(mixed.astype(np.uint8))
    _draw_shapes(picture, rng)
    return picture


def _octaves(width: int, height: int, rng: np.random.Generator) -> Image.Image:
    """Noise whose strength falls with frequency about as in photographs; channels mostly move together."""
    total = np.full((height, width, 3), 120, np.float32)
    cell = float(max(width, height))
    while cell >= 2:
        grid = max(2, round(height / cell) + 1), max(2, round(width / cell) + 1)
        strength = 34 * (cell / max(width, height)) ** 0.3 if cell > 4 else 9 * (cell / 4) ** 0.5
        grey = rng.standard_normal(grid, dtype=np.float32)
        for channel in range(3):
            tinted = grey + 0.35 * rng.standard_normal(grid, dtype=np.float32)
            total[..., channel] += strength * _enlarged(tinted, width, height)
        cell /= 2
    return Image.fromarray(np.clip(total, 0, 255).astype(np.uint8))


def _enlarged(grid: np.ndarray, width: int, height: int) -> np.ndarray:
    return np.asarray(Image.fromarray(grid).resize((width, height), Image.Resampling.BICUBIC))


def _draw_shapes(picture: Image.Image, rng: np.random.Generator) -> None:
    draw = ImageDraw.Draw(picture)
    width, height = picture.size
    for index in range(max(20, width * height // 60_000)):
        side = int(math.exp(rng.uniform(math.log(6), math.log(max(12, min(width, height) / 12)))))
        x, y = int(rng.integers(width)), int(rng.integers(height))
        colour = tuple(int(value) for value in rng.integers(0, 256, 3))
        fill = colour if rng.random() < 0.5 else None
        if index % 3 == 0:
            draw.ellipse((x - side, y - side, x + side, y + side), fill=fill, outline=colour, width=2)
        elif index % 3 == 1:
            draw.rectangle((x, y, x + side, y + side // 2), fill=fill, outline=colour, width=2)
        else:
            draw.text((x, y), f"Q{index:04d}", fill=colour, font_size=max(8, side))

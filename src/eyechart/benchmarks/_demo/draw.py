"""The demo's pictures as pixels: signs drawn on cuts of one photograph, and printed pages."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from eyechart.benchmarks._demo.fonts import font_of
from eyechart.benchmarks._demo.plan import SCENE_SIZE, Scene
from eyechart.images.decode import decode
from eyechart.images.pixels import Pixels

PHOTO = Path(__file__).with_name("seeding.jpg")
"""CC0-1.0, by Clemens Engelhardt; see THIRD_PARTY_NOTICES.md."""


def read_photo() -> Pixels:
    """Return the photograph's pixels, (2988, 5312, 3) uint8.

    Raises:
        ImageError: If the file was damaged.
    """
    return decode(PHOTO).pixels


def draw_scene(scene: Scene, photo: Pixels) -> Pixels:
    """Return the pixels of a scene, (height, width, 3) uint8.

    Args:
        scene: What to draw.
        photo: The whole photograph, (2988, 5312, 3) uint8.
    """
    if scene.photo_corner is None:
        image = Image.new("RGB", SCENE_SIZE, (255, 255, 255))
    else:
        x, y = scene.photo_corner
        image = Image.fromarray(np.ascontiguousarray(photo[y : y + SCENE_SIZE.height, x : x + SCENE_SIZE.width]))
    pen = ImageDraw.Draw(image)
    for panel in scene.panels:
        box = panel.box
        pen.rectangle((box.x0, box.y0, box.x1 - 1, box.y1 - 1), fill=panel.colour)
    for text in scene.texts:
        pen.text((text.x, text.baseline), text.text, fill=text.colour, font=font_of(text.text_px), anchor="ls")
    return np.asarray(image)

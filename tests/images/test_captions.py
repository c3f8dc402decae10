"""Captions from the atlas: the pixels that a font renderer gives, without one."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont, features

from eyechart.errors import GeometryError
from eyechart.images.captions import CAPTION_ATLAS, caption_width, cell_caption, draw_caption
from eyechart.schema import Size
from eyechart.views import grid

BAND = Size(488, 40)


@pytest.mark.skipif(not features.check("raqm"), reason="the published captions were laid out by RAQM")
def test_captions_are_those_of_dejavu_sans_bold_at_30_px():
    spec = importlib.util.find_spec("matplotlib")
    font_file = Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf" / "DejaVuSans-Bold.ttf"
    font = ImageFont.truetype(font_file, 30, layout_engine=ImageFont.Layout.RAQM)
    for row, column in [(0, 0), (2, 6), (0, 9), (9, 9), (46, 58), (98, 98)]:
        text = cell_caption(row, column)
        drawn = Image.new("RGB", BAND, (255, 255, 255))
        left = int((BAND.width - font.getlength(text)) / 2 + 0.5)
        ImageDraw.Draw(drawn).text((left, 31), text, fill=0, font=font, anchor="ls")
        ours = draw_caption(text, BAND, 31).astype(int)
        # Another FreeType may round a coverage by a level or two; ours never changes.
        assert np.abs(ours - np.asarray(drawn)).max() <= 16
        assert caption_width(text) == font.getlength(text)


def test_views_name_the_atlas_that_draws_them():
    assert grid.CAPTION_ATLAS == CAPTION_ATLAS


def test_one_digit_advances_270_px_and_two_digits_291_or_312():
    advances = {round(caption_width(cell_caption(row, column))) for row in (0, 9) for column in (0, 9)}
    assert advances == {270, 291, 312}


def test_text_outside_the_atlas_or_the_band_is_refused():
    with pytest.raises(GeometryError, match="no glyph for 'z'"):
        draw_caption("row z", BAND, 31)
    with pytest.raises(GeometryError, match="does not fit 200×40"):
        draw_caption("row 1, column 1", Size(200, 40), 31)
    with pytest.raises(GeometryError, match="does not fit 488×30"):
        draw_caption("row 1, column 1", Size(488, 30), 29)

"""Laws of thumbnails: they fit, keep the aspect, look like the picture, and cost no more memory for larger files."""

import numpy as np
import pytest
from PIL import Image

from eyechart.errors import GeometryError, ImageError
from eyechart.images import thumbnail as thumbnail_module
from eyechart.images.thumbnail import fit_size, thumbnail
from eyechart.schema import Box, Size


@pytest.fixture(params=[False, True], ids=["decoded", "shrunk while read"])
def is_large(request, monkeypatch):
    """Take both ways to a thumbnail with the same small file."""
    if request.param:
        monkeypatch.setattr(thumbnail_module, "MAX_HELD_PIXELS", 100)
    return request.param


def ramp(size=(96, 64)):
    across = np.linspace(0, 255, size[0])[None, :].repeat(size[1], 0)
    down = np.linspace(0, 255, size[1])[:, None].repeat(size[0], 1)
    return np.stack([across, down, np.full_like(across, 90)], 2).astype(np.uint8)


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif"])
def test_a_thumbnail_looks_like_the_picture(tmp_path, is_large, suffix):
    path = tmp_path / f"ramp.{suffix}"
    Image.fromarray(ramp()).save(path, **({"quality": 98} if suffix == "jpg" else {}))
    small = thumbnail(path, 24)
    assert small.shape == (16, 24, 3)
    expected = np.asarray(Image.fromarray(ramp()).resize((24, 16), Image.Resampling.BOX), np.int16)
    assert np.abs(small.astype(np.int16) - expected).mean() < 4


def test_a_region_is_cut_before_it_is_shrunk(tmp_path, is_large):
    Image.fromarray(ramp()).save(tmp_path / "ramp.png")
    cut = thumbnail(tmp_path / "ramp.png", 1000, Box(10, 20, 30, 35))
    assert np.array_equal(cut, ramp()[20:35, 10:30])


def test_transparency_and_orientation_are_treated_as_by_decode(tmp_path, is_large):
    Image.new("RGBA", (40, 20), (0, 0, 0, 0)).save(tmp_path / "clear.png")
    assert (thumbnail(tmp_path / "clear.png", 10) == 255).all()
    exif = Image.Exif()
    exif[274] = 6
    Image.new("RGB", (40, 20)).save(tmp_path / "turned.jpg", exif=exif)
    assert thumbnail(tmp_path / "turned.jpg", 10).shape == (5, 10, 3)


@pytest.mark.parametrize("size", [Size(1, 9000), Size(35_503, 26_627), Size(640, 480), Size(3, 2)])
def test_the_longer_side_fits_and_no_side_vanishes(size):
    small = fit_size(size, 100)
    assert max(small) <= 100 or small == size
    assert min(small) >= 1


def test_what_cannot_be_shown_is_explained(tmp_path, is_large):
    with pytest.raises(GeometryError, match="0 pixels"):
        thumbnail(tmp_path / "x.png", 0)
    (tmp_path / "x.png").write_bytes(b"nothing")
    with pytest.raises(ImageError, match="not a picture"):
        thumbnail(tmp_path / "x.png", 10)
    Image.fromarray(ramp()).save(tmp_path / "cut.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "cut.png").read_bytes()[:-30])
    with pytest.raises(ImageError):
        thumbnail(tmp_path / "cut.png", 10)

"""Names by content."""

import hashlib

import numpy as np
from PIL import Image

from eyechart.images.decode import decode
from eyechart.images.hash import file_sha256, pixel_sha256


def test_the_layout_is_mode_then_size_then_rows(rgb):
    header = b"RGB" + (48).to_bytes(4, "little") + (32).to_bytes(4, "little")
    assert pixel_sha256(rgb) == hashlib.sha256(header + rgb.tobytes()).hexdigest()


def test_one_picture_in_other_files_has_one_name(make_form):
    assert len({pixel_sha256(decode(make_form(name)).pixels) for name in ("rgb.png", "rgb.webp", "rgb.tif")}) == 1


def test_a_turned_picture_has_another_name():
    pixels = np.zeros((2, 3, 3), np.uint8)
    assert pixel_sha256(pixels) != pixel_sha256(pixels.reshape(3, 2, 3))


def test_a_slice_is_hashed_as_its_copy(rgb):
    assert pixel_sha256(rgb[3:20, 5:30]) == pixel_sha256(rgb[3:20, 5:30].copy())


def test_a_wide_picture_is_hashed_in_bands():
    pixels = np.asarray(Image.effect_noise((1200, 900), 50).convert("RGB"))
    assert pixel_sha256(pixels) == hashlib.sha256(b"RGB\xb0\4\0\0\x84\3\0\0" + pixels.tobytes()).hexdigest()


def test_a_file_is_hashed_whole(tmp_path):
    path = tmp_path / "big"
    path.write_bytes(bytes(3_000_001))
    assert file_sha256(path) == (hashlib.sha256(bytes(3_000_001)).hexdigest(), 3_000_001)

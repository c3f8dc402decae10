"""The PNG writer: lossless everywhere, readable by others, small where white is."""

import subprocess
import sys
import zlib
from io import BytesIO

import numpy as np
import pytest
import pyvips
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from eyechart.errors import GeometryError, UsageError
from eyechart.images.deflate import combine_adler32, repeated_adler32
from eyechart.images.encode import JpegSettings, encode_jpeg, encode_png, encode_png_on_white, renderer
from eyechart.images.hash import pixel_sha256, pixel_sha256_on_white
from eyechart.schema import Size

NOISE = np.random.default_rng(3).integers(0, 256, (700, 900, 3), dtype=np.uint8)


def read_by_pillow(content):
    image = Image.open(BytesIO(content))
    image.verify()  # checks every chunk's CRC
    return np.asarray(Image.open(BytesIO(content)))


def read_by_libvips(content):
    return pyvips.Image.new_from_buffer(content, "", fail_on="warning").numpy()


@st.composite
def pages(draw):
    width, height = draw(st.integers(1, 60)), draw(st.integers(1, 60))
    left, top = draw(st.integers(0, 40)), draw(st.integers(0, 400))
    canvas = Size(left + width + draw(st.integers(0, 40)), top + height + draw(st.integers(0, 400)))
    return canvas, (left, top), NOISE[:height, :width]


def page_of(canvas, offset, pixels):
    page = np.full((canvas.height, canvas.width, 3), 255, np.uint8)
    page[offset[1] : offset[1] + pixels.shape[0], offset[0] : offset[0] + pixels.shape[1]] = pixels
    return page


@given(pages())
def test_the_white_fast_path_gives_the_pixels_of_the_canvas(page):
    content = encode_png_on_white(*page)
    assert np.array_equal(read_by_pillow(content), page_of(*page))
    assert np.array_equal(read_by_libvips(content), page_of(*page))


@given(pages())
def test_the_pixel_hash_on_white_is_the_hash_of_the_canvas(page):
    assert pixel_sha256_on_white(*page) == pixel_sha256(page_of(*page))


@pytest.mark.parametrize("shape", [(1, 1), (1, 900), (700, 1), (3, 2), (700, 900)])
def test_encoded_pixels_come_back(shape):
    pixels = NOISE[: shape[0], : shape[1]]
    assert np.array_equal(read_by_pillow(encode_png(pixels)), pixels)
    assert np.array_equal(read_by_libvips(encode_png(pixels)), pixels)


def test_a_page_of_many_blocks_comes_back():
    page = (Size(3000, 2600), (2090, 1501), NOISE)
    assert np.array_equal(read_by_pillow(encode_png_on_white(*page)), page_of(*page))


def test_a_blank_page_is_white_and_small():
    content = encode_png_on_white(Size(7680, 4320), (0, 0), np.empty((0, 0, 3), np.uint8))
    assert (read_by_libvips(content) == 255).all()
    assert len(content) < 200_000


def test_the_standard_library_alone_encodes_the_same_pixels():
    script = """
import sys
sys.modules["isal"] = None  # as if the extra were not installed
import numpy as np
from eyechart.images import deflate, encode
from eyechart.schema import Size
assert deflate.deflate_name().startswith("zlib ")
noise = np.random.default_rng(3).integers(0, 256, (70, 90, 3), dtype=np.uint8)
sys.stdout.buffer.write(encode.encode_png_on_white(Size(300, 200), (17, 31), noise))
"""
    content = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout
    noise = np.random.default_rng(3).integers(0, 256, (70, 90, 3), dtype=np.uint8)
    assert np.array_equal(read_by_pillow(content), page_of(Size(300, 200), (17, 31), noise))


def test_pixels_outside_the_canvas_are_refused():
    with pytest.raises(GeometryError, match="does not fit the canvas"):
        encode_png_on_white(Size(10, 10), (5, 5), NOISE[:6, :5])


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_adler32_of_two_blocks_is_that_of_both_together(first, second):
    assert combine_adler32(zlib.adler32(first), zlib.adler32(second), len(second)) == zlib.adler32(first + second)


@given(st.binary(max_size=50), st.integers(0, 300))
def test_adler32_of_a_repeated_block(block, n_times):
    assert repeated_adler32(block, n_times) == zlib.adler32(block * n_times)


def test_adler32_of_gigabytes_costs_nothing():
    # By the definition: 100,000,000 zero bytes add nothing to the low half and 10^8 times 1 to the high half.
    assert repeated_adler32(bytes(1000), 100_000) == (100_000_000 % 65521) << 16 | 1


@pytest.mark.parametrize(("subsampling", "factors"), [("4:4:4", 0), ("4:2:2", 1), ("4:2:0", 2)])
def test_jpeg_settings_are_used_as_named(rgb, subsampling, factors):
    from PIL import JpegImagePlugin

    image = Image.open(BytesIO(encode_jpeg(rgb, 95, subsampling)))
    assert JpegImagePlugin.get_sampling(image) == factors
    assert len(encode_jpeg(rgb, 20, subsampling)) < len(encode_jpeg(rgb, 95, subsampling))


@pytest.mark.parametrize("quality", [0, 101])
def test_a_jpeg_quality_outside_1_to_100_is_refused(rgb, quality):
    with pytest.raises(UsageError, match=f"JPEG quality {quality}"):
        encode_jpeg(rgb, quality, "4:4:4")


def test_the_renderer_names_library_resampler_and_encoder():
    drawn = renderer("pillow-lanczos@1")
    assert (drawn.library, drawn.resampler) == ("Pillow", "pillow-lanczos@1")
    assert drawn.version[0].isdigit()
    assert drawn.encoder.startswith("png rgb8 filter=sub, ")
    assert renderer("cykooz-lanczos3@1").library == "cykooz-resizer"
    assert renderer("vips-lanczos3@1").library == "libvips"
    jpeg = renderer(None, JpegSettings(90, "4:2:0"))
    assert jpeg.resampler is None
    assert jpeg.encoder.startswith("jpeg quality=90 subsampling=4:2:0, libjpeg-turbo ")

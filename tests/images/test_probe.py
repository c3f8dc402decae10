"""Headers: content decides the kind, and no pixel is decoded."""

import hashlib
import re

import pytest
from PIL import Image

from eyechart.errors import ImageError
from eyechart.images.hash import file_sha256
from eyechart.images.probe import ImageForm, describe_form, describe_stream, header_size, probe_image
from eyechart.schema import Size


def test_probe_names_a_file_by_content_whatever_its_ending(make_form, tmp_path):
    path = tmp_path / "really_a_png.jpg"
    path.write_bytes(make_form("rgb.png"))
    ref = probe_image(path)
    assert ref.media_type == "image/png"
    assert ref.size == header_size(path) == Size(48, 32)
    assert ref.file_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert ref.n_bytes == path.stat().st_size
    assert ref.pixel_sha256 is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rotated.jpg", {"mode": "RGB", "exif_orientation": 6, "size": Size(48, 32)}),
        ("rotated.png", {"mode": "RGB", "exif_orientation": 6, "size": Size(48, 32)}),
        ("rotated.tif", {"mode": "RGB", "exif_orientation": 6, "size": Size(48, 32)}),
        ("progressive.jpg", {"is_progressive": True}),
        ("cmyk_icc.jpg", {"mode": "CMYK", "has_icc": True, "is_cmyk": True}),
        ("grey16.png", {"bits": 16, "is_sixteen_bit": True}),
        ("rgb16.png", {"bits": 16, "mode": "RGB"}),
        ("grey16.tif", {"bits": 16}),
        ("one_bit.png", {"bits": 1, "is_sixteen_bit": False}),
        ("rgba.png", {"has_alpha": True}),
        ("palette_holes.png", {"has_alpha": True, "mode": "P"}),
        ("colour_key.png", {"has_alpha": True, "mode": "RGB"}),
        ("animated.gif", {"n_frames": 2, "is_animated": True}),
        ("animated.png", {"n_frames": 2}),
        ("animated.webp", {"n_frames": 2}),
        ("pages.tif", {"n_frames": 2}),
        ("bomb.png", {"size": Size(20_000, 10_000)}),
        ("endless.png", {"is_complete": False}),
        ("gamma.png", {"has_gamma": True}),
    ],
)
def test_the_header_tells_the_form(make_form, tmp_path, name, expected):
    path = tmp_path / name
    path.write_bytes(make_form(name))
    form = describe_form(path)
    assert isinstance(form, ImageForm)
    assert {key: getattr(form, key) for key in expected} == expected
    assert form.size == header_size(path)


def test_pixels_behind_the_header_are_not_read(make_form, tmp_path):
    path = tmp_path / "cut.jpg"
    path.write_bytes(make_form("truncated_rgb.jpg"))
    assert probe_image(path).size == Size(48, 32)


def test_a_header_beyond_pillows_limit_gives_no_warning(make_form, tmp_path, recwarn):
    path = tmp_path / "bomb.png"
    path.write_bytes(make_form("bomb.png"))
    assert header_size(path).n_px > 2 * Image.MAX_IMAGE_PIXELS
    assert not recwarn.list


def test_an_unreadable_exif_block_means_no_orientation(rgb, tmp_path):
    path = tmp_path / "odd.jpg"
    Image.fromarray(rgb).save(path, exif=b"Exif\0\0II*\0\xff\xff\xff\xff")
    assert describe_form(path).exif_orientation == 1


@pytest.mark.parametrize("read", [probe_image, header_size, describe_form, file_sha256])
def test_a_missing_file_is_refused_with_its_path(tmp_path, read):
    with pytest.raises(ImageError, match=r"absent\.png: cannot read .No such file"):
        read(tmp_path / "absent.png")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"%PDF-1.7 and so on", "not a picture that can be read"),
        (b"", "not a picture that can be read"),
        (b"GIF89a\0\0\0\0\0\0\0", "damaged image/gif header|0×0"),
        (b"\x89PNG\r\n\x1a\n\0\0", "damaged image/png header"),
        (b"II*\0\xff\xff\xff\x7f", "damaged image/tiff header"),
        (b"BM" + bytes(60), "damaged image/bmp header"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "damaged image/webp header"),
    ],
)
def test_what_is_no_picture_is_refused(tmp_path, content, message):
    path = tmp_path / "odd"
    path.write_bytes(content)
    with pytest.raises(ImageError, match=message):
        probe_image(path)


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b"\0\0\0\x18ftypheic\0\0\0\0", "it is a HEIC picture"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0", "it is a HEIC picture"),
        (b"\0\0\0\x1cftypavif\0\0\0\0", "it is an AVIF picture"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "it is an SVG drawing"),
        (b"\n<!DOCTYPE html><title>Not found</title>", "it is a web page"),
        (b"\xef\xbb\xbf<html><head>", "it is a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "it is a pointer of Git LFS"),
        (b"\0\0\0\x18ftypisom\0\0\0\0", "it begins with"),
        (b"%PDF-1.7", "it begins with b'%PDF-1.7'"),
    ],
)
def test_kind_of_file_that_is_taken_for_a_picture_is_named(head, told):
    with pytest.raises(ImageError, match=f"not a picture that can be read \\({re.escape(told)}"):
        describe_stream(head, "a.png")

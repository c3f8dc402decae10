"""Laws of pictures whose end is missing: found without decoding what is whole, and never where the picture decodes."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from eyechart.errors import ImageError
from eyechart.images import decode as decoding
from eyechart.images.decode import decode, examine
from eyechart.images.ends import seems_damaged

KINDS = {"JPEG": {}, "progressive JPEG": {"progressive": True}, "PNG": {}, "WEBP": {}, "lossless WEBP": {}}
KINDS |= {"GIF": {}, "BMP": {}, "TIFF": {}}


def written(kind, **more):
    pixels = np.random.default_rng(5).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    stream = io.BytesIO()
    options = {**KINDS[kind], **({"lossless": True} if kind.startswith("lossless") else {}), **more}
    Image.fromarray(pixels).save(stream, kind.rpartition(" ")[2], **options)
    return stream.getvalue()


WHOLE = {kind: written(kind) for kind in KINDS}


def with_thumbnail():
    """A JPEG whose Exif block holds a whole JPEG of its own."""
    thumbnail = io.BytesIO()
    Image.new("RGB", (16, 12)).save(thumbnail, "JPEG")
    return written("JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0" + thumbnail.getvalue())


def decodes(content):
    try:
        decode(content)
    except ImageError:
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_whole_picture_is_not_decoded_to_know_that_it_is_whole(kind, monkeypatch):
    monkeypatch.setattr(decoding, "_load", lambda *_: pytest.fail("decoded"))
    image, form = examine(WHOLE[kind], "a")
    assert image.fault is None
    assert form is not None


@pytest.mark.parametrize("kind", KINDS)
@given(share=st.floats(0.3, 0.999))
@settings(max_examples=12)
def test_picture_that_was_cut_has_a_fault_just_where_it_does_not_decode(kind, share):
    cut = WHOLE[kind][: int(share * len(WHOLE[kind]))]
    assert (examine(cut, "a")[0].fault is None) == decodes(cut)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_end_of_a_thumbnail_is_not_taken_for_that_of_its_picture(share):
    content = with_thumbnail()
    assert examine(content, "a")[0].fault is None
    assert "cannot decode" in examine(content[: int(share * len(content))], "a.jpg")[0].fault


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_bytes", [1, 300, 100_000])
def test_what_follows_a_whole_picture_is_no_fault(kind, n_bytes):
    """Phones append films, cameras notes."""
    assert examine(WHOLE[kind] + b"x" * n_bytes, "a")[0].fault is None


@given(at=st.floats(0, 0.999), bit=st.integers(0, 7))
@settings(max_examples=40)
def test_png_with_a_changed_bit_has_a_fault_just_where_it_does_not_decode(at, bit):
    content = bytearray(WHOLE["PNG"])
    content[int(at * len(content))] ^= 1 << bit
    assert (examine(bytes(content), "a")[0].fault is None) == decodes(bytes(content))


def test_picture_on_disk_is_looked_at_as_its_bytes_are(tmp_path):
    for kind, content in WHOLE.items():
        for part in (content, content[: len(content) * 2 // 3]):
            path = tmp_path / "picture"
            path.write_bytes(part)
            media_type = f"image/{kind.rpartition(' ')[2].lower()}"
            assert seems_damaged(path, media_type) == seems_damaged(part, media_type)
            assert examine(path, "a") == examine(part, "a")

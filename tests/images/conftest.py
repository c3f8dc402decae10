"""Picture files of every stored form, made from one small photograph-like array."""

import struct
import zlib
from collections.abc import Callable
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageCms

WIDTH, HEIGHT = 48, 32


@pytest.fixture(scope="session")
def rgb() -> np.ndarray:
    """(32, 48, 3) uint8, every pixel different, the same on every machine: integer arithmetic only."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return np.stack([x * 5, y * 7, (x * 3 + y * 11) % 256], axis=-1).astype(np.uint8)


@pytest.fixture(scope="session")
def make_form(rgb: np.ndarray) -> Callable[[str], bytes]:
    """Return the encoded bytes of a named form."""
    return lambda name: FORMS[name](rgb)


def png_chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def raw_png(rows: list[bytes], width: int, bits: int, colour_type: int, *extra: bytes, height: int = 0) -> bytes:
    """Return a PNG of unfiltered rows: for what Pillow cannot write."""
    header = struct.pack(">IIBBBBB", width, height or len(rows), bits, colour_type, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows))
    chunks = [png_chunk(b"IHDR", header), *extra, png_chunk(b"IDAT", body), png_chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    stream = BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def with_orientation(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def swapped_profile() -> bytes:
    """An RGB profile whose red and green are exchanged: sRGB's, with the names of two tags swapped."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return profile.replace(b"rXYZ", b"tXYZ", 1).replace(b"gXYZ", b"rXYZ", 1).replace(b"tXYZ", b"gXYZ", 1)


def srgb_profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def cmyk_profile() -> bytes:
    import pyvips

    return bytes(pyvips.Image.profile_load("cmyk"))


def alpha_ramp(rgb: np.ndarray) -> np.ndarray:
    return np.broadcast_to(np.linspace(0, 255, rgb.shape[1]).astype(np.uint8), rgb.shape[:2])


def grey16(rgb: np.ndarray) -> np.ndarray:
    return rgb[:, :, 0].astype(np.uint16) * 256 + rgb[:, :, 1]


def rgb16_rows(rgb: np.ndarray) -> list[bytes]:
    return [(row * 256 + 77).astype(">u2").tobytes() for row in rgb.astype(np.uint16)]


def frames(rgb: np.ndarray) -> list[Image.Image]:
    return [Image.fromarray(rgb), Image.fromarray(255 - rgb)]


def _animated(rgb: np.ndarray, kind: str) -> bytes:
    first, second = frames(rgb)
    return saved(first, kind, save_all=True, append_images=[second], duration=100)


def _palette_with_holes(rgb: np.ndarray) -> bytes:
    return saved(Image.fromarray(rgb).quantize(8), transparency=bytes([0, 128, 255, 255, 255, 255, 255, 255]))


def _cmyk(rgb: np.ndarray, **options: object) -> bytes:
    return saved(Image.fromarray(rgb).convert("CMYK"), "JPEG", quality=95, **options)


CUT = ("rgb.jpg", "progressive.jpg", "rgb.png", "rgb.webp", "palette.gif", "rgb.bmp", "rgb.tif", "zstd.tif")


def _cut(name: str) -> Callable[[np.ndarray], bytes]:
    """Two thirds of a file."""
    return lambda rgb: (whole := FORMS[name](rgb))[: len(whole) * 2 // 3]


FORMS: dict[str, Callable[[np.ndarray], bytes]] = {
    "rgb.png": lambda a: saved(Image.fromarray(a)),
    "rgb.jpg": lambda a: saved(Image.fromarray(a), "JPEG", quality=95),
    "rgb.webp": lambda a: saved(Image.fromarray(a), "WEBP", lossless=True),
    "rgb.bmp": lambda a: saved(Image.fromarray(a), "BMP"),
    "rgb.tif": lambda a: saved(Image.fromarray(a), "TIFF"),
    "zstd.tif": lambda a: saved(Image.fromarray(a), "TIFF", compression="zstd"),
    "progressive.jpg": lambda a: saved(Image.fromarray(a), "JPEG", quality=95, progressive=True),
    "rotated.jpg": lambda a: saved(Image.fromarray(a), "JPEG", quality=95, exif=with_orientation(6)),
    "rotated.png": lambda a: saved(Image.fromarray(a), exif=with_orientation(6)),
    "rotated.tif": lambda a: saved(Image.fromarray(a), "TIFF", tiffinfo={274: 6}),
    "mirrored.webp": lambda a: saved(Image.fromarray(a), "WEBP", lossless=True, exif=with_orientation(5)),
    "rgba.png": lambda a: saved(Image.fromarray(np.dstack([a, alpha_ramp(a)]))),
    "grey.png": lambda a: saved(Image.fromarray(a[:, :, 2])),
    "grey.jpg": lambda a: saved(Image.fromarray(a[:, :, 2]), "JPEG", quality=95),
    "grey_alpha.png": lambda a: saved(Image.merge("LA", [Image.fromarray(a[:, :, 2]), Image.fromarray(alpha_ramp(a))])),
    "one_bit.png": lambda a: saved(Image.fromarray(a[:, :, 2]).convert("1")),
    "four_bit.png": lambda a: raw_png([bytes([0x1F]) * (WIDTH // 2)] * HEIGHT, WIDTH, 4, 0),
    "four_bit_key.png": lambda a: raw_png(
        [bytes([0x1F]) * (WIDTH // 2)] * HEIGHT, WIDTH, 4, 0, png_chunk(b"tRNS", b"\0\1")
    ),
    "palette.png": lambda a: saved(Image.fromarray(a).quantize(8)),
    "palette.gif": lambda a: saved(Image.fromarray(a).quantize(8), "GIF"),
    "palette_holes.png": _palette_with_holes,
    "colour_key.png": lambda a: saved(Image.fromarray(a), transparency=tuple(int(v) for v in a[3, 5])),
    "grey16.png": lambda a: saved(Image.fromarray(grey16(a))),
    "grey16.tif": lambda a: saved(Image.fromarray(grey16(a)), "TIFF"),
    "grey16_key.png": lambda a: raw_png(
        [row.astype(">u2").tobytes() for row in grey16(a)],
        WIDTH,
        16,
        0,
        png_chunk(b"tRNS", struct.pack(">H", grey16(a)[3, 5])),
    ),
    "rgb16.png": lambda a: raw_png(rgb16_rows(a), WIDTH, 16, 2),
    "rgb16_key.png": lambda a: raw_png(rgb16_rows(a), WIDTH, 16, 2, png_chunk(b"tRNS", bytes(6))),
    "icc.png": lambda a: saved(Image.fromarray(a), icc_profile=swapped_profile()),
    "icc_grey.png": lambda a: saved(Image.fromarray(a[:, :, 2]), icc_profile=swapped_profile()),
    "icc_srgb.jpg": lambda a: saved(Image.fromarray(a), "JPEG", quality=95, icc_profile=srgb_profile()),
    "icc_broken.png": lambda a: saved(Image.fromarray(a), icc_profile=b"no profile at all" * 10),
    "icc_foreign.png": lambda a: saved(Image.fromarray(a), icc_profile=cmyk_profile()),
    "gamma.png": lambda a: raw_png(
        [row.tobytes() for row in a], WIDTH, 8, 2, png_chunk(b"gAMA", struct.pack(">I", 100000))
    ),
    "cmyk.jpg": _cmyk,
    "cmyk_icc.jpg": lambda a: _cmyk(a, icc_profile=cmyk_profile()),
    "float.tif": lambda a: saved(Image.fromarray(a[:, :, 0].astype(np.float32)), "TIFF"),
    "animated.gif": lambda a: _animated(a, "GIF"),
    "animated.png": lambda a: _animated(a, "PNG"),
    "animated.webp": lambda a: _animated(a, "WEBP"),
    "pages.tif": lambda a: _animated(a, "TIFF"),
    **{f"truncated_{name}": _cut(name) for name in CUT},
    "endless.png": lambda a: FORMS["rgb.png"](a)[:-12],
    "bomb.png": lambda a: raw_png([], 20_000, 1, 0, height=10_000),
    "not_an_image.jpg": lambda a: b"<html>404 not found</html>",
    "empty.png": lambda a: b"",
    "broken_header.jpg": lambda a: b"\xff\xd8\xff\xe0\0\x10JFIF",
    "headless.png": lambda a: b"\x89PNG\r\n\x1a\n" + png_chunk(b"IEND", b""),
}

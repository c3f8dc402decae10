"""All views of one picture, from one decode, as files."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from eyechart.errors import ImageError, UsageError
from eyechart.images.compose import lay_on_white
from eyechart.images.decode import MAX_HELD_PIXELS, decode
from eyechart.images.encode import JpegSettings, encode_jpeg, flat_parts, renderer
from eyechart.images.files import link_or_copy, read_whole, write_pieces
from eyechart.images.giga import LargeImage, is_better_read_in_parts, needs_tiles
from eyechart.images.hash import file_sha256, pixel_sha256, pixel_sha256_on_white
from eyechart.images.pixels import Pixels
from eyechart.images.png import png_pieces
from eyechart.images.probe import describe_stream, probe_image
from eyechart.images.resample import DEFAULT_RESAMPLER, check_resampler
from eyechart.schema import Box, Composition, DecodePolicy, ImageRef, Renderer, Size, Value

_JPEG_SUFFIXES = frozenset({".jpg", ".jpeg"})
_SUFFIXES = _JPEG_SUFFIXES | {".png"}


class RenderSettings(Value, frozen=True):
    """What decides the pixels and bytes of rendered views, besides picture and geometry.

    Args:
        decode: The decode policy.
        resampler: Name of the resampler for views that are resized.
        jpeg: Used only for views whose file name ends in ``.jpg`` or ``.jpeg``.
        hash_pixels: Whether to fill ``pixel_sha256``; it costs about a quarter of rendering.
    """

    decode: DecodePolicy = DecodePolicy()
    resampler: str = DEFAULT_RESAMPLER
    jpeg: JpegSettings = JpegSettings()
    hash_pixels: bool = True


DEFAULT_RENDER_SETTINGS = RenderSettings()


class RenderedView(Value, frozen=True):
    """One written file: its name relative to the output folder, its content, and what drew it."""

    name: str
    image: ImageRef
    renderer: Renderer


class RenderedPicture(Value, frozen=True):
    """All written views of one original, in the order they were asked for.

    ``original`` is the picture as found, with the hash of its decoded pixels; ``notes`` are those of the decode policy.
    """

    original: ImageRef
    notes: tuple[str, ...]
    views: tuple[RenderedView, ...]


class _Original(NamedTuple):
    ref: ImageRef
    notes: tuple[str, ...]
    parts: Callable[[Composition], tuple[Size, tuple[int, int], Pixels]]


def render_views_of_picture(
    path: Path,
    views: Sequence[tuple[str, Composition]],
    out_dir: Path,
    settings: RenderSettings = DEFAULT_RENDER_SETTINGS,
    *,
    place: str = "",
) -> RenderedPicture:
    """Decode a picture once and write all its views.

    Views of equal geometry are encoded once and linked (copied where the file system has no hard links). Files appear
    whole or not at all; files of the same name are replaced.

    Args:
        path: The original.
        views: File name relative to ``out_dir`` and geometry of each view. Names end in ``.png`` (lossless), or in
            ``.jpg`` or ``.jpeg`` where JPEG is a factor of the experiment.
        out_dir: Folder to write to; made if missing.
        settings: Decode policy, resampler and encoder.
        place: Names the picture in errors; the path if empty.

    Raises:
        ImageError: If the picture cannot be decoded by the policy.
        GeometryError: If a composition does not fit the picture.
        StoreError: If a file cannot be written.
        UsageError: If the resampler or a file ending is unknown, or a name is used twice.
    """
    check_resampler(settings.resampler)
    _check_names([name for name, _ in views])
    original = _open_original(path, settings, place or str(path))
    written: dict[tuple[Composition, bool], RenderedView] = {}
    rendered: dict[str, RenderedView] = {}
    # Where the picture is read in parts, a small region lies in a larger one that was just read.
    for name, geometry in sorted(views, key=lambda view: -_kept_area(view[1])):
        twin = written.get((geometry, _is_jpeg(name)))
        if twin is None:
            twin = written[geometry, _is_jpeg(name)] = _write_view(original, name, geometry, out_dir, settings)
        else:
            link_or_copy(out_dir / twin.name, out_dir / name)
        rendered[name] = RenderedView(name, twin.image, twin.renderer)
    return RenderedPicture(original.ref, original.notes, tuple(rendered[name] for name, _ in views))


def _kept_area(geometry: Composition) -> float:
    return 0.0 if geometry.kept is None else geometry.kept.area


def _check_names(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if Path(name).suffix.lower() not in _SUFFIXES:
            raise UsageError(f"{name}: views are written as PNG or JPEG", hint="end the name in .png, .jpg or .jpeg")
        if name in seen:
            raise UsageError(f"{name}: two views would be written to this file", hint="give each view its own name")
        seen.add(name)


def _is_jpeg(name: str) -> bool:
    return Path(name).suffix.lower() in _JPEG_SUFFIXES


def _open_original(path: Path, settings: RenderSettings, place: str) -> _Original:
    form = describe_stream(path, place)
    if is_better_read_in_parts(form, settings.resampler):
        large = LargeImage(path, settings.decode, place)
        # What decoding found is known once a region was read; one pixel is enough.
        notes = large.region(Box(0, 0, 1, 1)).notes
        return _Original(probe_image(path), notes, partial(large.flat_parts, resampler=settings.resampler))
    # Beside the pixels of such a picture its file is not held as well.
    source = path if form.size.n_px > MAX_HELD_PIXELS else read_whole(path, place)
    sha256, n_bytes = (
        file_sha256(path) if isinstance(source, Path) else (hashlib.sha256(source).hexdigest(), len(source))
    )
    decoded = decode(source, settings.decode, place)
    ref = ImageRef(
        file_sha256=sha256,
        size=form.size,
        media_type=form.media_type,
        n_bytes=n_bytes,
        pixel_sha256=pixel_sha256(decoded.pixels) if settings.hash_pixels else None,
    )
    return _Original(ref, decoded.notes, partial(flat_parts, decoded, resampler=settings.resampler))


def _write_view(
    original: _Original, name: str, geometry: Composition, out_dir: Path, settings: RenderSettings
) -> RenderedView:
    resampler = None if geometry.resized is None else settings.resampler
    canvas, offset, pixels = original.parts(geometry)
    if _is_jpeg(name):
        if needs_tiles(canvas):
            hint = "PNG leaves out what is white: use --encoding png"
            raise ImageError(f"{name}: {canvas.n_px:,} pixels are not encoded as JPEG at once", hint=hint)
        image = _write_jpeg(lay_on_white(canvas, offset, pixels), out_dir / name, settings)
        return RenderedView(name, image, _renderer(resampler, settings.jpeg))
    sha256, n_bytes = write_pieces(out_dir / name, png_pieces(canvas, offset, pixels))
    pixel_hash = pixel_sha256_on_white(canvas, offset, pixels) if settings.hash_pixels else None
    return RenderedView(name, ImageRef(sha256, canvas, "image/png", n_bytes, pixel_hash), _renderer(resampler, None))


def _write_jpeg(pixels: Pixels, path: Path, settings: RenderSettings) -> ImageRef:
    content = encode_jpeg(pixels, settings.jpeg.quality, settings.jpeg.subsampling)
    sha256, n_bytes = write_pieces(path, [content])
    # JPEG changes pixels, so the hash is of what a reader of the file will get.
    pixel_hash = pixel_sha256(decode(content, place=str(path)).pixels) if settings.hash_pixels else None
    return ImageRef(sha256, Size(pixels.shape[1], pixels.shape[0]), "image/jpeg", n_bytes, pixel_hash)


_renderer = lru_cache(maxsize=None)(renderer)

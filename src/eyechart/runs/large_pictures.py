"""Views of pictures too large to decode at once, on their way to a model."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from eyechart.errors import RefusedInputError, UnavailableImageError
from eyechart.images.compose import is_whole, lay_on_white
from eyechart.images.decode import MAX_DECODED_PIXELS, MAX_HELD_PIXELS
from eyechart.images.giga import LargeImage, check_resized_in_parts, is_better_read_in_parts, needs_tiles
from eyechart.images.hash import file_sha256, pixel_sha256_on_white
from eyechart.images.pixels import Pixels
from eyechart.images.png import png_pieces
from eyechart.images.probe import describe_form
from eyechart.images.resample import DEFAULT_RESAMPLER
from eyechart.schema import Box, Composition, DecodePolicy, ImageRef, Picture, Size
from eyechart.seen.transport import parse_transport

MAX_SENT_FILE_BYTES = 256 << 20
"""A larger file is not read to be sent: no provider takes a tenth of it."""


def check_sendable(image: ImageRef, place: str) -> None:
    """Refuse to read a file that is too large to be sent.

    Raises:
        RefusedInputError: If it has more than 256 MiB.
    """
    if image.n_bytes is not None and image.n_bytes > MAX_SENT_FILE_BYTES:
        raise RefusedInputError(
            f"{place}: a file of {image.n_bytes:,} bytes is not sent",
            hint="ask smaller views, such as downsample_0_0625",
        )


def check_held(size: Size) -> None:
    """Refuse pixels that are too many to be held at once.

    Raises:
        RefusedInputError: If there are more than 178,956,970.
    """
    if needs_tiles(size):
        raise RefusedInputError(
            f"a view of {size.n_px:,} pixels: more than {MAX_DECODED_PIXELS:,} are not held at once",
            hint="ask crops or smaller downsamples",
        )


def refuse_too_large(picture: Picture, name: str) -> None:
    """Refuse what will be refused for its size when it is drawn, from its geometry alone; no file is opened.

    Args:
        picture: A picture of a request.
        name: Names its file in errors.

    Raises:
        RefusedInputError: If it has too many pixels to be held, or bytes to be sent.
        ImageError: If a part of too large a picture is to be resized.
        UsageError: If its resampler cannot read it in parts: then no view of it can be resized.
    """
    image, geometry = picture.image, picture.recipe.geometry
    if image.size.n_px <= MAX_HELD_PIXELS or not isinstance(geometry, Composition):
        return
    if geometry.size == image.size and is_whole(geometry, image.size):
        check_sendable(image, name)
    if not needs_tiles(image.size):
        return
    check_resized_in_parts(geometry, image.size, picture.recipe.resampler or DEFAULT_RESAMPLER, name)
    if parse_transport(picture.recipe.transport).jpeg_quality is not None:
        check_held(picture.size)
    _check_kept(geometry)


def _check_kept(geometry: Composition) -> None:
    if geometry.kept is not None and geometry.resized is None:
        check_held(Size(int(geometry.kept.width), int(geometry.kept.height)))


class LargeSource:
    """Draws crops and downsamples by reading the file from its top, in bounded memory. May be used by several threads.

    Args:
        path_of: Where the file of a picture lies.
    """

    def __init__(self, path_of: Callable[[ImageRef], Path]) -> None:
        self._path_of = path_of
        self._checked: set[str] = set()
        # One picture at a time: each may need 500 MB.
        self._lock = Lock()
        self._last: tuple[str, DecodePolicy, LargeImage] | None = None

    def serves(self, picture: Picture) -> bool:
        """Return whether a picture is a view of a file that is better read in parts than decoded."""
        geometry = picture.recipe.geometry
        if not isinstance(geometry, Composition):
            return False
        resampler = None if geometry.resized is None else picture.recipe.resampler or DEFAULT_RESAMPLER
        return self._reads_in_parts(picture.image, picture.recipe.decode, resampler)

    def shrinks(self, image: ImageRef, policy: DecodePolicy, resampler: str) -> bool:
        """Return whether a whole picture is better shrunk by reading it in parts than after decoding."""
        return self._reads_in_parts(image, policy, resampler)

    def _reads_in_parts(self, image: ImageRef, policy: DecodePolicy, resampler: str | None) -> bool:
        if image.size.n_px <= MAX_HELD_PIXELS:
            return False
        if needs_tiles(image.size):
            return True
        if image.exif_orientation != 1 and policy.exif == "apply":
            return False
        return resampler is None or is_better_read_in_parts(describe_form(self._path_of(image)), resampler)

    def draw(self, picture: Picture) -> Pixels:
        """Return the pixels of a view, shape (height, width, 3), uint8 RGB.

        Raises:
            RefusedInputError: If the view has too many pixels to be held at once.
            ImageError: If the file cannot be decoded, or is not the one that was planned.
            UsageError: If it is resampled by another resampler than ``vips-lanczos3@1``.
        """
        check_held(picture.size)
        return lay_on_white(*self._parts(picture))

    def encode_png(self, picture: Picture) -> bytes:
        """Return a view as a PNG file; white around a crop is never made.

        Raises:
            RefusedInputError: If what it keeps of the picture has too many pixels to be held at once.
            ImageError: If the file cannot be decoded, or is not the one that was planned.
            UsageError: If it is resampled by another resampler than ``vips-lanczos3@1``.
        """
        return b"".join(png_pieces(*self._parts(picture)))

    def pixel_sha256(self, picture: Picture) -> str:
        """Return the content key of a view's pixels.

        Raises:
            ImageError: If the file cannot be decoded, or is not the one that was planned.
        """
        return pixel_sha256_on_white(*self._parts(picture))

    def shrink(self, image: ImageRef, policy: DecodePolicy, size: Size, resampler: str) -> Pixels:
        """Return a whole picture at a smaller size, its aspect ratio not kept; (height, width, 3) uint8.

        Raises:
            ImageError: If the file cannot be decoded, or is not the one that was planned.
            UsageError: If the resampler is another than ``vips-lanczos3@1``.
        """
        whole = Composition(canvas=image.size, kept=Box(0, 0, *image.size), resized=size)
        with self._lock:
            return self._opened(image, policy).flat_parts(whole, resampler)[2]

    def _parts(self, picture: Picture) -> tuple[Size, tuple[int, int], Pixels]:
        geometry = picture.recipe.geometry
        assert isinstance(geometry, Composition)  # noqa: S101 -- see serves
        _check_kept(geometry)
        with self._lock:
            large = self._opened(picture.image, picture.recipe.decode)
            return large.flat_parts(geometry, picture.recipe.resampler or DEFAULT_RESAMPLER)

    def _opened(self, image: ImageRef, policy: DecodePolicy) -> LargeImage:
        """Return a picture, the one of the last call if it is the same: it may have kept what a view shows."""
        if self._last is None or self._last[:2] != (image.file_sha256, policy):
            path = self._path_of(image)
            self.check_hash(image, path)
            self._last = (image.file_sha256, policy, LargeImage(path, policy, path.name))
        return self._last[2]

    def check_hash(self, image: ImageRef, path: Path) -> None:
        """Refuse a file that changed since it was listed; it is read for this once.

        Raises:
            ImageError: If it is another file.
        """
        if image.file_sha256 in self._checked:
            return
        if file_sha256(path)[0] != image.file_sha256:
            raise UnavailableImageError(
                f"{path.name}: the file is not the one that was planned",
                hint="it changed since it was listed: restore it, or start a new run",
            )
        self._checked.add(image.file_sha256)

"""Pictures on their way to a model: made when they are asked for, from originals decoded once."""

import hashlib
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Literal

from eyechart.errors import BenchmarkError, HubError, ImageError, UnavailableImageError
from eyechart.images.cache import DecodedCache
from eyechart.images.compose import compose, is_whole, resize
from eyechart.images.decode import MAX_HELD_PIXELS, decode, is_standing
from eyechart.images.encode import JpegSettings, encode_composition, encode_jpeg, encode_png
from eyechart.images.ends import has_end
from eyechart.images.files import read_whole
from eyechart.images.grid_canvas import HRSCENE_JPEG
from eyechart.images.hash import pixel_sha256
from eyechart.images.pixels import DecodedImage, Pixels
from eyechart.images.probe import describe_stream
from eyechart.images.resample import DEFAULT_RESAMPLER, check_resampler
from eyechart.kinds import Benchmark
from eyechart.runs.grids import GridSource
from eyechart.runs.large_pictures import LargeSource, check_sendable
from eyechart.runs.plan_options import PlanOptions
from eyechart.runs.view_store import ViewStore
from eyechart.schema import Composition, DecodePolicy, GridComposition, ImageRef, Picture, Size
from eyechart.seen.transport import parse_transport

Form = Literal["pixels", "encoded"]

_PNG, _JPEG = "image/png", "image/jpeg"
_JPEGS = {95: JpegSettings(quality=95, subsampling="4:4:4"), 75: HRSCENE_JPEG}
_N_LOCKS = 64
_QUICK_BYTES, _QUICK_PIXELS = 64 << 10, 1 << 19
_RAW_BYTES_PER_PIXEL = 3


class PictureSource:
    """Makes the pictures of a benchmark's requests, keeping recent originals decoded.

    A file that is sent whole and unchanged leaves as its own bytes where any decoder reads the same pixels from it;
    everything else leaves as PNG of our pixels. Under a transport policy with ``+jpeg95`` or ``+jpeg75`` every picture
    leaves as JPEG instead, and its pixels are those of the JPEG. A truncated file never leaves. May be used by several
    threads.

    Args:
        benchmark: Where the files are.
        max_decoded_bytes: Bound of the decoded originals kept in memory.
        max_drawn_bytes: Bound of the drawn views kept in memory, for questions that share them.
        kept: Drawn views on disk that runs share.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        *,
        max_decoded_bytes: int = 512 << 20,
        max_drawn_bytes: int = 192 << 20,
        kept: ViewStore | None = None,
    ) -> None:
        self._benchmark, self._kept = benchmark, kept
        self._decoded = DecodedCache(max_decoded_bytes)
        self._large = LargeSource(self._path)
        self._grids = GridSource(benchmark, self._decoded_file, self._large)
        self._drawn = DecodedCache(max_drawn_bytes)
        # One thread decodes a picture while the others that want it wait, instead of all decoding it.
        self._locks = tuple(Lock() for _ in range(_N_LOCKS))
        self._forms_asked: set[Form] = set()
        self._pixel_sha256 = lru_cache(maxsize=4096)(self._hash_pixels)

    def send(self, picture: Picture) -> "LazyPicture":
        """Return a picture that is made when the model asks for it."""
        return LazyPicture(self, picture)

    def prepare(self, pictures: tuple["LazyPicture", ...]) -> None:
        """Make the pictures in the form that this model asked for before, so that its own call does not wait.

        Raises:
            ImageError: If a file cannot be read or decoded, or is not the one that was planned.
        """
        for picture in pictures:
            if "encoded" in self._forms_asked:
                picture.encoded()
            if "pixels" in self._forms_asked:
                picture.pixels()

    def note_form(self, form: Form) -> None:
        """Remember in which form the model takes pictures."""
        self._forms_asked.add(form)

    def pixel_sha256(self, picture: Picture) -> str:
        """Return the content key of a picture's pixels."""
        return self._pixel_sha256(picture)

    def draw(self, picture: Picture) -> Pixels:
        """Return the pixels of a picture, shape (height, width, 3), uint8 RGB.

        Raises:
            ImageError: If the file cannot be read or decoded, or is not the one that was planned.
            RefusedInputError: If the picture is too large to be held or sent.
        """

        def drawn() -> DecodedImage:
            if _is_jpeg(picture):
                return decode(self.encode(picture)[0], place=self._place(picture.image))
            return DecodedImage.from_pixels(self._compose(picture))

        return self._drawn.get(picture.recipe_key, picture.recipe.decode, drawn).pixels

    def encode(self, picture: Picture) -> tuple[bytes, str]:
        """Return the bytes that leave for a picture, and their media type.

        Raises:
            ImageError: If the file cannot be read or decoded, or is not the one that was planned.
        """
        quality = _jpeg_quality(picture.recipe.transport)
        if quality is not None:
            settings = _JPEGS[quality]
            return encode_jpeg(self._compose(picture), settings.quality, settings.subsampling), _JPEG
        standing = self._standing_bytes(picture)
        if standing is not None:
            return standing, picture.image.media_type
        if self._kept is None:
            return self._encode_drawn(picture), _PNG
        content = self._kept.get(picture.recipe_key)
        if content is None:
            content = self._encode_drawn(picture)
            self._kept.put(picture.recipe_key, self.pixel_sha256(picture), content)
        return content, _PNG

    def _encode_drawn(self, picture: Picture) -> bytes:
        geometry = picture.recipe.geometry
        if isinstance(geometry, GridComposition) and geometry.resized is not None:
            return encode_png(self.draw(picture))
        if isinstance(geometry, GridComposition):
            return self._grids.encode_png(picture, geometry)
        if self._large.serves(picture):
            return self._large.encode_png(picture)
        resampler = picture.recipe.resampler or DEFAULT_RESAMPLER
        return encode_composition(self.decoded(picture), geometry, resampler)

    def decoded(self, picture: Picture) -> DecodedImage:
        """Return the decoded file behind a picture, from memory if it was used lately."""
        return self._decoded_file(picture.image, picture.recipe.decode)

    def _decoded_file(self, image: ImageRef, policy: DecodePolicy) -> DecodedImage:
        with self._locks[hash(image.file_sha256) % _N_LOCKS]:
            return self._decoded.get(
                image.file_sha256, policy, lambda: decode(self._source(image), policy, self._place(image))
            )

    def _compose(self, picture: Picture) -> Pixels:
        """Return the pixels of a picture before any encoding that changes them."""
        geometry, resampler = picture.recipe.geometry, picture.recipe.resampler or DEFAULT_RESAMPLER
        if self._large.serves(picture):
            return self._large.draw(picture)
        if not isinstance(geometry, GridComposition):
            return compose(self.decoded(picture), geometry, resampler)
        grid = self._grids.draw(picture, geometry)
        return grid if geometry.resized is None else resize(grid, geometry.resized, resampler)

    def _standing_bytes(self, picture: Picture) -> bytes | None:
        """Return the file as it is, None where other pixels than the decoded file's own are to be sent."""
        if not _is_file(picture):
            return None
        if self._large.serves(picture):
            check_sendable(picture.image, self._place(picture.image))
        content = self._read(picture.image)
        if not is_standing(describe_stream(content, self._place(picture.image))):
            return None
        if not has_end(content, picture.image.media_type):
            if self._large.serves(picture):
                raise ImageError(f"{self._place(picture.image)}: truncated", hint="fetch the file again")
            self.decoded(picture)  # refuses what is truncated
        return content

    def _source(self, image: ImageRef) -> Path | bytes:
        """Return what is decoded: the bytes of a file, or the place of one that is too large to be held as well."""
        if image.size.n_px <= MAX_HELD_PIXELS:
            return self._read(image)
        path = self._path(image)
        self._large.check_hash(image, path)
        return path

    def _read(self, image: ImageRef) -> bytes:
        """Return the bytes of a file, refusing one that changed since the run was planned."""
        content = read_whole(self._path(image), self._place(image))
        if hashlib.sha256(content).hexdigest() != image.file_sha256:
            raise UnavailableImageError(
                f"{self._place(image)}: the file is not the one that was planned",
                hint="it changed since it was listed: restore it (for a release: eyechart verify), or start a new run",
            )
        return content

    def _path(self, image: ImageRef) -> Path:
        """Return where a file lies.

        Raises:
            UnavailableImageError: If this one cannot be had.
            HubError: If nothing can be had from where it lies.
        """
        try:
            return self._benchmark.image_path(image)
        except BenchmarkError as error:
            raise UnavailableImageError(error.message, hint=error.hint) from error
        except HubError as error:
            if error.concerns_all:
                raise
            raise UnavailableImageError(error.message, hint=error.hint) from error

    def _place(self, image: ImageRef) -> str:
        """Return the name of a file as it may be stored with an answer: no path of this machine."""
        return self._path(image).name

    def _hash_pixels(self, picture: Picture) -> str:
        return self._large.pixel_sha256(picture) if self._large.serves(picture) else pixel_sha256(self.draw(picture))


class LazyPicture:
    """One picture of one request. Nothing about it tells which view, question or file it came from."""

    def __init__(self, source: PictureSource, picture: Picture) -> None:
        self._source = source
        self._picture = picture

    @property
    def size(self) -> Size:
        """Size in pixels."""
        return self._picture.size

    @property
    def is_quick(self) -> bool:
        """Whether making it takes less time than handing it to a thread: a small file that is sent whole."""
        image = self._picture.image
        is_small = (image.n_bytes or _QUICK_BYTES + 1) <= _QUICK_BYTES and image.size.n_px <= _QUICK_PIXELS
        return is_small and _is_file(self._picture)

    @property
    def pixel_sha256(self) -> str:
        """Content key: two pictures with the same pixels have the same one."""
        return self._source.pixel_sha256(self._picture)

    @property
    def media_type(self) -> str:
        """Media type of ``encoded()``."""
        return self._sent[1]

    def pixels(self) -> Pixels:
        """Return the pixels, shape (height, width, 3), uint8 RGB."""
        self._source.note_form("pixels")
        return self._pixels

    def encoded(self) -> bytes:
        """Return the bytes to send, in ``media_type``."""
        self._source.note_form("encoded")
        return self._sent[0]

    @property
    def sent_as(self) -> tuple[int | None, str | None]:
        """Length and media type of the bytes if they were asked for, else None and None."""
        if "_sent" not in self.__dict__:
            return (None, None)
        return (len(self._sent[0]), self._sent[1])

    @cached_property
    def _pixels(self) -> Pixels:
        return self._source.draw(self._picture)

    @cached_property
    def _sent(self) -> tuple[bytes, str]:
        return self._source.encode(self._picture)


def weight_bytes(picture: Picture) -> int:
    """Return an upper bound of what a picture weighs on its way: its file, or its raw pixels where it is drawn.

    Example:
        >>> from eyechart.schema import Box, Composition, ImageRef, Picture, Recipe, Size
        >>> image = ImageRef("", Size(40, 30), "image/jpeg", n_bytes=700)
        >>> crop = Recipe(Composition(Size(10, 10), Box(0, 0, 10, 10)))
        >>> weight_bytes(Picture(image, crop, "", Size(10, 10)))
        300
    """
    if _is_file(picture) and picture.image.n_bytes is not None:
        return picture.image.n_bytes
    return picture.size.n_px * _RAW_BYTES_PER_PIXEL


def check_drawing(options: PlanOptions) -> None:
    """Refuse a resampler or transport that does not exist, before anything is asked.

    Raises:
        UsageError: If a name is unknown.
        MissingDependencyError: If the resampler's library is not installed.
    """
    check_resampler(options.resampler)
    parse_transport(options.transport)


@lru_cache(maxsize=64)
def _jpeg_quality(transport: str) -> int | None:
    return parse_transport(transport).jpeg_quality


def _is_jpeg(picture: Picture) -> bool:
    """Whether the transport policy of a picture makes a JPEG of it."""
    return _jpeg_quality(picture.recipe.transport) is not None


def _is_file(picture: Picture) -> bool:
    """Whether a picture is the whole file at its own size."""
    geometry, size = picture.recipe.geometry, picture.image.size
    return isinstance(geometry, Composition) and geometry.size == size and is_whole(geometry, size)

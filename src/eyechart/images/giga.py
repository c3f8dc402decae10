"""Pictures too large to decode at once: regions and downsamples by libvips, in bounded memory.

Regions have the pixels of the ordinary decode. Downsamples have their own resampler name, because libvips rounds
otherwise than Pillow. Truncation shows only when reading gets that far: a region above the fault still succeeds.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from eyechart.errors import ImageError, UsageError
from eyechart.images.colour import to_srgb
from eyechart.images.compose import check_composition, is_whole
from eyechart.images.decode import MAX_DECODED_PIXELS, MAX_HELD_PIXELS, check_decodable
from eyechart.images.pixels import WHITE, DecodedImage, Pixels
from eyechart.images.probe import ImageForm, describe_form, embedded_profile
from eyechart.images.resample import VIPS_PRESHRINK, VIPS_RESAMPLER, VIPS_RESAMPLERS, vips_resize
from eyechart.schema import Box, Composition, DecodePolicy, Size

if TYPE_CHECKING:  # libvips is loaded by the first large picture, not by the import
    import pyvips

# A region up to this many pixels is kept, at up to 7 bytes a pixel, for views that lie inside it.
_MAX_KEPT_PX = 8_000_000
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def needs_tiles(size: Size) -> bool:
    """Return whether a picture has too many pixels to decode at once.

    Example:
        >>> needs_tiles(Size(35_503, 26_627)), needs_tiles(Size(7680, 4320))
        (True, False)
    """
    return size.n_px > MAX_DECODED_PIXELS


def is_better_read_in_parts(form: ImageForm, resampler: str) -> bool:
    """Return whether libvips reads a picture in less memory than a decode needs, with the same pixels.

    So it is for what cannot be decoded at once, and for large plain pictures that libvips would resize anyway.
    """
    is_plain = not (form.has_alpha or form.has_icc or form.is_cmyk)
    is_resized_by_vips = form.size.n_px > MAX_HELD_PIXELS and resampler in VIPS_RESAMPLERS
    return needs_tiles(form.size) or (is_resized_by_vips and is_plain)


def check_resized_in_parts(geometry: Composition, size: Size, resampler: str, place: str) -> None:
    """Refuse to resize a picture that is read in parts where that cannot be done; one that is not resized passes.

    Args:
        geometry: What is shown of it.
        size: Its size.
        resampler: Id of the resampler.
        place: Names the picture in errors.

    Raises:
        UsageError: If the resampler is not libvips's.
        ImageError: If a part of the picture is resized on a canvas of its own.
    """
    if geometry.resized is None:
        return
    if resampler not in VIPS_RESAMPLERS:
        raise UsageError(
            f"{place}: {size.n_px:,} pixels are too many for the resampler {resampler}",
            hint=f"use --resampler {VIPS_PRESHRINK} for all views; {VIPS_RESAMPLER} is exact up to 8 times smaller",
        )
    if not is_whole(geometry, size):
        raise ImageError(
            f"{place}: too large to resize a part of it on a canvas", hint="crop the file to that part first"
        )


class LargeImage:
    """A picture on disk from which regions are read as they are needed.

    The last region is kept while it is small, so that the views of one target, asked largest first, are read once.

    Args:
        path: The file. Tiled TIFF gives any region in milliseconds; all else is read from its top to the region.
        policy: The decode policy; applying an EXIF orientation is refused.
        place: Names the picture in errors; the path if empty.

    Raises:
        ImageError: If the file is not a picture, is animated, or asks for a rotation that the policy wants applied.
    """

    def __init__(self, path: Path, policy: DecodePolicy | None = None, place: str = "") -> None:
        self.path = path
        self.policy = policy or DecodePolicy()
        self.place = place or str(path)
        self.form = describe_form(path)
        self.size = self.form.size
        self._kept: tuple[Box, DecodedImage] | None = None
        check_decodable(self.form, self.place)
        if self.form.exif_orientation != 1 and self.policy.exif == "apply":
            raise ImageError(
                f"{self.place}: too large to be rotated by its EXIF orientation {self.form.exif_orientation}",
                hint="rotate the file itself, or keep stored pixels with --exif ignore",
            )

    def region(self, box: Box) -> DecodedImage:
        """Return the pixels inside an integer box, by the decode policy and with its notes.

        Raises:
            ImageError: If the region is damaged, has more than 178,956,970 pixels, or has no RGB values.
            GeometryError: If the box is not an integer box inside the picture.
        """
        region = Size(int(box.width), int(box.height))
        check_composition(Composition(region, box), self.size)
        if region.n_px > MAX_DECODED_PIXELS:
            raise ImageError(
                f"{self.place}: a region of {region.n_px:,} pixels, more than {MAX_DECODED_PIXELS:,} are not read",
                hint="ask for a smaller region, or for a downsample",
            )
        kept = self._kept
        if kept is not None and _lies_in(box, kept[0]):
            around, pixels = kept
            inside = Box(box.x0 - around.x0, box.y0 - around.y0, box.x1 - around.x0, box.y1 - around.y0)
            return DecodedImage(Image.fromarray(pixels.region(inside)), pixels.notes, self.size)
        cut = self._open().crop(int(box.x0), int(box.y0), region.width, region.height)
        rgb, notes = to_srgb(self._to_pillow(cut), self.form, self.policy.matte, self.place)
        decoded = DecodedImage(rgb, self._notes(notes), self.size)
        self._kept = (box, decoded) if region.n_px <= _MAX_KEPT_PX else None
        return decoded

    def downsample(self, size: Size, resampler: str = VIPS_RESAMPLER) -> DecodedImage:
        """Return the whole picture at a smaller size, read once from the top.

        Args:
            size: Wanted size.
            resampler: One of ``VIPS_RESAMPLERS``.

        Raises:
            ImageError: If the file is damaged, or is not plain RGB or grey: alpha, profiles and inks would have to be
                treated before the resize, and that needs all pixels.
        """
        if self.form.has_alpha or self.form.has_icc or self.form.is_cmyk:
            raise ImageError(
                f"{self.place}: too large to be downsampled with its transparency, colour profile or inks",
                hint="convert the file to plain sRGB first",
            )
        small = vips_resize(_to_uchar(self._open()), size, resampler)
        rgb, notes = to_srgb(self._to_pillow(small), self.form, self.policy.matte, self.place)
        return DecodedImage(rgb, self._notes(notes), self.size)

    @property
    def is_plain(self) -> bool:
        """Whether its stored values are its colours: no transparency, profile or inks."""
        return not (self.form.has_alpha or self.form.has_icc or self.form.is_cmyk)

    def levels_apart(self, box: Box, other: "LargeImage", other_box: Box) -> tuple[float, int]:
        """Return the mean and the largest difference of two plain pictures in boxes of one size, in levels 0–255.

        Raises:
            ImageError: If one of them is damaged.
        """
        import pyvips

        try:
            apart = (self._cut(box) - other._cut(other_box)).abs()  # noqa: SLF001 -- of the same class
            # Its first row is that of all bands together: least, largest, sum, sum of squares, mean, deviation.
            overall = apart.stats().numpy()[0]
            return float(overall[4]), int(overall[1])
        except pyvips.Error as error:
            raise self._damaged(error) from error

    def darkest_outside(self, box: Box) -> int:
        """Return the lowest level outside an integer box of a plain picture, 255 where there is nothing.

        Raises:
            ImageError: If the file is damaged.
        """
        import pyvips

        try:
            picture = _to_uchar(self._open())
            white = (pyvips.Image.black(int(box.width), int(box.height), bands=picture.bands) + WHITE).cast("uchar")
            return int(picture.insert(white, int(box.x0), int(box.y0)).stats().numpy()[0][0])
        except pyvips.Error as error:
            raise self._damaged(error) from error

    def _cut(self, box: Box) -> "pyvips.Image":
        return _to_uchar(self._open()).crop(int(box.x0), int(box.y0), int(box.width), int(box.height))

    def flat_parts(self, geometry: Composition, resampler: str) -> tuple[Size, tuple[int, int], Pixels]:
        """Return a composition as canvas, offset and the pixels that are not white by construction.

        Raises:
            UsageError: If it is resized by a resampler that is not libvips's.
            ImageError: If a part of the picture is resized on a canvas of its own, or the file is damaged.
            GeometryError: If the composition does not fit the picture or its canvas.
        """
        check_composition(geometry, self.size)
        if geometry.resized is None:
            kept = np.empty((0, 0, 3), np.uint8) if geometry.kept is None else self.region(geometry.kept).pixels
            return geometry.canvas, geometry.offset, kept
        check_resized_in_parts(geometry, self.size, resampler, self.place)
        return geometry.resized, (0, 0), self.downsample(geometry.resized, resampler).pixels

    def _open(self) -> "pyvips.Image":
        import pyvips

        # libvips would keep the last operations with all their rows.
        pyvips.cache_set_max(0)
        access = "random" if self.form.is_tiled else "sequential"
        try:
            # Anything less than "warning" lets libvips 8.18 return black for zstd TIFF, and grey for truncated files.
            picture = pyvips.Image.new_from_file(str(self.path), access=access, fail_on="warning").copy()
        except pyvips.Error as error:
            raise self._damaged(error) from error
        # Each thread keeps rows of its own: two of them need 700 MB to downsample 945 MP, one 500 MB in the same time.
        picture.set_type(pyvips.GValue.gint_type, "concurrency", 1)
        return picture

    def _to_pillow(self, picture: "pyvips.Image") -> Image.Image:
        import pyvips

        try:
            plain = _to_uchar(picture)
            mode = "CMYK" if picture.interpretation == "cmyk" else _MODES.get(picture.bands)
            content = plain.write_to_memory()
        except pyvips.Error as error:
            raise self._damaged(error) from error
        if mode is None or picture.format not in {"uchar", "ushort"}:
            raise ImageError(
                f"{self.place}: {picture.bands} bands of {picture.format} have no defined 8-bit RGB values",
                hint="export the picture as 8-bit or 16-bit RGB",
            )
        image = Image.frombuffer(mode, (picture.width, picture.height), content, "raw", mode, 0, 1)
        # Not libvips's copy of the profile: it drops those that it finds unfit, and decode@1 has its own rule.
        image.info["icc_profile"] = embedded_profile(self.path) if self.form.has_icc else None
        return image

    def _notes(self, notes: list[str]) -> tuple[str, ...]:
        if self.form.mode == "P":  # libvips expands palettes while loading
            notes = [*notes, "palette_expanded"]
        if self.form.has_gamma:
            notes = [*notes, "gamma_ignored"]
        if self.form.exif_orientation != 1:
            notes = [*notes, "exif_orientation_ignored"]
        return tuple(sorted(notes))

    def _damaged(self, error: Exception) -> ImageError:
        reason = " ".join(str(error).split())
        return ImageError(
            f"{self.place}: libvips cannot decode it ({reason})",
            hint="the file is damaged, or uses a compression that this libvips does not read",
        )


def _lies_in(inner: Box, outer: Box) -> bool:
    return outer.x0 <= inner.x0 and outer.y0 <= inner.y0 and inner.x1 <= outer.x1 and inner.y1 <= outer.y1


def _to_uchar(picture: "pyvips.Image") -> "pyvips.Image":
    return (picture >> 8).cast("uchar") if picture.format == "ushort" else picture

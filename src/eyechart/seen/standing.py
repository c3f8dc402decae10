"""In which file a picture will leave, as far as its plan shows."""

from functools import cache

from eyechart.schema import GridComposition, Picture
from eyechart.seen.transport import parse_transport

_STANDING_MEDIA_TYPES = frozenset({"image/jpeg", "image/png", "image/webp"})


def planned_file(picture: Picture) -> tuple[int | None, str]:
    """Return bytes and media type of the file that a picture will leave in; no bytes where it is encoded later.

    A file with a profile or transparency is encoded later too; where its header was not read, it is taken for plain.

    Example:
        >>> from eyechart.schema import Box, Composition, ImageRef, Recipe, Size
        >>> image = ImageRef("", Size(400, 300), "image/jpeg", n_bytes=7000)
        >>> whole = Recipe(Composition(Size(400, 300), Box(0, 0, 400, 300)))
        >>> half = Recipe(Composition(Size(400, 300), Box(0, 0, 400, 300), resized=Size(200, 150)))
        >>> [planned_file(Picture(image, recipe, "", recipe.geometry.size)) for recipe in (whole, half)]
        [(7000, 'image/jpeg'), (None, 'image/png')]
    """
    if _is_jpeg(picture.recipe.transport):
        return None, "image/jpeg"
    if is_standing_file(picture):
        return picture.image.n_bytes, picture.image.media_type
    return None, "image/png"


def is_standing_file(picture: Picture) -> bool:
    """Whether a picture leaves as the very file it comes from; a file whose header was not read counts as plain."""
    geometry = picture.recipe.geometry
    image = picture.image
    if image.media_type not in _STANDING_MEDIA_TYPES or image.exif_orientation != 1 or image.is_plain is False:
        return False
    if isinstance(geometry, GridComposition) or geometry.size != picture.image.size:
        return False
    is_unscaled = geometry.resized is None and geometry.enlarged is None
    return is_unscaled and geometry.kept == (0, 0, *picture.image.size)


@cache
def _is_jpeg(transport: str) -> bool:
    return parse_transport(transport).is_jpeg

"""How the pixels of a view are made, and what was made."""

from typing import Literal

from eyechart.schema._base import Box, JsonObject, Record, Size, Value
from eyechart.schema._questions import ImageRef


class Composition(Value, frozen=True, tag="composition"):
    """What a view keeps of one picture: ``kept`` pixels at ``offset`` on a white ``canvas``, then resized.

    Args:
        canvas: Size of the white canvas in original pixels.
        kept: Integer box of the original whose pixels are kept; None for a blank canvas.
        offset: Where the top-left corner of ``kept`` lies on the canvas.
        resized: Size after the canvas is resampled, None if it is not.
        enlarged: Final size if a downsampled picture is enlarged again for a transport policy, else None; the detail
            that ``resized`` lost stays lost.
    """

    canvas: Size
    kept: Box | None
    offset: tuple[int, int] = (0, 0)
    resized: Size | None = None
    enlarged: Size | None = None

    @property
    def size(self) -> Size:
        """Size of the finished picture."""
        return self.enlarged or self.resized or self.canvas


class GridComposition(Value, frozen=True, tag="grid"):
    """One needle among other pictures on a grid canvas (drawn by ``images.grid_canvas``).

    Args:
        canvas: Size of the canvas.
        style: ``captioned`` prints row and column under every picture; ``white`` leaves the other cells white.
        rows: Rows of cells.
        columns: Columns of cells.
        row: The needle's row, from 0.
        column: The needle's column, from 0.
        tile: Size that every picture gets, whatever its aspect ratio.
        pitch: From one cell to the next.
        haystack: Hash of the distractors' file hashes in the order of the cells; None without distractors. The list
            itself would be repeated in the request of every cell.
        distractor_seed: What that order was made with.
        caption: Name and version of the glyph atlas, None without captions.
        resized: Final size if a transport policy resamples the finished canvas, else None.
    """

    canvas: Size
    style: Literal["white", "captioned"]
    rows: int
    columns: int
    row: int
    column: int
    tile: Size
    pitch: Size
    haystack: str | None = None
    distractor_seed: int = 0
    caption: str | None = None
    resized: Size | None = None

    @property
    def size(self) -> Size:
        """Size of the finished picture."""
        return self.resized or self.canvas

    def corner(self, row: int, column: int) -> tuple[int, int]:
        """Return where the top-left corner of a cell's picture lies.

        It stands in the middle of its cell's width, with the same border above it; what is left below is for a caption.
        """
        border = (self.pitch.width - self.tile.width) // 2
        return border + column * self.pitch.width, border + row * self.pitch.height


class DecodePolicy(Value, frozen=True):
    """How a file becomes pixels (``decode@1``): the options, all hashed into every recipe.

    Args:
        version: Name and version of the policy.
        exif: ``ignore`` keeps stored pixels; ``apply`` rotates the pixels and every box with them.
        matte: Colour under transparency.
    """

    version: str = "decode@1"
    exif: Literal["ignore", "apply"] = "ignore"
    matte: tuple[int, int, int] = (255, 255, 255)


class Recipe(Value, frozen=True):
    """All that decides the pixels of one picture sent to a model, besides the original itself.

    ``resampler`` is name and algorithm version (never a library version) and None where nothing is resampled, so that
    views which need no resampling share their key whatever the resampler.
    """

    geometry: Composition | GridComposition
    decode: DecodePolicy = DecodePolicy()
    resampler: str | None = None
    transport: str = "native@1"


class Release(Value, frozen=True):
    """What a released file shows: of which original, and by which geometry it was cut and resized from it."""

    file_sha256: str
    size: Size
    geometry: Composition


class Picture(Value, frozen=True):
    """One picture of a request: which original, by which recipe, and its planned size.

    ``target`` is the question's target in pixels of this picture (floats after resampling), None where it has none.
    ``release`` is set where ``image`` is itself a released view of another picture.
    """

    image: ImageRef
    recipe: Recipe
    recipe_key: str
    size: Size
    target: Box | None = None
    release: Release | None = None


class Renderer(Value, frozen=True):
    """What drew the pixels: recorded, but no part of any key."""

    library: str
    version: str
    resampler: str | None = None
    encoder: str | None = None


class ViewImage(Record, frozen=True, kw_only=True):
    """One rendered or released view of one question."""

    question_id: str
    view: str
    image: ImageRef
    index: int = 0
    recipe_key: str | None = None
    source_region: Box | None = None
    target_in_view: Box | None = None
    renderer: Renderer | None = None
    notes: tuple[str, ...] = ()
    extra: JsonObject = {}

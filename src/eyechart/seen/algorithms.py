"""How hosted models resize pictures: one frozen record per published algorithm, applied by arithmetic alone."""

import math

import msgspec.structs

from eyechart.schema import Box, Size, Value

# Guards floors and ceilings of products that should be whole: 2112.0000001 is 2112.
_EPSILON = 1e-6
_TOKEN_EPSILON = 1e-9


class Resized(Value, frozen=True, repr_omit_defaults=True):
    """What an algorithm makes of a picture.

    Args:
        stages: Sizes after each resize, in order; the last is what the model's grid shows. Empty where it is unknown.
        tokens: Tokens the picture costs, None where that is unknown.
        n_tiles: Tiles it is cut into, None where it is not tiled.
        cell_px: Side of the square on the grid that one token stands for, None where tokens are not a grid.
        sent: Size as sent, needed where only a part is kept.
        kept: The part of the sent picture that is left after a cut, in its own pixels; None for all of it.
        refused: Why a picture of this size cannot be taken at all; empty where it can.
        unseen: Why no size is known although the picture is taken; empty where one is, or the rule says why.
    """

    stages: tuple[Size, ...] = ()
    tokens: int | None = None
    n_tiles: int | None = None
    cell_px: int | None = None
    sent: Size | None = None
    kept: Box | None = None
    refused: str = ""
    unseen: str = ""

    @property
    def size(self) -> Size | None:
        """Size on the model's grid, of what is kept.

        Example:
            >>> Resized((Size(597, 336),), sent=Size(1920, 1080), kept=Box(420, 0, 1500, 1080)).size
            Size(width=336, height=336)
        """
        if not self.stages or self.kept is None or self.sent is None:
            return self.stages[-1] if self.stages else None
        whole = self.stages[-1]
        return Size(
            max(1, round(self.kept.width * whole.width / self.sent.width)),
            max(1, round(self.kept.height * whole.height / self.sent.height)),
        )

    @property
    def lost_area(self) -> float:
        """Share of the sent picture that a cut left out."""
        if self.kept is None or self.sent is None:
            return 0.0
        return 1.0 - self.kept.area / self.sent.n_px


class Algorithm(Value, frozen=True, tag_field="kind"):
    """Base of all algorithms."""

    def apply(self, sent: Size) -> Resized:
        """Return what becomes of a picture of this size."""
        raise NotImplementedError


class Tiles(Algorithm, frozen=True, tag="tiles"):
    """Shrink into a square, shrink until the shorter side fits, cut into tiles (OpenAI's older models).

    Nothing is enlarged: the guide does not say so, but its 255 tokens for 512×512 mean one tile.
    """

    fit_px: int
    short_px: int
    tile_px: int
    base_tokens: int
    tokens_per_tile: int

    def apply(self, sent: Size) -> Resized:
        """Return size, tiles and tokens.

        Example:
            >>> Tiles(2048, 768, 512, 85, 170).apply(Size(3840, 2160)).tokens
            1105
        """
        width, height = _fitted(sent, self.fit_px)
        scale = min(1.0, self.short_px / min(width, height))
        size = _floored(width * scale, height * scale)
        n_tiles = math.ceil(size.width / self.tile_px) * math.ceil(size.height / self.tile_px)
        return Resized((size,), self.base_tokens + n_tiles * self.tokens_per_tile, n_tiles)


class Fit(Algorithm, frozen=True, tag="fit"):
    """Shrink until the longer side fits; a fixed number of tokens, or one per patch."""

    max_side_px: int
    tokens: int | None = None

    def apply(self, sent: Size) -> Resized:
        """Return size and tokens.

        Example:
            >>> Fit(512, 85).apply(Size(3840, 2160)).size
            Size(width=512, height=288)
        """
        return Resized((_floored(*_fitted(sent, self.max_side_px)),), self.tokens)


class Patches(Algorithm, frozen=True, tag="patches"):
    """Shrink until side and number of patches fit (OpenAI's newer models).

    Args:
        patch_px: Side of a patch.
        max_patches: Budget of patches; None for no bound.
        max_side_px: Bound of the longer side; None for no bound.
        tokens_per_patch: Multiplier of the bill.
    """

    patch_px: int
    max_patches: int | None = None
    max_side_px: int | None = None
    tokens_per_patch: float = 1.0

    def apply(self, sent: Size) -> Resized:
        """Return size and tokens.

        Example:
            >>> Patches(32, 1536).apply(Size(1800, 2400))
            Resized(stages=(Size(width=1056, height=1408),), tokens=1452, cell_px=32)
        """
        width, height = _fitted(sent, self.max_side_px or max(sent))
        if self.max_patches is not None and self._count(width, height) > self.max_patches:
            scale = math.sqrt(self.patch_px**2 * self.max_patches / (width * height))
            columns, rows = width * scale / self.patch_px, height * scale / self.patch_px
            scale *= min(_whole_share(columns), _whole_share(rows))
            width, height = width * scale, height * scale
        size = _floored(width, height)
        n_patches = min(self._count(*size), self.max_patches or self._count(*size))
        tokens = math.ceil(n_patches * self.tokens_per_patch - _TOKEN_EPSILON)
        return Resized((size,), tokens, cell_px=self.patch_px)

    def _count(self, width: float, height: float) -> int:
        return math.ceil(width / self.patch_px) * math.ceil(height / self.patch_px)


class LongestEdge(Algorithm, frozen=True, tag="longest_edge"):
    """The largest size of the same aspect whose padded edge and patches fit, found on the longer edge (Claude).

    Padding to whole patches at the right and at the bottom is not part of the size.
    """

    patch_px: int
    max_edge_px: int
    max_tokens: int

    def apply(self, sent: Size) -> Resized:
        """Return size and tokens.

        Example:
            >>> LongestEdge(28, 1568, 1568).apply(Size(1920, 1080)).size
            Size(width=1456, height=819)
        """
        size = sent
        if not self._fits(sent):
            long, short = max(sent), min(sent)
            fits, too_long = 1, long
            while fits + 1 < too_long:
                middle = (fits + too_long) // 2
                if self._fits(Size(middle, _short_side(middle, long, short))):
                    fits = middle
                else:
                    too_long = middle
            size = Size(fits, _short_side(fits, long, short))
            size = size if sent.width >= sent.height else Size(size.height, size.width)
        return Resized((size,), self._tokens(size), cell_px=self.patch_px)

    def _fits(self, size: Size) -> bool:
        padded = math.ceil(max(size) / self.patch_px) * self.patch_px
        return padded <= self.max_edge_px and self._tokens(size) <= self.max_tokens

    def _tokens(self, size: Size) -> int:
        return math.ceil(size.width / self.patch_px) * math.ceil(size.height / self.patch_px)


class CropUnits(Algorithm, frozen=True, tag="crop_units"):
    """Shrink into a square, cut into square units of the shorter side over ``units_per_short``, scale each (Gemini 2).

    So the shorter side is always shown at ``units_per_short`` tiles, enlarged or not, above the flat size.
    """

    flat_px: int
    fit_px: int
    units_per_short: float
    tile_px: int
    tokens_per_tile: int

    def apply(self, sent: Size) -> Resized:
        """Return sizes, tiles and tokens.

        Example:
            >>> CropUnits(384, 3072, 1.5, 768, 258).apply(Size(3840, 2160)).stages
            (Size(width=3072, height=1728), Size(width=2048, height=1152))
        """
        if max(sent) <= self.flat_px:
            return Resized((sent,), self.tokens_per_tile, 1)
        width, height = _fitted(sent, self.fit_px)
        unit = max(1, math.floor(min(width, height) / self.units_per_short))
        n_tiles = math.ceil(width / unit) * math.ceil(height / unit)
        scale = self.tile_px / unit
        fitted = Size(max(1, round(width)), max(1, round(height)))
        shown = Size(max(1, round(width * scale)), max(1, round(height * scale)))
        return Resized((fitted, shown), n_tiles * self.tokens_per_tile, n_tiles)


class TokenBudget(Algorithm, frozen=True, tag="token_budget"):
    """Scale up or down until a grid of square cells is as full as a budget allows (Gemma 4, and so Gemini 3).

    Tokens do not depend on the cell's side, so it may be unknown: then no size is told.
    """

    cell_px: int | None
    max_tokens: int

    def apply(self, sent: Size) -> Resized:
        """Return size and tokens.

        Example:
            >>> TokenBudget(48, 1120).apply(Size(256, 256))
            Resized(stages=(Size(width=1584, height=1584),), tokens=1089, cell_px=48)
        """
        cell = self.cell_px or 1
        scale = math.sqrt(self.max_tokens * cell**2 / sent.n_px)
        columns, rows = (max(1, int(scale * side // cell)) for side in sent)
        stages = (Size(columns * cell, rows * cell),) if self.cell_px else ()
        return Resized(stages, columns * rows, cell_px=self.cell_px)


class SmartResize(Algorithm, frozen=True, tag="smart_resize"):
    """Round both sides to blocks and keep the number of pixels between two bounds (Qwen-VL)."""

    block_px: int
    min_px: int
    max_px: int

    def apply(self, sent: Size) -> Resized:
        """Return size and tokens.

        Example:
            >>> SmartResize(28, 3136, 1003520).apply(Size(1920, 1080)).size
            Size(width=1316, height=728)
        """
        block = self.block_px
        width, height = (max(block, round(side / block) * block) for side in sent)
        if width * height > self.max_px:
            shrink = math.sqrt(sent.n_px / self.max_px)
            width, height = (max(block, math.floor(side / shrink / block) * block) for side in sent)
        elif width * height < self.min_px:
            grow = math.sqrt(self.min_px / sent.n_px)
            width, height = (math.ceil(side * grow / block) * block for side in sent)
        return Resized((Size(width, height),), width * height // block**2, cell_px=block)


class RowBreaks(Algorithm, frozen=True, tag="row_breaks"):
    """Shrink until the longer side fits, stretch to whole cells; a token per cell and one per row (Mistral)."""

    max_side_px: int
    patch_px: int
    patches_per_token_side: int = 1

    def apply(self, sent: Size) -> Resized:
        """Return size and tokens.

        Example:
            >>> RowBreaks(1024, 16).apply(Size(1920, 1080)).tokens
            2340
        """
        width, height = sent
        ratio = max(sent) / self.max_side_px
        if ratio > 1:
            width, height = round(width / ratio), round(height / ratio)
        cell = self.patch_px * self.patches_per_token_side
        columns, rows = (max(1, math.ceil(side / cell)) for side in (width, height))
        return Resized((Size(columns * cell, rows * cell),), rows * (columns + 1), cell_px=cell)


class CountedTiles(Algorithm, frozen=True, tag="counted_tiles"):
    """Tiles whose grid is not published: tokens can be bounded, the size cannot be told (Grok)."""

    tile_px: int
    max_tiles: int
    extra_tiles: int
    tokens_per_tile: int

    def apply(self, sent: Size) -> Resized:
        """Return tiles and tokens.

        Example:
            >>> CountedTiles(448, 6, 1, 256).apply(Size(3840, 2160)).tokens
            1792
        """
        needed = math.ceil(sent.width / self.tile_px) * math.ceil(sent.height / self.tile_px)
        n_tiles = min(self.max_tiles, needed)
        return Resized((), (n_tiles + self.extra_tiles) * self.tokens_per_tile, n_tiles)


class Unpublished(Algorithm, frozen=True, tag="unpublished"):
    """No size is published; a flat number of tokens may be."""

    tokens: int | None = None

    def apply(self, sent: Size) -> Resized:  # noqa: ARG002 -- the size does not matter
        """Return the tokens.

        Example:
            >>> Unpublished(230).apply(Size(3840, 2160))
            Resized(tokens=230)
        """
        return Resized((), self.tokens)


PlainAlgorithm = (
    Tiles | Fit | Patches | LongestEdge | CropUnits | TokenBudget | SmartResize | RowBreaks | CountedTiles | Unpublished
)


class ShrunkBefore(Algorithm, frozen=True, tag="shrunk_before"):
    """A client or gateway that shrinks pictures before the model's own rule, and may say so in a note to the model.

    Args:
        max_side_px: Bound of the longer side of what it passes on.
        then: What the model does.
        note_tokens: Tokens of the note beside a picture that was shrunk.
    """

    max_side_px: int
    then: PlainAlgorithm
    note_tokens: int = 0

    def apply(self, sent: Size) -> Resized:
        """Return size and tokens, those of the note included.

        Example:
            >>> ShrunkBefore(2000, Patches(28), 40).apply(Size(3840, 2160))
            Resized(stages=(Size(width=2000, height=1125), Size(width=2000, height=1125)), tokens=2992, cell_px=28)
        """
        if max(sent) <= self.max_side_px:
            return self.then.apply(sent)
        width, height = _fitted(sent, self.max_side_px)
        passed_on = Size(max(1, round(width)), max(1, round(height)))
        resized = self.then.apply(passed_on)
        return msgspec.structs.replace(
            resized,
            stages=(passed_on, *resized.stages) if resized.stages else (),
            tokens=None if resized.tokens is None else resized.tokens + self.note_tokens,
        )


AnyAlgorithm = PlainAlgorithm | ShrunkBefore


def _fitted(size: Size, max_side_px: int) -> tuple[float, float]:
    scale = min(1.0, max_side_px / max(size))
    return size.width * scale, size.height * scale


def _floored(width: float, height: float) -> Size:
    return Size(max(1, math.floor(width + _EPSILON)), max(1, math.floor(height + _EPSILON)))


def _whole_share(count: float) -> float:
    """Return which share of a count of patches is whole, so that scaling by it leaves whole patches."""
    return max(1, math.floor(count + _EPSILON)) / count if count >= 1 else 1.0


def _short_side(edge: int, long: int, short: int) -> int:
    return max(round(edge / (long / short)), 1)

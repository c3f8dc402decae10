"""Grids on their way to a model: needle and distractors are decoded once, one canvas serves all cells."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

import msgspec

from eyechart.errors import BenchmarkError
from eyechart.images.cache import DecodedCache
from eyechart.images.encode import JpegSettings
from eyechart.images.grid_canvas import HRSCENE_JPEG, GridCanvas, squeeze_to_tile
from eyechart.images.haystack import find_haystacks
from eyechart.images.pixels import DecodedImage, Pixels
from eyechart.images.resample import DEFAULT_RESAMPLER
from eyechart.kinds import Benchmark
from eyechart.runs.large_pictures import LargeSource
from eyechart.schema import DecodePolicy, GridComposition, ImageRef, Picture

Decode = Callable[[ImageRef, DecodePolicy], DecodedImage]
MAX_TILE_BYTES = 256 << 20
_MAX_CANVASES = 2


class GridSource:
    """Makes the grids of a benchmark's requests, keeping recent tiles and the last canvases.

    Args:
        benchmark: Where questions with their distractors come from.
        decode: Returns the decoded file behind a picture.
        large: Shrinks pictures that are too large to decode at once.
        tiles: Tiles kept in memory, if other grids share them; else it keeps its own, up to 256 MiB.
    """

    def __init__(
        self, benchmark: Benchmark, decode: Decode, large: LargeSource, *, tiles: DecodedCache | None = None
    ) -> None:
        self._benchmark, self._decode, self._large = benchmark, decode, large
        self._tiles = DecodedCache(MAX_TILE_BYTES) if tiles is None else tiles
        self._canvases: OrderedDict[str, GridCanvas] = OrderedDict()
        self._haystacks: dict[str, tuple[ImageRef, ...]] = {}
        self._lock = Lock()

    def draw(self, picture: Picture, geometry: GridComposition) -> Pixels:
        """Return the pixels of a grid, (height, width, 3) uint8."""
        return self._canvas(picture, geometry).draw(self._needle(picture, geometry), geometry.row, geometry.column)

    def encode_png(self, picture: Picture, geometry: GridComposition) -> bytes:
        """Return a grid as a PNG file."""
        needle = self._needle(picture, geometry)
        return self._canvas(picture, geometry).encode_png(needle, geometry.row, geometry.column)

    def encode_jpeg(self, picture: Picture, geometry: GridComposition, settings: JpegSettings = HRSCENE_JPEG) -> bytes:
        """Return a grid as a JPEG file, as HRScene stores it if nothing else is said."""
        needle = self._needle(picture, geometry)
        return self._canvas(picture, geometry).encode_jpeg(needle, geometry.row, geometry.column, settings)

    def _needle(self, picture: Picture, geometry: GridComposition) -> Pixels:
        return self._tile(picture.image, picture, geometry)

    def _canvas(self, picture: Picture, geometry: GridComposition) -> GridCanvas:
        """Return the canvas of all cells of a grid; made when its first cell is asked for, while the others wait."""
        anywhere = msgspec.structs.replace(geometry, row=0, column=0, resized=None)
        recipe = msgspec.structs.replace(picture.recipe, geometry=anywhere)
        key = msgspec.json.encode(recipe).decode()
        with self._lock:
            if key in self._canvases:
                self._canvases.move_to_end(key)
            else:
                tiles = [self._tile(image, picture, geometry) for image in self._haystack(geometry)]
                self._canvases[key] = GridCanvas(anywhere, tiles)
                while len(self._canvases) > _MAX_CANVASES:
                    self._canvases.popitem(last=False)
            return self._canvases[key]

    def _tile(self, image: ImageRef, picture: Picture, geometry: GridComposition) -> Pixels:
        resampler = picture.recipe.resampler or DEFAULT_RESAMPLER
        key = f"{image.file_sha256} {resampler} {geometry.tile.width}x{geometry.tile.height}"

        def squeezed() -> DecodedImage:
            if self._large.shrinks(image, picture.recipe.decode, resampler):
                return DecodedImage.from_pixels(
                    self._large.shrink(image, picture.recipe.decode, geometry.tile, resampler)
                )
            decoded = self._decode(image, picture.recipe.decode)
            return DecodedImage.from_pixels(squeeze_to_tile(decoded, geometry.tile, resampler))

        return self._tiles.get(key, picture.recipe.decode, squeezed).pixels

    def _haystack(self, geometry: GridComposition) -> tuple[ImageRef, ...]:
        """Return the distractors that a recipe names by one hash, found among the benchmark's questions."""
        if geometry.haystack is None:
            return ()
        if geometry.haystack not in self._haystacks:
            n_cells = geometry.rows * geometry.columns - 1
            questions = tuple(self._benchmark.questions())
            known = {image.file_sha256: image for question in questions for image in question.distractors}
            for name, hashes in find_haystacks(questions, n_cells, geometry.distractor_seed).items():
                self._haystacks[name] = tuple(known[sha256] for sha256 in hashes)
        if geometry.haystack not in self._haystacks:
            raise BenchmarkError(
                f"no question has the distractors that were planned ({geometry.haystack[:12]}…)",
                hint="was the benchmark opened with other needles or another seed?",
            )
        return self._haystacks[geometry.haystack]

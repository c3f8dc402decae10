"""All 100 places of one needle in a 10 × 10 grid: our shared canvas against a naive script, pixels verified.

Run: ``python benchmarks/bench_grids.py`` (about four minutes), ``--check`` to fail on a missed goal (P10).
The naive script opens, resizes and captions all 100 pictures for every place, as people write it; it is timed on a few
places. Ours is timed on all places, decoding included. Rounds are interleaved in one process; the figure is CPU seconds
per grid, the ratio the median over rounds of naive ÷ ours in the same round.
"""

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
from pictures import make_picture
from PIL import Image, ImageDraw, ImageFont, features

from eyechart.images.captions import CAPTION_ATLAS
from eyechart.images.decode import decode
from eyechart.images.deflate import deflate_name
from eyechart.images.grid_canvas import GridCanvas, squeeze_to_tile
from eyechart.schema import GridComposition, Size
from eyechart.views.grid import CAPTIONED_PITCH, TILE

SIDE = 10
PHOTO = Size(640, 480)
NAIVE_PLACES = ((0, 0), (4, 7), (9, 9))
# P10 of the image measurements: the smallest ratios at which a grid costs less than asking about it.
GOALS = {"png": 20.0, "jpeg": 8.0, "white png": 20.0}


def font() -> ImageFont.FreeTypeFont:
    spec = importlib.util.find_spec("matplotlib")
    assert spec is not None
    assert spec.origin is not None
    return ImageFont.truetype(Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf" / "DejaVuSans-Bold.ttf", 30)


def naive_grid(paths: list[Path], row: int, column: int, *, is_white: bool) -> Image.Image:
    """One grid as people write it; ``paths`` begins with the needle."""
    if is_white:
        page = Image.new("RGB", (448 * SIDE, 448 * SIDE), "white")
        page.paste(
            Image.open(paths[0]).convert("RGB").resize(TILE, Image.Resampling.LANCZOS), (448 * column, 448 * row)
        )
        return page
    page = Image.new("RGB", (488 * SIDE, 508 * SIDE), "white")
    pen, others = ImageDraw.Draw(page), iter(paths[1:])
    for index in range(SIDE * SIDE):
        r, c = divmod(index, SIDE)
        path = paths[0] if (r, c) == (row, column) else next(others)
        tile = Image.open(path).convert("RGB").resize(TILE, Image.Resampling.LANCZOS)
        page.paste(tile, (20 + 488 * c, 20 + 508 * r))
        text, face = f"row {r + 1}, column {c + 1}", font()
        left = int((488 - face.getlength(text)) / 2 + 0.5)
        pen.text((left + 488 * c, 508 * r + 499), text, fill=0, font=face, anchor="ls")
    return page


def naive(paths: list[Path], kind: str) -> int:
    n_bytes = 0
    for row, column in NAIVE_PLACES:
        stream = BytesIO()
        page = naive_grid(paths, row, column, is_white=kind.startswith("white"))
        page.save(stream, "JPEG" if kind.endswith("jpeg") else "PNG")
        n_bytes += stream.tell()
    return n_bytes // len(NAIVE_PLACES)


def open_canvas(paths: list[Path], *, is_white: bool) -> tuple[GridCanvas, np.ndarray]:
    needle, *tiles = (squeeze_to_tile(decode(path), TILE) for path in (paths[:1] if is_white else paths))
    pitch = TILE if is_white else CAPTIONED_PITCH
    geometry = GridComposition(
        canvas=Size(pitch.width * SIDE, pitch.height * SIDE),
        style="white" if is_white else "captioned",
        rows=SIDE,
        columns=SIDE,
        row=0,
        column=0,
        tile=TILE,
        pitch=pitch,
        caption=None if is_white else CAPTION_ATLAS,
    )
    return GridCanvas(geometry, tiles), needle


def ours(paths: list[Path], kind: str) -> int:
    canvas, needle = open_canvas(paths, is_white=kind.startswith("white"))
    encode = canvas.encode_jpeg if kind.endswith("jpeg") else canvas.encode_png
    n_bytes = sum(len(encode(needle, *divmod(index, SIDE))) for index in range(SIDE * SIDE))
    return n_bytes // SIDE**2


def verify(paths: list[Path]) -> None:
    """Hold our pixels, and those of our PNG, against the naive script's."""
    for is_white in (True, False):
        canvas, needle = open_canvas(paths, is_white=is_white)
        for place in NAIVE_PLACES:
            expected = np.asarray(naive_grid(paths, *place, is_white=is_white)).astype(np.int16)
            drawn = canvas.draw(needle, *place)
            # Another FreeType may round the coverage of a letter otherwise; pictures and white are equal to the bit.
            assert np.abs(drawn - expected).max() <= 16
            written = np.asarray(Image.open(BytesIO(canvas.encode_png(needle, *place))))
            assert np.array_equal(written, drawn)


def timed(work: Callable[[], int], n_grids: int) -> tuple[float, int]:
    began = time.process_time()
    n_bytes = work()
    return (time.process_time() - began) / n_grids, n_bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="fail on a missed goal")
    options = parser.parse_args()
    print(f"deflate here: {deflate_name()}; Pillow's PNG: zlib {features.version('zlib')}", flush=True)
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{index}.jpg" for index in range(SIDE * SIDE)]
        for index, path in enumerate(paths):
            make_picture(*PHOTO, seed=index).save(path, quality=90)
        verify(paths)
        print("pixels verified", flush=True)
        for kind in ("png", "jpeg", "white png", "white jpeg"):
            rounds = []
            for _ in range(options.rounds):
                slow, slow_bytes = timed(lambda kind=kind: naive(paths, kind), len(NAIVE_PLACES))
                fast, fast_bytes = timed(lambda kind=kind: ours(paths, kind), SIDE * SIDE)
                rounds.append((slow / fast, slow, fast, slow_bytes, fast_bytes))
            ratio, slow, fast, slow_bytes, fast_bytes = (
                statistics.median(column) for column in zip(*rounds, strict=True)
            )
            goal = GOALS.get(kind)
            verdict = "" if goal is None else f"  P10 goal {goal:g}×: {'ok' if ratio >= goal else 'MISSED'}"
            print(
                f"{kind:10s} naive {1000 * slow:7.0f} ms ({slow_bytes / 1e6:.1f} MB), ours {1000 * fast:6.1f} ms "
                f"({fast_bytes / 1e6:.1f} MB) per grid: {ratio:.1f}×{verdict}",
                flush=True,
            )
            if goal is not None and ratio < goal:
                missed.append(kind)
    if options.check and missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()

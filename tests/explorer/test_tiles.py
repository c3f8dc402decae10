"""Laws of tiles: together they are the picture to the bit, also where it is too large to be drawn."""

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from eyechart.errors import UsageError
from eyechart.explorer import tiles
from eyechart.explorer.pictures import BenchmarkPictures, recorded_data
from eyechart.explorer.tiles import TILE_PX, TileCutter, tile_shape
from eyechart.schema import Size

from .conftest import paint


@pytest.fixture
def cutter(study, data):
    cutter = TileCutter(BenchmarkPictures(study.run(0).table.run, data).benchmark)
    yield cutter
    cutter.close()


def picture(study, condition, question="q/1 é"):
    run = study.run(0)
    return run.entries(run.position(question))[condition][0].request.pictures[0]


def assemble(cutter, shown, seen=None, reduction=0):
    """All tiles of one level as one array."""
    shape = tile_shape(seen or shown.size)
    width, height = (-(-side >> reduction) for side in shape.size)
    page = np.zeros((height, width, 3), np.uint8)
    for row in range(-(-height // TILE_PX)):
        for column in range(-(-width // TILE_PX)):
            tile = np.asarray(
                Image.open(io.BytesIO(cutter.tile(shown, seen, shape.max_level - reduction, column, row)))
            )
            page[row * TILE_PX :, column * TILE_PX :][: tile.shape[0], : tile.shape[1]] = tile
    return page


def test_tiles_of_the_original_are_its_pixels(study, cutter):
    assert np.array_equal(assemble(cutter, picture(study, "original")), paint(1))


@pytest.mark.parametrize("condition", ["crop_3x", "whiteground_3x", "downsample_0_5"])
def test_tiles_of_a_view_are_what_was_sent(study, cutter, condition):
    shown = picture(study, condition)
    assert np.array_equal(assemble(cutter, shown), cutter._source.draw(shown))


def test_level_below_is_the_mean_of_four_pixels(study, cutter):
    half = assemble(cutter, picture(study, "original"), reduction=1).astype(int)
    mean = paint(1).reshape(210, 2, 350, 2, 3).mean(axis=(1, 3))
    assert np.abs(half - mean).max() <= 0.5


def test_as_the_model_saw_it_has_the_seen_size(study, cutter):
    seen = Size(175, 105)
    assert assemble(cutter, picture(study, "original"), seen).shape == (105, 175, 3)


@pytest.mark.parametrize(("level", "column", "row"), [(99, 0, 0), (-1, 0, 0), (10, 2, 0), (10, 0, -1)])
def test_tile_that_does_not_exist_is_refused(study, cutter, level, column, row):
    with pytest.raises(UsageError, match="there is no"):
        cutter.tile(picture(study, "original"), None, level, column, row)


@pytest.mark.parametrize("condition", ["original", "whiteground_3x"])
@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_tiles_of_a_picture_too_large_to_draw_show_the_same(study, cutter, monkeypatch, condition, reduction):
    """Read through the JPEG copy, so that pixels agree within its loss."""
    shown = picture(study, condition)
    exact = assemble(cutter, shown, reduction=reduction).astype(int)
    monkeypatch.setattr(tiles, "MAX_DRAWN_PIXELS", 1000)
    large = assemble(cutter, shown, reduction=reduction).astype(int)
    assert large.shape == exact.shape
    assert np.abs(large - exact).mean() < 6
    white = (exact == 255).all(axis=2)
    assert condition == "original" or (large[white] == 255).mean() > 0.95


def test_picture_too_large_to_draw_is_shown_as_the_model_saw_it(study, cutter, monkeypatch):
    """Also where the model squeezed it: both sides have their own scale."""
    shown, seen = picture(study, "original"), Size(350, 420)
    exact = assemble(cutter, shown, seen).astype(int)
    monkeypatch.setattr(tiles, "MAX_DRAWN_PIXELS", 1000)
    large = assemble(cutter, shown, seen).astype(int)
    assert large.shape == exact.shape == (420, 350, 3)
    assert np.abs(large - exact).mean() < 8


@pytest.mark.parametrize("reduction", [1, 2, 3])
def test_levels_of_odd_sides_are_not_shifted(tmp_path, reduction):
    """At the right edge of a wide picture, where a scale that is off by one pixel in thousands shows most."""
    waves = (128 + 80 * np.sin(np.arange(3583) * np.pi / 16)).astype(np.uint8)
    Image.fromarray(np.tile(waves[None, :, None], (1023, 1, 3))).save(tmp_path / "wide.png")
    large = tiles._LargeTiles(tmp_path / "wide.png", tmp_path / "copy.tif")
    shown = large._read((3072.0, 512.0, 3072.0 + 256, 768.0), Size(256 >> reduction, 256 >> reduction))
    expected = waves[3072 : 3072 + 256].reshape(-1, 1 << reduction).mean(axis=1)
    assert np.abs(shown.astype(int) - expected[None, :, None]).mean() < 3


def test_tiles_asked_at_once_copy_a_large_file_once(study, cutter, monkeypatch):
    monkeypatch.setattr(tiles, "MAX_DRAWN_PIXELS", 1000)
    written, write = [], tiles._write_pyramid

    def count(path, copy):
        written.append(path)
        return write(path, copy)

    monkeypatch.setattr(tiles, "_write_pyramid", count)
    shown = picture(study, "original")
    level = tile_shape(shown.size).max_level
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda at: cutter.tile(shown, None, level - at % 3, 0, 0), range(24)))
    assert len(written) == 1
    assert len(set(found)) == 3


def test_runs_of_one_benchmark_share_their_pictures(study, data):
    keys = {BenchmarkPictures(run.table.run, data).key for run in study.runs}
    assert len(study.runs) == 2
    assert len(keys) == 1


def test_levels_in_memory_are_bounded(study, data):
    cutter = TileCutter(BenchmarkPictures(study.run(0).table.run, data).benchmark, max_bytes=2_000_000)
    for index in range(6):
        cutter.thumbnail(picture(study, "original", f"q/{index} é"), None, 100)
    assert cutter._levels._n_bytes() <= 2_000_000
    cutter.close()


def test_thumbnail_keeps_small_pictures_as_they_are(study, cutter):
    shown = picture(study, "crop_3x")
    assert np.array_equal(cutter.thumbnail(shown, None, 500), cutter._source.draw(shown))
    assert max(cutter.thumbnail(picture(study, "original"), None, 90).shape[:2]) == 90


def test_data_of_a_command_that_is_gone_is_not_taken(tmp_path):
    assert recorded_data(("eyechart", "run", "folder", "--data", str(tmp_path / "gone"))) is None
    assert recorded_data(("eyechart", "run", "folder", "--data", str(tmp_path))) == tmp_path

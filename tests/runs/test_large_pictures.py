"""Pictures read in parts leave a run with the pixels of the ordinary path, and what is too large is refused."""

import io

import msgspec
import numpy as np
import pytest
from PIL import Image

from eyechart.errors import ImageError, RefusedInputError
from eyechart.images.hash import pixel_sha256
from eyechart.images.probe import describe_form, probe_image
from eyechart.images.resample import VIPS_RESAMPLER
from eyechart.runs import large_pictures
from eyechart.runs.pictures import PictureSource
from eyechart.runs.plan import PlanOptions

VIEWS = "original,crop_3x,whiteground_3x,target_only_original,downsample_0_25"
GRID = "grid_white_2x2_r0_c1"


@pytest.fixture
def stored(make, tmp_path):
    """A function that stores a picture and returns benchmark and planned pictures of one question about it."""

    def store(kind="PNG"):
        pixels = np.random.default_rng(3).integers(0, 256, (300, 400, 3), dtype=np.uint8)
        path = tmp_path / "new"
        Image.fromarray(pixels).save(path, kind)
        image = msgspec.structs.replace(probe_image(path), exif_orientation=describe_form(path).exif_orientation)
        path.rename(tmp_path / f"{image.file_sha256}.{image.media_type.split('/')[1]}")
        benchmark = make.benchmark([msgspec.structs.replace(make.question(0), image=image)], folder=tmp_path)
        plan = make.plan(benchmark=benchmark, views=f"{VIEWS},{GRID}", options=PlanOptions(resampler=VIPS_RESAMPLER))
        return benchmark, {request.view: request.pictures[0] for request in plan.requests}

    return store


def limit(monkeypatch, n_held, n_decoded):
    """Call pictures large that have more pixels than these."""
    monkeypatch.setattr("eyechart.images.giga.MAX_HELD_PIXELS", n_held)
    monkeypatch.setattr("eyechart.runs.large_pictures.MAX_HELD_PIXELS", n_held)
    monkeypatch.setattr("eyechart.images.giga.MAX_DECODED_PIXELS", n_decoded)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
@pytest.mark.parametrize("limits", [(1000, 10**6), (1000, 60_000)], ids=["not held twice", "never decoded"])
def test_views_read_in_parts_have_the_pixels_of_decoded_ones(stored, monkeypatch, kind, limits):
    benchmark, pictures = stored(kind)
    ordinary = PictureSource(benchmark)
    views = [view for view in VIEWS.split(",")[1:] if pictures[view].size.n_px <= limits[1]]
    expected = {view: (ordinary.draw(pictures[view]), ordinary.pixel_sha256(pictures[view])) for view in views}
    limit(monkeypatch, *limits)
    source = PictureSource(benchmark)
    assert all(source._large.serves(pictures[view]) for view in views)
    for view, (pixels, sha256) in expected.items():
        sent = source.send(pictures[view])
        assert np.array_equal(sent.pixels(), pixels)
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(sent.encoded()))), pixels)
        assert sent.pixel_sha256 == sha256


def test_views_of_one_target_are_read_once(stored, monkeypatch):
    benchmark, pictures = stored()
    expected = PictureSource(benchmark).draw(pictures["whiteground_3x"])
    limit(monkeypatch, 1000, 10**6)
    source = PictureSource(benchmark)
    source.draw(pictures["crop_3x"])
    benchmark.image_path(pictures["crop_3x"].image).unlink()
    assert np.array_equal(source.draw(pictures["whiteground_3x"]), expected)
    assert source.pixel_sha256(pictures["whiteground_3x"]) == pixel_sha256(expected)


def test_tile_of_a_grid_is_read_in_parts_and_has_the_pixels_of_a_decoded_one(stored, monkeypatch):
    benchmark, pictures = stored()
    expected = PictureSource(benchmark).draw(pictures[GRID])
    limit(monkeypatch, 1000, 10**9)
    monkeypatch.setattr("eyechart.runs.pictures.decode", lambda *_: pytest.fail("decoded at once"))
    assert np.array_equal(PictureSource(benchmark).draw(pictures[GRID]), expected)


def test_what_cannot_be_held_is_refused_and_ends_no_run(stored, monkeypatch):
    benchmark, pictures = stored("TIFF")
    limit(monkeypatch, 1000, 60_000)
    source = PictureSource(benchmark)
    for view in ("original", "whiteground_3x"):
        with pytest.raises(RefusedInputError, match="are not held at once"):
            source.draw(pictures[view])
    with pytest.raises(RefusedInputError, match="are not held at once"):
        source.encode(pictures["original"])
    assert source.encode(pictures["whiteground_3x"])[0].startswith(b"\x89PNG")


def test_a_file_too_large_to_send_is_not_even_read(stored, monkeypatch):
    benchmark, pictures = stored()
    limit(monkeypatch, 1000, 60_000)
    monkeypatch.setattr(large_pictures, "MAX_SENT_FILE_BYTES", 1000)
    with pytest.raises(RefusedInputError, match="bytes is not sent"):
        PictureSource(benchmark).encode(pictures["original"])


def test_a_large_file_that_changed_is_refused(stored, monkeypatch):
    benchmark, pictures = stored()
    path = benchmark.image_path(pictures["crop_3x"].image)
    path.write_bytes(path.read_bytes() + b"x")
    limit(monkeypatch, 1000, 60_000)
    with pytest.raises(ImageError, match="not the one that was planned"):
        PictureSource(benchmark).draw(pictures["crop_3x"])

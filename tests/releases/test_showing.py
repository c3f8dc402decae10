"""One question with all its views: previews are what the views show, and nothing large is held in memory."""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from releases.made import VIEW_IDS, make_release, open_source, write_source
from strategies import question_about

from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.errors import ImageError, UsageError
from eyechart.images.thumbnail import draw_thumbnail
from eyechart.releases import previews
from eyechart.releases.previews import draw_previews, preview_size
from eyechart.releases.showing import find_question, show_views
from eyechart.reports import write_question_page
from eyechart.schema import Box, Composition, Size
from eyechart.views import parse_view, plan_view


@pytest.fixture
def source(tmp_path):
    write_source(tmp_path)
    return open_source(tmp_path)


def planned(question, view_id):
    return plan_view(parse_view(view_id), question)[0].geometry


def test_preview_that_fits_is_the_view_itself(source):
    question = next(source.questions())
    pixels = np.asarray(Image.open(source.image_path(question.image)).convert("RGB"))
    ids = ("crop_3x", "whiteground_3x", "target_only_original", "original")
    geometries = [planned(question, view_id) for view_id in ids]
    for geometry, drawn in zip(
        geometries, draw_previews(source.image_path(question.image), geometries, 100), strict=True
    ):
        expected = np.full((geometry.canvas.height, geometry.canvas.width, 3), 255)
        box, (x, y) = geometry.kept, geometry.offset
        expected[y : y + box.height, x : x + box.width] = pixels[box.y0 : box.y1, box.x0 : box.x1]
        assert np.array_equal(np.asarray(drawn), expected)


def test_large_region_is_drawn_from_a_shrunk_copy_and_looks_the_same(tmp_path, monkeypatch):
    ramp = np.linspace(0, 255, 400, dtype=np.uint8)
    Image.fromarray(np.dstack([np.tile(ramp, (300, 1))] * 3)).save(tmp_path / "a.png")
    geometry = Composition(canvas=Size(400, 300), kept=Box(0, 0, 400, 300))
    crop = Composition(canvas=Size(200, 200), kept=Box(100, 50, 300, 250))
    exact = draw_previews(tmp_path / "a.png", [geometry, crop], 60)
    monkeypatch.setattr(previews, "MAX_REGION_PX", 10)
    shrunk = draw_previews(tmp_path / "a.png", [geometry, crop], 60)
    for one, other in zip(exact, shrunk, strict=True):
        assert one.size == other.size
        assert np.abs(np.asarray(one, int) - np.asarray(other, int)).max() <= 3


@given(st.integers(1, 50_000), st.integers(1, 50_000), st.integers(1, 1000))
def test_preview_fits_and_never_grows(width, height, side):
    shown = preview_size(Size(width, height), side)
    assert 1 <= max(shown) <= max(side, 1)
    assert shown.width <= width
    assert shown.height <= height


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "CMYK", "I;16"])
def test_thumbnail_of_any_form_is_rgb(tmp_path, mode):
    image = Image.new("RGB", (90, 40), (200, 30, 40))
    image = Image.new("I;16", (90, 40), 9000) if mode == "I;16" else image.convert(mode)
    path = tmp_path / ("a.jpg" if mode == "CMYK" else "a.png")
    image.save(path)
    for as_jpeg in (False, True):
        small = Image.open(BytesIO(draw_thumbnail(path, 30, as_jpeg=as_jpeg)))
        assert (small.size, small.mode) == ((30, 13), "RGB")


def test_thumbnail_keeps_stored_pixels_unturned(tmp_path):
    exif = Image.Exif()
    exif[274] = 6
    Image.new("RGB", (90, 40)).save(tmp_path / "a.jpg", exif=exif)
    assert Image.open(BytesIO(draw_thumbnail(tmp_path / "a.jpg", 30))).size == (30, 13)


def test_thumbnail_of_no_picture_is_an_error(tmp_path):
    (tmp_path / "a.png").write_bytes(b"nothing")
    with pytest.raises(ImageError, match="no thumbnail can be made"):
        draw_thumbnail(tmp_path / "a.png", 30)


def test_every_view_of_a_release_is_shown_as_its_file(tmp_path):
    release = SumKind().open(make_release(tmp_path), SumOptions())
    question = find_question(release, "2")
    views = show_views(release, question, VIEW_IDS)
    assert [view.view_id for view in views] == list(VIEW_IDS)
    for view in views:
        assert "released" in view.notes
        assert view.size == release.released_image(question, view.view_id).image.size
        assert Image.open(BytesIO(view.preview)).size == view.preview_size


def test_view_that_cannot_be_shown_says_why(tmp_path):
    root = make_release(tmp_path)
    (root / "data/crop_1x/test/images/000000.png").unlink()
    release = SumKind().open(root, SumOptions())
    lost, unknown = show_views(release, find_question(release, "000000"), ("crop_1x", "spiral_3x"))
    assert (lost.preview, lost.notes) == (None, ("its image is not on disk",))
    assert "no known family" in unknown.notes[0]


def test_unknown_question_is_an_error_with_a_near_one(source):
    with pytest.raises(UsageError, match="'00000x'") as raised:
        find_question(source, "00000x")
    assert "00000" in raised.value.hint


def test_page_shows_everything_escaped_and_loads_nothing(source, tmp_path):
    question = question_about(Size(9, 9), text="<script>?", choices=("a", "<b>"), answer="B", notes=("odd & so",))
    first = next(source.questions())
    views = show_views(source, first, ("original", "crop_3x", "downsample_0_5", "no_image"))
    page = write_question_page(question, views, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "&lt;b&gt; ✓ (the recorded answer)" in page
    assert "odd &amp; so" in page
    assert page.count("data:image/") == 3
    assert page.count('<rect class="over"') == 3
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page

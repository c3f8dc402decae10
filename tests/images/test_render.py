"""All views of one picture from one decode, and pictures side by side in processes."""

import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from eyechart.errors import GeometryError, ImageError, StoreError, UsageError
from eyechart.images.compose import compose
from eyechart.images.decode import decode
from eyechart.images.encode import JpegSettings
from eyechart.images.hash import file_sha256, pixel_sha256
from eyechart.images.render import RenderSettings, render_views_of_picture
from eyechart.images.workers import PictureJob, render_batches
from eyechart.schema import Box, Composition, DecodePolicy, Size

WHOLE, KEPT = Box(0, 0, 48, 32), Box(9, 7, 30, 21)
VIEWS = {
    "original/a.png": Composition(Size(48, 32), WHOLE),
    "crop_1x/a.png": Composition(Size(21, 14), KEPT),
    "whiteground_1x/a.png": Composition(Size(48, 32), KEPT, (9, 7)),
    "downsample_0_5/a.png": Composition(Size(48, 32), WHOLE, (0, 0), Size(24, 16)),
    "target_only_1x/a.png": Composition(Size(21, 14), KEPT),
    "target_only_3x/a.png": Composition(Size(40, 30), KEPT, (3, 5)),
    "target_only_original/a.png": Composition(Size(48, 32), KEPT, (9, 7)),
    "blank/a.png": Composition(Size(48, 32), None),
}
FORMS = [
    "rotated.jpg", "rotated.tif", "rgba.png", "palette.png", "palette_holes.png", "palette.gif", "grey.png",
    "one_bit.png", "grey_alpha.png", "grey16.png", "rgb16.png", "cmyk_icc.jpg", "icc.png", "progressive.jpg",
    "zstd.tif", "rgb.webp",
]  # fmt: skip


@pytest.fixture
def photo(make_form, tmp_path):
    path = tmp_path / "photo.jpg"
    path.write_bytes(make_form("rgb.jpg"))
    return path


def pixels_of(path):
    return np.asarray(Image.open(path).convert("RGB"))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_goes_through_every_view(make_form, tmp_path, form):
    path, out = tmp_path / form, tmp_path / "out"
    path.write_bytes(make_form(form))
    decoded = decode(path)
    picture = render_views_of_picture(path, list(VIEWS.items()), out)
    assert [view.name for view in picture.views] == list(VIEWS)
    assert picture.notes == decoded.notes
    assert picture.original.pixel_sha256 == pixel_sha256(decoded.pixels)
    for view in picture.views:
        expected = compose(decoded.pixels, VIEWS[view.name])
        assert np.array_equal(pixels_of(out / view.name), expected)
        assert view.image.pixel_sha256 == pixel_sha256(expected)
        assert (view.image.file_sha256, view.image.n_bytes) == file_sha256(out / view.name)
        assert view.image.size == VIEWS[view.name].size
        assert Image.open(out / view.name).info == {}


def test_a_rotated_picture_is_rendered_rotated_if_the_policy_says_so(make_form, tmp_path, rgb):
    path = tmp_path / "rotated.png"
    path.write_bytes(make_form("rotated.png"))
    views = [("a.png", Composition(Size(32, 48), Box(0, 0, 32, 48)))]
    picture = render_views_of_picture(path, views, tmp_path, RenderSettings(decode=DecodePolicy(exif="apply")))
    assert np.array_equal(pixels_of(tmp_path / "a.png"), np.rot90(rgb, -1))
    assert picture.original.size == Size(48, 32)


def test_views_of_equal_geometry_share_their_bytes(photo, tmp_path):
    picture = render_views_of_picture(photo, list(VIEWS.items()), tmp_path / "out")
    by_name = {view.name: view.image for view in picture.views}
    assert list(by_name) == list(VIEWS)
    assert by_name["crop_1x/a.png"] == by_name["target_only_1x/a.png"]
    assert by_name["whiteground_1x/a.png"] == by_name["target_only_original/a.png"]
    assert (tmp_path / "out/crop_1x/a.png").samefile(tmp_path / "out/target_only_1x/a.png")


def test_the_resampler_is_used_and_recorded_only_where_something_is_resized(photo, tmp_path):
    settings = RenderSettings(resampler="pillow-box@1")
    picture = render_views_of_picture(photo, list(VIEWS.items()), tmp_path / "out", settings)
    expected = compose(decode(photo).pixels, VIEWS["downsample_0_5/a.png"], "pillow-box@1")
    assert np.array_equal(pixels_of(tmp_path / "out/downsample_0_5/a.png"), expected)
    resamplers = {view.name.split("/")[0]: view.renderer.resampler for view in picture.views}
    assert resamplers.pop("downsample_0_5") == "pillow-box@1"
    assert set(resamplers.values()) == {None}


def test_pixel_hashes_can_be_left_out(photo, tmp_path):
    picture = render_views_of_picture(photo, list(VIEWS.items()), tmp_path, RenderSettings(hash_pixels=False))
    assert picture.original.pixel_sha256 is None
    assert all(view.image.pixel_sha256 is None for view in picture.views)


def test_jpeg_is_written_where_the_name_asks_for_it_with_the_hash_of_what_a_reader_gets(photo, tmp_path):
    settings = RenderSettings(jpeg=JpegSettings(80, "4:2:0"))
    views = [("a.jpg", VIEWS["whiteground_1x/a.png"]), ("a.png", VIEWS["whiteground_1x/a.png"])]
    jpeg, png = render_views_of_picture(photo, views, tmp_path / "out", settings).views
    assert jpeg.image.media_type == "image/jpeg"
    assert jpeg.image.pixel_sha256 == pixel_sha256(pixels_of(tmp_path / "out/a.jpg"))
    assert png.image.pixel_sha256 != jpeg.image.pixel_sha256
    assert jpeg.renderer.encoder.startswith("jpeg quality=80 subsampling=4:2:0")


def test_names_must_say_the_encoding_and_differ(photo, tmp_path):
    crop = VIEWS["crop_1x/a.png"]
    with pytest.raises(UsageError, match=r"a\.webp: views are written as PNG or JPEG"):
        render_views_of_picture(photo, [("a.webp", crop)], tmp_path)
    with pytest.raises(UsageError, match=r"a\.png: two views would be written to this file"):
        render_views_of_picture(photo, [("a.png", crop), ("a.png", crop)], tmp_path)


def test_errors_name_the_picture_and_leave_no_partial_file(photo, tmp_path):
    with pytest.raises(GeometryError, match="not an integer box inside the 48×32 original"):
        render_views_of_picture(photo, [("out/a.png", Composition(Size(9, 9), Box(0, 0, 90, 9)))], tmp_path)
    assert not (tmp_path / "out").exists()
    with pytest.raises(ImageError, match="my/000007: cannot read"):
        render_views_of_picture(tmp_path / "absent.png", [], tmp_path, place="my/000007")
    with pytest.raises(StoreError, match="cannot write"):
        render_views_of_picture(photo, [("photo.jpg/a.png", VIEWS["crop_1x/a.png"])], tmp_path)


def jobs_in(folder, make_form, names):
    jobs = []
    for index, name in enumerate(names):
        path = folder / f"{index}_{name}"
        path.write_bytes(make_form(name))
        jobs.append(PictureJob(path, ((f"crop/{index}.png", VIEWS["crop_1x/a.png"]),), f"my/{index}"))
    return jobs


@pytest.mark.parametrize("n_processes", [1, 2])
def test_a_picture_that_fails_does_not_stop_the_others(make_form, tmp_path, n_processes):
    jobs = jobs_in(tmp_path, make_form, ["rgb.png", "truncated_rgb.jpg", "rgba.png", "cmyk.jpg", "grey.png"])
    outcomes = list(render_batches(jobs, tmp_path / "out", n_processes=n_processes))
    assert [outcome.job for outcome in outcomes] == jobs
    assert [outcome.picture is None for outcome in outcomes] == [False, True, False, True, False]
    failed = outcomes[3].error
    assert isinstance(failed, ImageError)
    assert "my/3: CMYK without" in failed.message
    assert failed.hint == "convert the picture to sRGB with the profile of its press"
    assert sorted(path.name for path in (tmp_path / "out/crop").iterdir()) == ["0.png", "2.png", "4.png"]


def test_processes_and_one_process_write_the_same_files(make_form, tmp_path):
    jobs = jobs_in(tmp_path, make_form, ["rgb.png", "rgba.png", "rgb.jpg"])
    alone = [outcome.picture for outcome in render_batches(jobs, tmp_path / "one", n_processes=1)]
    together = [outcome.picture for outcome in render_batches(jobs, tmp_path / "two", n_processes=2)]
    assert alone == together


def test_an_unknown_resampler_is_refused_before_any_process_starts(tmp_path):
    with pytest.raises(UsageError, match="unknown resampler"):
        next(render_batches([], tmp_path, RenderSettings(resampler="nearest")))


def test_a_killed_process_is_an_error_with_a_hint(make_form, tmp_path):
    jobs = jobs_in(tmp_path, make_form, ["rgb.png"] * 3)
    fifo = tmp_path / "fifo.png"
    os.mkfifo(fifo)  # a picture that a worker waits for until it is killed
    batches = render_batches([PictureJob(fifo, ()), *jobs], tmp_path / "out", n_processes=2)
    killer = subprocess.Popen([sys.executable, "-c", KILL_READER, str(os.getpid()), str(fifo)])
    with pytest.raises(ImageError, match="a rendering process ended before its work did, with 2 at once") as caught:
        list(batches)
    killer.wait()
    assert "fewer processes" in caught.value.hint


# Opening a FIFO for writing waits for its reader, the worker; the worker is then the descendant that has it open.
KILL_READER = """
import os, signal, sys
from pathlib import Path
writer = open(sys.argv[2], "wb")
for entry in Path("/proc").iterdir():
    try:
        opened = {os.readlink(fd) for fd in (entry / "fd").iterdir()} if entry.name.isdigit() else set()
    except OSError:
        continue
    if sys.argv[2] in opened and int(entry.name) != os.getpid():
        os.kill(int(entry.name), signal.SIGKILL)
"""


def test_memory_is_kept_in_a_fresh_process():
    script = "from eyechart.images.workers import keep_freed_memory; print(keep_freed_memory())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in {"True", "False"}

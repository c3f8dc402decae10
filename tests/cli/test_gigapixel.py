"""Pictures of PANDA's size through the command line: crops, white canvases, downsamples and thumbnails in 700 MB."""

import io
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from large_made import MAX_MEGABYTES, PANDA, panda_jpeg, peak_megabytes, picture
from PIL import Image
from pyarrow.parquet import ParquetFile
from servers.chat_server import ChatServer

from eyechart.images.decode import MAX_DECODED_PIXELS
from eyechart.images.thumbnail import draw_thumbnail

pytestmark = pytest.mark.slow(seconds=100)

LARGE = (12_000, 9_000)
MAX_DISK_BYTES = 3_000_000_000
VIEWS = "original,crop_3x,whiteground_1x,target_only_original,downsample_0_0625"
RESAMPLER = ("--resampler", "vips-lanczos3@1")
# In the lower right corner, where a picture that is read from its top costs most.
BOXES = {"panda.jpg": [30_000, 24_000, 31_000, 24_800], "pyramid.tif": [30_000, 24_000, 31_000, 24_800]}
BOXES |= {"large.png": [9_000, 7_000, 9_800, 7_600], "large.tif": [9_000, 7_000, 9_800, 7_600]}
_THUMBNAIL = """from eyechart.images.thumbnail import draw_thumbnail
for name in sys.argv[1:]:
    print(len(draw_thumbnail(Path(name), 800)))
"""
_COMMAND = "from eyechart.cli._app import run_app\nassert run_app(sys.argv[1:]) in (0, 3)"


def write_pictures(folder, panda):
    """Write four pictures with a question each, under 1 GB."""
    import pyvips

    (folder / "panda.jpg").hardlink_to(panda)
    whole = pyvips.Image.new_from_file(str(folder / "panda.jpg"), access="sequential")
    whole.tiffsave(str(folder / "pyramid.tif"), tile=True, pyramid=True, compression="jpeg", Q=75, bigtiff=True)
    small = picture(LARGE)
    small.pngsave(str(folder / "large.png"), compression=1)
    small.tiffsave(str(folder / "large.tif"))
    rows = [
        {
            "id": name.replace(".", "-"),
            "image": name,
            "question": "What?",
            "choices": ["a", "b"],
            "answer": "A",
            "box": box,
        }
        for name, box in BOXES.items()
    ]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))


def test_gigapixels_are_built_asked_and_shown_in_bounded_memory(tmp_path, tmp_path_factory):
    # One test: the pictures take half a minute to write, and tests are spread over processes.
    write_pictures(tmp_path, panda_jpeg(tmp_path_factory))
    check_building(tmp_path)
    check_asking(tmp_path)
    check_thumbnails(tmp_path)
    check_grid(tmp_path)
    check_showing(tmp_path)
    check_verifying(tmp_path)
    # Everything together: pictures, collections, run and pages.
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < MAX_DISK_BYTES


def command(*arguments, name="build"):
    return [name, "folder", "--data", "q.jsonl", "--option", "box_format=xyxy", *arguments, *RESAMPLER]


def check_building(folder):
    assert PANDA[0] * PANDA[1] > MAX_DECODED_PIXELS
    peak = peak_megabytes(_COMMAND, *command("--out", "built", "--views", VIEWS, "--jobs", "1"), cwd=folder)
    assert peak < MAX_MEGABYTES, f"{peak:.0f} MB"
    views = folder / "built" / "data"
    png, tif = (Image.open(views / f"crop_3x/test/images/large-{kind}.png") for kind in ("png", "tif"))
    assert np.array_equal(np.asarray(png), np.asarray(tif))
    small = [Image.open(views / f"downsample_0_0625/test/images/large-{kind}.png") for kind in ("png", "tif")]
    assert np.array_equal(np.asarray(small[0]), np.asarray(small[1]))
    assert small[0].size == (750, 563)
    written = {path: path.stat().st_mtime_ns for path in views.rglob("*.*") if path.parent.name == "images"}
    peak_megabytes(_COMMAND, *command("--out", "built", "--views", VIEWS, "--jobs", "1"), cwd=folder)
    assert {path: path.stat().st_mtime_ns for path in written} == written


def check_asking(folder):
    with ChatServer(answer="A") as server:
        asked = ["--views", "crop_3x,whiteground_1x,downsample_0_0625", "--model", "openai/local-vlm"]
        more = ["--base-url", server.base_url, "--no-report", "--no-preflight", "--concurrency", "2", "--out", "run"]
        peak = peak_megabytes(_COMMAND, *command(*asked, *more, name="run"), cwd=folder)
        # Of a PNG the size stands in its first bytes; decoding what was received would need gigabytes here.
        sizes = [struct.unpack(">II", one.encoded[16:24]) for got in server.received for one in got.pictures]
    assert peak < MAX_MEGABYTES, f"{peak:.0f} MB"
    assert sorted(set(sizes)) == [(750, 563), (1386, 1040), (1734, 1386), (2219, 1664), LARGE, PANDA]


def check_grid(folder):
    """Each picture as the needle of a grid: a tile of 448 px from 945 MP."""
    for name in BOXES:
        needles = folder / f"needles-{name}"
        needles.mkdir()
        (needles / name).hardlink_to(folder / name)
        needle = {"id": "n1", "image": name, "question": "What is it?", "answers": ["noise"]}
        (needles / "questions.jsonl").write_text(json.dumps(needle))
        grid = ["build", "whitebackground", "--option", f"needles={needles.name}", "--grid", "2", "--jobs", "1"]
        grid += ["--out", f"grids-{name}", "--resampler", "vips-lanczos3-preshrink@1"]
        peak = peak_megabytes(_COMMAND, *grid, cwd=folder)
        assert peak < MAX_MEGABYTES, f"{name}: {peak:.0f} MB"
        (rows,) = (folder / f"grids-{name}").rglob("*.parquet")
        assert ParquetFile(rows).metadata.num_rows == 4


def check_thumbnails(folder):
    peak = peak_megabytes(_THUMBNAIL, *(str(folder / name) for name in BOXES), cwd=folder)
    assert peak < MAX_MEGABYTES / 2, f"{peak:.0f} MB"
    shown = [Image.open(io.BytesIO(draw_thumbnail(folder / name, 400))) for name in ("panda.jpg", "pyramid.tif")]
    first, second = (np.asarray(image.convert("RGB"), np.int16) for image in shown)
    assert first.shape == second.shape == (300, 400, 3)
    assert np.abs(first - second).mean() < 5
    assert Path(folder / "panda.jpg").stat().st_size > 50_000_000


def check_showing(folder):
    views = "original,crop_3x,crop_18x,whiteground_1x,target_only_original,downsample_0_5"
    for name in BOXES:
        asked = ["show", name.replace(".", "-"), "--benchmark", "folder", "--data", "q.jsonl", "--views", views]
        peak = peak_megabytes(_COMMAND, *asked, "--option", "box_format=xyxy", "--out", f"{name}.html", cwd=folder)
        assert peak < MAX_MEGABYTES, f"{name}: {peak:.0f} MB"
        # Every view has its picture, and a page for a browser is no gigabyte.
        page = (folder / f"{name}.html").read_text(encoding="utf-8")
        assert page.count("data:image/") == len(views.split(","))
        assert len(page) < 5_000_000


def check_verifying(folder):
    (folder / "ids.txt").write_text("panda-jpg\n")
    views = "original,crop_3x,whiteground_1x"
    arguments = command("--out", "panda", "--views", views, "--jobs", "1", "--select", "ids.txt")
    assert peak_megabytes(_COMMAND, *arguments, cwd=folder) < MAX_MEGABYTES
    peak = peak_megabytes(_COMMAND, "verify", "panda", "--jobs", "1", cwd=folder)
    assert peak < MAX_MEGABYTES, f"{peak:.0f} MB"

"""Pictures too large to decode through the command line: crops, white canvases, downsamples, thumbnails, bounded."""

import io
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from large_made import MEGABYTES, PANDA, SMALLEST, giant_jpeg, peak_megabytes, picture
from PIL import Image
from pyarrow.parquet import ParquetFile
from servers.chat_server import ChatServer

from eyechart.images.decode import MAX_DECODED_PIXELS
from eyechart.images.thumbnail import draw_thumbnail

# A picture beside the giant, as PNG and as TIFF, with its target: it may be decoded whole, but not held as a file too.
LARGE = {PANDA: (12_000, 9_000), SMALLEST: (9_600, 7_200)}
MAX_DISK_BYTES = 3_000_000_000
# Both pictures under downsample_0_0625.
SHRUNK = {PANDA: [(2219, 1664), (750, 563)], SMALLEST: [(1056, 792), (600, 450)]}
VIEWS = "original,crop_3x,whiteground_1x,target_only_original,downsample_0_0625"
RESAMPLER = ("--resampler", "vips-lanczos3@1")
# In the lower right corner, where a picture that is read from its top costs most.
CORNERS = {PANDA: [30_000, 24_000, 31_000, 24_800], SMALLEST: [14_000, 11_000, 15_000, 11_800]}
TARGETS = {PANDA: [9_000, 7_000, 9_800, 7_600], SMALLEST: [7_200, 5_600, 8_000, 6_200]}
NAMES = ("giant.jpg", "pyramid.tif", "large.png", "large.tif")
_THUMBNAIL = """from eyechart.images.thumbnail import draw_thumbnail
for name in sys.argv[1:]:
    print(len(draw_thumbnail(Path(name), 800)))
"""
_COMMAND = "from eyechart.cli._app import run_app\nassert run_app(sys.argv[1:]) in (0, 3)"
_COMMANDS = """import json
from eyechart.cli._app import run_app
for arguments in json.loads(sys.argv[1]):
    assert run_app(arguments) in (0, 3), arguments
"""


def write_pictures(folder, giant, size):
    """Write four pictures with a question each, under 1 GB."""
    import pyvips

    (folder / "giant.jpg").hardlink_to(giant)
    whole = pyvips.Image.new_from_file(str(folder / "giant.jpg"), access="sequential")
    whole.tiffsave(str(folder / "pyramid.tif"), tile=True, pyramid=True, compression="jpeg", Q=75, bigtiff=True)
    small = picture(LARGE[size])
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
        for name, box in zip(NAMES, 2 * [CORNERS[size]] + 2 * [TARGETS[size]], strict=True)
    ]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(SMALLEST, marks=pytest.mark.slow(seconds=40)),
        pytest.param(PANDA, marks=pytest.mark.full),
    ],
)
def test_gigapixels_are_built_asked_and_shown_in_bounded_memory(tmp_path, tmp_path_factory, size):
    # One test: the pictures take long to write, and tests are spread over processes.
    write_pictures(tmp_path, giant_jpeg(tmp_path_factory, size), size)
    check_building(tmp_path, size)
    check_asking(tmp_path, size)
    check_thumbnails(tmp_path, size)
    check_grid(tmp_path, size)
    check_showing(tmp_path, size)
    check_verifying(tmp_path, size)
    # Everything together: pictures, collections, run and pages.
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < MAX_DISK_BYTES


def command(*arguments, name="build"):
    return [name, "folder", "--data", "q.jsonl", "--option", "box_format=xyxy", *arguments, *RESAMPLER]


def check_building(folder, size):
    assert size[0] * size[1] > MAX_DECODED_PIXELS
    peak = peak_megabytes(_COMMAND, *command("--out", "built", "--views", VIEWS, "--jobs", "1"), cwd=folder)
    assert peak < MEGABYTES[size], f"{peak:.0f} MB"
    views = folder / "built" / "data"
    png, tif = (Image.open(views / f"crop_3x/test/images/large-{kind}.png") for kind in ("png", "tif"))
    assert np.array_equal(np.asarray(png), np.asarray(tif))
    small = [Image.open(views / f"downsample_0_0625/test/images/large-{kind}.png") for kind in ("png", "tif")]
    assert np.array_equal(np.asarray(small[0]), np.asarray(small[1]))
    assert small[0].size == SHRUNK[size][1]
    written = {path: path.stat().st_mtime_ns for path in views.rglob("*.*") if path.parent.name == "images"}
    peak_megabytes(_COMMAND, *command("--out", "built", "--views", VIEWS, "--jobs", "1"), cwd=folder)
    assert {path: path.stat().st_mtime_ns for path in written} == written


def check_asking(folder, size):
    with ChatServer(answer="A") as server:
        asked = ["--views", "crop_3x,whiteground_1x,downsample_0_0625", "--model", "openai/local-vlm"]
        more = ["--base-url", server.base_url, "--no-report", "--no-preflight", "--concurrency", "2", "--out", "run"]
        peak = peak_megabytes(_COMMAND, *command(*asked, *more, name="run"), cwd=folder)
        # Of a PNG the size stands in its first bytes; decoding what was received would need gigabytes here.
        sizes = [struct.unpack(">II", one.encoded[16:24]) for got in server.received for one in got.pictures]
    assert peak < MEGABYTES[size], f"{peak:.0f} MB"
    assert sorted(set(sizes)) == sorted([(1386, 1040), (1734, 1386), *SHRUNK[size], LARGE[size], size])


def check_grid(folder, size):
    """Each picture as the needle of a grid: a tile of 448 px from hundreds of megapixels."""
    commands = []
    for name in NAMES:
        needles = folder / f"needles-{name}"
        needles.mkdir()
        (needles / name).hardlink_to(folder / name)
        needle = {"id": "n1", "image": name, "question": "What is it?", "answers": ["noise"]}
        (needles / "questions.jsonl").write_text(json.dumps(needle))
        grid = ["build", "whitebackground", "--option", f"needles={needles.name}", "--grid", "2", "--jobs", "1"]
        commands.append([*grid, "--out", f"grids-{name}", "--resampler", "vips-lanczos3-preshrink@1"])
    peak = peak_megabytes(_COMMANDS, json.dumps(commands), cwd=folder)
    assert peak < MEGABYTES[size], f"{peak:.0f} MB"
    for name in NAMES:
        (rows,) = (folder / f"grids-{name}").rglob("*.parquet")
        assert ParquetFile(rows).metadata.num_rows == 4


def check_thumbnails(folder, size):
    peak = peak_megabytes(_THUMBNAIL, *(str(folder / name) for name in NAMES), cwd=folder)
    assert peak < MEGABYTES[size] / 2, f"{peak:.0f} MB"
    shown = [Image.open(io.BytesIO(draw_thumbnail(folder / name, 400))) for name in ("giant.jpg", "pyramid.tif")]
    first, second = (np.asarray(image.convert("RGB"), np.int16) for image in shown)
    assert first.shape == second.shape == (300, 400, 3)
    assert np.abs(first - second).mean() < 5
    assert Path(folder / "giant.jpg").stat().st_size > size[0] * size[1] / 20


def check_showing(folder, size):
    views = "original,crop_3x,crop_18x,whiteground_1x,target_only_original,downsample_0_5"
    benchmark = ["--benchmark", "folder", "--data", "q.jsonl", "--option", "box_format=xyxy", "--views", views]
    commands = [["show", name.replace(".", "-"), *benchmark, "--out", f"{name}.html"] for name in NAMES]
    peak = peak_megabytes(_COMMANDS, json.dumps(commands), cwd=folder)
    assert peak < MEGABYTES[size], f"{peak:.0f} MB"
    for name in NAMES:
        # Every view has its picture, and a page for a browser is no gigabyte.
        page = (folder / f"{name}.html").read_text(encoding="utf-8")
        assert page.count("data:image/") == len(views.split(","))
        assert len(page) < 5_000_000


def check_verifying(folder, size):
    (folder / "ids.txt").write_text("giant-jpg\n")
    views = "original,crop_3x,whiteground_1x"
    arguments = command("--out", "giant", "--views", views, "--jobs", "1", "--select", "ids.txt")
    assert peak_megabytes(_COMMAND, *arguments, cwd=folder) < MEGABYTES[size]
    peak = peak_megabytes(_COMMAND, "verify", "giant", "--jobs", "1", cwd=folder)
    assert peak < MEGABYTES[size], f"{peak:.0f} MB"

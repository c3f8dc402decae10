"""Tiles of a picture too large to decode, through the server, one by one and many at once, in bounded memory."""

import io
import json

import numpy as np
import pytest
from large_made import MEGABYTES, PANDA, SMALLEST, giant_jpeg, peak_megabytes, picture
from PIL import Image

from eyechart.cli._app import run_app

BOXES = {PANDA: [30_000, 24_000, 31_000, 24_800], SMALLEST: [14_000, 11_000, 15_000, 11_800]}
PLACES = {PANDA: (30_200, 24_100), SMALLEST: (14_200, 11_100)}
# The level of the tiles at which a pixel is one of the original.
TOP = {PANDA: 16, SMALLEST: 15}
VIEWS = "original,crop_3x,whiteground_1x,downsample_0_5,downsample_0_0625"
# The tile of a place in the original at several levels, then 24 other tiles at once; each view's top tile as well.
_ASK = """import json
from concurrent.futures import ThreadPoolExecutor
from starlette.testclient import TestClient
from eyechart.explorer.server import build_server
from eyechart.explorer.study import read_study
top, x, y, width = map(int, sys.argv[1:])
study = read_study([Path("run")])
run = study.run(0)
requests = {name: found[0].request.id for name, found in run.entries(0).items()}
with TestClient(build_server(study, Path("q.jsonl")), base_url="http://127.0.0.1") as client:
    def ask(name, level, column, row):
        reply = client.get(f"/tiles/0/{requests[name]}/0/sent/{level}/{column}_{row}.png")
        assert reply.status_code == 200, reply.text
        Path(f"{name}-{level}.png").write_bytes(reply.content)
    for level in (top, top - 1, top - 3, top - 5, 7):
        side = 512 << (top - level)
        ask("original", level, x // side, y // side)
    places = [(level, at % (width // (512 << (top - level)) + 1), 1)
        for level in (top, top - 1, top - 2, top - 4) for at in range(6)]
    with ThreadPoolExecutor(24) as threads:
        list(threads.map(lambda place: client.get(
            f"/tiles/0/{requests['original']}/0/sent/{place[0]}/{place[1]}_{place[2]}.png").raise_for_status(), places))
        list(threads.map(lambda name: ask(name, 0, 0, 0), requests))
    assert client.get(f"/thumbnail/0/{requests['original']}/0.png").status_code == 200
"""


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(SMALLEST, marks=pytest.mark.slow(seconds=12)),
        pytest.param(PANDA, marks=pytest.mark.full),
    ],
)
def test_tiles_of_hundreds_of_megapixels_are_cut_in_bounded_memory(tmp_path, tmp_path_factory, size):
    (tmp_path / "giant.jpg").hardlink_to(giant_jpeg(tmp_path_factory, size))
    question = {"id": "p", "image": "giant.jpg", "question": "What?", "choices": ["a", "b"], "answer": "A"}
    question["box"] = BOXES[size]
    (tmp_path / "q.jsonl").write_text(json.dumps(question))
    asked = ["run", "folder", "--data", str(tmp_path / "q.jsonl"), "--option", "box_format=xyxy", "--views", VIEWS]
    resampler = ["--resampler", "vips-lanczos3@1"]
    assert (
        run_app([*asked, *resampler, "--model", "simulated/oracle", "--no-report", "--out", str(tmp_path / "run")]) == 0
    )
    peak = peak_megabytes(_ASK, *map(str, (TOP[size], *PLACES[size], size[0])), cwd=tmp_path)
    assert peak < MEGABYTES[size], f"{peak:.0f} MB"
    for reduction in (0, 1, 3):
        check_place(tmp_path / f"original-{TOP[size] - reduction}.png", reduction, size)


def check_place(path, reduction, size):
    """The tile shows what the picture has there, within the loss of two JPEGs, which averaging lessens."""
    side = 512 << reduction
    x0, y0 = (at // side * side for at in PLACES[size])
    width, height = min(side, size[0] - x0), min(side, size[1] - y0)
    region = picture(size).crop(x0, y0, width, height)
    pixels = np.frombuffer(region.write_to_memory(), np.uint8).reshape(height, width, 3)
    expected = np.asarray(Image.fromarray(pixels).reduce(1 << reduction), np.int16)
    shown = np.asarray(Image.open(io.BytesIO(path.read_bytes())), np.int16)
    assert np.abs(shown.shape[0] - expected.shape[0]) <= 1
    rows, columns = (min(a, b) for a, b in zip(shown.shape[:2], expected.shape[:2], strict=True))
    assert np.abs(shown[:rows, :columns] - expected[:rows, :columns]).mean() < (6 if reduction < 3 else 3)

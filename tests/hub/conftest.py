import io
import json
from types import SimpleNamespace

import pytest
from PIL import Image
from servers.hub_repository import HubRepository
from servers.hub_server import HubServer

VIEWS = ("original", "crop_1_5x", "crop_3x", "downsample_0_75")
IDS = ("000075", "000602", "000669")


def _png(colour, size=(24, 16)):
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, "PNG")
    return stream.getvalue()


def release_files():
    """A tiny release in SUM's layout: four views of three questions, with a manifest."""
    files = {"README.md": b"# SUM\n", ".gitattributes": b"*.png filter=lfs\n", "THIRD_PARTY_NOTICES.md": b"terms\n"}
    for number, view_id in enumerate(VIEWS):
        rows = []
        width, height = (18, 12) if view_id == "downsample_0_75" else (24, 16)
        for index, question_id in enumerate(IDS):
            name = f"data/{view_id}/test/images/{question_id}.png"
            files[name] = _png((number * 40, index * 60, 90), (width, height))
            rows.append(
                {
                    "id": question_id,
                    "file_name": f"images/{question_id}.png",
                    "view_id": view_id,
                    "question": f"Which? {index}",
                    "choices": ["x", "y"],
                    "answer": "A",
                    "width": width,
                    "height": height,
                    "bbox_original": [2, 2, 9, 9],
                }
            )
        files[f"data/{view_id}/test/metadata.jsonl"] = "\n".join(map(json.dumps, rows)).encode()
    canonical = [
        {
            "id": name,
            "image": f"data/original/test/images/{name}.png",
            "question": f"Which? {index}",
            "choices": ["x", "y"],
        }
        for index, name in enumerate(IDS)
    ]
    files["dataset.json"] = json.dumps(canonical).encode()
    files["metadata/validation_summary.json"] = json.dumps({"configs": list(VIEWS)}).encode()
    files["metadata/legacy/boxes.json"] = b"{}"
    files["scripts/prompts.py"] = b"raise SystemExit('never run')\n"
    files["assets/logo.png"] = _png((1, 2, 3))
    return files


@pytest.fixture
def files():
    return release_files()


@pytest.fixture
def repository(files):
    return HubRepository("RL-MIND/SUM", files)


@pytest.fixture(autouse=True)
def _online(monkeypatch):
    """Begin online, whatever the environment was when the library was first imported in this process."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


@pytest.fixture
def hub(repository, monkeypatch):
    """The hub with the tiny release, as the only one that commands find; its library waits for nothing."""
    hurried = SimpleNamespace(sleep=lambda _: None, time=lambda: 0.0)
    monkeypatch.setattr("huggingface_hub.utils._http.time", hurried)
    monkeypatch.setattr("huggingface_hub.file_download.time", hurried)
    monkeypatch.setattr("eyechart.hub.huggingface.time", hurried)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with HubServer(repository) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server

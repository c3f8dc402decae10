"""Views on disk: found by recipe, bounded in bytes, drawn anew where damaged, and never deciding an answer."""

import hashlib

import pytest
from PIL import Image

from eyechart.errors import UsageError
from eyechart.images.probe import probe_image
from eyechart.runs.pictures import PictureSource
from eyechart.runs.view_store import ViewStore


def name(n):
    return hashlib.sha256(str(n).encode()).hexdigest()


def test_what_was_put_is_found_by_its_recipe(tmp_path):
    store = ViewStore(tmp_path, 1000)
    store.put("r1", name(1), b"one")
    store.put("r2", name(1), b"one")
    assert (store.get("r1"), store.get("r2"), store.get("r3")) == (b"one", b"one", None)
    assert len(list(tmp_path.glob("pixels/*/*.png"))) == 1


def test_the_least_recently_used_go_when_room_is_needed(tmp_path):
    store = ViewStore(tmp_path, 1000)
    for n in range(20):
        store.put(f"r{n}", name(n), bytes([n]) * 100)
        if n % 3 == 0:
            store.get("r0")
    assert sum(path.stat().st_size for path in tmp_path.glob("pixels/*/*.png")) <= 1000
    assert store.get("r0") == bytes(100)
    assert store.get("r19") == bytes([19]) * 100
    assert store.get("r1") is None


def test_another_process_finds_what_is_there_and_keeps_the_bound(tmp_path):
    ViewStore(tmp_path, 1000).put("r1", name(1), b"x" * 900)
    other = ViewStore(tmp_path, 1000)
    assert other.get("r1") == b"x" * 900
    other.put("r2", name(2), b"y" * 500)
    assert (other.get("r1"), other.get("r2")) == (None, b"y" * 500)


@pytest.mark.parametrize("damage", [b"", b"other bytes"])
def test_a_damaged_view_is_not_there(tmp_path, damage):
    store = ViewStore(tmp_path, 1000)
    store.put("r1", name(1), b"one")
    next(tmp_path.glob("pixels/*/*.png")).write_bytes(damage)
    assert store.get("r1") is None


@pytest.mark.parametrize("text", ["", "only-one", "../../etc/passwd 00", "a b c"])
def test_a_damaged_name_leads_nowhere(tmp_path, text):
    store = ViewStore(tmp_path, 1000)
    store.put("r1", name(1), b"one")
    next(tmp_path.glob("recipes/*/*")).write_text(text)
    assert store.get("r1") is None


def test_a_view_larger_than_the_bound_is_not_kept(tmp_path):
    store = ViewStore(tmp_path, 10)
    store.put("r1", name(1), b"x" * 11)
    assert store.get("r1") is None


def test_a_bound_of_nothing_is_refused(tmp_path):
    with pytest.raises(UsageError, match="keeps nothing"):
        ViewStore(tmp_path, 0)


def test_a_kept_view_is_sent_with_the_bytes_of_a_drawn_one(make, tmp_path):
    path = tmp_path / "picture.png"
    Image.effect_noise((80, 60), 90).convert("RGB").save(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.rename(tmp_path / f"{digest}.png")
    image = probe_image(tmp_path / f"{digest}.png")
    benchmark = make.benchmark([make.question(0, size=image.size, image=image)], folder=tmp_path)
    plan = make.plan(benchmark=benchmark, views="crop_3x,downsample_0_5")
    pictures = [request.pictures[0] for request in plan.requests]
    store = ViewStore(tmp_path / "views", 1 << 20)
    drawn = [PictureSource(benchmark).encode(picture) for picture in pictures]
    first = [PictureSource(benchmark, kept=store).encode(picture) for picture in pictures]
    (tmp_path / f"{digest}.png").unlink()
    again = [PictureSource(benchmark, kept=store).encode(picture) for picture in pictures]
    assert drawn == first == again

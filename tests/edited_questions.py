"""A question file that is edited between starts, and a model that counts what it is asked about which pixels."""

import json
from collections import Counter

import numpy as np
from PIL import Image

import eyechart
from eyechart.kinds import Reply
from eyechart.opening import open_prompt
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.listening import Silent
from eyechart.runs.patience import Patience
from eyechart.runs.session import RunOptions, ask_shard, run_benchmark
from eyechart.runs.shard import read_shard
from eyechart.schema import ModelIdentity
from eyechart.views import resolve_views

QUICK = LoopSettings(patience=Patience(first_wait_seconds=0.001, longest_wait_seconds=0.002, max_attempts=2))


class Looking:
    """Answers A where the picture is rather red, else B, and counts every question by its text and pixels."""

    reads, max_concurrency = "pixels", None

    def __init__(self, name="looking", *, fails_after=None):
        self.identity = ModelIdentity("scripted", name, fingerprint="f1")
        self.asked = Counter()
        self._fails_after = fails_after

    async def answer(self, ask):
        if self._fails_after is not None and self.asked.total() >= self._fails_after:
            raise KeyboardInterrupt
        pixels = [picture.pixels() for picture in ask.pictures]
        self.asked[(ask.prompt, *(picture.tobytes() for picture in pixels))] += 1
        red = bool(pixels) and float(pixels[0][..., 0].mean()) > float(pixels[0][..., 2].mean())
        return Reply(text="A" if red else "B", finish="stop")

    async def close(self):
        pass


class Told(Silent):
    """Keeps every sentence."""

    def __init__(self):
        self.notes = []

    def noted(self, message):
        self.notes.append(message)

    @property
    def text(self):
        return "\n".join(self.notes)


class Edited:
    """A folder with a question file, which can be rewritten and asked again into one run folder."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def picture(self, name, value, *, size=(48, 32)):
        """Write a picture of its own content; even values are red."""
        colour = (220, value % 200, 20) if value % 2 == 0 else (20, value % 200, 220)
        Image.new("RGB", size, colour).save(self.folder / name, quality=95)
        return name

    def row(self, number, **changes):
        """Return a row about a picture of its own, which is written."""
        name = self.picture(f"p{number}.png", number)
        row = {"id": f"q{number}", "image": name, "question": f"Which colour is sign {number}?"}
        return {**row, "choices": ["red", "blue"], "answer": "AB"[number % 2], **changes}

    def write(self, rows):
        (self.folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def open(self):
        return eyechart.benchmark("folder", data=self.folder / "questions.jsonl")

    def ask_shard(self, model, shard, *, views="original,downsample_0_5"):
        """Ask one part of the file as it stands now."""
        options = RunOptions(
            where=Destination(out=self.folder.parent / "run"), shard=read_shard(shard), has_preflight=False, loop=QUICK
        )
        chosen, prompt = resolve_views(views)[0], open_prompt("letter_normalized")
        return ask_shard(self.open(), model, chosen, prompt, options=options)

    def ask(self, model=None, *, out="run", views="original,downsample_0_5", listener=None, **changes):
        """Ask the file as it stands now; ``out`` names the run folder beside the questions."""
        changes.setdefault("has_preflight", False)
        changes.setdefault("loop", QUICK)
        where = Destination(out=None if out is None else self.folder.parent / out, runs=self.folder.parent / "runs")
        return run_benchmark(
            self.open(),
            model or Looking(),
            resolve_views(views)[0],
            open_prompt("letter_normalized"),
            options=RunOptions(where=where, **changes),
            listener=listener or Silent(),
        )


def cut_in_half(path, seed=5):
    """Write noise as a JPEG whose second half is missing: its header is whole."""
    noise = np.random.default_rng(seed).integers(0, 256, (64, 96, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path, "JPEG")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def table_of(outcome):
    """Return the estimates of a run without when, where and of which file they were made."""
    stored = json.loads((outcome.store.folder / "estimates.json").read_bytes())
    for name in ("id", "created_at", "command", "plan_id", "n_plans"):
        stored["run"].pop(name, None)
    del stored["run"]["benchmark"]["revision"]  # the hash of the file, which other rows in another order change
    return stored

"""A run that is there to be killed: real files, the real OpenAI client, a server in another process."""

import hashlib
import signal
import sys
from pathlib import Path

import anyio._backends._asyncio  # noqa: F401 -- loaded before the fork: a round times the run, not imports
import numpy as np
import scipy.special  # noqa: F401 -- the same
from openai import AsyncOpenAI
from PIL import Image

from eyechart.images.probe import probe_image
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.registry import load, load_plugin
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.schema import BenchmarkIdentity, Box, Question
from eyechart.views import resolve_views

VIEWS = resolve_views("original,crop_3x,downsample_0_5")[0]
CONCURRENCY = 4
# What the client loads when it is made and first used is loaded here, before the fork.
LOADED = (AsyncOpenAI(api_key="none").chat.completions, AsyncOpenAI(api_key="none").models, load("model", "openai"))


class Pictures:
    """Questions about small noisy pictures that lie in a folder."""

    def __init__(self, folder: Path, n_questions: int) -> None:
        self.identity = BenchmarkIdentity("pictures", "r1")
        self._folder, self._n_questions = folder, n_questions

    def make(self):
        self._folder.mkdir(exist_ok=True)
        rng = np.random.default_rng(3)
        for index in range(self._n_questions):
            pixels = rng.integers(0, 60, (48, 64, 3), dtype=np.uint8)
            pixels[..., index % 3] += 150
            Image.fromarray(pixels).save(self._folder / f"{index:03d}.png")

    def questions(self):
        for index in range(self._n_questions):
            target = (Box(10, 10, 30, 30),)
            yield Question(
                id=f"q{index:03d}",
                benchmark="pictures",
                text=f"Which colour is picture {index}?",
                image=probe_image(self._folder / f"{index:03d}.png"),
                image_group=f"g{index}",
                choices=("red", "green", "blue", "none"),
                answer="ABC"[index % 3],
                targets=target,
                targets_clipped=target,
            )

    def image_path(self, image):
        for path in self._folder.glob("*.png"):
            if hashlib.sha256(path.read_bytes()).hexdigest() == image.file_sha256:
                return path
        raise FileNotFoundError(image.file_sha256)

    def released_views(self):
        return ()

    def released_image(self, question, view_id):
        return None


class Plain:
    """The question and its lettered choices."""

    name, version = "plain", 1

    def render(self, question, choices):
        return "\n".join([question.text, *(f"{chr(65 + index)}. {choice}" for index, choice in enumerate(choices))])


def ask_everything(folder: Path, out: Path, n_questions: int, base_url: str, plugin: Path, started=None) -> int:
    """Run all questions into ``out``; sets ``started`` when the interpreter is ready."""
    load_plugin(plugin)
    if started is not None:
        started.set()
    outcome = run_benchmark(
        Pictures(folder, n_questions),
        open_model("openai/local-vlm", ModelOptions(base_url=base_url)),
        VIEWS,
        Plain(),
        options=RunOptions(
            where=Destination(out=out), scorer="tiny_letter", loop=LoopSettings(concurrency=CONCURRENCY)
        ),
    )
    return outcome.exit_code


def ask_until_interrupted(*arguments) -> None:
    """Run like a command: exit with 130 on Ctrl-C."""
    # A shell that started the tests in the background has switched Ctrl-C off for all its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ask_everything(*arguments)
    except KeyboardInterrupt:
        sys.exit(130)

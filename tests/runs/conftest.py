"""A benchmark and a model as small as the contracts allow, for tests of plans, stores and the loop."""

import asyncio
import hashlib
from pathlib import Path

import msgspec
import pytest

from eyechart.errors import BenchmarkError
from eyechart.kinds import Reply
from eyechart.registry import load_plugin
from eyechart.runs.plan import plan_run
from eyechart.schema import BenchmarkIdentity, Box, ImageRef, ModelIdentity, Question, Size
from eyechart.views import resolve_views

SIZE = Size(400, 300)


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class TinyBenchmark:
    """Questions about pictures that exist as headers only, unless a test puts files where ``folder`` points."""

    def __init__(self, questions, released=(), folder=None):
        self.identity = BenchmarkIdentity("tiny", "r1")
        self._questions, self._released, self._folder = tuple(questions), dict(released), folder

    def questions(self):
        return iter(self._questions)

    def image_path(self, image):
        if self._folder is None:
            raise BenchmarkError("no picture of this benchmark may be read", hint="plan from numbers alone")
        return self._folder / f"{image.file_sha256}.{image.media_type.split('/')[1]}"

    def released_views(self):
        return tuple(dict.fromkeys(view for _, view in self._released))

    def released_image(self, question, view_id):
        return self._released.get((question.id, view_id))


class PlainPrompt:
    """The question and its lettered choices."""

    name, version = "plain", 1

    def render(self, question, choices):
        letters = (f"{chr(ord('A') + index)}. {choice}" for index, choice in enumerate(choices))
        return "\n".join((question.text, *letters))


class ScriptedModel:
    """Answers what ``script(ask)`` returns, or raises it; counts how often each request was asked."""

    def __init__(self, script=None, *, reads="identity", seconds=0.0, max_concurrency=None, identity=None):
        self.identity = identity or ModelIdentity("scripted", "tiny", fingerprint="f1")
        self.reads, self.max_concurrency = reads, max_concurrency
        self._script, self._seconds = script or (lambda ask: "A"), seconds
        self.asked, self.n_open, self.most_open, self.is_closed = [], 0, 0, False

    async def answer(self, ask):
        self.asked.append(ask.identity.request_id if ask.identity else ask.prompt)
        self.n_open += 1
        self.most_open = max(self.most_open, self.n_open)
        try:
            await asyncio.sleep(self._seconds)
            result = self._script(ask)
        finally:
            self.n_open -= 1
        if isinstance(result, Exception):
            raise result
        return result if isinstance(result, Reply) else Reply(text=result, finish="stop")

    async def close(self):
        self.is_closed = True


def make_question(index, *, picture=None, size=SIZE, answer="A", **changes):
    target = Box(40 + index % 50, 40, 90 + index % 50, 80)
    question = Question(
        id=f"q{index:03d}",
        benchmark="tiny",
        text=f"Which letter is on sign {index}?",
        image=ImageRef(sha256(picture or f"picture {index}"), size, "image/png", n_bytes=1000),
        image_group=picture or f"g{index}",
        choices=("yes", "no", "both", "neither"),
        answer=answer,
        targets=(target,),
        targets_clipped=(target,),
    )
    return msgspec.structs.replace(question, **changes)


def make_plan(n_questions=4, views="original,crop_3x,downsample_0_5", **keywords):
    benchmark = keywords.pop("benchmark", None) or TinyBenchmark(make_question(index) for index in range(n_questions))
    keywords.setdefault("model", ModelIdentity("scripted", "tiny", fingerprint="f1"))
    return plan_run(benchmark, resolve_views(views)[0], keywords.pop("prompt", PlainPrompt()), **keywords)


class Makers(msgspec.Struct):
    """What tests build their cases from."""

    benchmark: type = TinyBenchmark
    prompt: type = PlainPrompt
    model: type = ScriptedModel
    question: object = staticmethod(make_question)
    plan: object = staticmethod(make_plan)


@pytest.fixture
def make():
    return Makers(question=make_question, plan=make_plan)


@pytest.fixture(scope="session")
def make_once():
    """The same makers, for tests by hypothesis."""
    return Makers(question=make_question, plan=make_plan)


@pytest.fixture
def in_folder(tmp_path, monkeypatch) -> Path:
    """Work in a fresh folder, as a command would."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


SCORER_PLUGIN = '''
from eyechart.schema import Score

class TinyLetter:
    """Reads an answer that is a letter and nothing else."""

    name, version, modes = "tiny_letter", 1, ("strict",)

    def score(self, response, question, choices, gold, mode):
        scorer = f"{self.name}.{mode}@{self.version}"
        if response.state.is_error:
            return Score(request_id=response.request_id, scorer=scorer, value=None, reason=response.state.value)
        text = (response.text or "").strip()
        if text == "cannot tell":
            return Score(request_id=response.request_id, scorer=scorer, value=0.0, reason="cannot_tell")
        if len(text) != 1 or not 0 <= ord(text) - ord("A") < len(choices):
            reason = response.state.value if response.state.value != "answered" else "no_option_letter"
            return Score(request_id=response.request_id, scorer=scorer, value=0.0, reason=reason)
        value = None if gold is None else float(text == gold)
        return Score(request_id=response.request_id, scorer=scorer, value=value, answer=text)

EYECHART = {"scorer": {"tiny_letter": TinyLetter}}
'''


@pytest.fixture(scope="session")
def plugin_file(tmp_path_factory) -> Path:
    """A plug-in file with a scorer, as a user would write it."""
    path = tmp_path_factory.mktemp("plugin") / "tiny_letter.py"
    path.write_text(SCORER_PLUGIN)
    return path


@pytest.fixture(scope="session", autouse=True)
def tiny_letter(plugin_file):
    """Register the scorer of the plug-in file; its name is returned."""
    load_plugin(plugin_file)
    return "tiny_letter"

"""Request ids that never change: whoever asked a question once finds its answer again with every later eyechart.

``golden_ids.json`` beside this file holds the ids of one small question file under every provider, view, prompt,
sampling, transport and design. **A line of it is never changed and never taken out**: an id that moves makes every
stored run ask, and pay for, everything again. Where a later eyechart asks something else, that is a new line. A case
that the file does not know fails with the lines to add.
"""

import json
import struct
import zlib
from functools import cache
from pathlib import Path

import msgspec
import pytest

from eyechart.benchmarks.folder import FolderKind, FolderOptions
from eyechart.cli._app import run_app
from eyechart.geometry import GeometryPolicy
from eyechart.kinds import ModelOptions
from eyechart.models._transformers import LocalSettings
from eyechart.models.hf import HfModel
from eyechart.models.vllm_engine import VllmEngineModel, VllmEngineSettings
from eyechart.opening import open_benchmark, open_model, open_prompt, open_scorer
from eyechart.prompts.hrscene_exact import HRSceneExact
from eyechart.registry import names
from eyechart.runs.foresight import Foresight, fit_for
from eyechart.runs.matching import MatchDesign, gauge_for
from eyechart.runs.plan import PlanOptions, plan_id_of, plan_run
from eyechart.runs.score import scorer_id_of
from eyechart.runs.store import RunStore
from eyechart.schema import (
    Box,
    Crop,
    DecodePolicy,
    ImageRef,
    ModelIdentity,
    Sampling,
    Size,
    ViewImage,
    content_sha256,
)
from eyechart.seen.rules import look_up, read_rule_file
from eyechart.seen.transport import parse_transport
from eyechart.views import PRESETS, format_view, resolve_views

GOLDEN = json.loads(Path(__file__).with_name("golden_ids.json").read_text(encoding="utf-8"))

QUESTIONS = [
    {
        "id": "sign",
        "image": "street.png",
        "question": "Which word stands on the sign?",
        "choices": ["STOP", "GO", "Größe 4", "none of these"],
        "answer": "A",
        "box": [40, 20, 95, 61],
        "task": "ocr",
    },
    {
        "id": "two",
        "image": "street.png",
        "question": "Is the lamp lit?\nLook twice.",
        "choices": {"A": "yes", "B": "no"},
        "answer": "no",
        "box": [[3, 4, 30, 31], [100, 50, 118, 80]],
    },
    {"id": "free", "image": "strip.png", "question": "第几个?", "answer": "7", "box": [900, 30, 990, 71]},
]
# A rule of the user's own, so that fitted sizes do not follow what is learned of hosted models.
RULES = """
provider = "openai"

[[rules]]
id = "golden@1"
models = ["vlm"]
algorithm = { kind = "longest_edge", patch_px = 28, max_edge_px = 280, max_tokens = 40 }
source = "made for this test"
date = 2026-01-01
confidence = "A"
"""


def write_png(path, size, *, depth, colour, row):
    """Write a PNG whose bytes depend on no library: its pixels are stored, not compressed.

    ``row(y)`` returns the bytes of row ``y``.
    """
    width, height = size
    raw = b"".join(b"\x00" + row(y) for y in range(height))
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(raw), len(raw) ^ 0xFFFF) + raw
    stored += struct.pack(">I", zlib.adler32(raw))
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", stored), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


def ramp(start, n_bytes):
    return bytes((start + x) % 256 for x in range(n_bytes))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a small colour picture, a long strip in black and white, and the questions about them."""
    folder = tmp_path_factory.mktemp("golden")
    write_png(folder / "street.png", (120, 90), depth=8, colour=2, row=lambda y: ramp(7 * y, 360))
    write_png(folder / "strip.png", (2000, 200), depth=1, colour=0, row=lambda y: ramp(y, 250))
    (folder / "questions.jsonl").write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in QUESTIONS))
    needles = folder / "needles"
    needles.mkdir()
    for index in range(6):
        row = bytes([index * 9, 255 - index, index] * 20)
        write_png(needles / f"p{index}.png", (20, 15), depth=8, colour=2, row=lambda y, row=row: row)
    rows = [
        {"id": f"n{i}", "image": f"p{i}.png", "question": f"Which is {i}?", "answers": [str(i)], "caption": f"no. {i}"}
        for i in range(6)
    ]
    (needles / "needles.jsonl").write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    (folder / "answers.jsonl").write_bytes(b'{"id": "sign", "view": "original", "response": "A"}\n')
    (folder / "mine.txt").write_bytes(b"{question}\n{options:({}) }\nOne letter, please.\n")
    (folder / "rules.toml").write_text(RULES)
    return folder


MODEL = ModelIdentity("openai", "vlm", settings={"detail": "high"})
EXTRA = {"top_a": 0.5, "mm_processor_kwargs": {"max_pixels": 1003520, "fps": 2.0}}

# Everything of a provider that enters the identity of its models: case → (name, options).
MODELS = {
    "openai": ("openai/gpt-5.4", {}),
    "openai, revision": ("openai/gpt-5.4", {"revision": "2026-03-01"}),
    "openai, extra body": ("openai/gpt-5.4", {"extra_body": EXTRA}),
    "openai, address": ("openai/gpt-5.4", {"base_url": "http://127.0.0.1:9/v1", "timeout_seconds": 7.0}),
    "openai, settings": (
        "openai/gpt-5.4",
        {
            "settings": {
                "interface": "responses",
                "detail": "low",
                "length_parameter": "max_tokens",
                "system_prompt": "Be brief.",
                "reasoning_effort": "low",
                "top_k": 5,
                "presence_penalty": 0.5,
                "frequency_penalty": -1.0,
                "verbosity": "low",
                "service_tier": "flex",
            }
        },
    ),
    "anthropic": ("anthropic/claude-sonnet-4-5", {}),
    "anthropic, settings": (
        "anthropic/claude-sonnet-4-5",
        {
            "settings": {
                "api_version": "2026-10-21",
                "system_prompt": "Be brief.",
                "thinking": "enabled",
                "thinking_budget": 2048,
                "effort": "low",
                "top_k": 5,
                "oversized_image": "error",
            }
        },
    ),
    "google": ("google/gemini-3-pro-preview", {}),
    "google, settings": (
        "google/gemini-3-pro-preview",
        {
            "settings": {
                "media_resolution": "low",
                "system_prompt": "Be brief.",
                "thinking_budget": 0,
                "thinking_level": "low",
                "include_thoughts": True,
                "top_k": 5,
                "presence_penalty": 0.5,
                "frequency_penalty": -1.0,
            }
        },
    ),
    "azure": ("azure/my-deployment", {"base_url": "https://example.openai.azure.com/openai/v1"}),
    "dashscope": ("dashscope/qwen3-vl-plus", {}),
    "dashscope, settings": (
        "dashscope/qwen3-vl-plus",
        {"settings": {"vl_high_resolution_images": True, "min_pixels": 3136, "max_pixels": 1003520}},
    ),
    "openrouter": ("openrouter/qwen/qwen3-vl-8b-instruct", {}),
    "together": ("together/Qwen/Qwen3-VL-8B-Instruct", {}),
    "vllm": ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", {}),
    "vllm, revision": ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", {"revision": "main"}),
    "vllm, settings": (
        "vllm/Qwen/Qwen2.5-VL-7B-Instruct",
        {"settings": {"min_pixels": 3136, "max_pixels": 1003520, "enable_thinking": False}},
    ),
    "sglang": ("sglang/Qwen/Qwen2.5-VL-7B-Instruct", {}),
    "sglang, settings": (
        "sglang/Qwen/Qwen2.5-VL-7B-Instruct",
        {"settings": {"enable_thinking": False, "repetition_penalty": 1.05}},
    ),
    "ollama": ("ollama/llava", {}),
    "lmstudio": ("lmstudio/qwen2-vl", {}),
    "simulated": ("simulated/vlm", {}),
    "simulated, settings": (
        "simulated/vlm",
        {"settings": {"seed": 3, "accuracy_by_view": "original=0.8,crop=0.9", "threshold_px": 12.0, "noise": 0.1}},
    ),
    "human": ("human/ada", {}),
    "human, settings": ("human/ada", {"settings": {"zoom": True}}),
    "blind_letter": ("blind_letter/best", {}),
    "blind_letter, C": ("blind_letter/C", {}),
    "vllm, fingerprint": ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", {}),
    "replay": ("replay", {}),
    "replay, settings": ("replay", {"settings": {"view": "original"}}),
    "ocr": ("ocr/rapidocr", {}),
    "ocr, settings": ("ocr/rapidocr", {"settings": {"max_side_px": 1000, "line_score": 0.25, "workers": 3}}),
}
LOCAL = {
    "hf": LocalSettings(),
    "hf, settings": LocalSettings(
        dtype="bfloat16", batch_size=4, min_pixels=3136, max_pixels=1003520, attention="sdpa", trust_remote_code=True
    ),
}
ENGINE = {
    "vllm_engine": VllmEngineSettings(),
    "vllm_engine, settings": VllmEngineSettings(batch_size=8, tensor_parallel_size=2, max_pixels=1003520, dtype="half"),
}


def identity_of(case, folder):
    """Return the identity under which a case of a provider is asked."""
    if case in LOCAL:  # the libraries that run it need not be installed to know what it is called
        return HfModel("Qwen/Qwen2.5-VL-3B-Instruct", LOCAL[case].folded(), ModelOptions()).identity
    if case in ENGINE:
        return VllmEngineModel("Qwen/Qwen2.5-VL-7B-Instruct", ENGINE[case], ModelOptions()).identity
    spec, options = MODELS[case]
    name = f"replay/{folder / 'answers.jsonl'}" if spec == "replay" else spec
    identity = open_model(name, ModelOptions(**options)).identity
    # Other weights of the OCR model are another model; a server tells its fingerprint when the run begins.
    told = {"ocr": "0" * 64, "ocr, settings": "0" * 64, "vllm, fingerprint": "f" * 64}
    return msgspec.structs.replace(identity, fingerprint=told.get(case, identity.fingerprint))


PROVIDERS = [*MODELS, *LOCAL, *ENGINE]

SAMPLINGS = {
    "as it comes": Sampling(),
    "nothing sent": Sampling(temperature=None, max_tokens=None),
    "temperature": Sampling(temperature=0.7),
    "whole temperature": Sampling(temperature=1.0),
    "top_p": Sampling(top_p=0.95),
    "seed": Sampling(seed=42),
    "max_tokens": Sampling(max_tokens=4096),
    "score_mode": Sampling(score_mode="logprob", max_tokens=1),
}
OPTIONS = {
    "as it comes": PlanOptions(),
    "repeats": PlanOptions(repeats=3),
    "all orders": PlanOptions(rotations=26),
    "two orders twice": PlanOptions(rotations=2, repeats=2),
    "limit": PlanOptions(limit=2, seed=5),
    "border": PlanOptions(geometry_policy=GeometryPolicy(border="shift")),
    "box rounding": PlanOptions(geometry_policy=GeometryPolicy(box_rounding="nearest")),
    "size rounding": PlanOptions(geometry_policy=GeometryPolicy(size_rounding="trunc")),
    "target basis": PlanOptions(geometry_policy=GeometryPolicy(target_basis="source")),
    "exif": PlanOptions(decode=DecodePolicy(exif="apply")),
    "matte": PlanOptions(decode=DecodePolicy(matte=(0, 0, 0))),
    "resampler": PlanOptions(resampler="cykooz-lanczos3@1"),
}
TRANSPORTS = ["native", "fit", "budget(3000,9000)", "jpeg95", "jpeg75", "fit+jpeg95", "budget(0,9000)+jpeg75"]
MATCHES = ["target-px", "target-px=8,16", "tokens", "tokens=1"]
VIEWS = {
    "sum29": "sum29",
    "core8": "core8",
    "others": "crop_1_25x,whiteground_2x,downsample_0_33,target_only_2x,no_image,blank,original_plus_crop_1_5x",
}
# Read before any test loads a plug-in.
OURS = {kind: names(kind) for kind in ("model", "prompt", "scorer", "view")}
PROMPTS = [name for name in OURS["prompt"] if name != "hrscene_exact"]


KINDS = ("choices", "free")


class Both:
    """The questions with options and the free ones of one file: no run asks both, and the ids of both are kept."""

    def __init__(self, parts):
        self._parts = list(parts)
        self.identity = self._parts[0].identity

    def questions(self):
        return (question for part in self._parts for question in part.questions())

    def image_path(self, image):
        return next(part.image_path(image) for part in self._parts if image in {q.image for q in part.questions()})

    def released_views(self):
        return ()

    def released_image(self, question, view_id):
        return None


@cache
def questions_in(folder):
    return Both(
        FolderKind().open(folder / "questions.jsonl", FolderOptions(box_format="xyxy", keep=keep)) for keep in KINDS
    )


def planned(folder, views="original,crop_3x", prompt=None, **keywords):
    keywords.setdefault("model", MODEL)
    benchmark = keywords.pop("benchmark", None) or questions_in(folder)
    return plan_run(benchmark, resolve_views(views)[0], prompt or open_prompt(), **keywords)


def requests_of(folder, *arguments, **keywords):
    return planned(folder, *arguments, **keywords).requests


def ids(asks):
    """Return question, condition, order of the options and repeat → id, which is all that a plan or a run asks."""
    rows = list(asks)
    found = {f"{one.question_id} {one.condition} [{digits(one.choice_order)}] {one.repeat}": one.id for one in rows}
    assert len(found) == len(rows)
    return found


def digits(order):
    return "".join(map(str, order))


def keys(plan):
    """Return question, view and number → recipe key of every picture."""
    return {
        f"{one.question_id} {one.condition} {index}": picture.recipe_key
        for one in plan.requests
        for index, picture in enumerate(one.pictures)
    }


def ahead_of(folder):
    return Foresight(MODEL.spec, None, look_up(MODEL, read_rule_file(folder / "rules.toml")))


def check(group, case, found):
    """Compare with the stored ids; what is new must be written into the file, what is there must be the same."""
    known = GOLDEN.get(group, {}).get(case, {})
    missing = {name: value for name, value in found.items() if name not in known}
    assert not missing, f"golden_ids.json lacks, under {group!r}: {json.dumps({case: missing}, indent=1)}"
    moved = [name for name in known if found.get(name) != known[name]]
    assert not moved, f"{group}, {case}: the ids of {moved} are no longer what stored runs hold; the code must change"


@pytest.mark.parametrize("case", PROVIDERS)
def test_a_request_to_a_provider_keeps_its_id(folder, case):
    check("models", case, ids(requests_of(folder, "original", model=identity_of(case, folder))))


@pytest.mark.parametrize("case", VIEWS)
def test_a_view_keeps_its_recipe_and_its_id(folder, case):
    plan = planned(folder, VIEWS[case])
    check("views", case, ids(plan.requests))
    check("recipes", case, keys(plan))


@pytest.mark.parametrize("name", ["whitebackground", "complexgrid"])
def test_a_cell_of_a_needle_grid_keeps_its_id(folder, name):
    style = "white" if name == "whitebackground" else "captioned"
    benchmark = open_benchmark(name, None, {"needles": str(folder / "needles"), "grid": 2})
    plan = planned(
        folder,
        f"grid_{style}_2x2,original",
        open_prompt("hrscene_clean"),
        benchmark=benchmark,
        options=PlanOptions(limit=2, transport="native@1+jpeg75@1"),
    )
    check("grids", name, ids(plan.requests))
    check("recipes", name, keys(plan))


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_keeps_its_words(folder, name):
    prompt = open_prompt(name)
    check("prompts", f"{prompt.name}@{prompt.version}", ids(requests_of(folder, "original", prompt)))


@pytest.mark.parametrize("prompt_id", [one for one in GOLDEN.get("prompts", {}) if one.split("@")[0] in PROMPTS])
def test_a_prompt_of_stored_runs_can_still_be_asked(prompt_id):
    """New words are a new version, and the version before goes on being asked as it was."""
    prompt = open_prompt(prompt_id)
    assert f"{prompt.name}@{prompt.version}" == prompt_id


def test_a_prompt_from_a_file_keeps_its_name_and_words(folder):
    prompt = open_prompt(str(folder / "mine.txt"))
    check("prompts", f"{prompt.name}@{prompt.version}", ids(requests_of(folder, "original", prompt)))
    words = HRSceneExact({"words": "{question}\nBe brief."})
    free = [one for one in questions_in(folder).questions() if not one.choices]
    text = words.render(free[0], ())
    check("prompts", f"{words.name}@{words.version}", {"free": content_sha256(text)})


@pytest.mark.parametrize("case", SAMPLINGS)
def test_sampling_keeps_its_id(folder, case):
    check("sampling", case, ids(requests_of(folder, "original", sampling=SAMPLINGS[case])))


@pytest.mark.parametrize("case", OPTIONS)
def test_repeats_orders_and_policies_keep_their_ids(folder, case):
    check("options", case, ids(requests_of(folder, "original,crop_6x,downsample_0_33", options=OPTIONS[case])))


@pytest.mark.parametrize("text", TRANSPORTS)
def test_a_transport_keeps_its_spelling_and_its_ids(folder, text):
    transport = parse_transport(text).id
    plan = planned(
        folder,
        "original,crop_3x,downsample_0_5",
        options=PlanOptions(transport=transport),
        fit=fit_for(transport, ahead_of(folder)),
    )
    check("transports", transport, ids(plan.requests))
    check("recipes", transport, keys(plan))


@pytest.mark.parametrize("match", MATCHES)
def test_a_matched_design_keeps_its_conditions_and_ids(folder, match):
    plan = planned(
        folder,
        "original,crop_3x,target_only_3x,blank",
        options=PlanOptions(match=match),
        gauge=gauge_for(ahead_of(folder)),
    )
    check("matches", match, ids(plan.requests))


def test_a_released_view_keeps_its_id(folder, make):
    question = make.question(0)
    image = ImageRef("c" * 64, Size(70, 50), "image/jpeg", n_bytes=99)
    row = ViewImage(question_id=question.id, view="crop_3x", image=image, target_in_view=Box(1, 2, 3, 4))
    benchmark = make.benchmark([question], {(question.id, "crop_3x"): row})
    plan = planned(folder, "crop_3x", benchmark=benchmark)
    check("releases", "crop_3x", ids(plan.requests))
    check("recipes", "released", keys(plan))


def test_names_that_enter_ids_keep_their_spelling():
    spelled = {name: [format_view(view) for view in views] for name, views in PRESETS.items()}
    check("names", "presets", {name: " ".join(views) for name, views in spelled.items()})
    defaults = PlanOptions()
    check("names", "defaults", {"resampler": defaults.resampler, "transport": defaults.transport})
    check("names", "decode policy", {"version": defaults.decode.version})
    half = MatchDesign("target-px", (0.5,))
    check("names", "matched", {"half a pixel": half.condition(0.5, Crop(1.5)), "design": half.id})


def test_a_changed_reading_of_answers_gets_a_new_name():
    """The file of stored scores is named by the scorer, so each version that ever scored stands among the names."""
    scorers = [open_scorer(name)[0] for name in OURS["scorer"]]
    current = {scorer_id_of(scorer, mode) for scorer in scorers for mode in scorer.modes}
    missing = sorted(current - set(GOLDEN["names"]["scorers"]))
    assert not missing, f"golden_ids.json lacks, under names, scorers: {missing}"


@pytest.mark.parametrize("scorer_id", GOLDEN["names"]["scorers"])
def test_every_scorer_that_ever_scored_can_still_be_opened_by_its_name(scorer_id):
    assert scorer_id_of(*open_scorer(scorer_id)) == scorer_id


def test_the_command_line_asks_by_the_same_ids(folder, tmp_path):
    """All of the above, from what a user types to what the run folder holds."""
    out = tmp_path / "run"
    data = ["--data", str(folder / "questions.jsonl"), "--option", "box_format=xyxy"]
    how = ["--views", "original,crop_3x", "--rotate-choices", "2", "--repeat", "2", "--temperature", "not-sent"]
    model = ["--model", "simulated/vlm", "--set", "accuracy=0.5", "--transport", "jpeg95"]
    found = {}
    for keep in KINDS:  # earlier versions asked both in one run
        kind = ["--option", f"keep={keep}", "--out", str(out / keep)]
        assert run_app(["run", "folder", *data, *model, *how, *kind, "--no-report"]) == 0
        found |= ids(RunStore(out / keep).requests())
    check("command line", "run", {"plan_id": plan_id_of(found.values())} | found)


def test_every_provider_prompt_view_and_setting_has_a_golden_id():
    assert {case.split(",")[0] for case in PROVIDERS} == set(OURS["model"])
    assert {*PROMPTS, "hrscene_exact"} == set(OURS["prompt"])
    shown = {view.family for text in VIEWS.values() for view in resolve_views(text)[0]} | {"grid"}
    assert shown == set(OURS["view"])
    moved = {field for one in SAMPLINGS.values() for field in Sampling.__struct_fields__ if differs(one, field)}
    assert moved == set(Sampling.__struct_fields__)


def differs(value, field):
    return getattr(value, field) != getattr(type(value)(), field)


def test_different_things_to_ask_have_different_ids():
    """Two cases that share an id would share their answers; only those may that ask the same."""
    same = {"openai", "openai, address"}
    plans = {}
    for case, found in GOLDEN["models"].items():
        plans.setdefault(tuple(found.values()), set()).add(case)
    assert [cases for cases in plans.values() if len(cases) > 1] == [same]
    for group in ("sampling", "options", "transports", "matches"):
        assert len({tuple(found.values()) for found in GOLDEN[group].values()}) == len(GOLDEN[group]) - (
            2 if group == "options" else 0  # exif and target basis change nothing in these pictures
        ), group

"""Rules of hosted models against what vendors publish and others measured."""

import datetime
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seen.made import identity

from eyechart.errors import UsageError
from eyechart.schema import Size
from eyechart.seen.algorithms import LongestEdge, Patches, ShrunkBefore, SmartResize
from eyechart.seen.ledger import refusals
from eyechart.seen.probing.explain import explain
from eyechart.seen.probing.readings import Reading
from eyechart.seen.rules import bundled_rules, look_up, read_rule_file, rule_for, warnings_of

# Worked out from the vendors' texts by another program; the shorter side of the tile rule is exact here (768 of 768.0).
WORKED = [json.loads(line) for line in Path(__file__).with_name("hosted_worked.jsonl").read_text().splitlines()]

# Tokens measured by others (https://huggingface.co/datasets/JOHNISKING/image-token-cost): per size those of Claude Opus
# 5.5 with 77 and Sonnet 4.5 with 65 of text, of Gemini 3 with 1, and of GPT-6 auto and high and GPT-5.5 auto.
MEASURED = [
    ((256, 256), 177, 165, 1090, 77, 77, 77),
    ((512, 512), 438, 426, 1090, 308, 308, 308),
    ((768, 768), 861, 849, 1090, 692, 692, 692),
    ((1024, 1024), 1446, 1434, 1090, 1229, 1229, 1229),
    ((1280, 720), 1273, 1261, 1101, 1104, 1104, 1104),
    ((1920, 1080), 2768, 1625, 1101, 2448, 2448, 2448),
    ((1080, 1920), 2768, 1625, 1101, 2448, 2448, 2448),
    ((2560, 1440), 3069, 1657, 1101, 4320, 2931, 4320),
    ((3840, 2160), 3069, 1657, 1101, 9792, 2931, 9792),
    ((4032, 3024), 4005, 1661, 1065, 14364, 2942, 11868),
]
MEASURED_MODELS = [
    ("anthropic/claude-opus-5-5", {}, 77),
    ("anthropic/claude-sonnet-4-5", {}, 65),
    ("google/gemini-3-pro-preview", {"media_resolution": "high"}, 1),
    ("openai/gpt-6-astra", {"detail": "auto"}, 0),
    ("openai/gpt-6-astra", {"detail": "high"}, 0),
    ("openai/gpt-5.5", {"detail": "auto"}, 0),
]

sides = st.integers(1, 12_000)
sizes = st.builds(Size, sides, sides)
every_rule = pytest.mark.parametrize("rule", bundled_rules(), ids=lambda rule: rule.id)


@pytest.mark.parametrize("row", WORKED, ids=lambda row: f"{row['model']}-{row['settings']}-{row['sent']}")
def test_rule_reproduces_the_worked_table(row):
    rule = rule_for(identity(row["model"], row["settings"]))
    sent = Size(*row["sent"])
    if row["refused"]:
        assert refusals(rule.limits, sent)
        return
    resized = rule.algorithm.apply(sent)
    assert resized.size == (row["seen"] and Size(*row["seen"]))
    assert resized.tokens == row["tokens"]
    assert row["n_tiles"] is None or resized.n_tiles == row["n_tiles"]


# The measuring client shrank pictures for Claude to 2000 px and told the model so, at a cost that depends on the
# tokenizer: with that, all 60 cells are exact.
MEASURED_NOTES = {"anthropic/claude-opus-5-5": 40, "anthropic/claude-sonnet-4-5": 32}


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: f"{row[0]}")
def test_tokens_agree_with_public_measurements(row):
    for (spec, settings, text_tokens), measured in zip(MEASURED_MODELS, row[1:], strict=True):
        algorithm = rule_for(identity(spec, settings)).algorithm
        if spec in MEASURED_NOTES:
            algorithm = ShrunkBefore(2000, algorithm, MEASURED_NOTES[spec])
        assert algorithm.apply(Size(*row[0])).tokens + text_tokens == measured


@pytest.mark.parametrize(("column", "spec"), [*enumerate(MEASURED_NOTES, start=1)])
def test_public_measurements_show_the_client_that_shrank_pictures(column, spec):
    text_tokens = {spec: text for spec, _, text in MEASURED_MODELS}[spec]
    readings = [Reading(Size(*row[0]), row[column] - text_tokens) for row in MEASURED]
    found = explain(readings, rule_for(identity(spec)).algorithm)
    assert found.is_known
    # The smaller tier shrinks to less anyway, so that its tokens leave the client's bound open.
    side = found.algorithm.max_side_px
    low, high = found.open_numbers.get("max_side_px", (side, side))
    assert low <= 2000 <= high
    assert found.algorithm.note_tokens == MEASURED_NOTES[spec]


@pytest.mark.parametrize(
    ("budget", "sent", "size", "tokens"),
    [
        # Scales of one model in four harnesses: the released checkpoint, VLMEvalKit, lmms-eval and its omni models.
        ((4 * 784, 16384 * 784), (2246, 1582), (2240, 1568), 4480),
        ((4 * 784, 16384 * 784), (562, 396), (560, 392), 280),
        ((4 * 784, 16384 * 784), (140, 99), (140, 112), 20),
        ((4 * 784, 16384 * 784), (60, 45), (56, 56), 4),
        ((1280 * 784, 16384 * 784), (562, 396), (1204, 868), 1333),
        ((1280 * 784, 16384 * 784), (140, 99), (1204, 868), 1333),
        ((1280 * 784, 16384 * 784), (60, 45), (1176, 868), 1302),
        ((256 * 784, 1605632), (2246, 1582), (1484, 1036), 1961),
        ((256 * 784, 1605632), (140, 99), (560, 392), 280),
        ((256 * 784, 1605632), (60, 45), (532, 392), 266),
        ((256 * 784, 1605632), (7680, 4320), (1680, 924), 1980),
        ((4 * 784, 512 * 512), (2246, 1582), (588, 420), 315),
    ],
)
def test_one_qwen_model_sees_another_picture_in_every_harness(budget, sent, size, tokens):
    resized = SmartResize(28, *budget).apply(Size(*sent))
    assert (resized.size, resized.tokens) == (size, tokens)


def test_vendors_own_examples_are_reproduced():
    assert Patches(32, 1536).apply(Size(1800, 2400)).size == Size(1056, 1408)
    assert Patches(32, 1536).apply(Size(1800, 2400)).tokens == 1452
    assert LongestEdge(28, 1568, 1568).apply(Size(1075, 1520)).size == Size(924, 1307)
    assert LongestEdge(28, 1568, 1568).apply(Size(1920, 1080)).size == Size(1456, 819)
    assert LongestEdge(28, 2576, 4784).apply(Size(1920, 1080)).tokens == 2691


@every_rule
def test_rule_says_where_and_when_it_was_read(rule):
    assert rule.source.startswith("https://")
    assert rule.date <= datetime.date(2026, 11, 30)
    assert rule.id.count("@") == 1
    assert rule.evidence == ("inferred" if rule.confidence == "C" else "documented")


def test_rule_ids_are_unique_and_no_model_has_two_rules_under_the_same_settings():
    ids = [rule.id for rule in bundled_rules()]
    assert len(set(ids)) == len(ids)
    claims = [
        (rule.provider, model, name, value)
        for rule in bundled_rules()
        for model in rule.models
        for name, values in (rule.when or {"": ("",)}).items()
        for value in values
    ]
    assert len(set(claims)) == len(claims)


@every_rule
@given(sent=sizes)
def test_any_picture_gets_a_size_of_at_least_one_pixel_and_tokens(rule, sent):
    resized = rule.algorithm.apply(sent)
    assert all(min(stage) >= 1 for stage in resized.stages)
    assert resized.tokens is None or resized.tokens >= 1


@given(sent=sizes)
@pytest.mark.parametrize(("edge", "budget"), [(1568, 1568), (2576, 4784)])
def test_claude_keeps_its_bounds_and_never_enlarges(edge, budget, sent):
    resized = LongestEdge(28, edge, budget).apply(sent)
    assert max(resized.size) <= edge
    assert resized.tokens <= budget
    assert resized.size.width <= sent.width
    assert resized.size.height <= sent.height


@given(sent=sizes)
def test_claude_treats_both_orientations_alike(sent):
    resized = LongestEdge(28, 1568, 1568).apply(sent).size
    turned = LongestEdge(28, 1568, 1568).apply(Size(sent.height, sent.width)).size
    assert turned == Size(resized.height, resized.width)


@given(sent=sizes)
def test_patches_keep_their_budget_and_a_fitting_picture_is_left_alone(sent):
    rule = Patches(32, 1536, 2048)
    resized = rule.apply(sent)
    assert resized.tokens <= 1536
    assert max(resized.size) <= 2048
    assert rule.apply(resized.size).size == resized.size


@pytest.mark.parametrize(
    ("spec", "settings", "rule_id"),
    [
        ("openai/gpt-4o-2024-08-06", {"detail": "high"}, "openai-tile-gpt4o@1"),
        ("openai/gpt-4o-mini-2024-07-18", {"detail": "high"}, "openai-tile-gpt4o-mini@1"),
        ("openai/gpt-4o", {"detail": "low"}, "openai-low-gpt4o@1"),
        ("openai/gpt-4o", {}, "openai-tile-gpt4o@1"),
        ("openai/gpt-5-chat-latest", {"detail": "high"}, "openai-tile-gpt5@1"),
        ("openai/gpt-5.4", {"detail": "auto"}, "openai-gpt5.4-high@1"),
        ("openai/gpt-5.5", {"detail": "auto"}, "openai-gpt5.5-original@1"),
        ("openai/gpt-5.6-mini", {"detail": "high"}, "openai-gpt5.6-high@1"),
        ("anthropic/claude-sonnet-4-5-20250929", {}, "claude-standard@1"),
        ("anthropic/claude-3-5-sonnet-latest", {}, "claude-standard@1"),
        ("anthropic/claude-opus-4-20250514", {}, "claude-standard@1"),
        ("anthropic/claude-opus-4-7", {}, "claude-highres@1"),
        ("google/gemini-2.5-flash", {"media_resolution": "high"}, "gemini-2.x-tiles@1"),
        ("google/gemini-3.1-pro", {}, "gemini-3-high@1"),
        ("dashscope/qwen3-vl-plus", {"vl_high_resolution_images": True}, "dashscope-qwen3-hires@1"),
        ("bedrock/us.amazon.nova-lite-v1:0", {}, "nova-1@1"),
        ("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", {}, "bedrock-claude-standard@1"),
        ("bedrock/anthropic.claude-opus-4-7-v1:0", {}, "bedrock-claude-highres@1"),
        ("openrouter/anthropic/claude-sonnet-4.5", {}, "claude-standard@1"),
        ("openrouter/openai/gpt-4o", {"detail": "high"}, "openai-tile-gpt4o@1"),
    ],
)
def test_model_finds_its_own_rule(spec, settings, rule_id):
    assert rule_for(identity(spec, settings)).id == rule_id


@pytest.mark.parametrize(
    ("spec", "settings", "reason"),
    [
        ("openai/gpt-4o-audio-preview", {}, "no rule is known for openai/gpt-4o-audio-preview"),
        ("openai/grok-4", {"detail": "high"}, "no rule is known"),
        ("vllm/Qwen/Qwen3-VL-8B-Instruct", {}, "no rule is known"),
        ("openai/gpt-4o", {"detail": "original"}, "no rule of openai/gpt-4o is known for detail original"),
        ("xai/grok-4", {"detail": "auto"}, "known for detail auto; known are detail high"),
        ("together/Qwen/Qwen3-VL-8B-Instruct", {}, "billed by the tiles of Llama 3.2"),
        ("openrouter/qwen/qwen3-vl-8b", {}, "pin provider.order"),
        ("azure/my-deployment", {}, "deployment's name"),
        ("siliconflow/Qwen/Qwen3-VL-8B", {}, "auto means low here"),
    ],
)
def test_unknown_model_has_no_rule_and_a_reason(spec, settings, reason):
    found = look_up(identity(spec, settings))
    assert found.rule is None
    assert reason in found.reason


def test_claude_on_bedrock_takes_half_the_bytes():
    limits = rule_for(identity("bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0")).limits
    assert refusals(limits, Size(100, 100), n_bytes=3_932_161) == ("5242884 bytes as base64, more than 5242880",)
    assert refusals(limits, Size(100, 100), n_bytes=3_932_160) == ()


def test_host_in_between_makes_a_rule_an_inference():
    assert rule_for(identity("openrouter/openai/gpt-4o")).evidence == "inferred"
    assert rule_for(identity("openai/gpt-4o")).evidence == "documented"


def test_pixel_bounds_that_are_sent_replace_those_of_the_rule():
    rule = rule_for(identity("dashscope/qwen3-vl-plus", {"max_pixels": 1024 * 1024}))
    assert rule.algorithm.apply(Size(4000, 4000)).size == Size(1024, 1024)


OWN = """
provider = "vllm"
[[rules]]
id = "mine@1"
models = ["my-*"]
algorithm = { kind = "fit", max_side_px = 1000 }
source = "https://example.org/config"
date = 2026-01-01
confidence = "A"
"""


def test_users_rule_comes_before_bundled_ones(tmp_path):
    (tmp_path / "own.toml").write_text(OWN.replace("vllm", "openai").replace("my-*", "gpt-4o"))
    own = read_rule_file(tmp_path / "own.toml")
    assert rule_for(identity("openai/gpt-4o"), own).id == "mine@1"
    assert rule_for(identity("openai/gpt-5"), own).id == "openai-tile-gpt5@1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OWN + 'colour = "red"\n', r"unknown field `colour` - at `\$\.rules\[0\]`"),
        (OWN.replace("max_side_px", "max_side"), r"unknown field `max_side` - at `\$\.rules\[0\]\.algorithm`"),
        (OWN.replace("source =", "#"), "missing required field `source`"),
        (OWN.replace('"fit"', '"shrink"'), "Invalid value 'shrink'"),
        (OWN.replace('confidence = "A"', 'confidence = "D"'), "Invalid enum value 'D'"),
        (OWN.replace("provider", "vendor"), "unknown field `vendor`"),
        (OWN + OWN.split("\n", 2)[2], "two rules are named mine@1"),
        ("provider = ", "is not a TOML file"),
    ],
)
def test_broken_rule_file_is_refused_with_its_place(tmp_path, text, message):
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        read_rule_file(tmp_path / "own.toml")
    assert "own.toml" in caught.value.message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (OWN + 'colour = "red"\n', "a rule holds id, models, algorithm, source, date, confidence, when,"),
        (OWN.replace("max_side_px", "max_side"), "fit (max_side_px, tokens)"),
        (OWN.replace('"fit"', '"shrink"'), "an algorithm is one of tiles (fit_px, short_px,"),
        (OWN + "limits = { max_side = 9 }\n", "limits are max_side_px, "),
        (OWN.replace("provider", "vendor"), "the file holds provider, limits, rules"),
    ],
)
def test_hint_of_a_broken_rule_file_lists_the_fields_of_that_place(tmp_path, text, hint):
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(UsageError) as error:
        read_rule_file(tmp_path / "own.toml")
    assert hint in error.value.hint


def test_rule_file_of_the_design_notes_is_read(tmp_path):
    notes = Path(__file__).parents[2].joinpath("design", "seen.md").read_text(encoding="utf-8")
    (tmp_path / "own.toml").write_text(notes.partition("```toml")[2].partition("```")[0], encoding="utf-8")
    (rule,) = read_rule_file(tmp_path / "own.toml")
    assert rule.limits.max_side_px == 8000
    assert rule.apply(Size(3840, 2160)).size == Size(1664, 928)


def test_missing_rule_file_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"own\.toml cannot be read"):
        read_rule_file(tmp_path / "own.toml")


def test_rule_older_than_ninety_days_is_a_dated_warning():
    rule = rule_for(identity("openai/gpt-4o"))
    assert warnings_of(rule, {}, rule.date + datetime.timedelta(days=90)) == ()
    (warning,) = warnings_of(rule, {}, rule.date + datetime.timedelta(days=91))
    assert "2026-11-30, 91 days ago" in warning


def test_inferred_rules_and_auto_detail_are_warned_of():
    rule = rule_for(identity("google/gemini-3-pro-preview"))
    assert "is inferred, not documented: the budget is documented" in warnings_of(rule, {}, rule.date)[0]
    assert "send a fixed value" in warnings_of(rule, {"detail": "auto"}, rule.date)[0]

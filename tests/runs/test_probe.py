"""What a probe finds out about servers that hide their rules."""

import asyncio
import datetime
import io
from functools import cache

import pytest
from PIL import Image
from runs import hidden_rules
from servers.chat_server import ChatServer

from eyechart.errors import BadRequestError, TransientModelError, UsageError
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.runs.patience import Patience
from eyechart.runs.probe import probe_model
from eyechart.runs.probe_record import described, probed_rule, rule_text, sentences
from eyechart.schema import Size
from eyechart.seen.algorithms import LongestEdge, Patches, ShrunkBefore, SmartResize, Tiles, Unpublished
from eyechart.seen.probing.readings import ladder
from eyechart.seen.rules import look_up, read_rule_file

TODAY = datetime.date(2026, 11, 30)


@cache
def probed_once(tokens_of, spec):
    return probe(tokens_of, spec)


def probe(tokens_of, spec, *, apart=False, sizes=None, settings=None, **server):
    with ChatServer(answer=hidden_rules.counting(tokens_of, apart=apart), **server) as running:
        model = open_model(spec, ModelOptions(base_url=running.base_url, settings=settings or {}))
        rule = look_up(model.identity).rule
        work = probe_model(
            model, sizes or ladder(), today=TODAY, rule=rule, patience=Patience(max_attempts=2, first_wait_seconds=0.01)
        )
        return asyncio.run(work)


def test_patches_and_their_price_are_found_and_agree_with_the_published_rule():
    probed = probed_once(hidden_rules.patches_of_32, "openai/gpt-5.4-mini")
    assert probed.explanation.is_known
    assert probed.explanation.algorithm == Patches(32, 1536, 2048, 1.62)
    assert probed.explanation.extra_tokens == 2
    assert probed.differences == ()
    assert "rule openai-patch1536-mini@1 gives the same: it is documented and now probed" in sentences(probed)


def test_patches_are_found_without_any_published_rule():
    probed = probe(hidden_rules.patches_of_32, "vllm/unheard-of", apart=True)
    assert probed.has_image_tokens
    assert probed.explanation.algorithm == Patches(32, 1536, 2048, 1.62)
    low, high = probed.explanation.open_numbers["max_patches"]
    assert low <= 1536 <= high


def test_longest_edge_and_budget_are_found():
    probed = probed_once(hidden_rules.patches_of_28, "vllm/unheard-of")
    assert probed.explanation.algorithm == LongestEdge(28, 1568, 1568)


def test_cap_of_a_harness_is_found_though_the_model_knows_no_such_cap():
    probed = probed_once(hidden_rules.blocks_of_32, "dashscope/qwen3-vl-plus")
    assert probed.explanation.algorithm == SmartResize(32, 65_536, 1_605_632)
    assert not probed.explanation.is_known
    (told,) = (one for one in sentences(probed) if "does not hold here" in one)
    assert told.startswith("rule dashscope-qwen3-default@1 does not hold here: other tokens for")
    assert "1920×1080 read" in told


def test_client_in_between_that_resizes_is_found_with_its_note():
    probed = probed_once(hidden_rules.behind_a_client, "openrouter/anthropic/claude-opus-4.7")
    assert probed.explanation.algorithm == ShrunkBefore(2000, LongestEdge(28, 2576, 4784), 40)
    assert probed.explanation.is_known
    told = " ".join(sentences(probed))
    assert "something between here and the model shrinks pictures to a longer side of 2000 px and adds 40" in told
    assert all(max(one.sent) > 2000 for one in probed.differences)


def test_client_in_between_is_found_before_a_model_of_no_known_rule():
    probed = probed_once(hidden_rules.behind_a_client, "vllm/unheard-of")
    assert isinstance(probed.explanation.algorithm, ShrunkBefore)
    assert (probed.explanation.algorithm.max_side_px, probed.explanation.algorithm.note_tokens) == (2000, 40)
    assert "another algorithm: shrunk before, then longest edge" in " ".join(sentences(probed))


def test_tiles_are_found():
    probed = probed_once(hidden_rules.tiles_of_512, "vllm/unheard-of")
    assert probed.explanation.algorithm == Tiles(2048, 768, 512, 87, 170)


def test_flat_bill_says_nothing_about_pixels():
    probed = probed_once(hidden_rules.flat, "vllm/unheard-of")
    assert probed.explanation.algorithm == Unpublished(232)
    assert "tokens do not grow with pixels here, so they say nothing about how large pictures are seen" in sentences(
        probed
    )


def test_flat_price_and_pictures_that_cost_nothing_are_named():
    assert any(text.startswith("FLAT_PICTURE_PRICE: ") for text in sentences(probed_once(hidden_rules.flat, "vllm/x")))
    # Two tokens of markers stand around each picture otherwise.
    nothing = sentences(probed_once(lambda width, height: -2, "vllm/x"))
    assert any(text.startswith("NO_PICTURE: ") for text in nothing)
    tiles = " ".join(sentences(probed_once(hidden_rules.tiles_of_512, "vllm/x")))
    assert "_PICTURE" not in tiles


def test_unheard_of_rule_is_no_rule():
    probed = probed_once(hidden_rules.unheard_of, "vllm/unheard-of")
    assert probed.explanation is None
    assert probed_rule(probed) is None
    assert sentences(probed)[0] == "no known algorithm gives all 39 readings exactly, so no rule is written"


@pytest.mark.parametrize(
    ("tokens_of", "spec"),
    [
        (hidden_rules.patches_of_32, "openai/gpt-5.4-mini"),
        (hidden_rules.behind_a_client, "openrouter/anthropic/claude-opus-4.7"),
        (hidden_rules.blocks_of_32, "dashscope/qwen3-vl-plus"),
        (hidden_rules.tiles_of_512, "vllm/unheard-of"),
    ],
)
def test_written_rule_is_read_again_and_gives_the_readings(tmp_path, tokens_of, spec):
    probed = probed_once(tokens_of, spec)
    (tmp_path / "probed.toml").write_text(rule_text(probed_rule(probed)))
    own = read_rule_file(tmp_path / "probed.toml")
    found = look_up(probed.model, own).rule
    assert (found.evidence, found.date) == ("probed", TODAY)
    extra = probed.explanation.extra_tokens
    assert [found.apply(reading.sent).tokens + extra for reading in probed.readings] == [
        reading.tokens for reading in probed.readings
    ]


def test_rule_holds_only_under_the_settings_it_was_probed_with(tmp_path):
    probed = probe(hidden_rules.patches_of_32, "openai/gpt-5.4-mini", settings={"detail": "high"})
    (tmp_path / "probed.toml").write_text(rule_text(probed_rule(probed)))
    own = read_rule_file(tmp_path / "probed.toml")
    assert own[0].when == {"detail": ("high",)}


def refusing(received):
    """Answer like a server that refuses a side above 2000 px, in the words of no particular provider."""
    tokens = 0
    for picture in received.pictures:
        with Image.open(io.BytesIO(picture.encoded)) as opened:
            size = opened.size
        if max(size) > 2000:
            return 413, {"error": {"message": "image too large", "code": None}}
        tokens += hidden_rules.patches_of_28(*size)
    usage = {"prompt_tokens": 11 + tokens, "completion_tokens": 1}
    message = {"role": "assistant", "content": "A"}
    return 200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}


def test_refused_pictures_are_told_and_the_rest_is_explained():
    probed = probe(None, "vllm/unheard-of", say=refusing)
    assert {max(one.sent) > 2000 for one in probed.refused} == {True}
    assert probed.explanation.algorithm.patch_px == 28
    assert any("2017×1513 was refused" in sentence for sentence in sentences(probed))


def test_endpoint_without_usage_cannot_be_probed():
    def silent(_received):
        return 200, {"choices": [{"index": 0, "message": {"content": "A"}, "finish_reason": "stop"}]}

    with pytest.raises(BadRequestError, match="vllm/unheard-of reports no tokens"):
        probe(None, "vllm/unheard-of", say=silent)


def test_server_that_stays_away_is_an_error_and_not_a_finding():
    def broken(_received):
        return 500, {"error": {"message": "boom"}}

    with pytest.raises(TransientModelError, match="boom"):
        probe(None, "vllm/unheard-of", say=broken, sizes=[Size(64, 64)])


def test_model_that_looks_at_nothing_is_not_probed():
    model = open_model("simulated/chance")
    with pytest.raises(UsageError, match="simulated/chance looks at no picture"):
        asyncio.run(probe_model(model, [Size(64, 64)], today=TODAY))


def test_algorithm_is_described_with_its_numbers_and_what_comes_before():
    shown = described(ShrunkBefore(2000, LongestEdge(28, 2576, 4784), 40))
    assert shown == (
        "shrunk before (max_side_px 2000, note_tokens 40), then longest edge (patch_px 28, max_edge_px 2576, "
        "max_tokens 4784)"
    )

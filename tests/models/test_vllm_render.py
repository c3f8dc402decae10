"""A vLLM server's own word on pictures, before anything is answered."""

import asyncio
import datetime

import pytest
from servers.chat_server import ChatServer
from servers.vllm_server import capped, vllm

from eyechart.errors import TransientModelError
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.schema import Size
from eyechart.seen.algorithms import SmartResize
from eyechart.seen.rules import TellsRule, warnings_of

TODAY = datetime.date(2026, 11, 30)
SPEC = "vllm/Qwen/Qwen3-VL-8B-Instruct"


def ask_rule(say, **settings):
    with ChatServer(say=say) as server:
        model = open_model(SPEC, ModelOptions(base_url=server.base_url, settings=settings))
        assert isinstance(model, TellsRule)
        rule = asyncio.run(model.seen_rule(TODAY))
        asked = [one.path for one in server.received]
        sizes = (Size(3840, 2160), Size(900, 777), Size(5000, 3000))
        return rule, None if rule is None else {size: rule.apply(size) for size in sizes}, asked, server.received


def test_cap_of_the_server_is_found_and_named():
    rule, shown, asked, _ = ask_rule(vllm(capped(1_605_632)))
    assert rule.resizer.algorithm == SmartResize(32, 65_536, 1_605_632)
    assert shown[Size(3840, 2160)].size == Size(1664, 928)
    assert shown[Size(3840, 2160)].tokens == 52 * 29
    assert rule.evidence == "reported"
    assert warnings_of(rule, {}, TODAY) == (
        "by the server's own word, pictures of more than 1,605,632 px are shrunk to that (1664×928 of 3840×2160)",
    )
    assert set(asked) == {"/v1/chat/completions/render"}


def test_large_pictures_are_rendered_without_their_tensors():
    _, _, _, received = ask_rule(vllm(capped(1_605_632)))
    payloads = {one.json["mm_payload"] for one in received if len(one.body) > 0}
    assert payloads == {"tensors", "none"}


def test_older_server_that_always_sends_tensors_is_asked_by_its_tokenizer_instead():
    rule, shown, asked, _ = ask_rule(vllm(capped(1_605_632), honours_payload=False))
    assert rule.resizer.algorithm == SmartResize(32, 65_536, 1_605_632)
    assert shown[Size(5000, 3000)].size == Size(1632, 960)
    assert "/tokenize" in asked


def test_server_with_a_tokenizer_alone_tells_as_much_by_its_counts():
    rule, shown, asked, _ = ask_rule(vllm(capped(1_605_632), has_render=False))
    assert rule.resizer.algorithm == SmartResize(32, 65_536, 1_605_632)
    assert shown[Size(3840, 2160)].size == Size(1664, 928)
    assert asked.count("/v1/chat/completions/render") == 1


def test_server_with_neither_endpoint_tells_nothing():
    rule, _, asked, _ = ask_rule(vllm(capped(1_605_632), has_render=False, has_tokenize=False))
    assert rule is None
    assert len(asked) == 2 + 1  # render, tokenizer without and with a picture


def test_settings_of_the_run_are_sent_along():
    _, _, _, received = ask_rule(vllm(capped(1_605_632)), max_pixels=1_605_632)
    assert all(one.json["mm_processor_kwargs"] == {"max_pixels": 1_605_632} for one in received)


def test_prompt_longer_than_the_context_is_a_refused_picture():
    rule, shown, _, _ = ask_rule(vllm(capped(16_777_216), most_tokens=9000))
    assert shown[Size(900, 777)].size == Size(896, 768)
    assert "longer than the maximum context length of 9000" in shown[Size(5000, 3000)].refused
    assert rule.resizer.is_told


def odd_grid(width, height):
    """Return a grid of no known algorithm."""
    return (width % 7 + 2) * 2, (height % 5 + 3) * 2


def test_sizes_that_nothing_known_explains_are_asked_one_by_one():
    with ChatServer(say=vllm(odd_grid)) as server:
        model = open_model(SPEC, ModelOptions(base_url=server.base_url))
        rule = asyncio.run(model.seen_rule(TODAY))
        assert rule.resizer.algorithm is None
        before = len(server.received)
        small, large = rule.apply(Size(703, 500)), rule.apply(Size(5003, 500))
        assert small.size == Size((703 % 7 + 2) * 32, 96)
        assert (large.size, large.tokens) == (None, (5003 % 7 + 2) * 3)
        assert large.unseen == "the server tells the tokens of this picture, but no size"
        assert rule.apply(Size(703, 500)) == small
        assert len(server.received) == before + 2


def test_planned_sizes_are_checked_and_an_algorithm_that_differs_is_given_up():
    usual = capped(1_605_632)
    with ChatServer(say=vllm(lambda w, h: (4, 4) if (w, h) == (1111, 999) else usual(w, h))) as server:
        model = open_model(SPEC, ModelOptions(base_url=server.base_url))
        rule = asyncio.run(model.seen_rule(TODAY))
        assert rule.resizer.algorithm is not None
        assert rule.apply(Size(1111, 999)).tokens == 4
        assert rule.resizer.algorithm is None


def test_server_that_is_away_is_an_error_that_says_so():
    model = open_model(SPEC, ModelOptions(base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(TransientModelError, match=r"no server answered at http://127\.0\.0\.1:9/v1"):
        asyncio.run(model.seen_rule(TODAY))

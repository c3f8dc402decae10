"""Laws of prices: dated, never guessed, the user's first."""

import pytest

from eyechart.errors import UsageError
from eyechart.schema import ModelIdentity
from eyechart.seen.prices import Price, bundled_prices, parse_price, price_of, read_price_file
from eyechart.seen.rules import rule_for


def test_every_bundled_price_has_a_date_a_source_and_costs_more_out_than_in():
    for price in bundled_prices():
        assert price.date is not None
        assert price.source.startswith("https://")
        assert 0 < price.input < price.output
        assert price.provider


def test_every_bundled_price_is_of_a_model_whose_rule_is_known():
    for price in bundled_prices():
        for name in price.models:
            plain = name.replace("[.-]", "-")
            settings = {"openai": {"detail": "high"}, "google": {"media_resolution": "high"}}.get(price.provider, {})
            assert rule_for(ModelIdentity(price.provider, plain, settings=settings)) is not None, plain


def test_a_users_price_comes_first_and_an_unknown_model_has_none():
    own = Price(input=7.0, output=8.0)
    assert price_of(ModelIdentity("openai", "gpt-4o"), [own]) == own
    assert price_of(ModelIdentity("vllm", "Qwen/Qwen3-VL-8B-Instruct")) is None
    assert price_of(ModelIdentity("together", "gpt-4o")) is None


def test_the_nearest_name_gives_the_price():
    assert price_of(ModelIdentity("openai", "gpt-4o-mini-2024-07-18")).input == 0.15
    assert price_of(ModelIdentity("anthropic", "claude-sonnet-4.5")).input == 3.0
    assert price_of(ModelIdentity("openai", "gpt-4o-audio-preview")) is None


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "nan,1", "inf,1"])
def test_a_price_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match="is not INPUT,OUTPUT"):
        parse_price(text)


def test_a_price_file_is_read_and_its_faults_are_named(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text('[[prices]]\nprovider = "vllm"\nmodels = ["m*"]\ninput = 0\noutput = 0\n')
    (price,) = read_price_file(path)
    assert price.of(10**9, 10**9) == 0
    assert price_of(ModelIdentity("vllm", "mine"), [price]) == price
    path.write_text('[[prices]]\nprovider = "vllm"\ninput = 0\noutput = -1\n')
    with pytest.raises(UsageError, match="a price of -1"):
        read_price_file(path)
    path.write_text("[[prices]]\ninputs = 0\n")
    with pytest.raises(UsageError, match="unknown field"):
        read_price_file(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_price_file(tmp_path / "none.toml")

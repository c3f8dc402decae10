"""Prices: found by exact name or pattern, never by a near name, and read from the command line."""

import datetime

import pytest

from eyechart.errors import UsageError
from eyechart.schema import ModelIdentity
from eyechart.seen.prices import price_of, read_price

TODAY = datetime.date(2026, 11, 30)


@pytest.mark.parametrize(
    ("provider", "name", "expected"),
    [
        ("openai", "gpt-4o-mini", (0.15, 0.6)),
        ("openai", "gpt-4o-2024-11-20", (2.5, 10.0)),
        ("openai", "gpt-4o-audio-preview", None),
        ("openai", "gpt-5.4", None),
        ("anthropic", "claude-sonnet-4-5-20250929", (3.0, 15.0)),
        ("anthropic", "claude-sonnet-4-20250514", (3.0, 15.0)),
        ("anthropic", "claude-opus-4-1", (15.0, 75.0)),
        ("anthropic", "claude-opus-4-6", (5.0, 25.0)),
        ("google", "gemini-2.5-flash-lite", (0.1, 0.4)),
        ("ollama", "gpt-4o", None),
    ],
)
def test_a_price_is_that_of_the_name_or_of_none(provider, name, expected):
    price = price_of(ModelIdentity(provider, name))
    assert (price and (price.input_per_million, price.output_per_million)) == expected
    if price:
        assert price.source.startswith("https://")
        assert price.date <= TODAY


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "nan,1", "inf,1"])
def test_a_price_that_is_no_pair_is_refused(text):
    with pytest.raises(UsageError, match="no pair of prices"):
        read_price(text, TODAY)

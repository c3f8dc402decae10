"""What requests cost: expected from their sizes, and counted from the tokens that were reported."""

import datetime
from collections.abc import Iterable
from functools import lru_cache

from eyechart.schema import ModelIdentity, Picture, Request, TokenPrice, Usage
from eyechart.seen.prices import parse_price, price_of
from eyechart.seen.rules import look_up

_MILLION = 1_000_000
# English is about four characters a token; 750 px a token is Claude's published rule, the densest of the large ones.
_CHARACTERS_PER_TOKEN = 4
_PX_PER_TOKEN = 750
_MOST_TOKENS_PER_PICTURE = 16_384
ANSWER_TOKENS = 64
"""Tokens of an answer that states a letter; models that think need many more."""


def token_price(model: ModelIdentity) -> TokenPrice | None:
    """Return the bundled price of a model as a run records it, None where it is not known.

    Example:
        >>> token_price(ModelIdentity("openai", "gpt-4o-2024-08-06")).output_per_million
        10.0
        >>> token_price(ModelIdentity("vllm", "gpt-4o")) is None
        True
    """
    price = price_of(model)
    if price is None or price.date is None:
        return None
    return TokenPrice(
        input_per_million=price.input, output_per_million=price.output, date=price.date, source=price.source
    )


def read_price(text: str, today: datetime.date) -> TokenPrice:
    """Return the user's own price, ``IN,OUT`` in US dollars per million tokens.

    Raises:
        UsageError: If it is not a pair of numbers of at least 0.

    Example:
        >>> read_price("2.5,10", datetime.date(2026, 1, 1)).output_per_million
        10.0
    """
    price = parse_price(text)
    return TokenPrice(input_per_million=price.input, output_per_million=price.output, date=today, source="--price")


def cost_dollars(usage: Usage, price: TokenPrice) -> float | None:
    """Return what an answer cost in US dollars, None where its tokens were not reported.

    Discounts for cached or batched tokens are not counted.

    Example:
        >>> price = read_price("2,10", datetime.date(2026, 1, 1))
        >>> cost_dollars(Usage(input_tokens=1000, output_tokens=100), price)
        0.003
    """
    if usage.input_tokens is None:
        return None
    paid_out = (usage.output_tokens or 0) * price.output_per_million
    return (usage.input_tokens * price.input_per_million + paid_out) / _MILLION


def estimate_dollars(requests: Iterable[Request], model: ModelIdentity, price: TokenPrice) -> float:
    """Return what requests will cost in US dollars, from their sizes alone.

    Picture tokens come from the model's resize rule where one is known, else from the pixels; an answer counts 64
    tokens, so a model that thinks will cost more.

    Example:
        >>> estimate_dollars((), ModelIdentity("openai", "gpt-4o"), read_price("1,2", datetime.date.min))
        0.0
    """
    rule = look_up(model).rule
    apply = lru_cache(maxsize=None)(rule.algorithm.apply) if rule else None
    n_in = n_out = 0
    for request in requests:
        n_out += ANSWER_TOKENS
        n_in += len(request.prompt) // _CHARACTERS_PER_TOKEN
        for picture in request.pictures:
            n_tokens = apply(picture.size).tokens if apply else None
            n_in += picture_tokens(picture) if n_tokens is None else round(n_tokens)
    return (n_in * price.input_per_million + n_out * price.output_per_million) / _MILLION


def guess_tokens(request: Request) -> int:
    """Return tokens of a request's prompt, pictures and answer, from their sizes alone."""
    pictures = sum(picture_tokens(picture) for picture in request.pictures)
    return len(request.prompt) // _CHARACTERS_PER_TOKEN + pictures + ANSWER_TOKENS


def picture_tokens(picture: Picture) -> int:
    """Return the tokens of a picture where no rule is known: one for 750 px, as Claude counts them."""
    return min(_MOST_TOKENS_PER_PICTURE, picture.size.n_px // _PX_PER_TOKEN)

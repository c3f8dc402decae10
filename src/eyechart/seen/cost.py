"""What a run will cost: calls, tokens, bytes, hours and money, with what is assumed."""

import math

from eyechart.schema import Value
from eyechart.seen.prices import Price

# English text has about four characters a token (https://platform.openai.com/tokenizer); pictures dominate anyway.
_CHARACTERS_PER_TOKEN = 4


class Costing(Value, frozen=True):
    """What costs are worked out from besides the pictures; nobody knows it before a run.

    Args:
        answer_tokens: Of one answer, thoughts included.
        concurrency: Requests in flight.
        seconds_per_call: Time of one request.
        prices: The user's prices, which come before the bundled ones.
    """

    answer_tokens: int = 100
    concurrency: int = 8
    seconds_per_call: float = 10.0
    prices: tuple[Price, ...] = ()


class Asking(Value, frozen=True, kw_only=True):
    """How much is asked.

    Args:
        n_calls: Requests, repeats included.
        text_tokens: Of all prompts, estimated from their length.
        n_repeats: How often each picture is sent, on average; in several orders of the options too.
        assumed: What is assumed of every call.
    """

    n_calls: int
    text_tokens: int
    n_repeats: float = 1
    assumed: Costing = Costing()


class Cost(Value, frozen=True, kw_only=True):
    """What a run of one model costs.

    Args:
        n_calls: Requests, repeats included.
        image_tokens: Of all pictures, None where the rule tells none.
        text_tokens: Of all prompts, estimated.
        answer_tokens: Of all answers, as assumed.
        most_upload_bytes: Of all pictures at most, before base64.
        hours: At the concurrency and the seconds a call that were assumed.
        usd: List price, None where price or tokens are not known.
        price: The price for a million tokens, None where none is known.
    """

    n_calls: int
    image_tokens: int | None
    text_tokens: int
    answer_tokens: int
    most_upload_bytes: int
    hours: float
    usd: float | None
    price: Price | None


def asking_of(n_calls: int, n_characters: int, assumed: Costing | None = None, *, n_repeats: float = 1) -> Asking:
    """Return how much is asked by so many calls with prompts of so many characters together.

    Example:
        >>> asking_of(20, 8000, n_repeats=2).text_tokens
        2000
    """
    return Asking(
        n_calls=n_calls,
        text_tokens=math.ceil(n_characters / _CHARACTERS_PER_TOKEN),
        n_repeats=n_repeats,
        assumed=assumed or Costing(),
    )


def cost_of(
    asking: Asking, price: Price | None, *, image_tokens: int | None, most_bytes: int, n_refused: int = 0
) -> Cost:
    """Return what a run costs.

    Args:
        asking: How much is asked.
        price: Price of the model, None where none is known.
        image_tokens: Tokens of one pass over all pictures, None where they are not known.
        most_bytes: Upload of one pass at most.
        n_refused: Requests of one pass that will be refused: they take time, but no tokens.

    Example:
        >>> asking = Asking(n_calls=1000, text_tokens=100_000)
        >>> cost_of(asking, Price(input=2.0, output=10.0), image_tokens=1_400_000, most_bytes=0).usd
        4.0
    """
    n_answered = asking.n_calls - round(n_refused * asking.n_repeats)
    answers = n_answered * asking.assumed.answer_tokens
    images = None if image_tokens is None else round(image_tokens * asking.n_repeats)
    usd = None if price is None or images is None else price.of(images + asking.text_tokens, answers)
    return Cost(
        n_calls=asking.n_calls,
        image_tokens=images,
        text_tokens=asking.text_tokens,
        answer_tokens=answers,
        most_upload_bytes=round(most_bytes * asking.n_repeats),
        hours=asking.n_calls * asking.assumed.seconds_per_call / asking.assumed.concurrency / 3600,
        usd=usd,
        price=price,
    )

"""What hosted models cost a token: bundled and dated list prices, or the user's own."""

import datetime
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from eyechart.errors import UsageError
from eyechart.schema import ModelIdentity, Value
from eyechart.seen.rules import closeness_of

_BUNDLED = Path(__file__).with_name("price_files") / "prices.toml"
_MILLION = 1_000_000
_N_PRICES = 2


class Price(Value, frozen=True, kw_only=True):
    """List price of some models in US dollars for a million tokens.

    Args:
        models: Names, or patterns with ``*``, ``?`` and ``[…]``; a dated snapshot of a name counts as the name.
        input: Of what is sent, pictures included.
        output: Of what comes back.
        provider: Name of the provider.
        source: Where it is published; ``given`` for a price of the user.
        date: When that was read, None for a price of the user.
    """

    input: float
    output: float
    provider: str = ""
    models: tuple[str, ...] = ("*",)
    source: str = "given"
    date: datetime.date | None = None

    def of(self, n_input: int, n_output: int) -> float:
        """Return the price of so many tokens in US dollars.

        Example:
            >>> Price(input=2.5, output=10.0).of(1_000_000, 50_000)
            3.0
        """
        return (self.input * n_input + self.output * n_output) / _MILLION


class _PriceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prices: tuple[Price, ...]


def price_of(model: ModelIdentity, own: Sequence[Price] = ()) -> Price | None:
    """Return the price of a model, None where none is known; the user's prices come before the bundled ones.

    Example:
        >>> price_of(ModelIdentity("openai", "gpt-4o-2024-08-06")).input
        2.5
        >>> price_of(ModelIdentity("openai", "gpt-99")) is None
        True
    """
    for prices in (own, bundled_prices()):
        named = [price for price in prices if price.provider in {"", model.provider}]
        closest = max(named, key=lambda price: closeness_of(price.models, model.name), default=None)
        if closest is not None and closeness_of(closest.models, model.name) > 0:
            return closest
    return None


def parse_price(text: str) -> Price:
    """Read ``INPUT,OUTPUT``: US dollars for a million tokens sent and received.

    Raises:
        UsageError: If these are not two prices.

    Example:
        >>> parse_price("2.5,10").output
        10.0
    """
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != _N_PRICES or not all(0 <= number < float("inf") for number in numbers):
        raise UsageError(f"price {text!r} is not INPUT,OUTPUT", hint="US dollars a million tokens, for example 2.5,10")
    return Price(input=numbers[0], output=numbers[1])


@cache
def bundled_prices() -> tuple[Price, ...]:
    """Return the prices of the package."""
    return read_price_file(_BUNDLED)


def read_price_file(path: Path) -> tuple[Price, ...]:
    """Read prices from a TOML file of ``[[prices]]``.

    Raises:
        UsageError: If the file cannot be read, a field is unknown or missing, or a price is negative.
    """
    try:
        prices = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _PriceFile).prices
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})", hint="check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: {error}", hint="[[prices]] with provider, models, input, output") from error
    below = next((price for price in prices if price.input < 0 or price.output < 0), None)
    if below is not None:
        raise UsageError(f"{path}: a price of {min(below.input, below.output):g}", hint="prices are not negative")
    return prices

"""Send blank pictures of many sizes to a model and find out, from the tokens it reports, what it does to pictures."""

import asyncio
import datetime
import time
from collections.abc import Sequence

from eyechart.errors import BadRequestError, RefusedInputError, TransientModelError, UsageError
from eyechart.images.blank import BlankPicture
from eyechart.kinds import Ask, Model, SentPicture
from eyechart.runs.listening import Listener, Silent
from eyechart.runs.patience import Patience
from eyechart.runs.retrying import Retrying
from eyechart.schema import ModelIdentity, Sampling, Size, Usage, Value
from eyechart.seen.algorithms import AnyAlgorithm
from eyechart.seen.probing.explain import Explanation, explain
from eyechart.seen.probing.readings import Reading, Refused
from eyechart.seen.rules import LiveRule, Rule

_PROMPT = "Answer with the letter A."
# Some interfaces refuse less.
_MAX_TOKENS = 16


class Difference(Value, frozen=True):
    """A size at which the published rule gives other tokens than were read, beyond the constant around a picture."""

    sent: Size
    read: int
    expected: int | None


class Probed(Value, frozen=True, kw_only=True):
    """What a probe found.

    Args:
        model: The model, with the settings it was asked under.
        date: When.
        has_image_tokens: Whether the replies count the tokens of pictures apart; else those of the same request
            without a picture were taken off.
        text_tokens: Tokens of the request without a picture, of two attempts.
        readings: Tokens per picture.
        refused: Pictures that were refused.
        known_rule_id: The published rule, None where there is none.
        differences: Where that rule gives other tokens.
        explanation: What gives all readings exactly, None if nothing known does.
    """

    model: ModelIdentity
    date: datetime.date
    has_image_tokens: bool
    text_tokens: tuple[int, int]
    readings: tuple[Reading, ...]
    refused: tuple[Refused, ...] = ()
    known_rule_id: str | None = None
    differences: tuple[Difference, ...] = ()
    explanation: Explanation | None = None


async def probe_model(
    model: Model,
    sizes: Sequence[Size],
    *,
    today: datetime.date,
    rule: Rule | None = None,
    patience: Patience | None = None,
    listener: Listener | None = None,
) -> Probed:
    """Ask a model about blank pictures, one after the other, and explain the tokens it reports.

    Args:
        model: The model; it is closed at the end.
        sizes: Sizes to send.
        today: For the record.
        rule: The published rule, to compare with.
        patience: How often to repeat what failed.
        listener: Is told of waits and of refused pictures.

    Raises:
        UsageError: If the model looks at no picture.
        BadRequestError: If the model reports no tokens, or refuses a parameter.
        AuthenticationError: If the key is missing or refused.
        TransientModelError: If a request fails again and again.
    """
    if model.reads == "identity":
        raise UsageError(f"{model.identity.spec} looks at no picture", hint="probe a model that is sent pictures")
    asker = _Asker(model, patience or Patience(), listener or Silent())
    try:
        text = [await asker.usage(None) for _ in range(2)]
        counted: list[tuple[Size, Usage]] = []
        refused: list[Refused] = []
        for size in sizes:
            try:
                counted.append((size, await asker.usage(size)))
            except RefusedInputError as error:
                refused.append(Refused(size, error.message))
    finally:
        await model.close()
    has_image_tokens = bool(counted) and all(usage.image_tokens is not None for _, usage in counted)
    baseline = min(_input(usage) for usage in text)
    readings = tuple(
        Reading(size, (usage.image_tokens or 0) if has_image_tokens else _input(usage) - baseline)
        for size, usage in counted
    )
    known = None if rule is None or isinstance(rule, LiveRule) else rule.algorithm
    return Probed(
        model=model.identity,
        date=today,
        has_image_tokens=has_image_tokens,
        text_tokens=(_input(text[0]), _input(text[1])),
        readings=readings,
        refused=tuple(refused),
        known_rule_id=None if known is None or rule is None else rule.id,
        differences=differences(readings, known) if known is not None else (),
        explanation=explain(readings, known) if len(readings) > 1 else None,
    )


def differences(readings: Sequence[Reading], algorithm: AnyAlgorithm) -> tuple[Difference, ...]:
    """Return where an algorithm gives other tokens than were read.

    The constant around a picture is what the most readings have on top of it.

    Example:
        >>> from eyechart.seen.algorithms import Patches
        >>> readings = [Reading(Size(64, 64), 6), Reading(Size(96, 64), 8), Reading(Size(128, 64), 6)]
        >>> differences(readings, Patches(32))
        (Difference(sent=Size(width=128, height=64), read=6, expected=10),)
    """
    expected = [algorithm.apply(reading.sent).tokens for reading in readings]
    extras = [r.tokens - tokens for r, tokens in zip(readings, expected, strict=True) if tokens is not None]
    extra = max(set(extras), key=lambda value: (extras.count(value), -abs(value)), default=0)
    return tuple(
        Difference(reading.sent, reading.tokens, None if tokens is None else tokens + extra)
        for reading, tokens in zip(readings, expected, strict=True)
        if tokens is None or tokens + extra != reading.tokens
    )


class _Asker:
    """Asks one question after the other, patiently."""

    def __init__(self, model: Model, patience: Patience, listener: Listener) -> None:
        self._model, self._patience = model, patience
        self._retrying = Retrying(patience, listener)

    async def usage(self, size: Size | None) -> Usage:
        """Return the tokens of a request with a blank picture, or with none."""
        began, n_attempts = time.monotonic(), 0
        while True:
            n_attempts += 1
            try:
                return await self._usage(size)
            except TransientModelError as error:
                if not await self._retrying.may_repeat(error, n_attempts, time.monotonic() - began):
                    raise

    async def _usage(self, size: Size | None) -> Usage:
        pictures: tuple[SentPicture, ...] = () if size is None else (BlankPicture(size),)
        ask = Ask(
            prompt=_PROMPT,
            pictures=pictures,
            choices=(),
            sampling=Sampling(temperature=None, max_tokens=_MAX_TOKENS),
        )
        try:
            async with asyncio.timeout(self._patience.attempt_seconds):
                reply = await self._model.answer(ask)
        except TimeoutError:
            raise TransientModelError(f"no answer within {self._patience.attempt_seconds:g} s") from None
        if reply.usage is None or (reply.usage.input_tokens is None and reply.usage.image_tokens is None):
            raise BadRequestError(
                f"{self._model.identity.spec} reports no tokens",
                hint="without tokens nothing can be found out; compare answers at falling sizes instead",
                parameter="usage",
            )
        return reply.usage


def _input(usage: Usage) -> int:
    return usage.input_tokens or 0

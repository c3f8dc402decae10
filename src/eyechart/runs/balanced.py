"""One model behind several servers: each request goes to the one with the fewest in flight."""

import asyncio
import datetime
import time
from collections.abc import Sequence
from typing import Literal

import msgspec

from eyechart.errors import BadRequestError, TransientModelError
from eyechart.kinds import Ask, Model, ModelOptions, ReadsLetters, Reply, TellsFingerprint
from eyechart.opening import open_model
from eyechart.seen.rules import Rule, TellsRule

_REST_SECONDS = 15.0


def open_balanced(spec: str, options: ModelOptions, base_urls: Sequence[str]) -> Model:
    """Return a model by ``provider/name`` behind one or several servers, without contacting any.

    Raises:
        UsageError: If the provider, a setting or an address is wrong.
        MissingDependencyError: If the provider's extra is not installed.
    """
    distinct = tuple(dict.fromkeys(base_urls))
    if len(distinct) <= 1:
        return open_model(spec, options)
    members = tuple(open_model(spec, msgspec.structs.replace(options, base_url=url)) for url in distinct)
    return TellingBalancedModel(members) if isinstance(members[0], TellsRule) else BalancedModel(members)


class BalancedModel:
    """Spreads requests over servers of one model. One that is not reached rests, unless none is left.

    Args:
        members: The model as each server serves it; at least one.
        rest_seconds: How long a server that was not reached is left alone.
    """

    def __init__(self, members: tuple[Model, ...], rest_seconds: float = _REST_SECONDS) -> None:
        self.identity = members[0].identity
        self.reads: Literal["pixels", "identity"] = members[0].reads
        limits = [member.max_concurrency for member in members]
        self.max_concurrency = None if None in limits else sum(limit for limit in limits if limit)
        self._members = members
        self._rest_seconds = rest_seconds
        self._n_open = [0] * len(members)
        self._n_asked = [0] * len(members)
        self._resting_until = [0.0] * len(members)

    @property
    def reads_letters(self) -> bool:
        """Whether all members tell the probabilities of an answer's first token."""
        return all(isinstance(member, ReadsLetters) and member.reads_letters for member in self._members)

    async def answer(self, ask: Ask) -> Reply:
        """Answer one request.

        Raises:
            ModelError: One of its subclasses says whether to try again.
        """
        index = self._choose()
        self._n_open[index] += 1
        self._n_asked[index] += 1
        try:
            return await self._members[index].answer(ask)
        except TransientModelError as error:
            if error.is_connection:
                self._resting_until[index] = time.monotonic() + self._rest_seconds
                # The others are there, so this is not a reason to end the run or to wait for a server.
                error.is_connection = self._n_resting() == len(self._members)
            raise
        finally:
            self._n_open[index] -= 1

    async def fingerprint(self) -> str | None:
        """Ask every server which weights it serves; None where one does not say.

        Raises:
            BadRequestError: If two servers serve different weights.
            ModelError: If a server cannot be asked.
        """
        told = await asyncio.gather(*(m.fingerprint() for m in self._members if isinstance(m, TellsFingerprint)))
        known = {one for one in told if one is not None}
        if len(known) > 1:
            raise BadRequestError(
                f"the {len(self._members)} servers serve {len(known)} different weights under {self.identity.name}",
                hint="give --base-url only of servers that serve the same model",
                parameter="base_url",
            )
        return told[0] if len(told) == len(self._members) and len(known) == 1 and None not in told else None

    async def close(self) -> None:
        """Release the connections to all servers."""
        for member in self._members:
            await member.close()

    def _choose(self) -> int:
        """Return the server that is awake, has the fewest in flight, and was asked least."""
        now = time.monotonic()
        return min(
            range(len(self._members)),
            key=lambda index: (self._resting_until[index] > now, self._n_open[index], self._n_asked[index]),
        )

    def _n_resting(self) -> int:
        now = time.monotonic()
        return sum(until > now for until in self._resting_until)


class TellingBalancedModel(BalancedModel):
    """Servers that tell what they do to pictures: the first is asked, since all serve the same model."""

    async def seen_rule(self, today: datetime.date) -> Rule | None:
        """Return what the server says it does to pictures, None where it does not say.

        Raises:
            ModelError: If the server cannot be asked.
        """
        first = self._members[0]
        return await first.seen_rule(today) if isinstance(first, TellsRule) else None

"""What a model must implement to be asked in its provider's batches."""

from collections.abc import Container, Mapping
from datetime import datetime
from typing import Protocol, runtime_checkable

from eyechart.errors import ModelError
from eyechart.kinds import Ask, Reply
from eyechart.schema import JsonObject, Value


class BatchLimits(Value, frozen=True):
    """The most that a provider takes in one batch."""

    max_requests: int
    max_bytes: int


class BatchProgress(Value, frozen=True):
    """How far a provider is with a batch; ``failure`` says why none of it was or will be answered."""

    is_ended: bool
    n_done: int = 0
    failure: str | None = None


@runtime_checkable
class AsksInBatches(Protocol):
    """A model whose provider answers many requests later, at a lower price.

    ``batch_limits`` is None where this provider or these settings know no batches.
    """

    batch_limits: BatchLimits | None

    def body(self, ask: Ask) -> JsonObject:
        """Return the whole body of a request."""
        ...

    async def submit_batch(self, bodies: Mapping[str, JsonObject], label: str) -> str:
        """Hand over request bodies by id and return the batch's id; ``label`` finds it again.

        Raises:
            ModelError: If the provider did not take it.
        """
        ...

    async def find_batch(self, label: str, since: datetime, n_requests: int, known: Container[str]) -> str | None:
        """Return the batch that an interrupted ``submit_batch`` may have made, None if there is none.

        ``known`` batches are none: this run has noted what they hold.

        Raises:
            ModelError: If the provider cannot be asked.
        """
        ...

    async def batch_progress(self, batch_id: str) -> BatchProgress:
        """Return how far a batch is.

        Raises:
            ModelError: If the provider cannot be asked.
        """
        ...

    async def batch_replies(self, batch_id: str, asks: Mapping[str, Ask]) -> list[tuple[str, Reply | ModelError]]:
        """Return what came back for the requests among ``asks``, by id, in any order.

        Raises:
            ModelError: If the provider cannot be asked.
        """
        ...

"""Which batches a run handed over, so that an interrupted one is collected and nothing is paid twice."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from eyechart.runs.files import LineWriter, read_records
from eyechart.schema import Record, encode_record

FOLDER = "batches"

BatchEvent = Literal["intended", "submitted", "collected", "dropped"]


class BatchRow(Record, frozen=True, kw_only=True):
    """One event of one batch.

    Args:
        label: Our own name of the batch, unique.
        event: ``intended`` before it is handed over (with ``request_ids``), ``submitted`` with the provider's
            ``batch_id``, ``collected`` when its replies are stored, ``dropped`` where the provider never had it or
            answered none of it.
        at: ISO time.
        batch_id: The provider's name of it.
        request_ids: What it holds.
    """

    label: str
    event: BatchEvent
    at: str
    batch_id: str | None = None
    request_ids: tuple[str, ...] = ()


class OpenBatch(msgspec.Struct, frozen=True):
    """A batch that was not collected; ``batch_id`` is None where it is not known whether the provider has it."""

    label: str
    request_ids: tuple[str, ...]
    intended_at: datetime
    batch_id: str | None


def read_open_batches(folder: Path) -> list[OpenBatch]:
    """Return the batches of a run folder that were not collected or dropped, in the order they were made.

    Raises:
        SchemaError: If a whole line is damaged.
        StoreError: If a file cannot be read.
    """
    found: dict[str, OpenBatch] = {}
    submitted: dict[str, str | None] = {}
    ended = set()
    for row in _rows(folder):
        if row.event == "intended":
            found[row.label] = OpenBatch(row.label, row.request_ids, datetime.fromisoformat(row.at), None)
        elif row.event == "submitted":
            submitted[row.label] = row.batch_id
        elif row.event == "collected" or row.batch_id is not None or row.label not in submitted:
            # Whoever did not find a batch may have looked while another process was handing it over.
            ended.add(row.label)
    batches = [msgspec.structs.replace(one, batch_id=submitted.get(label)) for label, one in found.items()]
    return sorted((one for one in batches if one.label not in ended), key=lambda batch: batch.intended_at)


def known_batch_ids(folder: Path) -> frozenset[str]:
    """Return the provider's ids of all batches that were ever submitted from a run folder."""
    return frozenset(row.batch_id for row in _rows(folder) if row.batch_id is not None)


class BatchLog:
    """Appends the events of one process, each on the disk before we go on."""

    def __init__(self, folder: Path, writer: str) -> None:
        self._lines = LineWriter(folder / FOLDER / f"{writer}.jsonl")

    def note(self, row: BatchRow) -> None:
        """Append one event.

        Raises:
            StoreError: If the disk refuses.
        """
        self._lines.append(encode_record(row))

    def close(self) -> None:
        """Close the file.

        Raises:
            StoreError: If the disk refuses.
        """
        self._lines.close()


def _rows(folder: Path) -> Iterable[BatchRow]:
    rows = [
        row
        for path in sorted((folder / FOLDER).glob("*.jsonl"))
        for row in read_records(path, BatchRow, may_be_torn=True)
    ]
    # Another process may have collected what this one submitted, so time decides and not the file.
    order = ("intended", "submitted", "collected", "dropped")
    return sorted(rows, key=lambda row: (row.label, order.index(row.event)))

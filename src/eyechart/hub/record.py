"""Where the files of a folder came from: ``fetched.json``, written beside them."""

from pathlib import Path

import msgspec

from eyechart.errors import HubError, SchemaError
from eyechart.images.files import write_pieces
from eyechart.schema import Record, Value, decode_record

RECORD_NAME = "fetched.json"


class FetchedFile(Value, frozen=True):
    """One file as it arrived, its hash checked where the host told one."""

    n_bytes: int
    sha256: str


class FetchRecord(Record, frozen=True, kw_only=True):
    """Host, repository and commit of every file of a folder: one folder never mixes two commits.

    Args:
        collection: Name of the collection.
        host: ``huggingface``, ``modelscope`` or ``folder``.
        repository: ``owner/name``, or the name of the folder it was copied from.
        revision: The commit.
        files: What arrived, by path.
    """

    collection: str
    host: str
    repository: str
    revision: str
    files: dict[str, FetchedFile] = msgspec.field(default_factory=dict)


def read_record(folder: Path) -> FetchRecord | None:
    """Return what was fetched into a folder, None if nothing was.

    Raises:
        HubError: If the record is damaged.
    """
    path = folder / RECORD_NAME
    if not path.is_file():
        return None
    try:
        return decode_record(path.read_bytes(), FetchRecord, str(path))
    except SchemaError as error:
        raise HubError(error.message, hint=error.hint or f"delete {path}; files that are there are kept") from error


def write_record(folder: Path, record: FetchRecord) -> None:
    """Write the record whole.

    Raises:
        StoreError: If it cannot be written.
    """
    ordered = msgspec.structs.replace(record, files=dict(sorted(record.files.items())))
    write_pieces(folder / RECORD_NAME, [msgspec.json.format(msgspec.json.encode(ordered), indent=1), b"\n"])

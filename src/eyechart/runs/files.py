"""The few ways in which a run touches the disk: whole files at once, lines appended, records read back."""

import contextlib
import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from eyechart.errors import StoreError
from eyechart.schema import AnyRecord, Record, decode_record, encode_record

# EFBIG is what a file-size limit gives, EDQUOT a user's quota; for the reader all three are a full disk.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


def text_of_name(name: str) -> str:
    r"""Return a file name or argument, which a locale without UTF-8 keeps as bytes, as the text that it was.

    Example:
        >>> text_of_name("caf\udcc3\udca9") == "caf\u00e9"
        True
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def write_whole(path: Path, chunks: Iterable[bytes], *, keep_existing: bool = False) -> None:
    """Write a file so that readers see all of it or nothing: temporary file, fsync, rename.

    Args:
        path: The file; its folder is made if needed.
        chunks: The content, in order.
        keep_existing: Leave a file that is already there, or that another process writes first, as it is.

    Raises:
        StoreError: If the disk is full or the folder cannot be written; an old file is then untouched.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        if keep_existing:
            _publish_first(temporary, path)
        else:
            temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise write_error(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records as the lines of a whole file.

    Raises:
        StoreError: If the file cannot be written.
    """
    write_whole(path, (encode_record(record) + b"\n" for record in records))


def read_records(path: Path, kind: type[AnyRecord], *, may_be_torn: bool = False) -> Iterator[AnyRecord]:
    """Yield the records of a file of JSON lines.

    Args:
        path: The file.
        kind: Record class of every line.
        may_be_torn: Whether a last line without line break is a write that was cut off, and is dropped.

    Raises:
        StoreError: If the file cannot be read.
        SchemaError: If a line is damaged or was written by a newer schema; the message names file and line.
    """
    for number, line in read_lines(path, may_be_torn=may_be_torn):
        yield decode_record(line, kind, f"{path}:{number}")


def read_lines(path: Path, *, may_be_torn: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield line number, from 1, and text of every line that was written whole.

    Raises:
        StoreError: If the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if may_be_torn and not line.endswith(b"\n"):
                    return
                yield number, line
    except OSError as error:
        raise read_error(path, error) from error


class LineWriter:
    """Appends lines to a file that this process alone writes; each line is on its way to the disk before we go on.

    A line is one ``write`` call, so killing the process loses nothing that was appended. The file is created with the
    first line, or by ``begin``; without a line it is removed again when it is closed. When the disk is full the torn
    end is cut off again, so that the file stays readable.

    Args:
        path: A file that does not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._n_bytes = 0

    def begin(self) -> None:
        """Create the file before there is a line, so that other writers see it.

        Raises:
            StoreError: If it cannot be made.
        """
        try:
            self._open()
        except OSError as error:
            raise write_error(self.path, error) from error

    def append(self, line: bytes) -> None:
        """Append one line; the line break is added.

        Raises:
            StoreError: If the line could not be written whole.
        """
        content = line + b"\n"
        try:
            descriptor = self._open()
            written = os.write(descriptor, content)
            while written < len(content):
                written += os.write(descriptor, content[written:])
        except OSError as error:
            self._cut_torn_end()
            raise write_error(self.path, error) from error
        self._n_bytes += len(content)

    def close(self) -> None:
        """Bring everything to the disk and close the file.

        Raises:
            StoreError: If the disk refuses.
        """
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        try:
            os.fsync(descriptor)
        except OSError as error:
            raise write_error(self.path, error) from error
        finally:
            os.close(descriptor)
        if self._n_bytes == 0:
            with contextlib.suppress(OSError):  # an empty file is in nobody's way
                self.path.unlink()

    def _open(self) -> int:
        if self._descriptor is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o666)
        return self._descriptor

    def _cut_torn_end(self) -> None:
        if self._descriptor is None:
            return
        try:
            os.ftruncate(self._descriptor, self._n_bytes)
        except OSError:
            return  # the torn line stays the last one, and readers drop it


def write_error(path: Path, error: OSError) -> StoreError:
    """Return the error for a file that cannot be written, with what the reader can do about it.

    Example:
        >>> write_error(Path("run.json"), OSError(errno.ENOSPC, "No space left on device")).message
        'run.json cannot be written: No space left on device'
    """
    if error.errno in _FULL:
        hint = "free some space and run the same command again: what was answered is kept"
    elif error.errno in _FORBIDDEN:
        hint = "choose a folder you may write to with --out"
    else:
        hint = "check the path, or choose another folder with --out"
    return StoreError(f"{path} cannot be written: {error.strerror or error}", hint=hint)


def read_error(path: Path, error: OSError) -> StoreError:
    """Return the error for a file that cannot be read."""
    return StoreError(
        f"{path} cannot be read: {error.strerror or error}", hint="is this a run folder, and may you read it?"
    )


def _publish_first(temporary: Path, path: Path) -> None:
    """Give a finished file its name unless the name is taken."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links: the last writer stands
        temporary.replace(path)


def _sync_folder(folder: Path) -> None:
    """Bring a rename to the disk, so that it survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network file systems cannot sync a folder
            raise
    finally:
        os.close(descriptor)

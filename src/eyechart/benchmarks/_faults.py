"""The faults of a whole file told at once: the first three of each kind, with how many there are."""

import re
from collections.abc import Sequence
from pathlib import Path

from eyechart.errors import BenchmarkError

N_TOLD = 3
"""Faults of one kind that are told in full."""

_PARTICULARS = re.compile(
    r"'(?:[^'\\]|\\.)*'…?|\"(?:[^\"\\]|\\.)*\"…?|[\[({][^\])}]*[\])}]|\b[A-Z]\b|\d+(?:\.\d+)?|\s+(?:and|,)\s+"
)


class Faults:
    """Collects what is wrong with the rows of a file.

    Example:
        >>> faults = Faults(Path("q.csv"))
        >>> for row in range(1, 6):
        ...     faults.add(BenchmarkError(f"q.csv:{row}: answer 'E' is none of A–D", hint="give a letter"))
        >>> try:
        ...     faults.refuse(9)
        ... except BenchmarkError as error:
        ...     print(error.message)
        q.csv: 5 of 9 rows cannot be asked and scored as they stand
          q.csv:1: answer 'E' is none of A–D
          q.csv:2: answer 'E' is none of A–D
          q.csv:3: answer 'E' is none of A–D
          and 2 more like these
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kinds: dict[str, list[BenchmarkError]] = {}

    def add(self, fault: BenchmarkError) -> None:
        """Remember a fault; its message begins with its place."""
        self._kinds.setdefault(_kind(fault.message), []).append(fault)

    def refuse(self, n_rows: int, hints: Sequence[str] = ()) -> None:
        """Refuse the file if there is any fault.

        Args:
            n_rows: Rows of the file.
            hints: What to add to the hints of the faults.

        Raises:
            BenchmarkError: The only fault as it is, or all kinds of them in one message.
        """
        faults = [fault for kind in self._kinds.values() for fault in kind]
        if not faults:
            return
        hint = "; ".join(dict.fromkeys(one for one in (*(fault.hint for fault in faults), *hints) if one))
        if len(faults) == 1:
            raise BenchmarkError(faults[0].message, hint=hint) from faults[0]
        places = {fault.message.partition(": ")[0] for fault in faults}
        lines = [f"{self._file}: {len(places)} of {n_rows} rows cannot be asked and scored as they stand"]
        for kind in self._kinds.values():
            lines += [f"  {fault.message}" for fault in kind[:N_TOLD]]
            if len(kind) > N_TOLD:
                lines.append(f"  and {len(kind) - N_TOLD} more like these")
        raise BenchmarkError("\n".join(lines), hint=hint)


def some_places(places: Sequence[str]) -> str:
    """Return the first places of several.

    Example:
        >>> some_places(["a.csv:2", "a.csv:3", "a.csv:4", "a.csv:9"])
        'a.csv:2, a.csv:3, a.csv:4, …'
    """
    return ", ".join(places[:N_TOLD]) + (", …" if len(places) > N_TOLD else "")


def _kind(message: str) -> str:
    """Return what a message says without its place, the values it quotes and the letters it names."""
    return _PARTICULARS.sub("·", message.partition(": ")[2] or message)

"""Which question an id in somebody's file means: the same text, else the same whole number."""

import re
from collections.abc import Iterable

from eyechart.errors import BenchmarkError

_WHOLE = re.compile(r"\s*([0-9]{1,30})(?:\.0+)?\s*")


def whole_number(value: object) -> int | None:
    """Return the whole number that an id is, however a table program spells it; None for anything else.

    Example:
        >>> [whole_number(value) for value in (669, "669", "000669", 669.0, "669.0", True, "v1", 0.5)]
        [669, 669, 669, 669, 669, None, None, None]
    """
    if isinstance(value, str):
        found = _WHOLE.fullmatch(value)
        return int(found[1]) if found else None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


class QuestionIds:
    """The ids of a benchmark.

    Args:
        ids: All of them.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = frozenset(ids)
        self._by_number: dict[int, str] = {}
        self._twins: tuple[str, str] | None = None
        for name in sorted(self._ids):
            number = whole_number(name)
            if number is not None:
                other = self._by_number.setdefault(number, name)
                if other != name and self._twins is None:
                    self._twins = (other, name)

    def find(self, value: object, place: str) -> str | None:
        """Return the question's id, None if the value names none.

        An id of the same text comes first; else a whole number names the question whose id is that number, so that 669,
        "669", 669.0 and "000669" are one question.

        Raises:
            BenchmarkError: If the id is another spelling of a number, and two ids of the benchmark are one number.

        Example:
            >>> ids = QuestionIds(["000669", "b"])
            >>> ids.find(669, "row 1"), ids.find("b", "row 2"), ids.find("c", "row 3")
            ('000669', 'b', None)
        """
        text = value if isinstance(value, str) else str(value)
        if text in self._ids:
            return text
        number = whole_number(value)
        if number is None:
            return None
        if self._twins is not None:
            first, second = self._twins
            raise BenchmarkError(
                f"{place}: id {text!r} is not an id of the benchmark, and as a number it cannot be told which is "
                f"meant, because the benchmark has {first!r} and {second!r}, which are one number",
                hint="write ids as the benchmark spells them",
            )
        return self._by_number.get(number)

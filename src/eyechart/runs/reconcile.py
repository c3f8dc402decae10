"""Compare what was expected to be seen with what the replies say; where they differ, the expectation is dropped."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from eyechart.runs.sights import Sight
from eyechart.schema import Size

if TYPE_CHECKING:
    from eyechart.runs.cells import Cell, RunTable

Key = tuple[int, int, int]
"""Question, condition and slot of a cell."""

# Markers around a picture, which providers count in or not.
_MOST_MARKERS = 64
_FEWEST_ALIKE = 2


class Mismatch(msgspec.Struct, frozen=True):
    """One request whose reply contradicts the plan: tokens, or the size on the model's grid."""

    key: Key
    planned: int | Size
    reported: int | Size


class Reconciliation(msgspec.Struct, frozen=True):
    """How replies and plan agree.

    Args:
        n_compared: Requests that could be compared.
        extra_tokens: Tokens that the replies count on top of the plan for each request, such as markers.
        mismatches: Requests that differ from that.
    """

    n_compared: int = 0
    extra_tokens: int = 0
    mismatches: tuple[Mismatch, ...] = ()


def reconcile(cells: "Mapping[Key, Cell]") -> Reconciliation:
    """Compare the planned tokens and sizes of a run with those of its replies.

    Where replies count the tokens of pictures apart, they must exceed the plan by one constant of at most 64 (markers).
    Where they count only the whole input, the views of one question under one prompt must differ as planned.

    Args:
        cells: The requests of a run with their replies.
    """
    sizes = [
        Mismatch(key, cell.sight.planned_size, cell.sight.seen_size)
        for key, cell in cells.items()
        if cell.sight is not None and cell.sight.planned_size is not None and cell.sight.seen_size is not None
    ]
    n_apart, extra, apart = _by_image_tokens(cells)
    n_inside, inside = _by_input_tokens(cells)
    n_sized = sum(cell.sight is not None and cell.sight.evidence in {"executed", "reported"} for cell in cells.values())
    found = {mismatch.key: mismatch for mismatch in (*inside, *apart, *sizes)}
    return Reconciliation(max(n_apart + n_inside, n_sized), extra, tuple(found[key] for key in sorted(found)))


def without_contradicted(cells: "Mapping[Key, Cell]", reconciliation: Reconciliation) -> "dict[Key, Cell]":
    """Return the cells, those without a sight whose reply contradicts it; what was executed or reported stays."""
    wrong = {mismatch.key for mismatch in reconciliation.mismatches}
    return {
        key: msgspec.structs.replace(cell, sight=_corrected(cell.sight)) if key in wrong else cell
        for key, cell in cells.items()
    }


def mismatch_warnings(table: "RunTable", reconciliation: Reconciliation) -> Iterator[str]:
    """Yield one sentence on contradictions between plan and replies, with both numbers of the first."""
    if not reconciliation.mismatches:
        return
    first = reconciliation.mismatches[0]
    question, condition, _ = first.key
    yield (
        f"{len(reconciliation.mismatches)} of {reconciliation.n_compared} replies contradict what was expected to be "
        f"seen (question {table.questions[question].id} under {table.conditions[condition]}: {_told(first.planned)} "
        f"expected, {_told(first.reported)} reported); sizes expected there are not used"
    )


def _by_image_tokens(cells: "Mapping[Key, Cell]") -> tuple[int, int, list[Mismatch]]:
    compared = {
        key: (cell.sight.planned_tokens, usage.image_tokens)
        for key, cell in cells.items()
        if cell.sight is not None
        and cell.sight.planned_tokens is not None
        and cell.ending is not None
        and (usage := cell.ending.usage) is not None
        and usage.image_tokens is not None
    }
    extras = Counter(reported - planned for planned, reported in compared.values())
    small = [extra for extra in extras if 0 <= extra <= _MOST_MARKERS]
    extra = max(small, key=lambda value: (extras[value], -value), default=0)
    wrong = [
        Mismatch(key, planned, reported) for key, (planned, reported) in compared.items() if reported - planned != extra
    ]
    return len(compared), extra, wrong


def _by_input_tokens(cells: "Mapping[Key, Cell]") -> tuple[int, list[Mismatch]]:
    groups: dict[tuple[int, str], dict[Key, tuple[int, int]]] = defaultdict(dict)
    for key, cell in cells.items():
        usage = None if cell.ending is None else cell.ending.usage
        if usage is None or usage.image_tokens is not None or usage.input_tokens is None:
            continue
        if cell.sight is not None and cell.sight.planned_tokens is not None and len(cell.recipes) == 1:
            groups[key[0], cell.prompt_sha256][key] = (cell.sight.planned_tokens, usage.input_tokens)
    wrong: list[Mismatch] = []
    n_compared = 0
    for group in groups.values():
        if len({planned for planned, _ in group.values()}) < _FEWEST_ALIKE:
            continue  # nothing to tell the text's tokens by
        n_compared += len(group)
        texts = Counter(reported - planned for planned, reported in group.values())
        text, n_alike = texts.most_common(1)[0]
        expected_text = text if n_alike >= _FEWEST_ALIKE else None
        wrong.extend(
            Mismatch(key, planned + (expected_text or 0), reported)
            for key, (planned, reported) in group.items()
            if reported - planned != expected_text
        )
    return n_compared, wrong


def _corrected(sight: Sight | None) -> Sight | None:
    if sight is None or sight.evidence in {"executed", "reported"}:
        return sight
    return Sight("unknown")


def _told(value: int | Size) -> str:
    return f"{value:,} tokens" if isinstance(value, int) else f"{value.width}×{value.height}"

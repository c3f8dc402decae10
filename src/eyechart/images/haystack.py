"""Which pictures fill the other cells of a grid, and in which order: hashes of names, no random generator."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache

from eyechart.errors import GeometryError
from eyechart.schema import Question, content_sha256


def order_haystack(question: Question, n_cells: int, seed: int) -> tuple[str, ...]:
    """Return the file hashes of the distractors for the cells that the needle leaves, row by row.

    The first ``n_cells`` distractors of the question are taken, so that a smaller grid shows the best of a larger one.
    Their order depends on nothing but question id, hashes and seed, on every machine.

    Raises:
        GeometryError: If the question has fewer distractors.
    """
    if len(question.distractors) < n_cells:
        raise GeometryError(
            f"a grid needs {n_cells} distractors, the question has {len(question.distractors)}",
            hint="give more pictures, or a smaller grid",
        )
    return order_by_hash(question.id, tuple(image.file_sha256 for image in question.distractors[:n_cells]), seed)


@lru_cache(maxsize=256)
def order_by_hash(name: str, items: tuple[str, ...], seed: int) -> tuple[str, ...]:
    """Return items in an order that looks random and depends on name, seed and the items alone.

    Example:
        >>> sorted(order_by_hash("q1", ("a", "b", "c"), 0))
        ['a', 'b', 'c']
        >>> order_by_hash("q1", ("c", "b", "a"), 0) == order_by_hash("q1", ("a", "b", "c"), 0)
        True
    """
    return tuple(sorted(items, key=lambda item: hashlib.sha256(f"{seed}\n{name}\n{item}".encode()).digest()))


@lru_cache(maxsize=256)
def name_haystack(hashes: tuple[str, ...]) -> str | None:
    """Return the name of a haystack, the hash of its ordered hashes; None for an empty one."""
    return content_sha256(hashes) if hashes else None


def find_haystacks(questions: Iterable[Question], n_cells: int, seed: int) -> dict[str, tuple[str, ...]]:
    """Return the ordered file hashes of all haystacks of this size and seed, by name."""
    found: dict[str, tuple[str, ...]] = {}
    for question in questions:
        if len(question.distractors) >= n_cells:
            hashes = order_haystack(question, n_cells, seed)
            name = name_haystack(hashes)
            if name is not None:
                found[name] = hashes
    return found

"""Edited text that still knows which characters of the original each part came from."""

from collections.abc import Iterable
from typing import NamedTuple, Self


class Edit(NamedTuple):
    """Replace ``text[start:end]`` by ``replacement``."""

    start: int
    end: int
    replacement: str


class Traced(NamedTuple):
    """A text with the edits that made it from its parent; spans can be followed back to the first ancestor.

    Example:
        >>> read = Traced("**B** (blue)").edited([Edit(0, 2, ""), Edit(3, 5, "")])
        >>> read.text, read.original_span(0, 1)
        ('B (blue)', (2, 3))
    """

    text: str
    parent: "Traced | None" = None
    edits: tuple[Edit, ...] = ()

    def edited(self, edits: Iterable[Edit]) -> "Traced":
        """Apply edits, given in ascending order without overlap."""
        kept = tuple(edits)
        if not kept:
            return self
        parts: list[str] = []
        position = 0
        for start, end, replacement in kept:
            parts += (self.text[position:start], replacement)
            position = end
        parts.append(self.text[position:])
        return Traced("".join(parts), self, kept)

    def cut(self, start: int, end: int) -> "Traced":
        """Keep only ``text[start:end]``."""
        if start == 0 and end == len(self.text):
            return self
        return Traced(self.text[start:end], self, (Edit(0, start, ""), Edit(end, len(self.text), "")))

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the non-empty ``text[start:end]`` lies in the first ancestor, as a half-open span."""
        node: Self | Traced = self
        first, last = start, end - 1
        while node.parent is not None:
            first = node.parent_position(first, at_end=False)
            last = node.parent_position(last, at_end=True)
            node = node.parent
        return first, last + 1

    def parent_position(self, position: int, *, at_end: bool) -> int:
        """Return the parent's character behind ``text[position]``; for a replacement its first or last one."""
        shift = 0
        for start, end, replacement in self.edits:
            if position < start + shift:
                break
            if position < start + shift + len(replacement):
                return max(end - 1, start) if at_end else start
            shift += len(replacement) - (end - start)
        return position - shift

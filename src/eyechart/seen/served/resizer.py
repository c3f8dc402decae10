"""What a server does to pictures, as the rule of its model: found by asking it about blank pictures of some sizes."""

import datetime
from collections.abc import Callable, Sequence

import msgspec.structs

from eyechart.schema import ModelIdentity, Size, content_sha256
from eyechart.seen.algorithms import (
    AnyAlgorithm,
    LongestEdge,
    Patches,
    PlainAlgorithm,
    Resized,
    ShrunkBefore,
    SmartResize,
    Unpublished,
)
from eyechart.seen.probing.explain import Explanation, explain
from eyechart.seen.probing.readings import Reading, ladder
from eyechart.seen.rules import LiveRule
from eyechart.seen.served.rendered import Rendered

Render = Callable[[Sequence[Size]], tuple[Rendered, ...]]
"""Asks a server what becomes of blank pictures of some sizes in one prompt; empty where it cannot tell."""

# A server decodes and resizes every picture that it renders, so not every size of a large plan can be asked.
_LADDER_SIDE_PX = 4096
_MOST_CHECKED, _MOST_ASKED = 8, 200
_UNTOLD = "the server tells the tokens of this picture, but no size"
_TOO_MANY = f"the server was asked about {_MOST_ASKED} sizes, which no known algorithm explains; this one was not asked"


class ServedResizer:
    """A server's own word on pictures, and the algorithm behind it where one gives exactly what it says.

    Args:
        render: Asks the server.
        source: What was asked, for the record: model, settings, endpoint.
    """

    def __init__(self, render: Render, source: str) -> None:
        self._explanation: Explanation | None = None
        self._render, self._source = render, source
        self._known: dict[Size, Rendered] = {}
        self._n_checked = self._n_asked = 0
        for size in ladder(_LADDER_SIDE_PX):
            self._ask(size)
        self._explanation = self._explained()

    @property
    def is_told(self) -> bool:
        """Whether the server tells anything of pictures."""
        return bool(self._known)

    @property
    def algorithm(self) -> AnyAlgorithm | None:
        """What gives exactly what the server says, None where nothing known does."""
        return None if self._explanation is None else self._explanation.algorithm

    @property
    def configuration_sha256(self) -> str:
        """Hash of what was asked and of what the server said of the ladder."""
        told = [[size, self._known[size]] for size in ladder(_LADDER_SIDE_PX) if size in self._known]
        return content_sha256([self._source, told])

    def resize(self, sent: Sequence[Size]) -> tuple[Resized, ...]:
        """Return what becomes of the pictures of one request, in order."""
        return tuple(self._resized(size) for size in sent)

    def _resized(self, size: Size) -> Resized:
        if self._explanation is not None:
            self._check(size)
        told = self._known.get(size)
        if told is not None and told.refused:
            return Resized(refused=told.refused)
        if self._explanation is not None:
            resized = self._explanation.algorithm.apply(size)
            return resized if told is None else msgspec.structs.replace(resized, tokens=told.tokens)
        if size not in self._known:
            if self._n_asked >= _MOST_ASKED:
                return Resized(unseen=_TOO_MANY)
            self._n_asked += 1
            self._ask(size)
        told = self._known.get(size)
        if told is None or told.refused:
            return Resized(unseen="the server does not tell") if told is None else Resized(refused=told.refused)
        return Resized((told.size,), told.tokens) if told.size else Resized((), told.tokens, unseen=_UNTOLD)

    def _check(self, size: Size) -> None:
        """Ask the server about some of the planned sizes too; where it differs, the algorithm is given up."""
        if self._n_checked >= _MOST_CHECKED or size in self._known:
            return
        self._n_checked += 1
        self._ask(size)
        if not self._agrees(size):
            self._explanation = None

    def _ask(self, size: Size) -> None:
        told = self._render((size,))
        if len(told) == 1:
            self._known[size] = told[0]

    def _explained(self) -> Explanation | None:
        readings = [Reading(size, told.tokens) for size, told in self._known.items() if not told.refused]
        self._explanation = explain(readings) if len(readings) > 1 else None
        if self._explanation is None or isinstance(self._explanation.algorithm, Unpublished):
            return None
        return self._explanation if all(self._agrees(size) for size in self._known) else None

    def _agrees(self, size: Size) -> bool:
        told = self._known.get(size)
        if told is None or told.refused or self._explanation is None:
            return True
        resized = self._explanation.algorithm.apply(size)
        is_same_count = resized.tokens == told.tokens - self._explanation.extra_tokens
        return is_same_count and (told.size is None or told.size == resized.size)


def served_rule(resizer: ServedResizer, model: ModelIdentity, today: datetime.date) -> LiveRule:
    """Return a server's word as the rule of its model; the note names the cap.

    Args:
        resizer: The server.
        model: The model it serves.
        today: The day it was asked.
    """
    algorithm = resizer.algorithm
    return LiveRule(
        id=f"server-{model.name.replace('/', '-')}@1",
        models=(model.name,),
        source=f"the server of {model.spec}",
        date=today,
        confidence="A",
        obtained="reported",
        note="" if algorithm is None else cap_of(algorithm),
        provider=model.provider,
        resizer=resizer,
    )


def cap_of(algorithm: AnyAlgorithm) -> str:
    """Return the bound of an algorithm in words, empty where it has none.

    Example:
        >>> cap_of(SmartResize(32, 65536, 1605632))
        'pictures of more than 1,605,632 px are shrunk to that (1664×928 of 3840×2160)'
    """
    example = algorithm.apply(Size(3840, 2160)).size
    seen = f" ({example.width}×{example.height} of 3840×2160)" if example and example.width < 3840 else ""  # noqa: PLR2004 -- see above
    inner: PlainAlgorithm = algorithm.then if isinstance(algorithm, ShrunkBefore) else algorithm
    if isinstance(algorithm, ShrunkBefore):
        return f"pictures are shrunk to a longer side of {algorithm.max_side_px} px before the model's own rule{seen}"
    if isinstance(inner, SmartResize):
        return f"pictures of more than {inner.max_px:,} px are shrunk to that{seen}"
    if isinstance(inner, Patches) and inner.max_patches is not None:
        n_px = inner.max_patches * inner.patch_px**2
        return f"pictures of more than {inner.max_patches:,} patches ({n_px:,} px) are shrunk to that{seen}"
    if isinstance(inner, LongestEdge):
        return f"pictures of more than {inner.max_tokens:,} patches or {inner.max_edge_px} px are shrunk to that{seen}"
    return f"large pictures are shrunk{seen}" if seen else ""

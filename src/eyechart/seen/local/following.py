"""Follow pictures through the tensor operations of a processor, whatever its code, to see where they end up."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, cast

from eyechart.schema import Box, Size
from eyechart.seen.local.tracks import Track

# Results that have a picture's shape and nothing of the picture.
_BLANKS = frozenset({"zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like"})
_SPLITS = frozenset({"split", "chunk", "tensor_split", "split_with_sizes", "hsplit", "vsplit"})
_COPIES = frozenset({"to", "float", "contiguous", "clone"})
# Cutting into patches may drop a border; whatever is smaller than half of a picture is a mean, a mask or a size.
_REARRANGED = 2
# Smaller arrays are masks, means and embeddings.
_SMALLEST_PICTURE_PX = 32
_CHANNELS = (1, 3, 4)


class Tensor(Protocol):
    """The part of ``torch.Tensor`` that is needed here."""

    shape: Sequence[int]

    def numel(self) -> int:
        """Number of elements."""
        ...

    def stride(self) -> Sequence[int]:
        """Steps in memory per axis."""
        ...


class Follower:
    """What became of some pictures.

    Args:
        sizes: Sizes of the pictures.
        is_stubbed: Whether resizes return zeros without looking at pixels.
    """

    def __init__(self, sizes: Sequence[Size], *, is_stubbed: bool = False) -> None:
        from torch.utils.weak import WeakIdKeyDictionary  # deferred: an extra

        self._is_stubbed = is_stubbed
        self._sizes = tuple(sizes)
        self._adopts = False
        self._nodes: list[tuple[Track, ...]] = []
        self._used: set[int] = set()
        self._nodes_of = cast("dict[Tensor, frozenset[int]]", WeakIdKeyDictionary())
        self.is_lost = False

    def watch(self, pictures: Sequence[object]) -> AbstractContextManager[object]:
        """Return a context in which every tensor operation of this thread is followed.

        Args:
            pictures: The pictures as they are handed over. Of pictures that are not tensors, the first tensor of
                the same size is followed.
        """
        from torch import is_tensor
        from torch.overrides import TorchFunctionMode

        for index, (picture, size) in enumerate(zip(pictures, self._sizes, strict=True)):
            if is_tensor(picture):
                self._add(cast("Tensor", picture), [_whole(index, size)])
            else:
                self._adopts = True
        follower = self

        class Watch(TorchFunctionMode):  # type: ignore[misc]  # torch is not installed where this is checked
            """Hands each operation over before and after it is done."""

            def __torch_function__(
                self,
                operation: Callable[..., object],
                types: object,
                args: tuple[object, ...] = (),
                kwargs: dict[str, object] | None = None,
            ) -> object:
                named = kwargs or {}
                name = getattr(operation, "__name__", "")
                result = follower.stub(name, operation, args, named)
                if result is None:
                    result = operation(*args, **named)
                inputs = [entry for entry in _flat((*args, *named.values())) if is_tensor(entry)]
                outputs = [entry for entry in _flat((result,)) if is_tensor(entry)]
                follower.note(name, cast("list[Tensor]", inputs), cast("list[Tensor]", outputs), args, named)
                return result

        return cast("AbstractContextManager[object]", Watch())

    def note(
        self,
        name: str,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> None:
        """Take note of one operation that was done."""
        if name == "__setitem__":
            self._note_assignment(inputs, args)
            return
        followed = [tensor for tensor in inputs if tensor in self._nodes_of]
        if self._adopts and not followed:
            self._adopt(outputs)
        if name == "interpolate" and not followed and _is_picture_like(inputs):
            self.is_lost = True
        if not followed or name in _BLANKS:
            return
        if name == "interpolate":
            self._note_resize(followed[0], outputs)
        elif name == "pad":
            self._note_pad(followed[0], outputs, args, kwargs)
        elif name == "__getitem__":
            self._note_cut(followed[0], outputs, args[1])
        elif name in _SPLITS:
            self._note_split(followed[0], outputs)
        else:
            self._note_other(followed, outputs)

    def arrivals(self, results: Iterable[object], n_pictures: int) -> tuple[tuple[Track, ...], ...]:
        """Return, for each picture, the parts of it that are in the results or were rearranged on the way to them.

        Args:
            results: What the processor returned; tensors, and anything else.
            n_pictures: How many pictures were given.
        """
        for entry in _flat(results):
            if hasattr(entry, "numel") and cast("Tensor", entry) in self._nodes_of:
                self._used |= self._nodes_of[cast("Tensor", entry)]
        found: list[list[Track]] = [[] for _ in range(n_pictures)]
        for node in sorted(self._used):
            for track in self._nodes[node]:
                found[track.picture].append(track)
        return tuple(tuple(tracks) for tracks in found)

    def stub(
        self, name: str, operation: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object | None:
        """Return the result of an operation without its pixels, None where it must be done."""
        if not self._is_stubbed or not args or not hasattr(args[0], "numel"):
            return None
        import torch  # deferred: an extra

        first = cast("torch.Tensor", args[0])
        if name == "interpolate":
            shape = cast("Tensor", operation(torch.empty(first.shape, device="meta"), *args[1:], **kwargs)).shape
            return cast("object", torch.zeros(shape, dtype=first.dtype))
        if name in _COPIES and first.numel() > 1 and not any(first.stride()):
            one = cast("torch.Tensor", operation(first[(0,) * first.ndim], *args[1:], **kwargs))
            return cast("object", one.expand(first.shape))
        return None

    def _add(self, tensor: Tensor, nodes: Iterable[tuple[Track, ...]]) -> None:
        first = len(self._nodes)
        self._nodes.extend(nodes)
        self._nodes_of[tensor] = frozenset(range(first, len(self._nodes))) | self._nodes_of.get(tensor, frozenset())

    def _adopt(self, outputs: Sequence[Tensor]) -> None:
        for output in outputs:
            is_picture = len(output.shape) > 2 and output.shape[-3] in _CHANNELS  # noqa: PLR2004 -- channels first
            if is_picture and output not in self._nodes_of:
                self._add(output, [_whole(i, size) for i, size in enumerate(self._sizes) if size == _size(output)])

    def _note_resize(self, source: Tensor, outputs: Sequence[Tensor]) -> None:
        for output in outputs:
            before, after = _size(source), _size(output)
            self._add(
                output,
                [tuple(track.resized(before, after) for track in self._nodes[node]) for node in self._nodes_of[source]],
            )

    def _note_pad(
        self, source: Tensor, outputs: Sequence[Tensor], args: Sequence[object], kwargs: Mapping[str, object]
    ) -> None:
        given = kwargs.get("pad", args[1] if len(args) > 1 else ())
        padding = [*cast("Sequence[int]", given), 0, 0, 0]  # left, right, top, bottom, …
        for output in outputs:
            self._add_moved(source, output, padding[0], padding[2])

    def _note_cut(self, source: Tensor, outputs: Sequence[Tensor], index: object) -> None:
        corner = _corner(index, source.shape)
        if corner is None:
            self._note_other([source], outputs)
            return
        for output in outputs:
            if _size(output) == _size(source):
                self._alias(output, self._nodes_of[source])
            else:
                self._add_moved(source, output, -corner[0], -corner[1])

    def _note_split(self, source: Tensor, outputs: Sequence[Tensor]) -> None:
        left = top = 0
        whole = _size(source)
        for output in outputs:
            part = _size(output)
            if part == whole:
                self._alias(output, self._nodes_of[source])
                continue
            self._add_moved(source, output, -left, -top)
            left += part.width if part.width < whole.width else 0
            top += part.height if part.height < whole.height else 0

    def _note_assignment(self, inputs: Sequence[Tensor], args: Sequence[object]) -> None:
        """Take note of a picture that was laid into another array, which is how some processors pad."""
        target, index, value = cast("Tensor", args[0]), args[1], args[2]
        if len(inputs) < 2 or not hasattr(value, "numel") or cast("Tensor", value) not in self._nodes_of:  # noqa: PLR2004 -- two arrays
            return
        source = cast("Tensor", value)
        corner = _corner(index, target.shape)
        if corner is None:
            self._used |= self._nodes_of[source]
        else:
            self._add_moved(source, target, *corner)

    def _note_other(self, followed: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Take note of an operation that leaves pictures where they are, or rearranges them for the model."""
        for output in outputs:
            for source in followed:
                if len(output.shape) > 1 and _size(output) == _size(source):
                    self._alias(output, self._nodes_of[source])
                elif _REARRANGED * output.numel() >= source.numel():
                    self._used |= self._nodes_of[source]

    def _alias(self, tensor: Tensor, nodes: frozenset[int]) -> None:
        self._nodes_of[tensor] = self._nodes_of.get(tensor, frozenset()) | nodes

    def _add_moved(self, source: Tensor, output: Tensor, left: int, top: int) -> None:
        size = _size(output)
        moved = [
            tuple(track for old in self._nodes[node] if (track := old.moved(left, top, size)) is not None)
            for node in self._nodes_of[source]
        ]
        self._add(output, moved)


def _corner(index: object, shape: Sequence[int]) -> tuple[int, int] | None:
    """Return left and top of what an index takes out of an array, None where it does not cut a rectangle.

    Example:
        >>> _corner((..., slice(10, 20), slice(None, 5)), (3, 100, 80))
        (0, 10)
        >>> _corner(0, (3, 100, 80)), _corner((0, 0), (3, 100, 80))
        ((0, 0), None)
    """
    entries = list(index) if isinstance(index, tuple) else [index]
    n_axes = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if Ellipsis not in [entry for entry in entries if not hasattr(entry, "numel")]:
        entries.append(Ellipsis)
    where = next(place for place, entry in enumerate(entries) if entry is Ellipsis)
    entries[where : where + 1] = [slice(None)] * (len(shape) - n_axes)
    axes = [entry for entry in entries if entry is not None]
    corner = []
    for axis in (-1, -2):
        cut = axes[axis]
        if not isinstance(cut, slice):
            return None
        start, _, step = cut.indices(shape[axis])
        if step != 1:
            return None
        corner.append(start)
    return corner[0], corner[1]


def _whole(index: int, size: Size) -> tuple[Track]:
    return (Track(index, size, Box(0, 0, *size)),)


def _is_picture_like(tensors: Sequence[Tensor]) -> bool:
    return bool(tensors) and len(tensors[0].shape) > 2 and min(_size(tensors[0])) >= _SMALLEST_PICTURE_PX  # noqa: PLR2004 -- channels first


def _size(tensor: Tensor) -> Size:
    return Size(int(tensor.shape[-1]), int(tensor.shape[-2])) if len(tensor.shape) > 1 else Size(0, 0)


def _flat(entries: Iterable[object]) -> Iterator[object]:
    for entry in entries:
        if isinstance(entry, list | tuple):
            yield from _flat(entry)
        elif isinstance(entry, Mapping):
            yield from _flat(entry.values())
        else:
            yield entry

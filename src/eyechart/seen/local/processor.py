"""A model's real processor as the source of what is seen: run on shapes, with the arguments of the inference."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Protocol, cast

import msgspec
from PIL import Image

from eyechart.kinds import ObservedPicture
from eyechart.schema import JsonObject, Size, Value, content_sha256
from eyechart.seen.algorithms import Resized
from eyechart.seen.local.counts import cell_px, n_tiles, placeholders, told_tokens
from eyechart.seen.local.following import Follower, Tensor
from eyechart.seen.local.tracks import Track, finest_pass

# Whatever a processor of others raises on a stand-in: the next stand-in is tried, and the last reason is told.
_FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
# A blank picture of more pixels than this would take minutes and gigabytes.
_MOST_BLANK_PX = 200_000_000
_REASON_CHARACTERS = 200
_MARKER = "?"
# Where processors name the token that a picture's features replace; Llama 4 and Aya keep another for the prompt.
_PLACEHOLDER_NAMES = ("image_token", "img_patch_token")


class Processor(Protocol):
    """The part of a transformers processor, or image processor, that is used here.

    An image processor alone has neither a tokenizer nor a template; they are asked for only where they are.
    """

    tokenizer: Callable[..., Mapping[str, list[int]]]
    apply_chat_template: Callable[..., str]

    def __call__(self, **arguments: object) -> Mapping[str, object]:
        """Return the inputs of the model."""
        ...

    def to_dict(self) -> dict[str, object]:
        """Return the configuration."""
        ...


class Processed(Value, frozen=True):
    """What a processor made of the pictures of one request.

    Args:
        pictures: Each picture's way to the model.
        stand_in: What was processed: ``meta`` (shapes alone), ``blank`` (no resize done), black ``pixels`` or a black
            ``pillow`` picture (all done); ``none`` where nothing could be.
    """

    pictures: tuple[Resized, ...]
    stand_in: str


class LocalProcessor:
    """A processor with the arguments it is called with.

    Args:
        processor: A transformers processor (best: it counts tokens in the prompt), or an image processor alone.
        arguments: What the inference passes besides text and pictures, for example ``{"size": {…}}``.

    The official helpers ``get_number_of_image_patches`` and ``_get_num_multimodal_tokens`` are never asked: they
    ignore arguments.
    """

    def __init__(self, processor: object, arguments: JsonObject | None = None) -> None:
        self._processor = cast("Processor", processor)
        self._arguments: JsonObject = dict(arguments or {})
        self._known: dict[tuple[Size, ...], Processed] = {}

    @cached_property
    def name(self) -> str:
        """Class of the image processor with the library's version."""
        return f"{type(self._pictures_part).__name__}@transformers-{version('transformers')}"

    @cached_property
    def configuration_sha256(self) -> str:
        """Hash of the configuration, the arguments and the library versions."""
        configuration = msgspec.json.decode(msgspec.json.encode(self._processor.to_dict(), enc_hook=str))
        versions = {name: version(name) for name in ("torch", "torchvision", "transformers")}
        return content_sha256([configuration, self._arguments, versions])

    def see(self, sizes: Sequence[Size]) -> Processed:
        """Return what becomes of the pictures of one request; a shape that the processor cannot take says why.

        Args:
            sizes: Sizes as sent, in order; more than one picture may change the rule for each.
        """
        key = tuple(sizes)
        if key not in self._known:
            self._known[key] = self._process(key)
        return self._known[key]

    def resize(self, sent: Sequence[Size]) -> tuple[Resized, ...]:
        """Return what becomes of the pictures of one request, in order."""
        return self.see(sent).pictures

    def observe(self, sent: Sequence[Size]) -> tuple[ObservedPicture, ...]:
        """Return what the pictures of one answered request became, in order; nothing where the processor takes none.

        Args:
            sent: Their sizes as they were handed over.
        """
        pictures = self.see(sent).pictures
        if any(picture.refused for picture in pictures):
            return ()
        return tuple(
            ObservedPicture(
                seen_size=picture.size,
                evidence="executed",
                visual_tokens=picture.tokens,
                n_tiles=picture.n_tiles,
                rule_id=self.name,
                configuration_sha256=self.configuration_sha256,
                stages=picture.stages,
                kept=picture.kept,
                cell_px=picture.cell_px,
            )
            for picture in pictures
        )

    def _process(self, sizes: tuple[Size, ...]) -> Processed:
        reason = "the processor took no stand-in for a picture"
        for name, make in _STAND_INS.items():
            if name in _WITH_PIXELS and sum(size.n_px for size in sizes) > _MOST_BLANK_PX:
                break
            pictures = [make(size) for size in sizes]
            follower = Follower(sizes, is_stubbed=name == "blank")
            try:
                with follower.watch(pictures):
                    output = self._call(pictures)
                return self._read(output, follower, sizes, name)
            except _FAULTS as error:
                reason = f"{type(error).__name__}: {error}".partition("\n")[0][:_REASON_CHARACTERS]
        refused = tuple(Resized(refused=f"the processor fails on this shape ({reason})") for _ in sizes)
        return Processed(refused, "none")

    def _call(self, pictures: Sequence[object]) -> Mapping[str, object]:
        # Pictures of one prompt in one list: some families show several pictures of a prompt smaller than one alone.
        images = [list(pictures)] if self._is_whole else list(pictures)
        given: JsonObject = {"images": images, "return_tensors": "pt", **self._arguments}
        if self._is_whole:
            given["text"] = [self._prompt(len(pictures))]
        return self._processor(**given)

    def _read(
        self, output: Mapping[str, object], follower: Follower, sizes: tuple[Size, ...], stand_in: str
    ) -> Processed:
        arrivals = follower.arrivals(output.values(), len(sizes))
        counted = placeholders(output, self._placeholder_ids, self._marker, len(sizes)) if self._is_whole else None
        told = counted or told_tokens(output, self._block) or ()
        tokens: tuple[int | None, ...] = told if len(told) == len(sizes) else (None,) * len(sizes)
        tiles = n_tiles(output) if len(sizes) == 1 else None
        is_followed = not follower.is_lost and _is_plausible(output, arrivals)
        return Processed(
            tuple(
                self._resized(arrivals[index] if is_followed else (), size, tokens[index], tiles)
                for index, size in enumerate(sizes)
            ),
            stand_in,
        )

    def _resized(self, arrived: Sequence[Track], sent: Size, tokens: int | None, tiles: int | None) -> Resized:
        way = finest_pass(arrived) or Resized(sent=sent)
        cell = cell_px(way, tokens, tiles, self._patch_px)
        return Resized(way.stages, tokens, tiles, cell, sent=way.sent, kept=way.kept)

    @property
    def _is_whole(self) -> bool:
        return getattr(self._processor, "tokenizer", None) is not None

    @property
    def _pictures_part(self) -> object:
        return getattr(self._processor, "image_processor", self._processor)

    @property
    def _block(self) -> int:
        return int(getattr(self._pictures_part, "merge_size", None) or 1)

    @property
    def _patch_px(self) -> int | None:
        own = getattr(self._pictures_part, "patch_size", None)
        patch = own if isinstance(own, int) else getattr(self._processor, "patch_size", None)
        return patch if isinstance(patch, int) else None

    @cached_property
    def _placeholder_ids(self) -> tuple[int, ...]:
        processor = self._processor
        ids = [getattr(processor, "image_token_id", None), *(getattr(processor, "image_token_ids", None) or ())]
        to_ids = getattr(getattr(processor, "tokenizer", None), "convert_tokens_to_ids", None)
        names = [getattr(processor, name, None) for name in _PLACEHOLDER_NAMES]
        named = [to_ids(name) for name in names if isinstance(name, str)] if to_ids is not None else []
        return tuple({token for token in (*ids, *named) if isinstance(token, int)})

    @cached_property
    def _marker(self) -> int:
        return self._processor.tokenizer(_MARKER, add_special_tokens=False)["input_ids"][-1]

    def _prompt(self, n_pictures: int) -> str:
        """Return a prompt with so many pictures, each ended by the marker, as the model's own template writes it."""
        if getattr(self._processor, "chat_template", None):
            content = [{"type": "image"}, {"type": "text", "text": _MARKER}] * n_pictures
            asked = [{"role": "user", "content": content}]
            return self._processor.apply_chat_template(asked, add_generation_prompt=True)
        token = getattr(self._processor, "image_token", None) or "<image>"
        return f"{token} {_MARKER}" * n_pictures


def _meta(size: Size) -> Tensor:
    import torch  # deferred: an extra

    return cast("Tensor", torch.empty((3, size.height, size.width), dtype=torch.uint8, device="meta"))


def _blank(size: Size) -> Tensor:
    import torch  # deferred: an extra

    return cast("Tensor", torch.zeros((), dtype=torch.uint8).expand(3, size.height, size.width))


def _black(size: Size) -> Tensor:
    import torch  # deferred: an extra

    return cast("Tensor", torch.zeros((3, size.height, size.width), dtype=torch.uint8))


def _picture(size: Size) -> object:
    return Image.new("RGB", size)


# In the order they are tried; some processors ask for values, and some take nothing but a Pillow picture.
_STAND_INS: Mapping[str, Callable[[Size], object]] = {
    "meta": _meta,
    "blank": _blank,
    "pixels": _black,
    "pillow": _picture,
}
_WITH_PIXELS = ("pixels", "pillow")


def _is_plausible(output: Mapping[str, object], arrivals: Sequence[Sequence[Track]]) -> bool:
    """Whether the output is large enough for what is said to have arrived, so that nothing was missed on the way."""
    n_elements = sum(cast("Tensor", value).numel() for value in _tensors(output.values()))
    n_shown = sum(
        way.size.n_px for tracks in arrivals if (way := finest_pass(tracks)) is not None and way.size is not None
    )
    return n_elements >= n_shown


def _tensors(values: object) -> Iterator[object]:
    for value in cast("Sequence[object]", values):
        if isinstance(value, list | tuple):
            yield from _tensors(value)
        elif hasattr(value, "numel"):
            yield value

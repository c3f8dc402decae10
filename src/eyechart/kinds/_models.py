"""What a model is asked, what it replies, and what it implements."""

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol, runtime_checkable

import msgspec

from eyechart.schema import Box, JsonObject, ModelIdentity, Sampling, Size, Usage, Value


class PixelArray(Protocol):
    """The part of ``numpy.ndarray`` that models need, so that importing this module does not import numpy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Height, width, channels."""
        ...

    def tobytes(self) -> bytes:
        """Raw samples in C order."""
        ...


class SentPicture(Protocol):
    """One picture on its way to a model. Nothing about it tells which view, question or file it came from."""

    @property
    def size(self) -> Size:
        """Size in pixels."""
        ...

    @property
    def pixel_sha256(self) -> str:
        """Content key: two pictures with the same pixels have the same one."""
        ...

    @property
    def media_type(self) -> str:
        """Media type of ``encoded()``."""
        ...

    def pixels(self) -> PixelArray:
        """Return the pixels, shape (height, width, 3), uint8 RGB."""
        ...

    def encoded(self) -> bytes:
        """Return the bytes to send, in ``media_type``."""
        ...


class AskedIdentity(Value, frozen=True):
    """Who is asked about, for models that answer from stored or known answers instead of from pixels."""

    request_id: str
    question_id: str
    view: str
    condition: str
    repeat: int


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What a model receives. ``identity`` is None for every model with ``reads = "pixels"``."""

    prompt: str
    pictures: tuple[SentPicture, ...]
    choices: tuple[str, ...]
    sampling: Sampling
    identity: AskedIdentity | None = None


class ObservedPicture(Value, frozen=True):
    """What a model executed or reported about one picture it received.

    Args:
        seen_size: Size on its grid, of what is kept of the picture.
        evidence: Whether it was done here or told by a server.
        visual_tokens: Tokens of the picture.
        n_tiles: Tiles it was cut into.
        rule_id: What did it.
        configuration_sha256: Hash of how it was done.
        stages: Sizes of the whole picture after each resize, the last that of the grid; only ``seen_size`` if empty.
        kept: Part of the sent picture that a cut left, in its own pixels; None for all of it.
        cell_px: Side of the square of the grid that one token stands for, None where tokens are not a grid.
    """

    seen_size: Size | None
    evidence: Literal["executed", "reported"]
    visual_tokens: int | None = None
    n_tiles: int | None = None
    rule_id: str | None = None
    configuration_sha256: str | None = None
    stages: tuple[Size, ...] = ()
    kept: Box | None = None
    cell_px: int | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a model returns. Failures are raised as the ``ModelError`` family, never returned as text.

    ``says_nothing`` marks a model that was to write an answer, ended well and wrote none. An empty text without it is a
    reading: an OCR reader found no text in the picture.
    """

    text: str
    reasoning: str | None = None
    finish: str | None = None
    is_refusal: bool = False
    says_nothing: bool = False
    usage: Usage | None = None
    provider_fingerprint: str | None = None
    seen: tuple[ObservedPicture, ...] = ()
    extra: JsonObject = {}


Gold = Mapping[str, str | None]


@runtime_checkable
class Model(Protocol):
    """Something that answers. Only ``answer`` may cost money or time outside this machine.

    ``reads`` is ``"pixels"`` for every model that looks, and ``"identity"`` only for replay, simulated, human and
    the constant baselines. ``max_concurrency`` is how many calls of ``answer`` may overlap, None for no limit.
    """

    identity: ModelIdentity
    reads: Literal["pixels", "identity"]
    max_concurrency: int | None

    async def answer(self, ask: Ask) -> Reply:
        """Answer one request.

        Raises:
            ModelError: One of its subclasses says whether to try again.
        """
        ...

    async def close(self) -> None:
        """Release connections, processes and files."""
        ...


class ModelOptions(Value, frozen=True):
    """How to reach a model: what the command line gives besides the name.

    ``base_url`` and keys are never hashed or stored; ``settings`` and ``extra_body`` are part of the identity.
    ``extra_body`` goes into the request as it is.
    """

    base_url: str | None = None
    revision: str | None = None
    settings: JsonObject = msgspec.field(default_factory=dict)
    extra_body: JsonObject = msgspec.field(default_factory=dict)
    timeout_seconds: float = 300.0


@runtime_checkable
class ModelKind(Protocol):
    """One provider. The module's name is the provider's name, as in ``provider/name``.

    ``settings`` is a frozen msgspec struct of the provider's own settings with defaults (read by
    ``eyechart.settings.read_settings``).
    """

    settings: type[msgspec.Struct]

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If the name or a setting is wrong.
            MissingDependencyError: If the provider's extra is not installed.
        """
        ...


@runtime_checkable
class TakesGold(Protocol):
    """A baseline that needs the right letters; the run hands them over apart from any request."""

    def take_gold(self, gold: Gold) -> None:
        """Receive the right letter, as shown, of every request id; None where hidden."""
        ...


@runtime_checkable
class TakesSizes(Protocol):
    """A simulated model whose answers depend on how large targets are, and on which questions share a picture."""

    def take_target_px(self, target_px: Mapping[str, float]) -> None:
        """Receive the target's shorter side, as seen, of every request id; 0 where the view shows no target."""
        ...

    def take_image_groups(self, groups: Mapping[str, str]) -> None:
        """Receive the image group of every question id."""
        ...


@runtime_checkable
class TellsOrder(Protocol):
    """A model whose answers were given before, under options in an order that it knows."""

    def told_options(self) -> Iterable[tuple[str, str, JsonObject]]:
        """Return place, question id and what its row tells of the options, for every stored answer.

        Columns are named as in a question file: ``choices`` or ``options``, else the letters A, B, ….
        """
        ...


@runtime_checkable
class ReviewsPlan(Protocol):
    """A model that can say beforehand what does not fit a plan, such as answers that nobody asks for."""

    def review_plan(self, planned: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Return one sentence per thing that the reader should know.

        Args:
            planned: Question id and condition, and question id and view, of every request.
        """
        ...


@runtime_checkable
class PredictsSeen(Protocol):
    """A model that can say beforehand what it will do to a picture of a given size."""

    def predict_seen(self, sent: Size) -> ObservedPicture | None:
        """Return what the model will see of a picture of this size, None if it cannot tell."""
        ...


@runtime_checkable
class TellsFingerprint(Protocol):
    """A served model whose server can say which weights it serves."""

    async def fingerprint(self) -> str | None:
        """Return a hash of what the server says of its weights, None where it says nothing.

        Raises:
            ModelError: If the server cannot be asked.
        """
        ...


@runtime_checkable
class ReadsLetters(Protocol):
    """A model that may tell the probabilities of an answer's first token, for ``Sampling.score_mode`` ``logprob``."""

    @property
    def reads_letters(self) -> bool:
        """Whether it does under its settings."""
        ...

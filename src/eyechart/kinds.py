"""What each kind of extension must implement: the protocols that the registry loads and the contract tests check."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeVar, runtime_checkable

import msgspec

from eyechart.geometry import GeometryPolicy
from eyechart.schema import (
    BenchmarkIdentity,
    Box,
    Composition,
    GridComposition,
    ImageRef,
    JsonObject,
    ModelIdentity,
    Question,
    Response,
    Sampling,
    Score,
    Size,
    Summary,
    Usage,
    Value,
    View,
    ViewImage,
)

Geometry = Composition | GridComposition
ViewT = TypeVar("ViewT", bound=View)


class PlannedPicture(Value, frozen=True):
    """What a view will show, from arithmetic alone.

    Args:
        geometry: Which pixels at which size.
        source_region: Box of the original that the picture shows, None for a blank one.
        target: The target in pixels of the finished picture, None if the question has none.
        area_multiplier: Real area of the crop divided by the area of the target's integer box (clipping lowers it).
        notes: What the reader should know: ``saturated`` when a crop is the whole picture, ….
    """

    geometry: Geometry
    source_region: Box | None = None
    target: Box | None = None
    area_multiplier: float | None = None
    notes: tuple[str, ...] = ()


@runtime_checkable
class ViewKind(Protocol[ViewT]):
    """One family of views. The module's name is the family's name.

    ``format`` and ``parse`` are inverse: ``parse(format(view)) == view``; ``parse`` returns None for ids of others.
    """

    view: type[ViewT]

    def format(self, view: ViewT) -> str:
        """Return the view id."""
        ...

    def parse(self, view_id: str) -> ViewT | None:
        """Return the view, or None if the id belongs to another family."""
        ...

    def plan(self, view: ViewT, question: Question, policy: GeometryPolicy) -> tuple[PlannedPicture, ...]:
        """Return the pictures to show, in order; empty where nothing is shown.

        Raises:
            GeometryError: If this question cannot be shown in this view.
        """
        ...


@runtime_checkable
class Benchmark(Protocol):
    """A collection of questions about pictures. Questions come in a fixed order; ids are unique."""

    identity: BenchmarkIdentity

    def questions(self) -> Iterator[Question]:
        """Yield every question, reading the headers of pictures but not their pixels."""
        ...

    def image_path(self, image: ImageRef) -> Path:
        """Return where the bytes of a picture lie on this machine."""
        ...

    def released_views(self) -> tuple[str, ...]:
        """Return the ids of views that this collection already holds as files, in its own order; usually none."""
        ...

    def released_image(self, question: Question, view_id: str) -> ViewImage | None:
        """Return the released picture of one view of one question, None if it is missing or not released."""
        ...


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
        cell_px: Side of the square of the grid that one token stands for, None where tokens are no grid.
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
    """What a model returns. Failures are raised as the ``ModelError`` family, never returned as text."""

    text: str
    reasoning: str | None = None
    finish: str | None = None
    is_refusal: bool = False
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


class AskDefaults(Value, frozen=True):
    """How a benchmark is asked where nothing else is named: view ids, prompt and scorer."""

    views: tuple[str, ...]
    prompt: str
    scorer: str


@runtime_checkable
class HoldsRelease(Protocol):
    """A benchmark that is a published collection: its papers lie in ``root``, its images too unless streamed."""

    root: Path
    is_streamed: bool


@runtime_checkable
class SaysHowToAsk(Protocol):
    """A benchmark that is not asked under SUM's views, or not for an option's letter."""

    defaults: AskDefaults


@runtime_checkable
class BenchmarkKind(Protocol):
    """One benchmark. The module's name is the benchmark's name.

    ``options`` is a frozen msgspec struct with defaults; it is stored in ``BenchmarkIdentity.options``.
    """

    options: type[msgspec.Struct]

    def open(self, data: Path | None, options: msgspec.Struct) -> Benchmark:
        """Return the benchmark.

        Args:
            data: File or folder given by ``--data``; None if the benchmark makes or ships its own.
            options: An instance of ``options``.

        Raises:
            BenchmarkError: If the data breaks the benchmark's contract; the message names file and line.
        """
        ...


class FactColumn(Value, frozen=True):
    """One column of a table of facts; numbers stand to the right."""

    heading: str
    is_number: bool = False


class FactTable(Value, frozen=True):
    """A table of what is known about a benchmark, with its sources among the notes.

    Args:
        name: Short name, for files and flags.
        title: One sentence.
        columns: Columns.
        rows: Cells as text, in the order of the columns.
        notes: What must be said below it.
    """

    name: str
    title: str
    columns: tuple[FactColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@runtime_checkable
class TellsFacts(Protocol):
    """A kind of benchmark that knows facts about itself without any data."""

    def fact_tables(self) -> tuple[FactTable, ...]:
        """Return the tables, the most telling first."""
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


@runtime_checkable
class Prompt(Protocol):
    """A wording. Its id is ``name@version``."""

    name: str
    version: int

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text for a question with its choices in the order shown (letters A, B, …)."""
        ...


@runtime_checkable
class ReadFromFile(Protocol):
    """A wording that is not ours to keep: its class reads it from a file of the user's, ``name:FILE``."""

    @classmethod
    def from_file(cls, file: Path) -> Prompt:
        """Return the prompt.

        Raises:
            UsageError: If the file does not hold it.
        """
        ...


@runtime_checkable
class Scorer(Protocol):
    """A pure judge of stored responses. Its ids are ``name.mode@version``."""

    name: str
    version: int
    modes: tuple[str, ...]

    def score(
        self, response: Response, question: Question, choices: Sequence[str], gold: str | None, mode: str
    ) -> Score:
        """Judge one response.

        Args:
            response: The stored response.
            question: The question, for accepted texts of free-form answers.
            choices: Options in the order shown.
            gold: The right letter as shown, None where hidden or free-form.
            mode: One of ``modes``; the first is the default.
        """
        ...


@runtime_checkable
class ReportWriter(Protocol):
    """A report format; ``write`` returns the file it wrote."""

    suffix: str

    def write(self, summary: Summary, out: Path) -> Path:
        """Write the report into the folder ``out``."""
        ...


@runtime_checkable
class FigureKind(Protocol):
    """A figure drawn from estimates."""

    name: str

    def draw(self, summary: Summary, axes: object | None = None) -> object:
        """Draw on the given matplotlib axes, or on new ones, and return them; None if there is nothing to draw."""
        ...

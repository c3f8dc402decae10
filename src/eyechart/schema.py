"""The frozen records that eyechart stores, reads and passes between its layers.

Every stored record carries ``schema_version``. Fields are only ever added, with defaults.
"""

import datetime
import hashlib
from enum import StrEnum
from functools import cache
from typing import ClassVar, Literal, NamedTuple, TypeVar

import msgspec
import msgspec.structs

from eyechart.errors import SchemaError

SCHEMA_VERSION = 1

Number = int | float
JsonObject = dict[str, object]


class Size(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int

    @property
    def n_px(self) -> int:
        """Number of pixels."""
        return self.width * self.height


class Box(NamedTuple):
    """A half-open box ``[x0, x1) × [y0, y1)`` in pixels of the picture it belongs to."""

    x0: Number
    y0: Number
    x1: Number
    y1: Number

    @property
    def width(self) -> Number:
        """Width in pixels."""
        return self.x1 - self.x0

    @property
    def height(self) -> Number:
        """Height in pixels."""
        return self.y1 - self.y0

    @property
    def area(self) -> Number:
        """Area in square pixels."""
        return self.width * self.height


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the small values inside records."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all records that are stored by themselves."""

    schema_version: int = SCHEMA_VERSION


class ImageRef(Value, frozen=True):
    """One encoded picture, named by its content and never by its path.

    Args:
        file_sha256: SHA-256 of the encoded bytes, lower-case hex; empty if the picture exists only as pixels.
        size: Stored size in pixels, before any EXIF rotation.
        media_type: ``image/jpeg``, ``image/png``, …
        n_bytes: Length of the encoded bytes; None if it exists only as pixels.
        pixel_sha256: SHA-256 of mode, size and raw RGB after decoding; None until it was decoded.
        exif_orientation: EXIF tag 274 as stored, 1 where there is none.
        is_plain: Whether the file holds 8-bit RGB or grey and nothing that changes them: no colour profile, gamma,
            transparency or second frame; None where its header was not read.
    """

    file_sha256: str
    size: Size
    media_type: str
    n_bytes: int | None = None
    pixel_sha256: str | None = None
    exif_orientation: int = 1
    is_plain: bool | None = None


TargetPolicy = Literal["union", "first"]


class Question(Record, frozen=True, kw_only=True):
    """What is asked about one picture, before any view.

    ``targets`` are the boxes as given, half-open xyxy in stored pixels of ``image``; ``targets_clipped`` the same boxes
    cut at the border. ``answer`` is a letter, or None where it is hidden or free-form; ``answers`` are the accepted
    texts of a free-form question. Where ``asks_for_cell``, the right answer is the cell of a grid where the view
    puts the picture, among ``distractors``. ``image_group`` is the cluster for statistics; ``extra`` keeps the rest.
    """

    id: str
    benchmark: str
    text: str
    image: ImageRef
    image_group: str
    choices: tuple[str, ...] = ()
    answer: str | None = None
    answers: tuple[str, ...] = ()
    text_raw: str | None = None
    targets: tuple[Box, ...] = ()
    targets_clipped: tuple[Box, ...] = ()
    target_policy: TargetPolicy = "union"
    distractors: tuple[ImageRef, ...] = ()
    asks_for_cell: bool = False
    task: str | None = None
    source: str | None = None
    notes: tuple[str, ...] = ()
    extra: JsonObject = {}


# --- views ----------------------------------------------------------------------------------------------------------


class View(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="family"):
    """Base of all views: how a picture is shown. Its text form is the view id (``eyechart.views.format_view``)."""

    family: ClassVar[str] = ""


class Original(View, frozen=True, tag="original"):
    """The picture as it is."""

    family: ClassVar[str] = "original"


class Crop(View, frozen=True, tag="crop"):
    """A cut-out of ``area_ratio`` times the target's area, at least 1."""

    family: ClassVar[str] = "crop"
    area_ratio: float


class Whiteground(View, frozen=True, tag="whiteground"):
    """The crop of ``area_ratio`` at its own place on a white canvas of the original size."""

    family: ClassVar[str] = "whiteground"
    area_ratio: float


class Downsample(View, frozen=True, tag="downsample"):
    """The whole picture with both sides multiplied by ``linear_scale``, in (0, 1]."""

    family: ClassVar[str] = "downsample"
    linear_scale: float


class TargetOnly(View, frozen=True, tag="target_only"):
    """The target box alone, all else white, on the canvas of a crop or, with None, of the original."""

    family: ClassVar[str] = "target_only"
    area_ratio: float | None


class Grid(View, frozen=True, tag="grid"):
    """The picture in one cell of a grid; rows and columns are counted from 0."""

    family: ClassVar[str] = "grid"
    style: Literal["white", "captioned"]
    rows: int
    columns: int
    row: int
    column: int
    distractor_seed: int = 0


class NoImage(View, frozen=True, tag="no_image"):
    """The question without any picture."""

    family: ClassVar[str] = "no_image"


class Blank(View, frozen=True, tag="blank"):
    """A white picture of the original size."""

    family: ClassVar[str] = "blank"


class OriginalPlusCrop(View, frozen=True, tag="original_plus_crop"):
    """Two pictures: the whole, then the crop of ``area_ratio``."""

    family: ClassVar[str] = "original_plus_crop"
    area_ratio: float


# --- recipes --------------------------------------------------------------------------------------------------------


class Composition(Value, frozen=True, tag="composition"):
    """What a view keeps of one picture: ``kept`` pixels at ``offset`` on a white ``canvas``, then resized.

    Args:
        canvas: Size of the white canvas in original pixels.
        kept: Integer box of the original whose pixels are kept; None for a blank canvas.
        offset: Where the top-left corner of ``kept`` lies on the canvas.
        resized: Size after the canvas is resampled, None if it is not.
        enlarged: Final size if a downsampled picture is enlarged again for a transport policy, else None; the detail
            that ``resized`` lost stays lost.
    """

    canvas: Size
    kept: Box | None
    offset: tuple[int, int] = (0, 0)
    resized: Size | None = None
    enlarged: Size | None = None

    @property
    def size(self) -> Size:
        """Size of the finished picture."""
        return self.enlarged or self.resized or self.canvas


class GridComposition(Value, frozen=True, tag="grid"):
    """One needle among other pictures on a grid canvas (drawn by ``images.grid_canvas``).

    Args:
        canvas: Size of the canvas.
        style: ``captioned`` prints row and column under every picture; ``white`` leaves the other cells white.
        rows: Rows of cells.
        columns: Columns of cells.
        row: The needle's row, from 0.
        column: The needle's column, from 0.
        tile: Size that every picture gets, whatever its aspect ratio.
        pitch: From one cell to the next.
        haystack: Hash of the distractors' file hashes in the order of the cells; None without distractors. The list
            itself would be repeated in the request of every cell.
        distractor_seed: What that order was made with.
        caption: Name and version of the glyph atlas, None without captions.
        resized: Final size if a transport policy resamples the finished canvas, else None.
    """

    canvas: Size
    style: Literal["white", "captioned"]
    rows: int
    columns: int
    row: int
    column: int
    tile: Size
    pitch: Size
    haystack: str | None = None
    distractor_seed: int = 0
    caption: str | None = None
    resized: Size | None = None

    @property
    def size(self) -> Size:
        """Size of the finished picture."""
        return self.resized or self.canvas

    def corner(self, row: int, column: int) -> tuple[int, int]:
        """Return where the top-left corner of a cell's picture lies.

        It stands in the middle of its cell's width, with the same border above it; what is left below is for a caption.
        """
        border = (self.pitch.width - self.tile.width) // 2
        return border + column * self.pitch.width, border + row * self.pitch.height


class DecodePolicy(Value, frozen=True):
    """How a file becomes pixels (``decode@1``): the options, all hashed into every recipe.

    Args:
        version: Name and version of the policy.
        exif: ``ignore`` keeps stored pixels; ``apply`` rotates the pixels and every box with them.
        matte: Colour under transparency.
    """

    version: str = "decode@1"
    exif: Literal["ignore", "apply"] = "ignore"
    matte: tuple[int, int, int] = (255, 255, 255)


class Recipe(Value, frozen=True):
    """All that decides the pixels of one picture sent to a model, besides the original itself.

    ``resampler`` is name and algorithm version (never a library version) and None where nothing is resampled, so that
    views which need no resampling share their key whatever the resampler.
    """

    geometry: Composition | GridComposition
    decode: DecodePolicy = DecodePolicy()
    resampler: str | None = None
    transport: str = "native@1"


class Release(Value, frozen=True):
    """What a released file shows: of which original, and by which geometry it was cut and resized from it."""

    file_sha256: str
    size: Size
    geometry: Composition


class Picture(Value, frozen=True):
    """One picture of a request: which original, by which recipe, and its planned size.

    ``target`` is the question's target in pixels of this picture (floats after resampling), None where it has none.
    ``release`` is set where ``image`` is itself a released view of another picture.
    """

    image: ImageRef
    recipe: Recipe
    recipe_key: str
    size: Size
    target: Box | None = None
    release: Release | None = None


class Renderer(Value, frozen=True):
    """What drew the pixels: recorded, but no part of any key."""

    library: str
    version: str
    resampler: str | None = None
    encoder: str | None = None


class ViewImage(Record, frozen=True, kw_only=True):
    """One rendered or released view of one question."""

    question_id: str
    view: str
    image: ImageRef
    index: int = 0
    recipe_key: str | None = None
    source_region: Box | None = None
    target_in_view: Box | None = None
    renderer: Renderer | None = None
    notes: tuple[str, ...] = ()
    extra: JsonObject = {}


# --- asking ---------------------------------------------------------------------------------------------------------


class ModelIdentity(Value, frozen=True):
    """Which model answers: what is hashed into every request.

    Args:
        provider: ``openai``, ``ocr``, ``replay``, ….
        name: The provider's model name.
        revision: ``--model-revision``, if given.
        fingerprint: A hash of the weights or of the answer file, where it can be read.
        settings: Provider settings besides sampling, canonical JSON values.
    """

    provider: str
    name: str
    revision: str | None = None
    fingerprint: str | None = None
    settings: JsonObject = {}

    @property
    def spec(self) -> str:
        """The ``provider/name`` form used on the command line."""
        return f"{self.provider}/{self.name}"


ScoreMode = Literal["text", "logprob"]
"""Whether a model writes its answer, or the likeliest option letter is read off its first token's probabilities."""


class Sampling(Value, frozen=True):
    """Sampling parameters; None means the parameter is not sent."""

    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = 1024
    score_mode: ScoreMode = "text"


class Request(Record, frozen=True, kw_only=True):
    """One question under one condition to one model. ``id`` is the SHA-256 of all that decides the answer.

    ``condition`` is the grouping key of statistics and reports: the view id, or the name of a matched design.
    ``choice_order[i]`` is the index in ``Question.choices`` of the option shown as letter ``i``.
    No gold answer and no path is stored here.
    """

    id: str
    benchmark: str
    question_id: str
    view: str
    condition: str
    pictures: tuple[Picture, ...]
    prompt: str
    prompt_id: str
    prompt_sha256: str
    choices: tuple[str, ...]
    choice_order: tuple[int, ...]
    model: ModelIdentity
    sampling: Sampling
    repeat: int = 0


class ResponseState(StrEnum):
    """How a request ended. Only ``answered``, ``truncated``, ``refusal`` and ``content_filter`` carry a score."""

    ANSWERED = "answered"
    TRUNCATED = "truncated"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    REFUSED_INPUT = "refused_input"
    BAD_REQUEST = "bad_request"
    TRANSIENT = "transient"

    @property
    def is_error(self) -> bool:
        """Whether there is no answer, so that the score is None."""
        return self in _ERROR_STATES

    @property
    def is_final(self) -> bool:
        """Whether the request is never asked again."""
        return self is not ResponseState.TRANSIENT


_ERROR_STATES = frozenset({ResponseState.REFUSED_INPUT, ResponseState.BAD_REQUEST, ResponseState.TRANSIENT})


class Usage(Value, frozen=True):
    """Tokens as the provider reported them; None where it did not."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    image_tokens: int | None = None
    reasoning_tokens: int | None = None


class TracedPicture(Value, frozen=True):
    """A picture that a tool-using model looked at on its way to the answer."""

    step: int
    size: Size
    source_region: Box | None = None
    pixel_sha256: str | None = None


class Response(Record, frozen=True, kw_only=True):
    """What came back for one request. ``text`` is None on an error, and an error is never a text."""

    request_id: str
    state: ResponseState
    text: str | None = None
    reasoning: str | None = None
    finish: str | None = None
    error: str | None = None
    usage: Usage | None = None
    seconds: float | None = None
    finished_at: str | None = None
    attempts: int = 1
    provider_fingerprint: str | None = None
    trace: tuple[TracedPicture, ...] = ()
    extra: JsonObject = {}


Evidence = Literal["executed", "reported", "probed", "documented", "inferred", "unknown"]


class Seen(Record, frozen=True, kw_only=True):
    """What reached the model's vision encoder for one picture of one request.

    ``information_scale`` is the smallest cumulative scale along the chain, at most 1 (how much detail is left);
    ``presented_scale`` is the final scale and may exceed 1. Both are per axis, relative to the original.
    ``target_px`` is the effective target size (width, height) in pixels the model saw, by information scale.
    ``tokens_on_target`` is its area in tokens, below 1 where it shares one; ``target_tokens`` are the fewest and the
    most tokens it touches, depending on where the grid lies. ``sent_bytes`` of a plan are those of a file that leaves
    as it is, None for a picture that is encoded later. ``recipe_key`` names the view's recipe.
    """

    request_id: str
    picture_index: int
    phase: Literal["planned", "observed"]
    evidence: Evidence
    source_size: Size
    sent_size: Size
    sent_bytes: int | None = None
    sent_media_type: str | None = None
    seen_size: Size | None = None
    n_tiles: int | None = None
    visual_tokens: int | None = None
    information_scale: tuple[float, float] | None = None
    presented_scale: tuple[float, float] | None = None
    target_px: tuple[float, float] | None = None
    target_tokens: tuple[float, float] | None = None
    lost_area: float | None = None
    anisotropy: float | None = None
    rule_id: str | None = None
    rule_date: str | None = None
    configuration_sha256: str | None = None
    reason: str | None = None
    recipe_key: str | None = None
    tokens_on_target: float | None = None


# --- judging --------------------------------------------------------------------------------------------------------


class Score(Record, frozen=True, kw_only=True):
    """A scorer's verdict. ``value`` is None when there was nothing to score, and 0.0 when the answer is wrong."""

    request_id: str
    scorer: str
    value: float | None
    answer: str | None = None
    span: tuple[int, int] | None = None
    rule: str | None = None
    reason: str | None = None
    diagnostics: tuple[str, ...] = ()


class Estimate(Record, frozen=True, kw_only=True):
    """One number with its interval and counts."""

    name: str
    condition: str
    value: float
    low: float
    high: float
    n_questions: int
    n_clusters: int
    method: str
    confidence: float = 0.95
    n_effective: float | None = None
    n_missing: int = 0
    chance: float | None = None
    scorer: str | None = None
    subset: str | None = None
    warnings: tuple[str, ...] = ()


class Contrast(Record, frozen=True, kw_only=True):
    """The paired difference ``condition − baseline`` on the questions scored on both sides."""

    name: str
    condition: str
    baseline: str
    value: float
    low: float
    high: float
    n_questions: int
    n_clusters: int
    gained: int
    lost: int
    method: str
    confidence: float = 0.95
    p: float | None = None
    p_adjusted: float | None = None
    p_method: str | None = None
    correction: str | None = None
    family: str | None = None
    n_missing: int = 0
    scorer: str | None = None
    subset: str | None = None
    blocked_by: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    detectable: float | None = None
    role: Literal["confirmatory", "exploratory"] | None = None


class TokenPrice(Value, frozen=True):
    """What a provider asks for tokens, in US dollars per million, and when and where that was read."""

    input_per_million: float
    output_per_million: float
    date: datetime.date
    source: str


class Expense(Value, frozen=True):
    """What the answers of a run cost, in US dollars.

    Args:
        dollars: The sum over answers whose cost is known.
        n_priced: So many answers.
        n_answers: Of so many.
        is_reported: Whether the provider told the cost itself, so that no price was needed.
        estimated: What the whole run was expected to cost before it began, None if no price was known.
        price: The price that was used, None where the provider told the cost.
    """

    dollars: float
    n_priced: int
    n_answers: int
    is_reported: bool = False
    estimated: float | None = None
    price: TokenPrice | None = None


class BenchmarkIdentity(Value, frozen=True):
    """Which questions were asked: name, revision (a content hash), and the options that made them."""

    name: str
    revision: str
    options: JsonObject = {}


class MatchedCondition(Value, frozen=True):
    """What one condition of a matched design reaches over its questions: pixels or tokens of target.

    ``largest_error`` is the largest |reached ÷ wanted − 1|.
    """

    condition: str
    n_questions: int
    smallest: float
    median: float
    largest: float
    largest_error: float


class Unmatched(Value, frozen=True):
    """A question that a matched design leaves out, with the view that could not be matched."""

    question_id: str
    view: str
    reason: str


class Matching(Value, frozen=True):
    """What proves a matched design: what every condition reaches, and which questions could not be matched.

    ``tolerance`` is the largest |ln| of reached over wanted.
    """

    design: str
    conditions: tuple[MatchedCondition, ...]
    unmatched: tuple[Unmatched, ...]
    tolerance: float


class Run(Record, frozen=True, kw_only=True):
    """The settings of one run, written once. Counts are derived from the other files, never stored here."""

    id: str
    plan_id: str
    created_at: str
    benchmark: BenchmarkIdentity
    views: tuple[str, ...]
    view_preset: str | None
    model: ModelIdentity
    sampling: Sampling
    prompt_id: str
    decode: DecodePolicy
    resampler: str
    transport: str
    geometry_policy: JsonObject
    seeds: dict[str, int]
    versions: dict[str, str]
    limit: int | None = None
    n_questions: int
    n_repeats: int = 1
    n_rotations: int = 1
    choices_taken: dict[str, str] = {}
    command: tuple[str, ...] = ()
    price: TokenPrice | None = None
    estimated_dollars: float | None = None
    matching: Matching | None = None
    scorer: str | None = None
    allowed_faults: tuple[str, ...] = ()
    protocol: str | None = None


class ConditionSummary(Value, frozen=True):
    """What happened under one condition: counts, sizes, states. Medians are over questions.

    ``n_correct`` counts full scores; ``reasons`` counts why answers scored 0 without being merely wrong.
    ``target_px_*`` is the shorter side of the target: in the picture as sent, and as the model saw it.
    """

    condition: str
    view: str
    family: str
    area_ratio: float | None = None
    linear_scale: float | None = None
    n_asked: int = 0
    n_answered: int = 0
    n_scored: int = 0
    n_missing: int = 0
    n_correct: float = 0
    accuracy_sum: float | None = None
    median_sent_size: Size | None = None
    median_sent_px: float | None = None
    median_area_multiplier: float | None = None
    target_px_sent: float | None = None
    target_px_seen: float | None = None
    seen_evidence: str | None = None
    n_saturated: int = 0
    states: dict[str, int] = {}
    reasons: dict[str, int] = {}


class Failure(Value, frozen=True):
    """One cause of missing or unreadable answers, with the conditions it struck and one example."""

    state: str
    cause: str
    n: int
    conditions: dict[str, int] = {}
    example: str = ""


class SizeBand(Value, frozen=True):
    """Accuracy among requests whose target the model saw at about one size (``low`` ≤ shorter side < ``high`` px)."""

    low_px: float
    high_px: float
    estimate: Estimate


class Finding(Value, frozen=True):
    """A sentence made from a ``Contrast``; ``contrast`` is that record's condition and baseline."""

    code: str
    text: str
    contrast: tuple[str, str] | None = None


class Flips(Value, frozen=True):
    """How many scores changed between two conditions, beside what guessing and repetition alone would change.

    ``guessing`` is the churn of a model that guesses what it does not know, ``repetition`` that of identical pictures
    (None where no two views show the same).
    """

    condition: str
    baseline: str
    gained: Estimate
    lost: Estimate
    churn: Estimate
    guessing: float
    repetition: Estimate | None = None


class Decomposition(Value, frozen=True):
    """The exact split of crop − original into distraction and canvas at one factor, on their common questions.

    ``interaction`` is context × canvas; where its interval excludes 0 the split ``is_order_dependent``.
    ``saturated_share`` is the share of questions whose crop is the whole picture, where both parts are 0 by identity.
    """

    area_ratio: float
    total: Contrast
    distraction: Contrast
    canvas: Contrast
    interaction: Contrast | None = None
    is_order_dependent: bool = False
    saturated_share: float | None = None


class Threshold(Value, frozen=True):
    """Where ``fraction`` of the chance-corrected accuracy is left; None in a bound means below the smallest level.

    ``is_flat`` says that the curve has a plateau there, so that the value is not identified. ``smooth_value`` is the
    same of a fitted curve, None unless that fits (``misfit_p`` at least 0.05).
    """

    unit: Literal["linear scale", "px of target seen"]
    fraction: float
    value: float | None
    low: float | None
    high: float | None
    smallest: float
    largest: float
    is_flat: bool
    n_questions: int
    n_clusters: int
    confidence: float = 0.95
    smooth_value: float | None = None
    misfit_p: float | None = None


class AcuityBand(Value, frozen=True):
    """Chance-corrected accuracy among targets seen at about one size, over all views: raw, and on the fitted curve."""

    px: float
    corrected: float
    low: float
    high: float
    fitted: float
    n_questions: int


class SmoothCurve(Value, frozen=True):
    """Chance-corrected accuracy ceiling·logistic(intercept + slope·log₂(px ÷ reference_px))."""

    reference_px: float
    intercept: float
    slope: float
    ceiling: float


class Acuity(Value, frozen=True):
    """The shorter side of the target, in pixels the model saw, at which half of the chance-corrected plateau is left.

    Args:
        task: The task, None for all questions.
        status: ``not reached`` where more than half is left at the smallest targets, ``not identified`` where the
            answers do not tell; ``reason`` says why.
        reason: Empty where there is an estimate.
        px: The size; None unless estimated.
        low_px: Lower bound, None where it lies below the smallest targets.
        high_px: Upper bound, None unless estimated.
        bands: The curve behind it, from the largest targets down; empty where there are too few answers for one.
        smooth: A smooth curve, None unless it fits (``misfit_p`` at least 0.05).
        misfit_p: How often a curve of the smooth form lies as far off.
        evidence: How the sizes are known.
        n_questions: Questions with an answer to a target of known size.
        n_clusters: Their pictures.
    """

    task: str | None
    status: Literal["estimated", "not reached", "not identified"]
    reason: str = ""
    px: float | None = None
    low_px: float | None = None
    high_px: float | None = None
    bands: tuple[AcuityBand, ...] = ()
    smooth: SmoothCurve | None = None
    misfit_p: float | None = None
    evidence: str | None = None
    n_questions: int = 0
    n_clusters: int = 0
    confidence: float = 0.95


class CloseViews(Value, frozen=True):
    """Two conditions that show the same part of the picture at scales the model can hardly tell apart.

    Args:
        condition: The smaller one.
        baseline: The larger one.
        ratio: Median ratio of what is left of the picture's detail, at least 1.
        n_same: Questions for which both are one picture to the model.
        n_both: Questions asked under both.
        noise: Difference of their scores: of one picture to the model it is the noise of repetition, None otherwise.
        churn: Share of scores that changed between them, None unless they are one picture.
    """

    condition: str
    baseline: str
    ratio: float
    n_same: int
    n_both: int
    noise: Contrast | None = None
    churn: Estimate | None = None

    @property
    def is_one_picture(self) -> bool:
        """Whether both are one picture to the model for every question, so that asking both is asking twice."""
        return self.n_same == self.n_both


class CurveMovement(Value, frozen=True):
    """ACE, RCE and Spearman of accuracy over resolution, beside what levels shuffled within questions give.

    The interval of ACE inherits its upward bias.
    """

    ace: float
    ace_low: float
    ace_high: float
    ace_floor: float
    ace_p: float
    roughness: float
    rce: float
    rce_floor: float
    spearman: float
    spearman_floor: float
    spearman_p: float
    n_levels: int
    n_questions: int
    confidence: float = 0.95


class GroupTest(Value, frozen=True):
    """Whether an effect is the same in all groups: p by shuffling group labels between pictures."""

    grouping: str
    condition: str
    baseline: str
    n_groups: int
    n_questions: int
    p: float
    p_adjusted: float | None = None


class Sensitivity(Value, frozen=True):
    """One contrast under several readings of the same answers; ``Contrast.subset`` names the reading."""

    condition: str
    baseline: str
    readings: tuple[Contrast, ...]
    sign_changes: bool
    significance_changes: bool


class ValidityRule(Value, frozen=True):
    """A rule that applies to the run, evaluated before any effect; without conditions it concerns all."""

    code: str
    level: Literal["info", "warning", "error"]
    message: str
    conditions: tuple[str, ...] = ()


class HypothesisResult(Value, frozen=True):
    """What became of one hypothesis of a plan; ``contrast`` is None where it could not be tested.

    ``is_equivalent`` is None where the plan gives no margin.
    """

    name: str
    condition: str
    baseline: str
    contrast: Contrast | None = None
    margin: float | None = None
    equivalence_p: float | None = None
    is_equivalent: bool | None = None


class Registration(Value, frozen=True):
    """The plan that a run is read with: its hash, whether it was changed after it was written, and its results.

    ``notes`` say in what the run departs from the plan.
    """

    sha256: str
    written_at: str
    is_changed: bool
    correction: str
    results: tuple[HypothesisResult, ...] = ()
    notes: tuple[str, ...] = ()


class PictureGroup(Value, frozen=True):
    """The pictures of one dataset of a run, each counted once, with their numbers of pixels.

    ``quartiles_px`` are minimum, lower quartile, median, upper quartile and maximum.
    """

    source: str
    category: str | None
    n_questions: int
    n_pictures: int
    quartiles_px: tuple[float, float, float, float, float]
    mean_px: float


class AnswerPattern(Value, frozen=True):
    """Questions that were answered alike under every condition of ``Summary.pattern_conditions``.

    ``marks`` has one letter per condition: ``r`` right (at least half of the score), ``w`` wrong, ``-`` not scored.
    """

    marks: str
    n_questions: int
    n_clusters: int


class RegionCell(Value, frozen=True):
    """One region of a needle grid; rows and columns count from 0.

    ``difference`` is its mean less that of all regions, ``half_width`` of a band that holds for all regions together.
    ``n_scored`` counts every base sample scored here, complete or not.
    """

    row: int
    column: int
    n_scored: int
    estimate: Estimate | None = None
    difference: float | None = None
    half_width: float | None = None
    is_apart: bool = False


class DistancePoint(Value, frozen=True):
    """The mean score of the regions at one Manhattan distance from the top left region.

    ``null_low`` and ``null_high`` bound the whole curve of a model without any positional effect.
    """

    distance: int
    n_regions: int
    estimate: Estimate
    null_low: float
    null_high: float


class GridEffect(Value, frozen=True):
    """A prespecified contrast over the regions of a square grid, one number per base sample: value, interval and p."""

    name: str
    value: float
    low: float
    high: float
    p: float
    unit: str
    n_bases: int


class GridSummary(Value, frozen=True):
    """One needle grid of a run, on the base samples that are scored in every region.

    ``region`` is the mean over base samples of best region less mean (the published Region; it does not know which
    region is better and grows with their number), ``region_rarefied`` the same as if there were 9 regions,
    ``region_std`` the mean over base samples of the standard deviation over regions, ``region_map_gap`` the best region
    of the heat map less its mean. ``noise_floor`` is the map gap to expect without any positional effect, ``map_gap_p``
    its permutation p, ``cross_fitted_gap`` what the best region gains on base samples that did not choose it.
    ``size`` is the grid less the same base samples alone (1×1). ``notes`` say what was left out and why.
    """

    name: str
    style: Literal["white", "captioned"]
    rows: int
    columns: int
    n_asked: int
    n_bases: int
    n_dropped: int
    cells: tuple[RegionCell, ...]
    perf: Estimate | None = None
    chance: float | None = None
    perf_corrected: Estimate | None = None
    size: Contrast | None = None
    region: Estimate | None = None
    region_rarefied: Estimate | None = None
    region_std: Estimate | None = None
    region_map_gap: Estimate | None = None
    noise_floor: float | None = None
    map_gap_p: float | None = None
    cross_fitted_gap: Estimate | None = None
    position_sd: Estimate | None = None
    omnibus: str | None = None
    omnibus_statistic: float | None = None
    omnibus_df: int | None = None
    omnibus_p: float | None = None
    curve: tuple[DistancePoint, ...] = ()
    effects: tuple[GridEffect, ...] = ()
    p_u: float | None = None
    notes: tuple[str, ...] = ()


class Summary(Record, frozen=True, kw_only=True):
    """Everything a report or figure shows about one run under one scorer (``estimates.json``).

    ``proportions`` are chance-corrected, robust, any-right and agreeing shares and family means; ``breakdowns``
    accuracies of groups of questions (``subset``), ``group_effects`` their contrasts. ``grids`` are needle grids, whose
    regions are conditions too; ``pictures`` the sizes of the originals by
    dataset, ``averages`` the overall score by every averaging rule. ``patterns`` count the questions by what was right
    and wrong under ``pattern_conditions``, most right first.
    """

    run: Run
    scorer: str
    conditions: tuple[ConditionSummary, ...]
    estimates: tuple[Estimate, ...]
    contrasts: tuple[Contrast, ...]
    size_bands: tuple[SizeBand, ...] = ()
    failures: tuple[Failure, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    chance: float | None = None
    n_questions: int = 0
    n_clusters: int = 0
    usage: Usage | None = None
    effects: tuple[Contrast, ...] = ()
    decompositions: tuple[Decomposition, ...] = ()
    flips: tuple[Flips, ...] = ()
    proportions: tuple[Estimate, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    movement: CurveMovement | None = None
    breakdowns: tuple[Estimate, ...] = ()
    group_effects: tuple[Contrast, ...] = ()
    group_tests: tuple[GroupTest, ...] = ()
    sensitivity: tuple[Sensitivity, ...] = ()
    rules: tuple[ValidityRule, ...] = ()
    registration: Registration | None = None
    acuities: tuple[Acuity, ...] = ()
    close_views: tuple[CloseViews, ...] = ()
    expense: Expense | None = None
    grids: tuple[GridSummary, ...] = ()
    pictures: tuple[PictureGroup, ...] = ()
    averages: tuple[Estimate, ...] = ()
    pattern_conditions: tuple[str, ...] = ()
    patterns: tuple[AnswerPattern, ...] = ()


AnyRecord = TypeVar("AnyRecord", bound=Record)


class _Versioned(msgspec.Struct):
    schema_version: int = 0


def canonical_json(value: object) -> bytes:
    """Encode a value as JSON whose bytes depend on nothing but the value.

    Keys are sorted, whole floats are written as integers, and record fields that equal their default are left out,
    so that a field added later leaves every older key as it was.

    Example:
        >>> canonical_json({"b": 1.0, "a": Size(2, 3), "c": Sampling(temperature=0, seed=7)})
        b'{"a":[2,3],"b":1,"c":{"seed":7}}'
    """
    return msgspec.json.encode(_essential(value), order="deterministic")


def _essential(value: object) -> object:
    """Return ``value`` as plain JSON values without what its record types already say."""
    if isinstance(value, msgspec.Struct):
        fields = {
            field.encode_name: _essential(getattr(value, field.name))
            for field in _fields_of(type(value))
            if not _is_default(field, getattr(value, field.name))
        }
        config = value.__struct_config__
        return fields if config.tag is None else {str(config.tag_field): config.tag, **fields}
    if isinstance(value, dict):
        return {str(key): _essential(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_essential(entry) for entry in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


@cache
def _fields_of(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a record class; looking them up anew for each value would double the time of planning."""
    return msgspec.structs.fields(kind)


def _is_default(field: msgspec.structs.FieldInfo, value: object) -> bool:
    if field.default_factory is not msgspec.NODEFAULT:
        return bool(value == field.default_factory())
    return field.default is not msgspec.NODEFAULT and bool(value == field.default)


def content_sha256(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON, as lower-case hex.

    Example:
        >>> content_sha256({"a": 1})[:12]
        '015abd7f5cc5'
    """
    return hashlib.sha256(canonical_json(value)).hexdigest()


def recipe_key(file_sha256: str, recipe: Recipe) -> str:
    """Return the key of a picture: SHA-256 of the original's file hash and the canonical recipe.

    No library version, encoder setting, path or URL enters it, so planning needs no pixels and the key outlives
    an upgrade that leaves the pixels alone.
    """
    return content_sha256([file_sha256, recipe])


def request_id(request: Request) -> str:
    """Return the SHA-256 of everything in a request that decides its answer.

    ``id`` itself, sizes that follow from the recipe, and ``schema_version`` are left out.
    """
    return content_sha256(
        {
            "benchmark": request.benchmark,
            "question_id": request.question_id,
            "condition": request.condition,
            "pictures": [picture.recipe_key for picture in request.pictures],
            "prompt": request.prompt,
            "prompt_id": request.prompt_id,
            "choices": request.choices,
            "choice_order": request.choice_order,
            "model": request.model,
            "sampling": request.sampling,
            "repeat": request.repeat,
        }
    )


def encode_record(record: Record) -> bytes:
    """Encode a record as one JSON line, without the line break.

    Example:
        >>> encode_record(Score(request_id="r", scorer="option_letter.strict@1", value=1.0))[:42]
        b'{"schema_version":1,"request_id":"r","scor'
    """
    return msgspec.json.encode(record)


def decode_record(line: bytes | str, kind: type[AnyRecord], place: str) -> AnyRecord:
    """Decode one JSON line, checking its schema version first.

    Args:
        line: The JSON text.
        kind: The record class.
        place: File and line, for the error message.

    Raises:
        SchemaError: If the text is no such record, or was written by a newer schema.

    Example:
        >>> decode_record('{"schema_version": 99}', Score, "scores.jsonl:1")
        Traceback (most recent call last):
            ...
        eyechart.errors.SchemaError: scores.jsonl:1: written with schema version 99, this eyechart reads up to 1
    """
    try:
        version = msgspec.json.decode(line, type=_Versioned).schema_version
    except msgspec.DecodeError as error:
        raise SchemaError(
            f"{place}: not a JSON object ({error})", hint="the line is damaged; restore the file"
        ) from error
    if version > SCHEMA_VERSION:
        raise SchemaError(
            f"{place}: written with schema version {version}, this eyechart reads up to {SCHEMA_VERSION}",
            hint="upgrade eyechart to read this file",
        )
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.ValidationError as error:
        raise SchemaError(
            f"{place}: no valid {kind.__name__} ({error})", hint="was the file edited by hand?"
        ) from error

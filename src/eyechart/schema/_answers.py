"""What is sent to a model, what comes back, what the model saw, and the score."""

from enum import StrEnum
from typing import Literal

from eyechart.schema._base import Box, JsonObject, Record, Size, Value
from eyechart.schema._pictures import Picture


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
    """How a request ended. Only ``answered``, ``truncated``, ``refusal`` and ``filtered`` carry a score.

    ``FILTERED`` keeps the name under which earlier runs stored it. ``EMPTY_REPLY`` is a reply that ended well and says
    nothing; ``UNREADABLE_IMAGE`` is a picture that cannot be decoded, so that its question was never sent.
    """

    ANSWERED = "answered"
    TRUNCATED = "truncated"
    REFUSAL = "refusal"
    FILTERED = "content_filter"
    EMPTY_REPLY = "empty_reply"
    REFUSED_INPUT = "refused_input"
    UNREADABLE_IMAGE = "unreadable_image"
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


_ERROR_STATES = frozenset(
    {
        ResponseState.EMPTY_REPLY,
        ResponseState.REFUSED_INPUT,
        ResponseState.UNREADABLE_IMAGE,
        ResponseState.BAD_REQUEST,
        ResponseState.TRANSIENT,
    }
)


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
    """What came back for one request. ``text`` is None on an error, and an error is never a text.

    ``reason`` says more than the state where a state has several causes: ``empty`` or ``only_reasoning`` of an empty
    reply.
    """

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
    reason: str | None = None


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

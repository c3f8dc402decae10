"""Settings of chat models, and the request body they make with a question's pictures and prompt."""

import base64
from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

import msgspec
import msgspec.structs

from eyechart.errors import UsageError
from eyechart.kinds import Ask, ModelOptions, SentPicture
from eyechart.models._http_errors import change_hint
from eyechart.schema import JsonObject, Sampling
from eyechart.settings import read_settings

NOT_SENT = "not-sent"
# The most that OpenAI takes.
N_TOP_TOKENS = 20
SAMPLING_FLAGS = {
    "temperature": "--temperature",
    "top_p": "--top-p",
    "seed": "--sampling-seed",
    "max_tokens": "--max-tokens",
}
"""Sampling parameters belong to the request, whatever the model, and have flags of their own."""

# Names by which providers set the same thing, so that one who knows another provider's name is told the one here.
_ALIKE = (
    ("reasoning_effort", "effort", "thinking_level", "thinking_budget", "thinking", "enable_thinking"),
    ("detail", "media_resolution", "vl_high_resolution_images", "min_pixels", "max_pixels", "oversized_image"),
)
_FREE_FORM = ("mm_processor_kwargs", "chat_template_kwargs")

Detail = Literal["low", "high", "auto", "original", "not-sent"]
Interface = Literal["chat_completions", "responses"]
LengthParameter = Literal["max_completion_tokens", "max_tokens"]


class ChatSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every OpenAI-compatible chat endpoint may be told; None is not sent.

    Args:
        interface: ``chat_completions``, which all endpoints speak, or ``responses``, which OpenAI and some others do.
        detail: How closely to look at a picture. ``auto`` means three things in three models, so a fixed value is sent.
        length_parameter: Name of the parameter that carries the token limit of a chat completion.
        system_prompt: Text of a system message before the question.
        reasoning_effort: How long to think: ``none``, ``minimal``, ``low``, ``medium``, ``high``, ….
        top_k: Sample from the k most likely tokens.
        presence_penalty: In [-2, 2].
        frequency_penalty: In [-2, 2].
    """

    interface: Interface = "chat_completions"
    detail: Detail = "high"
    length_parameter: LengthParameter = "max_completion_tokens"
    system_prompt: str | None = None
    reasoning_effort: str | None = None
    top_k: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None

    def picture_fields(self) -> JsonObject:
        """Return fields that stand beside each picture in the request."""
        return {}

    def body_fields(self) -> JsonObject:
        """Return fields of the request body besides messages and sampling."""
        fields: JsonObject = {
            "reasoning_effort": self.reasoning_effort,
            "top_k": self.top_k,
            "presence_penalty": self.presence_penalty,
            "frequency_penalty": self.frequency_penalty,
        }
        return sent(fields)


AnySettings = TypeVar("AnySettings", bound=msgspec.Struct)


def read_sent_settings(declared: type[AnySettings], options: ModelOptions, what: str) -> AnySettings:
    """Read a provider's settings; ``not-sent`` leaves an optional one out.

    Raises:
        UsageError: If a setting is unknown or has the wrong type.
    """
    optional = {field.encode_name for field in msgspec.structs.fields(declared) if field.default is None}
    given = {key: value for key, value in options.settings.items() if not (value == NOT_SENT and key in optional)}
    known = [field.encode_name for field in msgspec.structs.fields(declared)]
    return read_settings(declared, given, what, {**SAMPLING_FLAGS, **_here(given, known)})


def _here(given: Mapping[str, object], known: Sequence[str]) -> dict[str, str]:
    """Return how to set here what is given by a name that only other providers know.

    Example:
        >>> _here({"effort": "low", "chat_template_kwargs": {}}, ["reasoning_effort", "detail"])
        {'effort': '--set reasoning_effort=…', 'chat_template_kwargs': '--extra-body FILE.json'}
    """
    ways = {}
    for name in given:
        alike = [other for names in _ALIKE if name in names for other in names if other in known]
        if name in _FREE_FORM:
            ways[name] = "--extra-body FILE.json"
        elif name not in known and alike:
            ways[name] = ", ".join(f"--set {other}=…" for other in alike)
    return ways


def recorded_settings(settings: msgspec.Struct, extra_body: JsonObject) -> JsonObject:
    """Return the settings as they enter the model's identity: what is sent, and nothing that is not.

    Unset options are left out, so that an option added later leaves every older key as it was.

    Example:
        >>> recorded_settings(ChatSettings(top_k=5), {})
        {'interface': 'chat_completions', 'detail': 'high', 'length_parameter': 'max_completion_tokens', 'top_k': 5}
    """
    recorded: JsonObject = sent(msgspec.to_builtins(settings))
    return {**recorded, "extra_body": extra_body} if extra_body else recorded


def chat_body(name: str, ask: Ask, settings: ChatSettings, extra_body: JsonObject) -> JsonObject:
    """Return the body of a chat completion: pictures first, then the prompt, and only what is to be sent.

    Raises:
        UsageError: If ``extra_body`` sets what eyechart sets.
    """
    content: list[JsonObject] = [_picture_part(picture, settings) for picture in ask.pictures]
    content.append({"type": "text", "text": ask.prompt})
    messages: list[JsonObject] = [{"role": "user", "content": content}]
    if settings.system_prompt is not None:
        messages.insert(0, {"role": "system", "content": settings.system_prompt})
    body: JsonObject = {
        "model": name,
        "messages": messages,
        **sampling_fields(ask.sampling, settings.length_parameter),
        **settings.body_fields(),
    }
    if ask.sampling.score_mode == "logprob":
        body |= {"logprobs": True, "top_logprobs": N_TOP_TOKENS, settings.length_parameter: 1}
    return merged(body, extra_body)


def sampling_fields(sampling: Sampling, length_parameter: str) -> JsonObject:
    """Return the sampling parameters that are sent.

    Example:
        >>> sampling_fields(Sampling(temperature=None, seed=3), "max_tokens")
        {'seed': 3, 'max_tokens': 1024}
    """
    return sent(
        {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            length_parameter: sampling.max_tokens,
        }
    )


def merged(body: JsonObject, extra_body: Mapping[str, object], place: str = "") -> JsonObject:
    """Add the user's own fields to a body, refusing to set the same thing twice.

    Raises:
        UsageError: If a field is in both and is not an object in both.

    Example:
        >>> merged({"a": {"b": 1}}, {"a": {"c": 2}})
        {'a': {'b': 1, 'c': 2}}
    """
    result = dict(body)
    for key, value in extra_body.items():
        here = result.get(key)
        if key not in result:
            result[key] = value
        elif isinstance(here, dict) and isinstance(value, dict):
            result[key] = merged(here, value, f"{place}{key}.")
        else:
            raise UsageError(
                f"--extra-body sets {place}{key}, which eyechart sets itself", hint=f"use {change_hint(key)}"
            )
    return result


def data_uri(picture: SentPicture) -> str:
    """Return a picture as a data URI in its own media type."""
    return f"data:{picture.media_type};base64,{base64.b64encode(picture.encoded()).decode('ascii')}"


def sent(fields: Mapping[str, object]) -> JsonObject:
    """Return the fields that are not None.

    Example:
        >>> sent({"a": 0, "b": None})
        {'a': 0}
    """
    return {key: value for key, value in fields.items() if value is not None}


def _picture_part(picture: SentPicture, settings: ChatSettings) -> JsonObject:
    image: JsonObject = {"url": data_uri(picture)}
    if settings.detail != NOT_SENT:
        image["detail"] = settings.detail
    return {"type": "image_url", "image_url": image, **settings.picture_fields()}

"""Gemini: ``google/NAME``, through Google's SDK (extra ``[google]``)."""

import asyncio
import importlib.util
import sys
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, cast

import msgspec

from eyechart.errors import MissingDependencyError, ModelError
from eyechart.kinds import Ask, Model, ModelOptions, Reply
from eyechart.models._chat_reply import failure_of, observed, token_count
from eyechart.models._chat_settings import N_TOP_TOKENS, merged, read_sent_settings, sent
from eyechart.models._endings import BLOCKED_PROMPTS, ended, unreadable
from eyechart.models._endpoint import Provider
from eyechart.models._failure_table import Dialect
from eyechart.models._hosted import Closable, Exchange, HostedModel
from eyechart.models._http_errors import Failure
from eyechart.models._letter_probabilities import with_likeliest_letter
from eyechart.models._network import Line, http_library
from eyechart.models._reasoning import join_reasoning, split_reasoning
from eyechart.schema import JsonObject, Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from google import genai

__all__ = ["GoogleKind"]

PROVIDER = Provider(
    "google",
    "GEMINI_API_KEY",
    "https://generativelanguage.googleapis.com",
    "GOOGLE_GEMINI_BASE_URL",
    other_key_variable="GOOGLE_API_KEY",
)

# What eyechart sends by itself, so that --extra-body cannot contradict what a run records.
_OWN_FIELDS: JsonObject = {
    "contents": None,
    "systemInstruction": None,
    "generationConfig": dict.fromkeys(
        [
            *("temperature", "topP", "topK", "seed", "maxOutputTokens", "candidateCount", "mediaResolution"),
            *("thinkingConfig", "presencePenalty", "frequencyPenalty"),
        ]
    ),
}


class GoogleSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of ``google/…``; None is not sent.

    Args:
        media_resolution: Tokens spent on each picture: ``low``, ``medium`` or ``high``. What is not sent means high in
            Gemini 3 and pan-and-scan in 2.5, so a fixed value is sent.
        system_prompt: Text before the question.
        thinking_budget: Tokens for thoughts (Gemini 2.5); 0 switches them off, -1 leaves them to the model.
        thinking_level: ``minimal``, ``low``, ``medium`` or ``high`` (Gemini 3).
        include_thoughts: Whether the thoughts come back.
        top_k: Sample from the k most likely tokens.
        presence_penalty: In [-2, 2].
        frequency_penalty: In [-2, 2].
    """

    media_resolution: Literal["low", "medium", "high", "not-sent"] = "high"
    system_prompt: str | None = None
    thinking_budget: int | None = None
    thinking_level: str | None = None
    include_thoughts: bool | None = None
    top_k: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None


class GoogleKind:
    """Models of Google by the Gemini interface."""

    settings = GoogleSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting, the base URL or ``extra_body`` is wrong.
            MissingDependencyError: If Google's SDK is not installed.
        """
        if importlib.util.find_spec("google") is None or importlib.util.find_spec("google.genai") is None:
            raise MissingDependencyError("google-genai", "google")
        settings = read_sent_settings(GoogleSettings, options, f"google/{name}")
        merged(_OWN_FIELDS, options.extra_body)
        return GoogleModel(name, settings, options)


class _RawResponse(Protocol):
    """The part of the SDK's response that is read when the raw one was asked for."""

    @property
    def sdk_http_response(self) -> "_SdkHttpResponse": ...


class _SdkHttpResponse(Protocol):
    headers: dict[str, str] | None
    body: str | None


class _GoogleClient(NamedTuple):
    """The SDK's client, and the HTTP client that it was given and does not close."""

    sdk: "genai.Client"
    http: Closable


class GoogleModel(HostedModel[_GoogleClient]):
    """A Gemini model, asked by ``generateContent``."""

    def __init__(self, name: str, settings: GoogleSettings, options: ModelOptions) -> None:
        super().__init__(PROVIDER, name, settings, options)
        self._settings = settings

    @property
    def dialect(self) -> Dialect:
        """The interface that is spoken, in batches too."""
        return "generate"

    def _connect(self, line: Line) -> _GoogleClient:
        from google import genai  # deferred: planning needs none of it
        from google.genai import types

        http = http_library()
        # As many connections as the other SDKs keep.
        limits = http.Limits(max_connections=1000, max_keepalive_connections=100)
        asking = line.client(http.AsyncClient, limits=limits, event_hooks=self._hooks)
        options = types.HttpOptions(
            httpx_async_client=asking,
            httpx_client=line.client(http.Client),  # never asked; the SDK would make one and read certificates for it
            async_client_args={"ssl": line.trust()},  # likewise
            base_url=line.base_url,
            api_version="v1beta",
            timeout=round(line.seconds * 1000),
            # Without this the SDK repeats a broken request by itself.
            retry_options=types.HttpRetryOptions(attempts=1),
            extra_body=self._options.extra_body or None,
        )
        return _GoogleClient(genai.Client(api_key=line.key, vertexai=False, http_options=options), asking)

    async def _close_client(self, client: _GoogleClient) -> None:
        await client.sdk.aio.aclose()
        client.sdk.close()
        await client.http.aclose()

    async def _exchange(self, client: _GoogleClient, ask: Ask) -> Exchange | Failure:
        from google.genai import errors, types  # deferred, see above

        parts = [types.Part.from_bytes(data=one.encoded(), mime_type=one.media_type) for one in ask.pictures]
        parts.append(types.Part.from_text(text=ask.prompt))
        config = generation_config(ask, self._settings)
        generate = cast("Callable[..., Awaitable[_RawResponse]]", client.sdk.aio.models.generate_content)
        contents = types.Content(role="user", parts=parts)
        try:
            async with asyncio.timeout(self._line.seconds):
                raw = await generate(model=self.identity.name, contents=contents, config=config)
        except TimeoutError:
            raise self._line.timeout() from None
        except RecursionError:  # the SDK decodes an error's body by itself
            raise unreadable("the server's error is nested too deeply to be read", "it is asked again", b"") from None
        except errors.APIError as error:
            failure = _failure(error.code, error.details, getattr(error.response, "headers", {}))
            misled = self._line.misled(getattr(error.response, "status_code", error.code), failure.headers)
            if misled is not None:
                raise misled from None
            return failure
        except _network_errors() as error:
            raise self._network_error(error) from None
        headers = {name.lower(): value for name, value in (raw.sdk_http_response.headers or {}).items()}
        payload = (raw.sdk_http_response.body or "").encode()
        return Exchange(headers.get("content-type", ""), payload)

    def _network_error(self, error: Exception) -> ModelError:
        name = type(error).__name__
        if "Timeout" in name and "Connect" not in name:
            return self._line.timeout()
        return self._line.broken(error, is_connection="Connect" in name and "Disconnect" not in name)

    @property
    def reads_letters(self) -> bool:
        """Whether the interface tells the probabilities of an answer's first token."""
        return True

    def _read(self, body: JsonObject, ask: Ask) -> Reply:
        reply = read_content(body, len(ask.pictures))
        return reply if ask.sampling.score_mode == "text" else with_likeliest_letter(reply, _first_tokens(body), ask)


def _network_errors() -> tuple[type[Exception], ...]:
    """Return the errors of whichever HTTP libraries the SDK found and imported."""
    names = (("aiohttp", "ClientError"), ("httpx", "HTTPError"), ("httpx2", "HTTPError"))
    return (OSError, *(getattr(sys.modules[library], name) for library, name in names if library in sys.modules))


def generation_config(ask: Ask, settings: GoogleSettings) -> JsonObject:
    """Return the SDK's configuration of one request, with only what is to be sent."""
    sampling = ask.sampling
    resolution = settings.media_resolution
    thinking = sent(
        {
            "thinking_budget": settings.thinking_budget,
            "thinking_level": settings.thinking_level,
            "include_thoughts": settings.include_thoughts,
        }
    )
    config = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "max_output_tokens": sampling.max_tokens,
        "top_k": settings.top_k,
        "presence_penalty": settings.presence_penalty,
        "frequency_penalty": settings.frequency_penalty,
        "system_instruction": settings.system_prompt,
        "thinking_config": thinking or None,
        "media_resolution": None if resolution == "not-sent" else f"MEDIA_RESOLUTION_{resolution.upper()}",
        "should_return_http_response": True,
    }
    if sampling.score_mode == "logprob":
        config |= {"response_logprobs": True, "logprobs": N_TOP_TOKENS, "max_output_tokens": 1}
    return sent(config)


def read_content(body: JsonObject, n_pictures: int) -> Reply:
    """Return the reply in a generated content.

    Raises:
        TransientModelError: If it has no candidate and no known reason for that, or its ending is not a whole one.
    """
    candidates = body.get("candidates")
    candidate = candidates[0] if isinstance(candidates, list) and candidates else None
    feedback = body.get("promptFeedback")
    blocked = feedback.get("blockReason") if isinstance(feedback, dict) else None
    usage = _usage(body.get("usageMetadata"))
    if not isinstance(candidate, dict):
        if str(blocked).lower() not in BLOCKED_PROMPTS:
            why = f" (the prompt was blocked: {blocked})" if blocked else ""
            raise unreadable(f"the server's reply holds no candidate{why}", "it is asked again", body)
        return Reply(text="", finish="content_filter", usage=usage, extra={"filter": str(blocked)})
    texts = _text_parts(candidate.get("content"), body)
    split = split_reasoning("".join(text for text, is_thought in texts if not is_thought))
    version, response_id = body.get("modelVersion"), body.get("responseId")
    reply = Reply(
        text=split.answer,
        reasoning=join_reasoning(*(text for text, is_thought in texts if is_thought), split.reasoning),
        usage=usage,
        provider_fingerprint=version if isinstance(version, str) else None,
        seen=observed(usage, n_pictures),
        extra={"id": response_id} if isinstance(response_id, str) else {},
    )
    return ended("generate", candidate.get("finishReason"), reply, body)


def _text_parts(content: object, body: JsonObject) -> list[tuple[str, bool]]:
    """Return the texts of the parts, and whether each is a thought; none where there is no content.

    Raises:
        TransientModelError: If it is of another shape.
    """
    parts = content.get("parts") if isinstance(content, dict) else content
    if parts is None:
        return []
    if not isinstance(parts, list):
        raise unreadable("the reply's content is not a list of parts", "it is asked again", body)
    known = [{"text": part} if isinstance(part, str) else part for part in parts]
    texts = [
        (part["text"], bool(part.get("thought")))
        for part in known
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    if parts and not texts:
        raise unreadable("the reply's content holds parts without a text", "it is asked again", body)
    return texts


def _first_tokens(body: JsonObject) -> list[tuple[str, float]] | None:
    """Return the likeliest first tokens with the logarithms of their probabilities, None where there are none."""
    candidate = _first(body.get("candidates"))
    result = candidate.get("logprobsResult")
    entries = _first(result.get("topCandidates") if isinstance(result, dict) else None).get("candidates")
    known = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    found = [(one.get("token"), one.get("logProbability")) for one in known]
    return [(str(token or ""), float(value)) for token, value in found if isinstance(value, int | float)] or None


def _first(entries: object) -> JsonObject:
    """Return the first object of a list, an empty one where there is none."""
    first = entries[0] if isinstance(entries, list) and entries else None
    return first if isinstance(first, dict) else {}


def _usage(metadata: object) -> Usage | None:
    if not isinstance(metadata, dict):
        return None
    details = metadata.get("promptTokensDetails")
    by_kind = [one for one in details if isinstance(one, dict)] if isinstance(details, list) else []
    images = [token_count(one.get("tokenCount")) for one in by_kind if one.get("modality") == "IMAGE"]
    answer, thoughts = (
        token_count(metadata.get("candidatesTokenCount")),
        token_count(metadata.get("thoughtsTokenCount")),
    )
    return Usage(
        input_tokens=token_count(metadata.get("promptTokenCount")),
        # Google counts thoughts apart and bills them as output; the others count them inside.
        output_tokens=answer if thoughts is None else (answer or 0) + thoughts,
        image_tokens=images[0] if len(images) == 1 else None,
        reasoning_tokens=thoughts,
    )


def _failure(status: int, body: object, headers: object) -> Failure:
    """Return what an error says, with the names of headers in lower case."""
    lower = {str(name).lower(): str(value) for name, value in dict(cast("dict[str, str]", headers or {})).items()}
    return failure_of(status, body, lower)

"""How a reply ended: a closed list of endings for each dialect; whatever is not in it is not an answer."""

from typing import Literal, NamedTuple

import msgspec.structs

from eyechart.errors import TransientModelError
from eyechart.kinds import Reply
from eyechart.models._failure_table import Dialect
from eyechart.schema import JsonObject, content_sha256

Finish = Literal["stop", "length", "content_filter"]

ENDING = "ending"
"""Key in ``Response.extra``: the ending in the provider's own word, where it is another than the one stored."""


class Ending(NamedTuple):
    """Endings that mean the same.

    Args:
        finish: ``stop`` where the model was done, ``length`` where it was cut, ``content_filter`` after a filter.
        names: The providers' words, in lower case.
        source: Where they were read.
    """

    finish: Finish
    names: tuple[str, ...]
    source: str


# Left out on purpose, so asked again: error, network_error, insufficient_system_resource, aborted, abort, repetition,
# tool_calls and function_call (no tools are ever offered), pause_turn, tool_use, OTHER, MALFORMED_FUNCTION_CALL, ….
ENDINGS: dict[Dialect, tuple[Ending, ...]] = {
    "chat": (
        Ending("stop", ("stop",), "https://platform.openai.com/docs/api-reference/chat/object"),
        Ending("stop", ("eos", "eos_token", "stop_sequence"), "https://docs.together.ai/reference/chat-completions-1"),
        Ending(
            "stop", ("end_turn",), "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html"
        ),
        Ending("length", ("length",), "https://platform.openai.com/docs/api-reference/chat/object"),
        Ending("length", ("model_length",), "https://docs.mistral.ai/api/#tag/chat"),
        Ending(
            "length",
            ("max_tokens", "model_context_window_exceeded"),
            "https://docs.z.ai/api-reference/llm/chat-completion",
        ),
        Ending("content_filter", ("content_filter",), "https://platform.openai.com/docs/api-reference/chat/object"),
        Ending("content_filter", ("sensitive",), "https://docs.z.ai/api-reference/llm/chat-completion"),
        Ending(
            "content_filter",
            ("content_filtered", "guardrail_intervened"),
            "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html",
        ),
        Ending("content_filter", ("safety", "refusal"), "https://github.com/BerriAI/litellm/pull/27101"),
    ),
    "responses": (
        Ending("stop", ("completed",), "https://platform.openai.com/docs/api-reference/responses/object"),
        Ending("length", ("max_output_tokens",), "https://platform.openai.com/docs/api-reference/responses/object"),
        Ending(
            "content_filter", ("content_filter",), "https://platform.openai.com/docs/api-reference/responses/object"
        ),
    ),
    "messages": (
        Ending("stop", ("end_turn", "stop_sequence"), "https://docs.claude.com/en/api/handling-stop-reasons"),
        Ending(
            "length",
            ("max_tokens", "model_context_window_exceeded"),
            "https://docs.claude.com/en/api/handling-stop-reasons",
        ),
        Ending(
            "content_filter",
            ("content_filter", "content_filtered", "guardrail_intervened"),
            "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html",
        ),
        # The provider's classifiers intervened; a refusal in the model's own words ends with end_turn.
        Ending("content_filter", ("refusal",), "https://docs.claude.com/en/docs/test-and-evaluate/streaming-refusals"),
    ),
    "generate": (
        Ending("stop", ("stop",), "https://ai.google.dev/api/generate-content#FinishReason"),
        Ending("length", ("max_tokens",), "https://ai.google.dev/api/generate-content#FinishReason"),
        Ending(
            "content_filter",
            ("safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety", "model_armor"),
            "https://ai.google.dev/api/generate-content#FinishReason",
        ),
    ),
}

MAY_LACK_ENDING: frozenset[Dialect] = frozenset({"chat", "responses"})
"""Dialects that home-made servers speak, which often send a text and no ending.

Such a text is read as an answer. Anthropic documents that its ending is never null in a whole reply, and Google that
one without it was not finished, so theirs is asked again. A server that has told endings before and leaves one out was
cut (LMDeploy does so when it aborts, InternLM/xtuner PR 1755), so its reply is asked again, too.
"""

BLOCKED_PROMPTS = frozenset(
    {"safety", "other", "blocklist", "prohibited_content", "image_safety", "model_armor", "jailbreak"}
)
"""Reasons for which Google blocks a prompt: https://ai.google.dev/api/generate-content#BlockReason."""


def known_endings(dialect: Dialect) -> dict[str, Finish]:
    """Return what each known ending of a dialect means.

    Example:
        >>> known_endings("messages")["end_turn"]
        'stop'
    """
    return {name: ending.finish for ending in ENDINGS[dialect] for name in ending.names}


def ended(dialect: Dialect, ending: object, reply: Reply, body: JsonObject) -> Reply:
    """Return a reply as its ending says: with the finish that is stored, and marked where it says nothing.

    Args:
        dialect: Who speaks.
        ending: The provider's word; None or empty where there is none.
        reply: The reply as read.
        body: The whole body, to notice a fault that repeats.

    Raises:
        TransientModelError: If the ending is unknown, or there is none and that is not a whole reply.

    Example:
        >>> ended("chat", "eos_token", Reply(text="B"), {}).finish
        'stop'
    """
    if ending is None or ending == "":
        if dialect in MAY_LACK_ENDING and _says_something(reply.text):
            return reply
        raise unreadable("the server's reply holds no ending", "it is asked again", body)
    finish = known_endings(dialect).get(str(ending).lower())
    if finish is None:
        shown = str(ending)[:60]
        raise unreadable(f"the reply ended with {shown!r}, which is not a whole answer", "it is asked again", body)
    own = {} if str(ending).lower() == finish else {ENDING: str(ending)}
    is_blank = finish == "stop" and not _says_something(reply.text) and not reply.is_refusal
    return msgspec.structs.replace(reply, finish=finish, says_nothing=is_blank, extra={**reply.extra, **own})


def _says_something(text: str) -> bool:
    """Whether a text holds anything that can be seen: zero-width spaces and control characters cannot."""
    return any(letter.isprintable() and not letter.isspace() for letter in text)


def unreadable(message: str, hint: str, body: JsonObject | bytes) -> TransientModelError:
    """Return the error for a reply of a good status that holds no answer.

    Its ``fault`` is equal for bodies that are equal but for their names and times, so that it is not taken for chance
    for ever.
    """
    if isinstance(body, bytes):
        return TransientModelError(message, hint=hint, fault=content_sha256(body.hex()))
    named = {"id", "created", "created_at", "responseId", "usage", "usageMetadata", "system_fingerprint", "request_id"}
    kept = {key: value for key, value in body.items() if key not in named}
    return TransientModelError(message, hint=hint, fault=content_sha256([message, kept]))

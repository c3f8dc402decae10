"""Ask a vLLM server what becomes of blank pictures: its render endpoint, or its tokenizer where there is none."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from eyechart.errors import AuthenticationError, ModelError, TransientModelError
from eyechart.kinds import Ask, SentPicture
from eyechart.models._chat_settings import ChatSettings, chat_body
from eyechart.models._network import Line
from eyechart.schema import JsonObject, Sampling, Size
from eyechart.seen.served.rendered import Rendered, read_rendered

if TYPE_CHECKING:
    import openai

_PROMPT = "Answer with the letter A."
# Up to here the server may send the tensors along, which show the grid; above they would be megabytes.
_MOST_TENSOR_PX = 600_000
_ATTEMPTS = 3
_WAIT_SECONDS = 0.5
_TOKENIZED_FIELDS = ("model", "messages", "mm_processor_kwargs", "chat_template_kwargs")
_MISSING = frozenset({404, 405, 501})
_UNAUTHORISED = frozenset({401, 403})
_BAD_REQUEST = 400
_SERVER_ERROR = 500


class VllmRender:
    """Asks about blank pictures of some sizes in one prompt, as it would be sent in a run. Works without an event loop.

    Args:
        line: Where the server is.
        name: The model's name.
        settings: The settings that a run would send.
        extra_body: The user's own fields.
    """

    def __init__(self, line: Line, name: str, settings: ChatSettings, extra_body: JsonObject) -> None:
        self._line, self._name, self._settings, self._extra_body = line, name, settings, extra_body
        self._clients: list[openai.OpenAI] = []
        self._has_render = self._has_tokenize = self._can_omit_tensors = True
        self._marker_tokens: int | None = None
        self._text_tokens: int | None = None

    def __call__(self, sizes: Sequence[Size]) -> tuple[Rendered, ...]:
        """Return what becomes of the pictures; empty where the server cannot tell.

        Raises:
            TransientModelError: If no server answers.
            AuthenticationError: If the key is refused.
            BadRequestError: If something stands between, such as a redirect.
        """
        wants_tensors = all(size.n_px <= _MOST_TENSOR_PX for size in sizes)
        if self._has_render and (wants_tensors or self._can_omit_tensors):
            told = self._rendered(sizes, "tensors" if wants_tensors else "none")
            if told:
                return told
        return self._tokenized(sizes) if len(sizes) == 1 else ()

    def _rendered(self, sizes: Sequence[Size], payload: str) -> tuple[Rendered, ...]:
        body = self._body(sizes) | {"mm_payload": payload}
        reply = self._post(f"{self._line.base_url.rstrip('/')}/chat/completions/render", body)
        if isinstance(reply, str):
            return tuple(Rendered(0, refused=reply) for _ in sizes)
        told = () if reply is None else read_rendered(reply)
        if not told:
            self._has_render = False
            return ()
        features = cast("JsonObject", cast("JsonObject", reply)["features"])
        if payload == "none" and features.get("kwargs_data"):
            self._can_omit_tensors = False  # an older server, which sends all of it every time
        tokens = cast("JsonObject", reply).get("token_ids")
        if self._marker_tokens is None and isinstance(tokens, list) and len(sizes) == 1:
            self._marker_tokens = len(tokens) - told[0].tokens
        return told

    def _tokenized(self, sizes: Sequence[Size]) -> tuple[Rendered, ...]:
        """Return the tokens by the tokenizer's count: those of the prompt less those of all but the picture."""
        if not self._has_tokenize:
            return ()
        if self._marker_tokens is None and self._text_tokens is None:
            text = self._count(())
            self._text_tokens = text if isinstance(text, int) else 0
        count = self._count(sizes)
        if isinstance(count, str):
            return tuple(Rendered(0, refused=count) for _ in sizes)
        rest = self._marker_tokens if self._marker_tokens is not None else self._text_tokens or 0
        return () if count is None or count <= rest else (Rendered(count - rest),)

    def _count(self, sizes: Sequence[Size]) -> int | str | None:
        body = {key: value for key, value in self._body(sizes).items() if key in _TOKENIZED_FIELDS}
        root = self._line.base_url.rstrip("/").removesuffix("/v1")
        reply = self._post(f"{root}/tokenize", body)
        if isinstance(reply, str):
            return reply
        count = None if reply is None else reply.get("count")
        if not isinstance(count, int):
            self._has_tokenize = False
            return None
        return count

    def _body(self, sizes: Sequence[Size]) -> JsonObject:
        from eyechart.images.blank import BlankPicture  # late: opening a model must not import numpy

        pictures: tuple[SentPicture, ...] = tuple(BlankPicture(size) for size in sizes)
        sampling = Sampling(temperature=None, max_tokens=1)
        ask = Ask(prompt=_PROMPT, pictures=pictures, choices=(), sampling=sampling)
        return chat_body(self._name, ask, self._settings, self._extra_body)

    def _post(self, url: str, body: JsonObject) -> JsonObject | str | None:
        """Return the reply; a text where the server refuses the request, None where there is no such endpoint.

        Raises:
            TransientModelError: If no server answers.
            AuthenticationError: If the key is refused.
            BadRequestError: If something stands between, such as a redirect.
        """
        import openai  # deferred: it takes half a second, and planning needs none of it

        if not self._clients:
            line = self._line
            self._clients.append(
                openai.OpenAI(
                    api_key=line.key,
                    base_url=line.base_url,
                    max_retries=0,
                    timeout=line.seconds,
                    http_client=line.client(openai.DefaultHttpxClient),
                )
            )
        for attempt in range(_ATTEMPTS):
            try:
                reply = self._clients[0].post(url, cast_to=object, body=body)
            except openai.APIStatusError as error:
                fault = self._fault_of_all(error)
                if fault is not None:
                    raise fault from None
                if error.status_code == _BAD_REQUEST:
                    return str(error.message)
                if error.status_code in _MISSING or attempt == _ATTEMPTS - 1:
                    return None
            except openai.APIConnectionError as error:
                broken = self._line.broken(error.__cause__ or error, is_connection=True)
                if attempt == _ATTEMPTS - 1 or not isinstance(broken, TransientModelError):
                    raise broken from None
            else:
                return reply if isinstance(reply, dict) else None
            time.sleep(_WAIT_SECONDS * 2**attempt)
        raise TransientModelError(f"{self._line.place} does not answer")

    def _fault_of_all(self, error: "openai.APIStatusError") -> ModelError | None:
        """Return the error for a status that every further question would meet as well, None for any other."""
        if error.status_code in _UNAUTHORISED:
            return AuthenticationError(f"{self._line.place} refuses the key", hint="check the key")
        headers = {name.lower(): value for name, value in error.response.headers.items()}
        return self._line.misled(error.status_code, headers)

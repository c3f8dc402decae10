"""Models behind a running vLLM server: ``vllm/NAME``, by default at port 8000 of this machine."""

import asyncio
import datetime

from eyechart.kinds import Model, ModelOptions
from eyechart.models._chat_settings import ChatSettings, Detail, LengthParameter, sent
from eyechart.models._endpoint import Provider
from eyechart.models._network import open_line
from eyechart.models._openai_client import CompatibleModel, open_compatible
from eyechart.models._vllm_render import VllmRender
from eyechart.schema import JsonObject, content_sha256
from eyechart.seen.rules import Rule
from eyechart.seen.served.resizer import ServedResizer, served_rule

__all__ = ["VllmKind"]

PROVIDER = Provider("vllm", "VLLM_API_KEY", "http://localhost:8000/v1", "VLLM_BASE_URL", needs_key=False)


class VllmSettings(ChatSettings, frozen=True, kw_only=True):
    """Settings of ``vllm/…``.

    ``detail`` is not sent: vLLM ignores it with a warning. Whether ``mm_processor_kwargs`` reach the processor depends
    on the version of vLLM, so compare the reported prompt tokens.

    Args:
        min_pixels: Least pixels of a picture on the model's grid, for processors that know it (Qwen-VL).
        max_pixels: Most pixels of a picture on the model's grid, likewise.
        enable_thinking: Switch of models that can answer with and without thoughts.
        repetition_penalty: 1 is none.
    """

    detail: Detail = "not-sent"
    length_parameter: LengthParameter = "max_tokens"
    min_pixels: int | None = None
    max_pixels: int | None = None
    enable_thinking: bool | None = None
    repetition_penalty: float | None = None

    def body_fields(self) -> JsonObject:
        """Return fields of the request body besides messages and sampling."""
        processor = sent({"min_pixels": self.min_pixels, "max_pixels": self.max_pixels})
        template = sent({"enable_thinking": self.enable_thinking})
        own: JsonObject = {
            "repetition_penalty": self.repetition_penalty,
            "mm_processor_kwargs": processor or None,
            "chat_template_kwargs": template or None,
        }
        return {**super().body_fields(), **sent(own)}


class VllmModel(CompatibleModel):
    """A model behind vLLM, whose server can be asked what it does to pictures before anything is answered."""

    def __init__(self, provider: Provider, name: str, settings: VllmSettings, options: ModelOptions) -> None:
        super().__init__(provider, name, settings, options)
        self._vllm_settings = settings

    async def seen_rule(self, today: datetime.date) -> Rule | None:
        """Ask the server about blank pictures of some sizes; None where it has neither of the two endpoints for that.

        Raises:
            TransientModelError: If no server answers.
            AuthenticationError: If the key is refused.
            BadRequestError: If something stands between, such as a redirect.
        """
        line = open_line(self._provider, self._options)
        render = VllmRender(line, self.identity.name, self._vllm_settings, self._options.extra_body)
        resizer = await asyncio.to_thread(ServedResizer, render, content_sha256(self.identity))
        return served_rule(resizer, self.identity, today) if resizer.is_told else None


class VllmKind:
    """Models served by vLLM."""

    settings = VllmSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting or the base URL is wrong.
        """
        return open_compatible(PROVIDER, VllmSettings, name, options, VllmModel)

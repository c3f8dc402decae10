"""Models behind a running vLLM server: ``vllm/NAME``, by default at port 8000 of this machine."""

from eyechart.kinds import Model, ModelOptions
from eyechart.models._chat_settings import ChatSettings, Detail, LengthParameter, sent
from eyechart.models._endpoint import Provider
from eyechart.models._openai_client import open_compatible
from eyechart.schema import JsonObject

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


class VllmKind:
    """Models served by vLLM."""

    settings = VllmSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting or the base URL is wrong.
        """
        return open_compatible(PROVIDER, VllmSettings, name, options)

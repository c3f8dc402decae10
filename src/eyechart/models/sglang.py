"""Models behind a running SGLang server: ``sglang/NAME``, by default at port 30000 of this machine."""

from eyechart.kinds import Model, ModelOptions
from eyechart.models._chat_settings import ChatSettings, Detail, LengthParameter, sent
from eyechart.models._endpoint import Provider
from eyechart.models._openai_client import open_compatible
from eyechart.schema import JsonObject

__all__ = ["SglangKind"]

PROVIDER = Provider("sglang", "SGLANG_API_KEY", "http://localhost:30000/v1", "SGLANG_BASE_URL", needs_key=False)


class SglangSettings(ChatSettings, frozen=True, kw_only=True):
    """Settings of ``sglang/…``.

    ``detail`` is not sent: most of SGLang's processors ignore it, and InternVL's counts tiles by it.

    Args:
        enable_thinking: Switch of models that can answer with and without thoughts.
        repetition_penalty: 1 is none.
    """

    detail: Detail = "not-sent"
    length_parameter: LengthParameter = "max_tokens"
    enable_thinking: bool | None = None
    repetition_penalty: float | None = None

    def body_fields(self) -> JsonObject:
        """Return fields of the request body besides messages and sampling."""
        template = sent({"enable_thinking": self.enable_thinking})
        own: JsonObject = {
            "repetition_penalty": self.repetition_penalty,
            "chat_template_kwargs": template or None,
        }
        return {**super().body_fields(), **sent(own)}


class SglangKind:
    """Models served by SGLang."""

    settings = SglangSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting or the base URL is wrong.
        """
        return open_compatible(PROVIDER, SglangSettings, name, options)

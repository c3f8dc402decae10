"""Models routed by OpenRouter: ``openrouter/ORG/NAME``."""

from eyechart.kinds import Model, ModelOptions
from eyechart.models._chat_settings import ChatSettings, LengthParameter, sent
from eyechart.models._endpoint import Provider
from eyechart.models._openai_client import open_compatible
from eyechart.schema import JsonObject

__all__ = ["OpenRouterKind"]

PROVIDER = Provider("openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1")


class OpenRouterSettings(ChatSettings, frozen=True, kw_only=True):
    """Settings of ``openrouter/…``.

    One name is served by several hosts with different weights and limits, so pin one: what is not pinned may change
    from request to request. The host that answered is stored with each response.

    Args:
        host: The one host to ask (``provider.order``).
        allow_fallbacks: Whether another host may answer; with ``host`` False unless set.
        quantizations: Weights to accept, comma-separated: ``bf16,fp8``.
    """

    length_parameter: LengthParameter = "max_tokens"
    host: str | None = None
    allow_fallbacks: bool | None = None
    quantizations: str | None = None

    def body_fields(self) -> JsonObject:
        """Return fields of the request body besides messages and sampling."""
        allow = False if self.allow_fallbacks is None and self.host else self.allow_fallbacks
        routing = sent(
            {
                "order": [self.host] if self.host else None,
                "allow_fallbacks": allow,
                "quantizations": self.quantizations.split(",") if self.quantizations else None,
            }
        )
        own: JsonObject = {"provider": routing or None, "usage": {"include": True}}
        return {**super().body_fields(), **sent(own)}


class OpenRouterKind:
    """Models routed by OpenRouter."""

    settings = OpenRouterSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting or the base URL is wrong.
        """
        return open_compatible(PROVIDER, OpenRouterSettings, name, options)

"""OpenAI, and any endpoint that speaks its interface: ``openai/NAME``, with ``--base-url`` or ``OPENAI_BASE_URL``."""

from eyechart.kinds import Model, ModelOptions
from eyechart.models._chat_settings import ChatSettings, sent
from eyechart.models._endpoint import Provider
from eyechart.models._openai_client import open_compatible
from eyechart.schema import JsonObject

__all__ = ["OpenAIKind"]

PROVIDER = Provider("openai", "OPENAI_API_KEY", "https://api.openai.com/v1", "OPENAI_BASE_URL")


class OpenAISettings(ChatSettings, frozen=True, kw_only=True):
    """Settings of ``openai/…``.

    ``detail`` is ``high`` by default: the value that OpenAI's vision guide gives for every family, while ``auto`` is
    ``high`` in one model and ``original`` in the next. ``length_parameter`` is ``max_completion_tokens``, the only name
    that reasoning models take; older servers may know ``max_tokens`` only.

    Args:
        verbosity: ``low``, ``medium`` or ``high``.
        service_tier: ``auto``, ``default``, ``flex`` or ``priority``.
    """

    verbosity: str | None = None
    service_tier: str | None = None

    def body_fields(self) -> JsonObject:
        """Return fields of the request body besides messages and sampling."""
        own = {"verbosity": self.verbosity, "service_tier": self.service_tier}
        return {**super().body_fields(), **sent(own)}


class OpenAIKind:
    """Models of OpenAI and of compatible endpoints."""

    settings = OpenAISettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting or the base URL is wrong.
        """
        return open_compatible(PROVIDER, OpenAISettings, name, options)

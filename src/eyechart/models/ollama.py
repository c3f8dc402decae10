"""Models in Ollama on this machine: ``ollama/NAME``."""

from eyechart.kinds import Model, ModelOptions
from eyechart.models._chat_settings import ChatSettings, Detail, LengthParameter
from eyechart.models._endpoint import Provider
from eyechart.models._openai_client import open_compatible

__all__ = ["OllamaKind"]

PROVIDER = Provider("ollama", "OLLAMA_API_KEY", "http://localhost:11434/v1", "OLLAMA_BASE_URL", needs_key=False)


class OllamaSettings(ChatSettings, frozen=True, kw_only=True):
    """Settings of ``ollama/…``: it documents ``max_tokens`` and no ``detail``."""

    detail: Detail = "not-sent"
    length_parameter: LengthParameter = "max_tokens"


class OllamaKind:
    """Models served by Ollama."""

    settings = OllamaSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting or the base URL is wrong.
        """
        return open_compatible(PROVIDER, OllamaSettings, name, options)

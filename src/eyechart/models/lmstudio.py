"""Models in LM Studio on this machine: ``lmstudio/NAME``."""

from eyechart.kinds import Model, ModelOptions
from eyechart.models._chat_settings import ChatSettings, Detail, LengthParameter
from eyechart.models._endpoint import Provider
from eyechart.models._openai_client import open_compatible

__all__ = ["LmStudioKind"]

PROVIDER = Provider("lmstudio", "LMSTUDIO_API_KEY", "http://localhost:1234/v1", "LMSTUDIO_BASE_URL", needs_key=False)


class LmStudioSettings(ChatSettings, frozen=True, kw_only=True):
    """Settings of ``lmstudio/…``: it documents ``max_tokens`` and no ``detail``."""

    detail: Detail = "not-sent"
    length_parameter: LengthParameter = "max_tokens"


class LmStudioKind:
    """Models served by LM Studio."""

    settings = LmStudioSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting or the base URL is wrong.
        """
        return open_compatible(PROVIDER, LmStudioSettings, name, options)

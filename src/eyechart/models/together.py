"""Models of Together AI: ``together/ORG/NAME``."""

from eyechart.kinds import Model, ModelOptions
from eyechart.models._chat_settings import ChatSettings, Detail, LengthParameter
from eyechart.models._endpoint import Provider
from eyechart.models._openai_client import open_compatible

__all__ = ["TogetherKind"]

PROVIDER = Provider("together", "TOGETHER_API_KEY", "https://api.together.xyz/v1")


class TogetherSettings(ChatSettings, frozen=True, kw_only=True):
    """Settings of ``together/…``: it documents ``max_tokens`` and no ``detail``."""

    detail: Detail = "not-sent"
    length_parameter: LengthParameter = "max_tokens"


class TogetherKind:
    """Models hosted by Together AI."""

    settings = TogetherSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting or the base URL is wrong.
        """
        return open_compatible(PROVIDER, TogetherSettings, name, options)

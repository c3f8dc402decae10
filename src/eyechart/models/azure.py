"""OpenAI's models in Azure: ``azure/DEPLOYMENT``, with ``--base-url https://….openai.azure.com/openai/v1``."""

from eyechart.kinds import Model, ModelOptions
from eyechart.models._chat_settings import ChatSettings
from eyechart.models._endpoint import Provider
from eyechart.models._openai_client import open_compatible

__all__ = ["AzureKind"]

PROVIDER = Provider("azure", "AZURE_OPENAI_API_KEY", None, "AZURE_OPENAI_BASE_URL")


class AzureSettings(ChatSettings, frozen=True, kw_only=True):
    """Settings of ``azure/…``: those of OpenAI's models, since it serves them under the name of a deployment."""


class AzureKind:
    """Deployments in Azure, by its version-free interface."""

    settings = AzureSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting or the base URL is wrong.
        """
        return open_compatible(PROVIDER, AzureSettings, name, options)

"""Qwen's models in Alibaba Cloud Model Studio (DashScope): ``dashscope/NAME``."""

from eyechart.kinds import Model, ModelOptions
from eyechart.models._chat_settings import ChatSettings, Detail, LengthParameter, sent
from eyechart.models._endpoint import Provider
from eyechart.models._openai_client import open_compatible
from eyechart.schema import JsonObject

__all__ = ["DashScopeKind"]

PROVIDER = Provider(
    "dashscope",
    "DASHSCOPE_API_KEY",
    "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    "DASHSCOPE_BASE_URL",
)


class DashScopeSettings(ChatSettings, frozen=True, kw_only=True):
    """Settings of ``dashscope/…``.

    Args:
        vl_high_resolution_images: Lift the cap on a picture's tokens from 1,280 (Qwen2.5-VL) or 2,560 (Qwen3-VL) to
            16,384.
        min_pixels: Least pixels of a picture on the model's grid; stands beside each picture.
        max_pixels: Most pixels of a picture on the model's grid, likewise.
        enable_thinking: Switch of models that can answer with and without thoughts.
    """

    detail: Detail = "not-sent"
    length_parameter: LengthParameter = "max_tokens"
    vl_high_resolution_images: bool | None = None
    min_pixels: int | None = None
    max_pixels: int | None = None
    enable_thinking: bool | None = None

    def picture_fields(self) -> JsonObject:
        """Return fields that stand beside each picture in the request."""
        return sent({"min_pixels": self.min_pixels, "max_pixels": self.max_pixels})

    def body_fields(self) -> JsonObject:
        """Return fields of the request body besides messages and sampling."""
        own: JsonObject = {
            "vl_high_resolution_images": self.vl_high_resolution_images,
            "enable_thinking": self.enable_thinking,
        }
        return {**super().body_fields(), **sent(own)}


class DashScopeKind:
    """Models hosted by Alibaba Cloud Model Studio."""

    settings = DashScopeSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting or the base URL is wrong.
        """
        return open_compatible(PROVIDER, DashScopeSettings, name, options)

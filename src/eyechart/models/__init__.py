"""Models: whatever answers a question. A model is named ``provider/name``; the provider is a module of this room."""

from typing import cast

from eyechart.errors import UsageError
from eyechart.kinds import Model, ModelKind, ModelOptions
from eyechart.registry import load, names


def split_spec(spec: str) -> tuple[str, str]:
    """Return provider and name of a model; the name may hold further slashes.

    Raises:
        UsageError: If there is no slash, or nothing on one side of it.

    Example:
        >>> split_spec("openrouter/qwen/qwen3-vl-8b-instruct")
        ('openrouter', 'qwen/qwen3-vl-8b-instruct')
    """
    provider, slash, name = spec.partition("/")
    if not (slash and provider and name):
        raise UsageError(
            f"model {spec!r} is no provider/name",
            hint=f"for example openai/gpt-4o; providers: {', '.join(names('model'))}",
        )
    return provider, name


def open_model(spec: str, options: ModelOptions | None = None) -> Model:
    """Return a model without contacting it.

    Args:
        spec: ``provider/name``.
        options: How to reach it, and its settings.

    Raises:
        UsageError: If the provider, the name or a setting is wrong; the hint names the nearest.
        MissingDependencyError: If the provider's extra is not installed.

    Example:
        >>> open_model("simulated/chance").identity.spec
        'simulated/chance'
    """
    provider, name = split_spec(spec)
    kind = cast("type[ModelKind]", load("model", provider))()
    return kind.open(name, options or ModelOptions())

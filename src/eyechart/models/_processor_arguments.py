"""What the picture processor of a local model is called with besides text and pictures."""

from collections.abc import Mapping

from eyechart.errors import BadRequestError


def check_arguments(processor: object, arguments: Mapping[str, object]) -> None:
    """Refuse an argument that the picture's processor would silently ignore.

    Raises:
        BadRequestError: If there is one.
    """
    known = getattr(getattr(getattr(processor, "image_processor", None), "valid_kwargs", None), "__annotations__", None)
    ignored = sorted(set(arguments) - set(known)) if known else []
    if ignored:
        raise BadRequestError(
            f"{type(processor).__name__} ignores {ignored[0]}",
            hint=f"it takes {', '.join(sorted(known or ()))}",
            parameter=ignored[0],
        )

"""The errors a user can act on, and the failures a model call can end in."""


class EyechartError(Exception):
    """A fault with a message that names the value and its place, and a hint the reader can act on.

    Args:
        message: What is wrong, with the value and where it came from.
        hint: What the reader can do about it; empty if nothing can be done.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint:
            self.add_note(f"hint: {hint}")  # where a script leaves it uncaught


class UsageError(EyechartError):
    """A name, flag or setting that does not exist or cannot be combined."""

    exit_code = 2


class SchemaError(EyechartError):
    """A stored record that does not match the schema, or was written by a newer version."""


class GeometryError(EyechartError):
    """A box, size or factor that no view can be made from."""


class ImageError(EyechartError):
    """A picture that cannot be read, or that the decode policy refuses."""


class UnavailableImageError(ImageError):
    """A picture that cannot be had now: its file is gone or changed, or the disk or memory of this machine failed."""


class BenchmarkError(EyechartError):
    """A question, annotation or release file that breaks its contract."""


class StatisticsError(EyechartError):
    """Numbers that no estimate can be made from: shapes that differ, scores outside 0–1, an unknown condition."""


class StoreError(EyechartError):
    """A run folder that cannot be read or written."""


class HubError(EyechartError):
    """A download that failed.

    Args:
        message: What went wrong, with the repository and the file.
        hint: What the reader can do about it.
        concerns_all: Whether every other file of the repository would fail in the same way.
    """

    def __init__(self, message: str, hint: str = "", *, concerns_all: bool = False) -> None:
        super().__init__(message, hint)
        self.concerns_all = concerns_all


class MissingDependencyError(EyechartError):
    """An optional library that is needed here and is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(
            f"{library} is not installed",
            hint=f"python -m pip install 'eyechart[{extra}]'",
        )
        self._arguments = (library, extra)

    def __reduce__(self) -> tuple[type["MissingDependencyError"], tuple[str, str]]:
        """Let the error cross from a worker process."""
        return type(self), self._arguments


class ModelError(EyechartError):
    """A request that ended without an answer.

    Args:
        message: What the provider said.
        hint: What the reader can do about it.
    """


class TransientModelError(ModelError):
    """A failure that may pass: connection, timeout, 429, 5xx. Retried, and asked again on the next run.

    Args:
        message: What the provider said.
        hint: What the reader can do about it.
        retry_after_seconds: The wait the server asked for, if it named one.
        is_connection: Whether no server answered at all.
        is_overload: Whether fewer requests at a time would have helped: a rate limit, an overloaded server, a timeout.
        fault: What was wrong with a reply that came whole, the same for the same fault; empty for all else. A fault
            that comes back unchanged is no chance, so it is not asked for ever.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        retry_after_seconds: float | None = None,
        is_connection: bool = False,
        is_overload: bool = False,
        fault: str = "",
    ) -> None:
        super().__init__(message, hint)
        self.retry_after_seconds = retry_after_seconds
        self.is_connection = is_connection
        self.is_overload = is_overload
        self.fault = fault


class OutOfMemoryError(ModelError):
    """A request that needs more memory than the machine has. Not repeated in this run, asked again in the next."""


class RefusedInputError(ModelError):
    """The provider refused the picture itself (too large, too many pixels, bad format). Final, not wrong."""


class BadRequestError(ModelError):
    """The provider refused the request for another reason. Final, unless it names a parameter.

    Args:
        message: What the provider said.
        hint: What the reader can do about it.
        parameter: The parameter that the provider named, if any; naming one stops the run.
    """

    def __init__(self, message: str, hint: str = "", *, parameter: str | None = None) -> None:
        super().__init__(message, hint)
        self.parameter = parameter


class AuthenticationError(ModelError):
    """A failure of the account: a missing or rejected key, no credit, a quota that will not return. Stops the run."""

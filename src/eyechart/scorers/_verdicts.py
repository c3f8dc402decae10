"""What every scorer says about a response before reading its text, and how its ids are spelt."""

from eyechart.errors import UsageError
from eyechart.schema import Response, ResponseState, Score


def scorer_id(name: str, version: int, modes: tuple[str, ...], mode: str) -> str:
    """Return ``name.mode@version``.

    Raises:
        UsageError: If there is no such mode.

    Example:
        >>> scorer_id("grid_cell", 1, ("corrected", "compat"), "compat")
        'grid_cell.compat@1'
    """
    if mode not in modes:
        raise UsageError(f"scorer {name} has no mode {mode!r}", hint=f"one of: {', '.join(modes)}")
    return f"{name}.{mode}@{version}"


def chosen_version(name: str, versions: tuple[int, ...], version: int | None) -> int:
    """Return a version of a scorer, the newest if None.

    Raises:
        UsageError: If there is no such version.

    Example:
        >>> chosen_version("option_letter", (1, 2), None)
        2
    """
    if version is None:
        return versions[-1]
    if version not in versions:
        known = ", ".join(map(str, versions))
        raise UsageError(f"scorer {name}: this eyechart has no version {version}", hint=f"versions: {known}")
    return version


def unread_score(response: Response, scorer: str) -> Score | None:
    """Return the score of a response whose text is not read: None for an error, 0.0 for a refusal.

    Example:
        >>> unread_score(Response(request_id="r", state=ResponseState.REFUSAL), "s").value
        0.0
    """
    if response.state.is_error:
        reason = response.reason or str(response.state)
        return Score(request_id=response.request_id, scorer=scorer, value=None, reason=reason)
    if response.state in {ResponseState.REFUSAL, ResponseState.FILTERED}:
        return Score(request_id=response.request_id, scorer=scorer, value=0.0, reason=str(response.state))
    return None


def state_reason(response: Response, reason: str | None) -> str | None:
    """Return the reason of an unread answer: ``truncated`` if the response was cut, else ``reason``."""
    return "truncated" if reason and response.state is ResponseState.TRUNCATED else reason


def state_notes(response: Response, notes: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return diagnostics with ``truncated`` added if the response was cut."""
    return tuple(sorted({*notes, "truncated"})) if response.state is ResponseState.TRUNCATED else notes

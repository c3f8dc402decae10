"""The user's cache folder, for what can be made again."""

from pathlib import Path


def cache_folder() -> Path | None:
    """Return ``~/.cache/eyechart``, None for a user without a home folder."""
    try:
        return Path.home() / ".cache" / "eyechart"
    except RuntimeError:
        return None

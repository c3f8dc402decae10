"""Which versions drew, asked and estimated."""

import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = (
    "eyechart",
    "msgspec",
    "numpy",
    "pillow",
    "openai",
    "pyvips",
    "anthropic",
    "google-genai",
    "transformers",
    "torch",
)


def read_versions() -> dict[str, str]:
    """Return the versions that drew, asked and estimated."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found

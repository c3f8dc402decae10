"""The command line as it is stored with a run."""

import re
import sys

from eyechart.runs.files import text_of_name

# User and password of a web address, and what follows its path: some gateways take a key there.
_USER = re.compile(r"(https?://)[^/@\s]+@")
_QUERY = re.compile(r"(https?://[^?#\s]*)[?#]\S*")


def recorded_command() -> tuple[str, ...]:
    """Return this command with web addresses bare of user, password and query, since commands are stored and shown."""
    return ("eyechart", *(bare_addresses(text_of_name(argument)) for argument in sys.argv[1:]))


def bare_addresses(text: str) -> str:
    """Return a text whose web addresses hold no user, password or query.

    Example:
        >>> bare_addresses("--base-url=https://user:secret@host.example:8000/v1?key=abc")
        '--base-url=https://host.example:8000/v1'
    """
    return _QUERY.sub(r"\1", _USER.sub(r"\1", text))

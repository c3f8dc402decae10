"""Which names an anonymous file must not hold."""

import contextlib
import getpass
import socket
from typing import Annotated

from cyclopts import Parameter

from eyechart.errors import UsageError

Hide = Annotated[
    tuple[str, ...],
    Parameter(negative="", show_default=False, help="Further words to remove with --anonymous; may be repeated."),
]


def hidden_names(hide: tuple[str, ...], *, is_anonymous: bool) -> tuple[str, ...]:
    """Return the words to remove: those asked for, the login, and the names of this machine.

    Raises:
        UsageError: If words are to be removed from a file that keeps its names.
    """
    if not is_anonymous:
        if hide:
            raise UsageError(f"--hide {hide[0]} without --anonymous removes nothing", hint="add --anonymous")
        return ()
    host = socket.gethostname()
    names = [*hide, host, host.partition(".")[0]]
    with contextlib.suppress(KeyError, OSError):  # a container's user may have no name
        names.append(getpass.getuser())
    return tuple(dict.fromkeys(names))

"""Look at runs in the browser; no model is asked and nothing leaves this machine."""

import contextlib
import socket
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from eyechart.cli._events import switch_events
from eyechart.cli._flags import Plugin, load_plugins
from eyechart.cli._output import Json, print_json, say
from eyechart.errors import UsageError

_LOOPBACK = "127.0.0.1"
_PORT = 8765
_LAST_PORT = 65535


def explore(
    *runs: Path,
    data: Annotated[
        Path | None, Parameter(help="File or folder of the pictures, where the run's own is not there any more.")
    ] = None,
    scorer: Annotated[
        str | None, Parameter(help="Whose scores to show, such as option_letter.lenient; each run's own if left out.")
    ] = None,
    port: Annotated[int | None, Parameter(help="Port; 8765 or, if that is taken, a free one.")] = None,
    host: Annotated[str, Parameter(help="Address to listen on. Others than loopback let others look.")] = _LOOPBACK,
    plugin: Plugin = (),
    json: Json = False,
) -> int:
    """Serve runs as a local web application until Ctrl-C: views side by side, filters, comparisons.

    Args:
        runs: Run folders.
    """
    switch_events(json)
    import uvicorn

    from eyechart.cli._work import WorkProgress
    from eyechart.explorer.gatekeeper import LOOPBACK, new_token
    from eyechart.explorer.server import build_server
    from eyechart.explorer.study import read_study

    load_plugins(plugin)
    if data is not None and not data.exists():
        raise UsageError(f"{data} does not exist", hint="check the path given as --data")
    host = host.removeprefix("[").removesuffix("]")
    listening = listen(host, port)
    with WorkProgress("explore", "runs") as progress:
        study = read_study(runs, scorer, tell=progress.update)
    named = f"[{host}]" if ":" in host else host  # as addresses of IPv6 stand in a URL
    token = "" if host in LOOPBACK else new_token()
    address = f"http://{named}:{listening.getsockname()[1]}/" + (f"?token={token}" if token else "")
    if token:
        say(f"warning: {host} can be reached from other machines: whoever has this address can read runs and pictures")
    if json:
        print_json({"address": address})
    else:
        say(f"explore {len(runs)} {'run' if len(runs) == 1 else 'runs'} at {address}   (Ctrl-C ends)")
    server = build_server(study, data, host=host, token=token, is_prepared=True)
    config = uvicorn.Config(server, log_level="warning", access_log=False)
    with contextlib.closing(listening), contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
    return 0


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens, before anything slow begins.

    Raises:
        UsageError: If there is no such port or address, or another program listens there.
    """
    if port is not None and not 0 <= port <= _LAST_PORT:
        raise UsageError(f"--port {port} is not a port", hint=f"ports are 0 (any free one) to {_LAST_PORT}")
    try:
        socket.getaddrinfo(host, None)
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(
            f"--host {host} is not an address ({error})", hint=f"for example --host {_LOOPBACK}"
        ) from error
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, _PORT if port is None else port), family=family)
    except OSError as error:
        if port is None:
            return listen(host, 0)
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror}", hint="choose another --port, or another --host"
        ) from error

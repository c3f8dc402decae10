"""Servers that stand between a client and a model: one that redirects, a proxy, and one that must never be asked."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

GOOD = {
    "id": "elsewhere-1",
    "object": "chat.completion",
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "A"}}],
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "A"}]}],
    "content": [{"type": "text", "text": "A"}],
    "stop_reason": "end_turn",
    "candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}],
}
"""A good answer in every dialect at once."""


@dataclass(frozen=True)
class Visit:
    """One request that came by."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Waypoint:
    """A server in a thread: every request is noted and answered in one way.

    Args:
        status: Of every answer but those of ``pages``.
        headers: Likewise.
        body: Likewise, as JSON.
        pages: JSON bodies of paths that are answered with status 200.
        connect: Status line of an answer to CONNECT, as a proxy gives it.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: dict = field(default_factory=lambda: GOOD)
    pages: dict[str, dict] = field(default_factory=dict)
    connect: tuple[int, str] = (502, "Bad Gateway")
    visits: list[Visit] = field(default_factory=list)

    def __enter__(self) -> Self:
        waypoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                content = self.rfile.read(int(self.headers.get("content-length", 0)))
                visit = Visit(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, content)
                waypoint.visits.append(visit)
                if self.command == "CONNECT":
                    self.send_response(*waypoint.connect)
                    self.send_header("content-length", "0")
                    self.end_headers()
                    return
                page = waypoint.pages.get(self.path.partition("?")[0])
                payload = json.dumps(waypoint.body if page is None else page).encode()
                self.send_response(waypoint.status if page is None else 200)
                for name, value in waypoint.headers.items() if page is None else ():
                    self.send_header(name, value)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            do_GET = do_POST = do_CONNECT = answer  # noqa: N815 -- the library's own names

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

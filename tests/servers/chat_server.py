"""A local model server that speaks several interfaces, keeps a log, and misbehaves on purpose.

In a test::

    with ChatServer(answer=lambda received: "B", script=Script(faults=("429", None, "drop"))) as server:
        ...  # ask server.base_url; look at server.log

In a process of its own (``python -m servers.chat_server --help`` with ``tests`` on the path)::

    with ServerProcess(log=tmp_path / "server.jsonl", script=Script(share={"500": 0.1})) as server:
        ...

The log has one JSON line per event: ``received`` before anything else happens to a request, ``answered`` once a good
reply was written in full, ``failed`` after a fault. ``sha256`` is that of the body, so that a repeated request is seen.
"""

import argparse
import asyncio
import contextlib
import dataclasses
import hashlib
import json
import os
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Self

from servers.batches import BatchDesk
from servers.dialects import Answer, Received, write_answer, write_error
from servers.faults import Script, error_reply, faulty_answer

SLOW_SECONDS = 0.05
"""Pause between two bytes of a slow-loris reply."""

START_SECONDS = 120
"""Within this a server starts and stops on the busiest machine."""


def answer_from_picture(received: Received) -> str:
    """Answer A, B or C where the first picture is mainly red, green or blue, D where it is not or there is none."""
    if not received.pictures:
        return "D"
    red, green, blue = received.pictures[0].image.convert("RGB").resize((1, 1)).getpixel((0, 0))
    strongest = max(red, green, blue)
    return "D" if min(red, green, blue) > strongest - 30 else "ABC"[(red, green, blue).index(strongest)]


@dataclasses.dataclass(frozen=True)
class LogEntry:
    """One event of one request."""

    event: str
    n: int
    path: str
    sha256: str
    fault: str | None
    seconds: float


class ChatServer:
    """The server in a thread of this process.

    Args:
        answer: What to say to a request: an ``Answer``, a text, or a function that returns one of them.
        script: Which request suffers which fault.
        key: The key to insist on; None accepts any.
        models: Entries of ``/v1/models``.
        latency_seconds: Time before each reply.
        log_file: Where to append the log as JSON lines.
        port: 0 takes a free one.
        say: A function that returns status and JSON body of every reply, in place of answers and faults; a body in
            bytes is sent as it is, with the content type that follows it.
        desk: Takes batches; None knows none.
        tls: Certificate and key to serve by; None serves unencrypted.
    """

    def __init__(
        self,
        *,
        answer: Answer | str | Callable[[Received], Answer | str] = "A",
        script: Script | None = None,
        key: str | None = None,
        models: tuple[dict, ...] = ({"id": "local-vlm", "object": "model", "root": "org/local-vlm"},),
        latency_seconds: float = 0.0,
        log_file: Path | None = None,
        port: int = 0,
        say: Callable[[Received], tuple] | None = None,
        desk: BatchDesk | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._tls = tls
        self._answer = answer
        self._desk = desk
        self._say = say
        self._script = script or Script()
        self._key = key
        self._models = models
        self._latency_seconds = latency_seconds
        self._log_file = log_file.open("a", encoding="utf-8") if log_file else None
        self._attempts: Counter[str] = Counter()
        self._started = time.monotonic()
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.port = port
        self.log: list[LogEntry] = []
        self.received: list[Received] = []
        self.in_flight = 0
        self.max_in_flight = 0

    @property
    def url(self) -> str:
        return f"{'http' if self._tls is None else 'https'}://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def asked(self) -> Counter[str]:
        """How often each body arrived."""
        return Counter(entry.sha256 for entry in self.log if entry.event == "received")

    def wait_until_left(self) -> None:
        """Wait until everything that was sent before this call was received, and nobody is connected any more."""
        # Connections are accepted in their order, so that those before this one are known once it is answered.
        with urllib.request.urlopen(f"{self.base_url}/models") as reply:  # noqa: S310 -- loopback
            reply.read()
        while self._writers:
            time.sleep(0.005)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(START_SECONDS)
        return self

    def __exit__(self, *exception: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(START_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        if self._log_file:
            self._log_file.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=1 << 20, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while (received := await _read_request(reader)) is not None:
                self.in_flight += 1
                self.max_in_flight = max(self.max_in_flight, self.in_flight)
                try:
                    if not await self._reply(received, writer):
                        break
                finally:
                    self.in_flight -= 1
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client left, or the server stops
        finally:
            self._writers.discard(writer)
            writer.transport.abort() if writer.transport.is_closing() else writer.close()

    async def _reply(self, received: Received, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection goes on."""
        if received.path in {"/v1/models", "/v1beta/models"}:
            return await _send_json(writer, 200, {"object": "list", "data": list(self._models)})
        batched = self._desk.reply(received) if self._desk else None
        if batched is not None:
            return await _send_batched(writer, *batched)
        sha256 = hashlib.sha256(received.body).hexdigest()
        n, attempt = len(self.received), self._attempts[sha256]
        self._attempts[sha256] += 1
        self.received.append(received)
        fault = self._script.fault(n, sha256, attempt)

        def note(event: str) -> None:
            self._note(LogEntry(event, n, received.path, sha256, fault, time.monotonic() - self._started))

        note("received")
        if self._latency_seconds:
            await asyncio.sleep(self._latency_seconds)
        goes_on = await self._misbehave_or_answer(received, writer, fault)
        note("failed" if fault and (error_reply(fault) or not goes_on) else "answered")
        return goes_on

    async def _misbehave_or_answer(self, received: Received, writer: asyncio.StreamWriter, fault: str | None) -> bool:
        if self._say is not None:
            status, said, *content_type = self._say(received)
            if not isinstance(said, bytes):
                return await _send_json(writer, status, said)
            writer.write(_head(status, len(said), *content_type) + said)
            await writer.drain()
            return True
        dialect = received.dialect
        if dialect == "none":
            return await _send_json(writer, 404, write_error("chat", 404, "Not Found", code=None, parameter=None))
        if self._key is not None and received.key != self._key:
            fault = "401"
        error = error_reply(fault) if fault else None
        if error is not None:
            body = write_error(dialect, error.status, error.message, code=error.code, parameter=error.parameter)
            return await _send_json(writer, error.status, body, error.headers)
        if fault == "hang":
            await asyncio.sleep(3600)
        if fault == "drop":
            writer.transport.abort()
            return False
        answer = self._answer(received) if callable(self._answer) else self._answer
        answer = faulty_answer(fault, Answer(text=answer) if isinstance(answer, str) else answer)
        body = write_answer(dialect, answer, str(received.json.get("model", "local-vlm")), len(self.received))
        return await _send_faulty(writer, body, fault)

    def _note(self, entry: LogEntry) -> None:
        self.log.append(entry)
        if self._log_file:
            self._log_file.write(json.dumps(dataclasses.asdict(entry)) + "\n")
            self._log_file.flush()


async def _read_request(reader: asyncio.StreamReader) -> Received | None:
    line = await reader.readline()
    if not line:
        return None
    method, path, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(path.partition("?")[0], headers, body, method)


def _head(status: int, n_bytes: int, content_type: str = "application/json", extra: dict | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status} Reply", f"content-type: {content_type}", f"content-length: {n_bytes}"]
    lines += [f"{name}: {value}" for name, value in (extra or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _send_json(writer: asyncio.StreamWriter, status: int, body: dict, extra: dict | None = None) -> bool:
    payload = json.dumps(body).encode()
    writer.write(_head(status, len(payload), extra=extra) + payload)
    await writer.drain()
    return True


async def _send_batched(writer: asyncio.StreamWriter, status: int, body: dict | bytes) -> bool:
    """Send what the batch desk says; status 0 loses the reply."""
    if status == 0:
        writer.transport.abort()
        return False
    if isinstance(body, dict):
        return await _send_json(writer, status, body)
    writer.write(_head(status, len(body), "application/octet-stream") + body)
    await writer.drain()
    return True


async def _send_faulty(writer: asyncio.StreamWriter, body: dict, fault: str | None) -> bool:
    """Send a reply, damaged in the way the fault says."""
    if fault == "empty-choices":
        emptied = {key: [] if key in {"choices", "output", "content", "candidates"} else body[key] for key in body}
        return await _send_json(writer, 200, emptied)
    if fault == "error-200":
        return await _send_json(writer, 200, {"error": {"code": 502, "message": "Provider returned error"}})
    payload = json.dumps(body).encode()
    if fault == "truncated-json":
        payload = payload[: len(payload) // 2]
    if fault == "wrong-content-type":
        payload = b"<html><body>Please sign in</body></html>"
        writer.write(_head(200, len(payload), "text/html") + payload)
    elif fault == "cut-body":
        writer.write(_head(200, len(payload)) + payload[: len(payload) // 2])
        await writer.drain()
        writer.close()
        return False
    elif fault == "slow-loris":
        for byte in _head(200, len(payload)) + payload:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(SLOW_SECONDS)
    else:
        reply = _head(200, len(payload)) + payload
        writer.write(reply * 2 if fault == "duplicate" else reply)
    await writer.drain()
    return True


class ServerProcess:
    """The server in a process of its own; its log is the file."""

    def __init__(
        self, *, log: Path, script: Script | None = None, latency_seconds: float = 0.0, answer: str = "A", port: int = 0
    ) -> None:
        self.log_file = log
        self._arguments = [
            *("--log", str(log), "--script", json.dumps(dataclasses.asdict(script or Script()))),
            *("--latency", str(latency_seconds), "--answer", answer, "--port", str(port)),
        ]
        self._process: subprocess.Popen[str] | None = None
        self.base_url = ""

    @property
    def log(self) -> list[LogEntry]:
        lines = self.log_file.read_text(encoding="utf-8").splitlines() if self.log_file.exists() else []
        return [LogEntry(**json.loads(line)) for line in lines]

    @property
    def asked(self) -> Counter[str]:
        """How often each body arrived."""
        return Counter(entry.sha256 for entry in self.log if entry.event == "received")

    def __enter__(self) -> Self:
        tests = str(Path(__file__).parent.parent)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])}
        command = [sys.executable, "-m", "servers.chat_server", *self._arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self._process.stdout is not None
        self.base_url = self._process.stdout.readline().strip()
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


def main() -> None:
    """Serve until killed; the first line on stdout is the base URL."""
    parser = argparse.ArgumentParser(description="a local model server that misbehaves on purpose")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--script", default="{}", help="JSON of a Script")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--answer", default="A", help="a text, or 'picture' to answer from the picture's colour")
    parser.add_argument("--key")
    given = parser.parse_args()
    raw = json.loads(given.script)
    script = Script(**{key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()})
    answer = answer_from_picture if given.answer == "picture" else given.answer
    server = ChatServer(
        answer=answer, script=script, key=given.key, latency_seconds=given.latency, log_file=given.log, port=given.port
    )
    with server, contextlib.suppress(KeyboardInterrupt):
        print(server.base_url, flush=True)  # noqa: T201 -- the caller reads the address here
        threading.Event().wait()


if __name__ == "__main__":
    main()

"""A server that answers rightly and sends replies in odd ways: ids, packing, framing, ends of connections, copies."""

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from servers.chat_server import ChatServer
from servers.dialects import Answer, Received, write_answer, write_error

_PIECE_BYTES = 40

IDS: dict[str, Callable[[int], object]] = {
    "vary": lambda n: f"reply-{n * 7919:08x}",
    "constant": lambda n: "reply-of-this-server",
    "empty": lambda n: "",
    "absent": lambda n: None,
    "second": lambda n: f"reply-{1_764_547_200 + n // 3}",
    "date and time": lambda n: f"reply-2026-12-01T09:{n // 180 % 60:02}:{n // 3 % 60:02}",
}
"""Kinds of ids, by the number of the reply; three replies fall into a second."""


@dataclass(frozen=True)
class Odd:
    """How replies are sent.

    Args:
        ids: One of ``IDS``.
        framing: The body's end is told by its ``length``, in ``chunked`` pieces, or by the connection's end (``1.0``).
        is_packed: Whether it is packed by gzip.
        is_trickled: Whether it comes in small pieces.
        is_continued: Whether ``100 Continue`` comes before it.
        closes_every: After so many replies a connection is closed without a word; 0 for never.
        copies_every: So many replies on, one is sent twice; 0 for never.
        is_late: Whether the copy comes only once the next question is there.
        refuses: Part of the prompts that are refused for good.
    """

    ids: str = "vary"
    framing: str = "length"
    is_packed: bool = False
    is_trickled: bool = False
    is_continued: bool = False
    closes_every: int = 0
    copies_every: int = 0
    is_late: bool = False
    refuses: str = ""


class OddServer(ChatServer):
    """Answers each question with its own prompt, or with what ``answer`` makes of the request."""

    def __init__(self, odd: Odd, answer: Callable[[Received], str] = lambda received: received.prompt) -> None:
        super().__init__()
        self._odd, self._say_to = odd, answer
        self._n_replies: Counter[object] = Counter()
        self._held: dict[object, bytes] = {}
        self.n_copies = 0

    async def _reply(self, received: Received, writer: asyncio.StreamWriter) -> bool:
        if received.path in {"/v1/models", "/v1beta/models"}:
            return await super()._reply(received, writer)
        odd, n = self._odd, len(self.received)
        self.received.append(received)
        self._n_replies[writer] += 1
        told = self._told(received, n)
        sent = self._held.pop(writer, b"") + (b"HTTP/1.1 100 Continue\r\n\r\n" if odd.is_continued else b"") + told
        if odd.copies_every and n % odd.copies_every == 0:
            self.n_copies += 1
            if odd.is_late:
                self._held[writer] = told
            else:
                sent += told
        step = _PIECE_BYTES if odd.is_trickled else len(sent)
        for start in range(0, len(sent), step):
            writer.write(sent[start : start + step])
            await writer.drain()
            await asyncio.sleep(0)
        return odd.framing != "1.0" and not (odd.closes_every and self._n_replies[writer] % odd.closes_every == 0)

    def _told(self, received: Received, n: int) -> bytes:
        """Return head and body of the reply."""
        odd, status = self._odd, 200
        if odd.refuses and odd.refuses in received.prompt:
            status = 400
            body = write_error(received.dialect, status, "this is refused", code="odd", parameter=None)
        else:
            body = write_answer(received.dialect, Answer(text=self._say_to(received)), "m", 0)
            name = "responseId" if received.dialect == "generate" else "id"
            body[name] = IDS[odd.ids](n)
            if body[name] is None:
                del body[name]
        payload = json.dumps(body).encode()
        payload = gzip.compress(payload) if odd.is_packed else payload
        lines = [f"HTTP/{'1.0' if odd.framing == '1.0' else '1.1'} {status} Told", "content-type: application/json"]
        lines += ["content-encoding: gzip"] if odd.is_packed else []
        lines += {"length": [f"content-length: {len(payload)}"], "chunked": ["transfer-encoding: chunked"]}.get(
            odd.framing, []
        )
        if odd.framing == "chunked":
            pieces = [payload[start : start + _PIECE_BYTES] for start in range(0, len(payload), _PIECE_BYTES)]
            payload = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""])
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + payload

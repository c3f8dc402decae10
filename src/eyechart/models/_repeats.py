"""Notice a reply that was sent twice, before the second copy is taken for the answer to the next request."""

import re
import weakref
from typing import Literal, NamedTuple

from eyechart.kinds import Ask
from eyechart.schema import JsonObject

# Many small servers make an id of the clock: ``chatcmpl-`` and the second, or the date and time. Two honest replies
# of one second then share it, so these digits tell no reply from another.
_CLOCK = re.compile(r"(?<!\d)(?:[12]\d{9}|20\d\d(?:[-_./:T ]?\d\d){5})(?!\d)")
# Ollama draws ids from 999 (openai/openai.go, rand.Intn), so honest replies soon share one.
_DRAWN_IDS = frozenset({"fp_ollama"})
_N_REMEMBERED = 4096
_TAIL_BYTES = 64

Verdict = Literal["told apart", "new", "copy"]


class _Last(NamedTuple):
    payload: bytes
    request: int


class RepeatedReplies:
    """Remembers the last reply of each connection to one endpoint, and whether the endpoint's ids tell replies apart.

    HTTP/1.1 matches replies to requests by their order alone. If a server or proxy sends one reply twice, the copy
    waits in the client's buffer and becomes the answer to whatever is asked next on that connection. Equal bytes prove
    that only where an id in them tells replies apart: one that has been seen to vary at this endpoint, and never came
    with two requests. Without such an id honest replies may well be equal: ids may be constant, empty, absent, or
    made of the second, and an answer is often one letter. No copy could be noticed then, so that no connection may be
    used for a second question.
    """

    def __init__(self) -> None:
        self._last: weakref.WeakKeyDictionary[object, _Last] = weakref.WeakKeyDictionary()
        self._requests_by_id: dict[str, int] = {}
        self._first_id = ""
        self._ids_vary = False
        self._ids_are_shared = False

    def judge(self, connection: object | None, body: JsonObject, payload: bytes, request: int) -> Verdict:
        """Tell what a reply is, then remember it.

        Args:
            connection: The connection's stream; None if it is unknown.
            body: The reply's decoded body.
            payload: The reply's bytes.
            request: Mark of what was asked, from ``request_mark``.

        Returns:
            ``told apart`` if it is a reply of its own and a copy of it would be noticed. ``copy`` if it is the
            connection's last reply once more. ``new`` if it counts, and nothing more may be asked on this connection.

        Example:
            >>> class Connection: ...
            >>> replies, line = RepeatedReplies(), Connection()
            >>> told = [(b'{"id":"a"}', {"id": "a"}), (b'{"id":"b"}', {"id": "b"}), (b'{"id":"b"}', {"id": "b"})]
            >>> [replies.judge(line, body, payload, index) for index, (payload, body) in enumerate(told)]
            ['new', 'told apart', 'copy']
        """
        reply_id = _reply_id(body)
        last = None if connection is None else self._last.get(connection)
        if last is not None and last.payload == payload and not self._ids_are_shared:
            # An equal request may have the reply of a cache, or a copy of the reply before: the answer is the same.
            return "new" if last.request == request else "copy"
        if not reply_id:
            return "new"
        self._learn(reply_id, request)
        if connection is None or not self._ids_vary or self._ids_are_shared:
            return "new"
        self._last[connection] = _Last(payload, request)
        return "told apart"

    def _learn(self, reply_id: str, request: int) -> None:
        """Remember an id, and what it says of all ids of this endpoint."""
        if self._requests_by_id.get(reply_id, request) != request:
            self._ids_are_shared = True
        self._requests_by_id[reply_id] = request
        if len(self._requests_by_id) > _N_REMEMBERED:
            self._requests_by_id.pop(next(iter(self._requests_by_id)))
        self._first_id = self._first_id or reply_id
        self._ids_vary = self._ids_vary or reply_id != self._first_id


def request_mark(ask: Ask) -> int:
    """Return a number that differs between requests for another prompt or picture, within one process.

    Compressed pictures differ in their last bytes if they differ at all: PNG ends in a checksum.
    """
    pictures = tuple((len(content), content[-_TAIL_BYTES:]) for content in (one.encoded() for one in ask.pictures))
    return hash((ask.prompt, pictures))


def _reply_id(body: JsonObject) -> str:
    """Return the part of a reply's id that may tell it from others, empty where there is none."""
    told = body.get("id") or body.get("responseId")
    if isinstance(told, bool) or not isinstance(told, str | int) or str(body.get("system_fingerprint")) in _DRAWN_IDS:
        return ""
    return _CLOCK.sub("", str(told))

"""Notice a reply that was sent twice, before the second copy is taken for the answer to the next request."""

import weakref

_IDENTIFIED = (b'"id"', b'"created"', b'"responseId"')


class RepeatedReplies:
    """Remembers the last reply of each connection.

    HTTP/1.1 matches replies to requests by their order alone. If a server or proxy sends one reply twice, the copy
    waits in the client's buffer and becomes the answer to whatever is asked next on that connection. Two replies of
    one connection with equal bytes, identifier and all, are such a copy.
    """

    def __init__(self) -> None:
        self._last: weakref.WeakKeyDictionary[object, bytes] = weakref.WeakKeyDictionary()

    def is_repeat(self, connection: object, payload: bytes) -> bool:
        """Whether the connection's last reply had the same bytes; then remember this one.

        Args:
            connection: The connection's stream; None if it is unknown.
            payload: The reply's body. One without any identifier may honestly be equal to the last.

        Example:
            >>> class Connection: ...
            >>> replies, connection = RepeatedReplies(), Connection()
            >>> [replies.is_repeat(connection, payload) for payload in (b'{"id":1}', b'{"id":2}', b'{"id":2}')]
            [False, False, True]
        """
        if connection is None or not any(mark in payload for mark in _IDENTIFIED):
            return False
        was_last = self._last.get(connection) == payload
        self._last[connection] = payload
        return was_last

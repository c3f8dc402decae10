"""Which final errors of a start are kept: all of one that ended well, none of one that a row of equal errors ended.

A final error is stored as a passing one that names its start, and becomes final when that start has ended well. So a
start that is killed, stopped by its first answers, by equal errors, or by its account leaves nothing final behind.
"""

from eyechart.runs.answers import as_it_ended
from eyechart.runs.failures import common_cause
from eyechart.runs.retrying import Stop
from eyechart.runs.store import AnswerWriter, RunStore
from eyechart.schema import Request, Response, ResponseState

MOST_EQUAL_ERRORS = 8


class EqualErrors:
    """Counts errors of one cause in a row, whichever request they end; those that depend on a picture do not count.

    An answer ends the row. A picture that was refused, a filter that struck and an empty reply say nothing about the
    server, so they neither end nor lengthen it. Errors of one question alone may be that question's under each view.
    """

    def __init__(self) -> None:
        self._cause, self._n = "", 0
        self._questions: set[str] = set()

    def note(self, request: Request, row: Response) -> Stop | None:
        """Count how a request ended, and return why the run should end, if it should.

        Args:
            request: The request.
            row: Its row: an answer, a final error, or a reply that was wrong in the same way each time.
        """
        if row.state in {ResponseState.ANSWERED, ResponseState.TRUNCATED, ResponseState.REFUSAL}:
            self._cause, self._n = "", 0
        if row.state not in {ResponseState.BAD_REQUEST, ResponseState.TRANSIENT}:
            return None
        cause = common_cause(row.error or "")
        if cause != self._cause:
            self._cause, self._n, self._questions = cause, 0, set()
        self._n += 1
        self._questions.add(request.question_id)
        if self._n < MOST_EQUAL_ERRORS or len(self._questions) == 1:
            return None
        return Stop(
            f"{self._n} requests in a row ended with the same error ({row.error})",
            "this looks like the server or a setting, not like the questions: when it is mended, "
            "the same command asks them again",
            leaves_open=True,
        )


def keep_final_errors(store: RunStore, writer: AnswerWriter) -> None:
    """Append the final errors of a writer's start that ended well, so that no later start asks them again.

    Raises:
        StoreError: If the disk refuses.
    """
    index, start = store.index(), writer.start
    if start is None or not any(start in starts for starts in index.open_errors.values()):
        return
    for row in {row.request_id: row for row in store.open_errors(start)}.values():
        if not index.is_settled(row.request_id):
            writer.append_final(as_it_ended(row))

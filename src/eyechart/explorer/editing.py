"""Questions that a person corrects: shown with what others changed, and every change appended with its reason."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from eyechart.errors import UsageError
from eyechart.explorer.edits import Edit, apply_edit, check_edit, question_row
from eyechart.kinds import Benchmark
from eyechart.runs.execute import utc_now, writer_name
from eyechart.runs.files import LineWriter, read_records
from eyechart.runs.plan import Plan
from eyechart.schema import SCHEMA_VERSION, JsonObject, Picture, Question, encode_record


class Editing:
    """The questions of a benchmark with their changes.

    Args:
        plan: The questions under the view ``original``.
        benchmark: Where the pictures are.
        folder: Where changes are kept, one file a person and start.
        author: Who changes.
    """

    def __init__(self, plan: Plan, benchmark: Benchmark, folder: Path, author: str) -> None:
        self.benchmark, self.author = benchmark, author
        self._questions = {question.id: question for question in plan.questions}
        self._pictures = [(request.question_id, request.pictures[0]) for request in plan.requests]
        self._edits = read_edits(folder)
        self._lines = LineWriter(folder / f"{author}-{writer_name()}.jsonl")

    def picture(self, number: int) -> Picture:
        """Return the whole picture of a question by its number.

        Raises:
            UsageError: If there is no such question.
        """
        if not 0 <= number < len(self._pictures):
            raise UsageError(f"there is no question {number}", hint=f"questions are 0 to {len(self._pictures) - 1}")
        return self._pictures[number][1]

    def shown(self, number: int) -> JsonObject:
        """Return a question as it is now, and the changes that made it so.

        Raises:
            UsageError: If there is no such question.
        """
        self.picture(number)
        question = self._questions[self._pictures[number][0]]
        edits = [edit for edit in self._edits if edit.question_id == question.id]
        now = with_edits(question, edits)
        return {
            "number": number,
            "n_all": len(self._pictures),
            "author": self.author,
            "id": question.id,
            "text": now.text,
            "choices": list(now.choices),
            "answer": now.answer,
            "targets": [list(box) for box in now.targets],
            "edits": [{"author": edit.author, "reason": edit.reason, "at": edit.at} for edit in edits],
        }

    def save(self, edit: Edit) -> None:
        """Append a change in the name of this author.

        Raises:
            UsageError: If there is no such question, or the change cannot stand.
            StoreError: If it cannot be stored.
        """
        question = self._questions.get(edit.question_id)
        if question is None:
            raise UsageError(f"there is no question {edit.question_id!r}", hint="reload the page")
        signed = msgspec.structs.replace(
            edit,
            schema_version=SCHEMA_VERSION,  # whatever a page sends, what is stored can be read again
            author=self.author,
            at=utc_now().isoformat(timespec="seconds"),
        )
        before = [one for one in self._edits if one.question_id == question.id]
        check_edit(signed, with_edits(question, before))
        self._lines.append(encode_record(signed))
        self._edits.append(signed)

    def close(self) -> None:
        """Bring everything to the disk."""
        self._lines.close()


def read_edits(folder: Path) -> list[Edit]:
    """Return all changes of a folder, the oldest first.

    Raises:
        SchemaError: If a line is not a change.
    """
    files = sorted(folder.glob("*.jsonl"))
    edits = [edit for path in files for edit in read_records(path, Edit, may_be_torn=True)]
    return sorted(edits, key=lambda edit: edit.at)


def with_edits(question: Question, edits: Sequence[Edit]) -> Question:
    """Return a question as its changes leave it, in their order."""
    for edit in edits:
        if edit.question_id == question.id:
            question = apply_edit(edit, question)
    return question


def edited_rows(benchmark: Benchmark, edits: Sequence[Edit]) -> list[dict[str, object]]:
    """Return all questions as lines of a question file, with their changes."""
    return [
        question_row(with_edits(question, edits), str(benchmark.image_path(question.image)))
        for question in benchmark.questions()
    ]

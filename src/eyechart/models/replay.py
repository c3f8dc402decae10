"""Answers you already have: ``replay/FILE`` reads them from JSONL or CSV with the columns id, view and response."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from eyechart.errors import BadRequestError, RefusedInputError, UsageError
from eyechart.kinds import Ask, AskedIdentity, Model, ModelOptions, Reply
from eyechart.models._answer_file import AnswerKey, StoredAnswer, read_answer_file
from eyechart.models._chat_settings import recorded_settings
from eyechart.models._reasoning import join_reasoning, split_reasoning
from eyechart.schema import JsonObject, ModelIdentity, ResponseState
from eyechart.settings import read_settings

__all__ = ["ReplayKind"]


class ReplaySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of ``replay/…``.

    Args:
        view: View of the rows that name none, for files with one view each.
    """

    view: str | None = None


class ReplayKind:
    """Files of answers."""

    settings = ReplaySettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Read the file.

        Raises:
            UsageError: If it cannot be read, or a setting is wrong.
            SchemaError: If a row is malformed or contradicts another; the message names file and line.
        """
        settings = read_settings(ReplaySettings, options.settings, f"replay/{name}")
        if options.extra_body:
            raise UsageError("a file of answers takes no --extra-body", hint="leave it out")
        return ReplayModel(Path(name), settings, options.revision)


class ReplayModel:
    """A file of answers as a model. Its fingerprint is the SHA-256 of the file, and its name is without folders.

    A question that the file does not answer ends in a final error, like the file's own error rows: another file is
    another model.
    """

    reads: Literal["pixels", "identity"] = "identity"
    max_concurrency: int | None = None

    def __init__(self, path: Path, settings: ReplaySettings, revision: str | None = None) -> None:
        file = read_answer_file(path, settings.view)
        self._answers = file.answers
        # Spellings of one number in the file; several are several questions.
        spelled: dict[str, set[str]] = {}
        for key in file.answers:
            spelled.setdefault(_plain(key.question_id), set()).add(key.question_id)
        self._spelled = {name: next(iter(own)) for name, own in spelled.items() if len(own) == 1}
        self._twins: frozenset[str] = frozenset()
        self._path = path
        self.identity = ModelIdentity(
            provider="replay",
            name=path.name,
            revision=revision,
            fingerprint=file.sha256,
            settings=recorded_settings(settings, {}),
        )

    async def answer(self, ask: Ask) -> Reply:
        """Return the stored answer.

        Raises:
            RefusedInputError: If the file's row says that the picture was refused.
            BadRequestError: If the file's row is another error, or there is no row.
        """
        if ask.identity is None:
            raise BadRequestError("replay was not told which question is asked", hint="run it by eyechart run")
        found = self._find(ask.identity)
        place = f"{self._path.name}:{found.line}" if found else self._path.name
        if found is None:
            raise BadRequestError(
                f"{place} holds no answer to question {ask.identity.question_id} in view {ask.identity.view}",
                hint="add the row, or ask only the views and questions that the file answers",
            )
        if found.text is None:
            message = f"{place}: {found.error}"
            raise (RefusedInputError if found.state == ResponseState.REFUSED_INPUT else BadRequestError)(message)
        split = split_reasoning(found.text)
        return Reply(
            text=split.answer,
            reasoning=join_reasoning(found.reasoning, split.reasoning),
            finish="length" if split.is_cut_off and not split.answer else found.finish,
            is_refusal=found.state == ResponseState.REFUSAL,
            extra={"log": found.log} if found.log else {},
        )

    def told_options(self) -> Iterable[tuple[str, str, JsonObject]]:
        """Return place, question id and what its row tells of the options, for every answer."""
        for key, answer in self._answers.items():
            yield f"{self._path.name}:{answer.line}", key.question_id, answer.told or {}

    def unknown_rows(self, planned: Iterable[tuple[str, str]]) -> tuple[AnswerKey, ...]:
        """Return the rows of the file that belong to no planned (question id, view), in the file's order.

        They are answers that nobody would count: a misspelt view, another benchmark.
        """
        known = {(_plain(question_id), view) for question_id, view in planned}
        return tuple(key for key in self._answers if (_plain(key.question_id), key.view) not in known)

    def review_plan(self, planned: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Say which rows of the file answer nothing that is asked.

        Ids that are one number are told apart by their spelling from then on: "1" does not answer "01".
        """
        places = tuple(planned)
        spelled: dict[str, set[str]] = {}
        for question_id, _ in places:
            spelled.setdefault(_plain(question_id), set()).add(question_id)
        self._twins = frozenset(name for name, own in spelled.items() if len(own) > 1)
        unknown = self.unknown_rows(places)
        if not unknown:
            return ()
        first = unknown[0]
        where = f" in view {first.view}" if first.view else ""
        counts = f"{len(unknown)} of {len(self._answers)} answers in {self._path.name}"
        return (f"{counts} belong to nothing that is asked; the first is that of question {first.question_id}{where}",)

    async def close(self) -> None:
        """Nothing is held open."""

    def _find(self, asked: AskedIdentity) -> StoredAnswer | None:
        number = _plain(asked.question_id)
        other = asked.question_id if number in self._twins else self._spelled.get(number, asked.question_id)
        for question_id in dict.fromkeys((asked.question_id, other)):
            for view in dict.fromkeys((asked.condition, asked.view)):
                for repeat in (asked.repeat, None):
                    found = self._answers.get(AnswerKey(question_id, view, repeat))
                    if found is not None:
                        return found
        return None


def _plain(question_id: str) -> str:
    """Return a number without the leading zeros that spreadsheets drop, any other id as it is."""
    return str(int(question_id)) if question_id.isascii() and question_id.isdigit() else question_id

"""A benchmark of questions that were all read when it was opened: what the readers of published sources share."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from eyechart.benchmarks._boxes import BoxFormat
from eyechart.benchmarks._given_boxes import read_boxes, with_boxes
from eyechart.benchmarks._unread import refuse_if_none_can_be_read
from eyechart.errors import BenchmarkError, UsageError
from eyechart.images.hash import file_sha256
from eyechart.registry import unknown_name
from eyechart.schema import BenchmarkIdentity, ImageRef, JsonObject, Question, content_sha256


class SourceBenchmark:
    """Questions of a published source. ``warnings`` holds what the user should look at."""

    identity: BenchmarkIdentity
    warnings: tuple[str, ...]

    def __init__(
        self,
        identity: BenchmarkIdentity,
        questions: Sequence[Question],
        path_of: Callable[[ImageRef], Path],
        warnings: Sequence[str] = (),
    ) -> None:
        if not questions:
            raise BenchmarkError(f"{identity.name} holds no question", hint="check --data and the options that select")
        refuse_if_none_can_be_read([(f"{identity.name}/{question.id}", question.image) for question in questions])
        self.identity, self.warnings = identity, tuple(warnings)
        self._questions, self._path_of = tuple(questions), path_of
        self._shown = {question.image.file_sha256 for question in questions}

    def questions(self) -> Iterator[Question]:
        """Yield every question, in the order of the source."""
        return iter(self._questions)

    def image_path(self, image: ImageRef) -> Path:
        """Return where the bytes of a picture lie.

        Raises:
            BenchmarkError: If no question of this benchmark shows it.
        """
        if image.file_sha256 not in self._shown:
            raise BenchmarkError(
                f"no question shows a picture with SHA-256 {image.file_sha256[:12]}…",
                hint="was the data changed since the run was planned?",
            )
        return self._path_of(image)

    def released_views(self) -> tuple[str, ...]:
        """Return no view: all are made here."""
        return ()

    def released_image(self, question: Question, view_id: str) -> None:
        """Return None: all views are made here."""


def add_boxes(
    questions: tuple[Question, ...], boxes: str | None, convention: BoxFormat, revision: str
) -> tuple[tuple[Question, ...], tuple[str, ...], str]:
    """Return questions with the boxes of a file, warnings, and the revision with the file's hash in it.

    Without a file, a source that has no box at all says which views that rules out.

    Raises:
        BenchmarkError: If the file cannot be read or a box is impossible.
    """
    if boxes is not None:
        path = Path(boxes)
        boxed, warnings = with_boxes(questions, read_boxes(path), convention)
        return boxed, warnings, content_sha256([revision, file_sha256(path)[0]])
    if any(question.targets for question in questions):
        return questions, (), revision
    return questions, (NO_BOXES,), revision


NO_BOXES = (
    "this source has no target boxes: the views crop, whiteground, target_only and original_plus_crop are impossible "
    "without --boxes FILE; original, downsample, blank and no_image are possible"
)


def find_table(data: Path | None, name: str, suffixes: Sequence[str], file: str | None) -> Path:
    """Return the one file of a folder that has one of the suffixes, or the file itself.

    Raises:
        UsageError: If there is no data, no such file, or several.
    """
    if data is None or not data.exists():
        raise UsageError(f"{name} needs data, not {data}", hint=f"eyechart fetch {name}, then --data {name}")
    if data.is_file():
        return data
    found = sorted(
        path
        for path in data.rglob("*")
        if path.suffix.lower() in suffixes and path.is_file() and not _is_ours(path.relative_to(data))
    )
    if file is not None:
        named = [path for path in found if path.name == file]
        if not named:
            raise unknown_name(f"file in {data}", file, tuple(path.name for path in found))
        return named[0]
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise UsageError(
            f"{data} holds {len(found)} tables ({names})",
            hint=f"say which one, for example --option file={found[0].name}" if found else f"eyechart fetch {name}",
        )
    return found[0]


def _is_ours(path: Path) -> bool:
    """Return whether a path lies in a hidden folder or among unpacked pictures."""
    return any(part.startswith(".") or part.endswith(".images") for part in path.parts)


def recorded(options: JsonObject, paths: Sequence[str]) -> JsonObject:
    """Return options as they are recorded: where bytes lie is not part of which questions are asked."""
    return {name: value for name, value in options.items() if name not in paths}

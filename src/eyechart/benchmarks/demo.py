"""An eye test for the program itself: forty numbers to read on twenty pictures that are drawn on this machine."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import msgspec

from eyechart.benchmarks._cache import cache_folder
from eyechart.benchmarks._demo.draw import PHOTO
from eyechart.benchmarks._demo.folder import questions_of, write_question_file, write_scenes
from eyechart.benchmarks._demo.plan import plan_scenes
from eyechart.errors import BenchmarkError, UsageError
from eyechart.images.hash import file_sha256
from eyechart.kinds import AskDefaults
from eyechart.schema import BenchmarkIdentity, ImageRef, Question, content_sha256

__all__ = ["DemoKind"]

DEMO_VIEWS = (
    "original",
    "crop_3x",
    "crop_12x",
    "downsample_0_5",
    "downsample_0_25",
    "downsample_0_125",
    "downsample_0_0625",
    "blank",
)
"""The views that ``eyechart demo`` asks under: one curve of resolution, one of context, one control."""

# Raise it with any change of a pixel or a question.
_DRAWING_VERSION = 1


class DemoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may be varied.

    Args:
        seed: Decides places, words, numbers, options, colours and order.
    """

    seed: int = 0


class DemoBenchmark:
    """Signs from 4 to 100 px text height on cuts of one photograph, and printed pages; 40 questions, 20 pictures.

    The target of a question is the number alone, so its shorter side is the text height. Pictures are drawn when the
    questions are first asked for, and kept in ``folder``.
    """

    identity: BenchmarkIdentity
    defaults = AskDefaults(views=DEMO_VIEWS, prompt="letter_normalized", scorer="option_letter")

    def __init__(self, folder: Path | None, options: DemoOptions) -> None:
        self._scenes = plan_scenes(options.seed)
        revision = content_sha256([_DRAWING_VERSION, self._scenes, file_sha256(PHOTO)[0]])
        self.folder = folder or default_folder() / f"demo-{revision[:12]}"
        self.identity = BenchmarkIdentity(name="demo", revision=revision, options=msgspec.to_builtins(options))

    def questions(self) -> Iterator[Question]:
        """Yield every question, in the order of the pictures; the first call draws them.

        Raises:
            StoreError: If the pictures cannot be written.
        """
        return iter(self._questions)

    def image_path(self, image: ImageRef) -> Path:
        """Return where the bytes of a picture lie.

        Raises:
            BenchmarkError: If no question of this benchmark shows it.
        """
        for question in self._questions:
            if question.image.file_sha256 == image.file_sha256:
                return self.folder / f"{question.image_group}.jpg"
        raise BenchmarkError(
            f"no picture of the demo has SHA-256 {image.file_sha256[:12]}…", hint="was it drawn from another seed?"
        )

    def released_views(self) -> tuple[str, ...]:
        """Return no view: all are made here."""
        return ()

    def released_image(self, question: Question, view_id: str) -> None:
        """Return None: all views are made here."""

    @cached_property
    def _questions(self) -> tuple[Question, ...]:
        questions = questions_of(self._scenes, write_scenes(self._scenes, self.folder, self.identity.revision), "demo")
        write_question_file(questions, self.folder)
        return questions


class DemoKind:
    """40 questions about 20 pictures that are drawn on the spot; offline, and all their text is our own."""

    options = DemoOptions

    def open(self, data: Path | None, options: msgspec.Struct) -> DemoBenchmark:
        """Return the demo.

        Args:
            data: Folder for its pictures; the user's cache folder if None.
            options: A ``DemoOptions``.

        Raises:
            UsageError: If ``data`` is a file, the options are of another benchmark, or there is no home folder.
        """
        if not isinstance(options, DemoOptions):
            raise UsageError(f"{type(options).__name__} are not the options of demo", hint="pass DemoOptions")
        if data is not None and data.exists() and not data.is_dir():
            raise UsageError(f"{data} is not a folder", hint="--data names the folder that the demo draws into")
        return DemoBenchmark(data, options)


def default_folder() -> Path:
    """Return the user's cache folder for eyechart, ``~/.cache/eyechart``.

    Raises:
        UsageError: If this user has no home folder.
    """
    folder = cache_folder()
    if folder is None:
        raise UsageError("no home folder to draw into", hint="name a folder with --data")
    return folder

"""HRScene's WhiteBackground: one picture in every cell of a white grid, with a question about it."""

from pathlib import Path

import msgspec

from eyechart.benchmarks._grid_questions import GridBenchmark, stored_options, view_ids
from eyechart.benchmarks._needles import Needle, NeedleOptions, needle_source, read_needles
from eyechart.errors import UsageError
from eyechart.kinds import AskDefaults
from eyechart.schema import BenchmarkIdentity, Question, content_sha256

__all__ = ["WhiteBackgroundKind"]

_NAME = "whitebackground"


class WhiteBackgroundOptions(NeedleOptions, frozen=True, forbid_unknown_fields=True):
    """Which needles, on which grids.

    Args:
        question_column: Column of the question.
        answers_column: Column of the accepted answers: one text, or a list as from several people.
    """

    question_column: str = "question"
    answers_column: str = "answers"


class WhiteBackgroundKind:
    """The benchmark ``whitebackground``: does the place of a picture on a white canvas change the answer?"""

    options = WhiteBackgroundOptions

    def open(self, data: Path | None, options: msgspec.Struct) -> GridBenchmark:
        """Return the benchmark of a folder of needles.

        Args:
            data: The folder, or its question file; ``options.needles`` if None.
            options: A ``WhiteBackgroundOptions``.

        Raises:
            UsageError: If no needles are given, or the grid is no size.
            BenchmarkError: If a row breaks the contract; the message names file and line.
        """
        if not isinstance(options, WhiteBackgroundOptions):
            raise UsageError(f"{type(options).__name__} are no options of {_NAME}", hint="pass WhiteBackgroundOptions")
        source = needle_source(data, options, _NAME)
        grids = options.grids
        file = read_needles(source, options, options.question_column, options.answers_column)
        questions = tuple(_question(needle) for needle in file.needles)
        return GridBenchmark(
            BenchmarkIdentity(
                name=_NAME,
                revision=content_sha256([file.sha256, sorted(needle.image.file_sha256 for needle in file.needles)]),
                options=stored_options(options),
            ),
            questions,
            {needle.image.file_sha256: needle.path for needle in file.needles},
            defaults=AskDefaults(views=view_ids("white", grids), prompt="hrscene_clean", scorer="vqa_soft"),
            warnings=file.warnings,
        )


def _question(needle: Needle) -> Question:
    return Question(
        id=needle.id,
        benchmark=_NAME,
        text=needle.text,
        image=needle.image,
        image_group=needle.group,
        answers=needle.answers,
        extra=needle.extra,
    )

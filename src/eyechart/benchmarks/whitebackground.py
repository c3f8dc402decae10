"""HRScene's WhiteBackground: one picture in every cell of a white grid, with a question about it."""

from pathlib import Path

import msgspec

from eyechart.benchmarks._cell_names import view_ids
from eyechart.benchmarks._grid_questions import GridBenchmark, stored_options
from eyechart.benchmarks._hub_grids import HubGrids, find_hub_grids
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
        answers_column: Column of the accepted answers: one text, several separated by "|", or a list.
    """

    question_column: str = "question"
    answers_column: str = "answers"


class WhiteBackgroundKind:
    """The benchmark ``whitebackground``: does the place of a picture on a white canvas change the answer?"""

    options = WhiteBackgroundOptions

    def open(self, data: Path | None, options: msgspec.Struct) -> GridBenchmark | HubGrids:
        """Return the benchmark of a folder of needles, or of a copy of the hub's configs.

        Args:
            data: The folder, its question file, or a folder that holds ``whitebackground_5x5`` or the like;
                ``options.needles`` if None.
            options: A ``WhiteBackgroundOptions``.

        Raises:
            UsageError: If no needles are given, or the grid is not a size.
            BenchmarkError: If a row breaks the contract; the message names file and line.
        """
        if not isinstance(options, WhiteBackgroundOptions):
            raise UsageError(
                f"{type(options).__name__} are not the options of {_NAME}", hint="pass WhiteBackgroundOptions"
            )
        defaults = AskDefaults(views=view_ids("white", options.grids), prompt="hrscene_clean", scorer="vqa_soft")
        stored = find_hub_grids(data, _NAME, "white", options.grids, defaults)
        if stored is not None:
            return stored
        source = needle_source(data, options, _NAME)
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
            defaults=defaults,
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

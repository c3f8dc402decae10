"""What figures of a benchmark take from its data: one question per category, with a small copy of its picture."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from eyechart.figures._gallery import Example
from eyechart.images.decode import decode
from eyechart.images.giga import LargeImage
from eyechart.kinds import Benchmark
from eyechart.schema import Question, Size

if TYPE_CHECKING:
    from collections.abc import Iterable

_THUMBNAIL_PX = 480
# Larger pictures are shrunk as they are read, in bounded memory.
_DECODED_AT_ONCE_PX = 40_000_000


def choose_examples(questions: "Iterable[Question]", seed: int = 0) -> tuple[Question, ...]:
    """Return one question per category, or per dataset or benchmark where none is named, chosen at random by the seed.

    Example:
        >>> choose_examples([])
        ()
    """
    groups: dict[str, list[Question]] = {}
    for question in questions:
        groups.setdefault(category_of(question), []).append(question)
    rng = np.random.default_rng(seed)
    return tuple(own[int(rng.integers(len(own)))] for _, own in sorted(groups.items()))


def category_of(question: Question) -> str:
    """Return what a question is grouped by: its task, else its source, else its benchmark."""
    return question.task or question.source or question.benchmark


def load_example(benchmark: Benchmark, question: Question) -> Example:
    """Read the picture of a question and shrink it; pictures of any size need little memory.

    Raises:
        ImageError: If the picture cannot be read.
    """
    size = question.image.size
    return Example(
        category=category_of(question),
        question_id=question.id,
        text=question.text,
        choices=question.choices,
        size=(size.width, size.height),
        thumbnail=_thumbnail(benchmark.image_path(question.image), size),
    )


def _thumbnail(path: Path, size: Size) -> npt.NDArray[np.uint8]:
    scale = min(1.0, _THUMBNAIL_PX / max(size.width, size.height))
    small = Size(max(1, round(size.width * scale)), max(1, round(size.height * scale)))
    if size.n_px > _DECODED_AT_ONCE_PX:
        return np.asarray(LargeImage(path).downsample(small).pixels, dtype=np.uint8)
    from PIL import Image  # late, like every library of pictures here

    picture = Image.fromarray(decode(path).pixels)
    return np.asarray(picture.resize(small, Image.Resampling.LANCZOS), dtype=np.uint8)

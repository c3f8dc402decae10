"""How large the originals of a run are, dataset by dataset."""

from collections.abc import Sequence

import numpy as np

from eyechart.runs.cells import AskedQuestion
from eyechart.schema import PictureGroup

EVERYTHING = "all questions"


def group_pictures(questions: Sequence[AskedQuestion]) -> tuple[PictureGroup, ...]:
    """Return the sizes by source, or by task where no source is named; groups in the order of the questions.

    A picture counts once, however many questions are about it. Pictures of unknown size are left out.
    """
    known = [question for question in questions if question.image_px > 0]
    has_sources = any(question.source for question in known)
    groups: dict[tuple[str, str | None], list[AskedQuestion]] = {}
    for question in known:
        name = (question.source if has_sources else question.task) or EVERYTHING
        groups.setdefault((name, question.task if has_sources else None), []).append(question)
    return tuple(_group(name, category, own) for (name, category), own in groups.items())


def _group(name: str, category: str | None, questions: Sequence[AskedQuestion]) -> PictureGroup:
    sizes = np.array(list({question.image_group: question.image_px for question in questions}.values()), dtype=float)
    low, lower, middle, upper, high = (float(px) for px in np.quantile(sizes, [0.0, 0.25, 0.5, 0.75, 1.0]))
    return PictureGroup(
        source=name,
        category=category,
        n_questions=len(questions),
        n_pictures=len(sizes),
        quartiles_px=(low, lower, middle, upper, high),
        mean_px=float(sizes.mean()),
    )

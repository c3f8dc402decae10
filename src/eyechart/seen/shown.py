"""The pictures that a plan shows, apart from who is asked about them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from eyechart.schema import Picture, Request


class ShownPicture(NamedTuple):
    """One picture of one question under one view."""

    question_id: str
    view: str
    picture: Picture
    n_pictures: int = 1


def shown_pictures(question_id: str, view: str, pictures: Sequence[Picture]) -> Iterator[ShownPicture]:
    """Yield the pictures of one request; the second is named ``view#2``."""
    for index, picture in enumerate(pictures):
        yield ShownPicture(question_id, view if index == 0 else f"{view}#{index + 1}", picture, len(pictures))


def pictures_of(requests: Iterable[Request]) -> Iterator[ShownPicture]:
    """Yield the pictures of planned requests; of repeats only the first."""
    for request in requests:
        if not request.repeat:
            yield from shown_pictures(request.question_id, request.view, request.pictures)

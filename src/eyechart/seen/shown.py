"""The pictures that a plan shows, apart from who is asked about them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from eyechart.schema import Picture, Request, Size


class ShownPicture(NamedTuple):
    """One picture of one question under one view.

    ``place`` is its index among the ``n_pictures`` of its request, and ``together`` are the sizes of all of them: some
    models show several pictures smaller than one alone.
    """

    question_id: str
    view: str
    picture: Picture
    n_pictures: int = 1
    place: int = 0
    together: tuple[Size, ...] = ()

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Sizes of all pictures of its request, in order."""
        return self.together or (self.picture.size,)


def shown_pictures(question_id: str, view: str, pictures: Sequence[Picture]) -> Iterator[ShownPicture]:
    """Yield the pictures of one request; the second is named ``view#2``."""
    sizes = tuple(picture.size for picture in pictures)
    for index, picture in enumerate(pictures):
        name = view if index == 0 else f"{view}#{index + 1}"
        yield ShownPicture(question_id, name, picture, len(pictures), index, sizes)


def pictures_of(requests: Iterable[Request]) -> Iterator[ShownPicture]:
    """Yield the pictures of planned requests; of repeats only the first."""
    for request in requests:
        if not request.repeat:
            yield from shown_pictures(request.question_id, request.view, request.pictures)

"""What the model sees of each picture, on the way from the original's pixels to its vision encoder."""

from collections.abc import Callable, Iterable, Iterator

from eyechart.kinds import ObservedPicture
from eyechart.runs.plan import upright_size
from eyechart.schema import GridComposition, Picture, Request, Seen, Size

Predictor = Callable[[Size], ObservedPicture | None]
"""Says beforehand what a model will see of a picture of a given size, None if it cannot tell."""

UNREPORTED = "the model does not say what it sees"


def planned_seen(requests: Iterable[Request], predict: Predictor | None) -> Iterator[Seen]:
    """Yield what is expected to be seen of every picture of every request.

    Args:
        requests: The requests.
        predict: What the model will do to a picture; None if nobody knows, which yields nothing.
    """
    if predict is None:
        return
    known: dict[Size, ObservedPicture | None] = {}
    for request in requests:
        for index, picture in enumerate(request.pictures):
            if picture.size not in known:
                known[picture.size] = predict(picture.size)
            predicted = known[picture.size]
            if predicted is not None:
                yield _seen(request.id, index, picture, predicted, phase_is_planned=True)


def observed_seen(
    request: Request, observed: tuple[ObservedPicture, ...], sent: tuple[tuple[int | None, str | None], ...]
) -> Iterator[Seen]:
    """Yield what was seen of every picture of one request.

    Args:
        request: The request.
        observed: What the model said about its pictures, in order; shorter where it said nothing.
        sent: Length in bytes and media type of every picture as it left, None where it was handed over as pixels.
    """
    for index, picture in enumerate(request.pictures):
        told = observed[index] if index < len(observed) else None
        yield _seen(request.id, index, picture, told, sent[index])


def _seen(
    request_id: str,
    index: int,
    picture: Picture,
    told: ObservedPicture | None,
    sent: tuple[int | None, str | None] = (None, None),
    *,
    phase_is_planned: bool = False,
) -> Seen:
    chain = _Chain(picture, told.seen_size if told else None)
    return Seen(
        request_id=request_id,
        picture_index=index,
        phase="planned" if phase_is_planned else "observed",
        evidence=told.evidence if told else "unknown",
        source_size=upright_size(picture.image, picture.recipe.decode),
        sent_size=picture.size,
        sent_bytes=sent[0],
        sent_media_type=sent[1],
        seen_size=told.seen_size if told else None,
        n_tiles=told.n_tiles if told else None,
        visual_tokens=told.visual_tokens if told else None,
        information_scale=chain.information,
        presented_scale=chain.presented,
        target_px=chain.target_px,
        anisotropy=None if chain.presented is None else chain.presented[0] / chain.presented[1],
        rule_id=told.rule_id if told else None,
        configuration_sha256=told.configuration_sha256 if told else None,
        reason=None if told and told.seen_size else UNREPORTED,
    )


class _Chain:
    """Scales per axis along original → sent → seen, relative to the original's pixels."""

    def __init__(self, picture: Picture, seen_size: Size | None) -> None:
        self.presented: tuple[float, float] | None = None
        self.information: tuple[float, float] | None = None
        self.target_px: tuple[float, float] | None = None
        if seen_size is None:
            return
        sent_scale = _sent_scale(picture)
        presented = (
            sent_scale[0] * seen_size.width / picture.size.width,
            sent_scale[1] * seen_size.height / picture.size.height,
        )
        # Detail lost on the way does not come back when a picture is enlarged later.
        information = (min(1.0, sent_scale[0], presented[0]), min(1.0, sent_scale[1], presented[1]))
        self.presented, self.information = presented, information
        if picture.target is not None:
            self.target_px = (
                picture.target.width / sent_scale[0] * information[0],
                picture.target.height / sent_scale[1] * information[1],
            )


def _sent_scale(picture: Picture) -> tuple[float, float]:
    geometry = picture.recipe.geometry
    if isinstance(geometry, GridComposition):
        original = upright_size(picture.image, picture.recipe.decode)
        return (geometry.tile.width / original.width, geometry.tile.height / original.height)
    if geometry.resized is None:
        return (1.0, 1.0)
    return (geometry.resized.width / geometry.canvas.width, geometry.resized.height / geometry.canvas.height)

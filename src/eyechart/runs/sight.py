"""What the model sees of each picture, on the way from the original's pixels to its vision encoder."""

from collections.abc import Callable, Iterable, Iterator

from eyechart.kinds import ObservedPicture
from eyechart.schema import Picture, Request, Seen, Size
from eyechart.seen.ledger import chain_of, source_size, target_on_grid

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
    chain = chain_of(picture, (told.seen_size,)) if told and told.seen_size else None
    target = target_on_grid(picture, chain, None) if chain else None
    return Seen(
        request_id=request_id,
        picture_index=index,
        phase="planned" if phase_is_planned else "observed",
        evidence=told.evidence if told else "unknown",
        source_size=source_size(picture),
        sent_size=picture.size,
        sent_bytes=sent[0],
        sent_media_type=sent[1],
        seen_size=told.seen_size if told else None,
        n_tiles=told.n_tiles if told else None,
        visual_tokens=told.visual_tokens if told else None,
        information_scale=chain.information if chain else None,
        presented_scale=chain.presented if chain else None,
        target_px=target.px if target else None,
        anisotropy=chain.presented[0] / chain.presented[1] if chain else None,
        rule_id=told.rule_id if told else None,
        configuration_sha256=told.configuration_sha256 if told else None,
        reason=None if told and told.seen_size else UNREPORTED,
    )

"""What the model sees of each picture, on the way from the original's pixels to its vision encoder."""

from collections.abc import Callable, Iterable, Iterator

import msgspec

from eyechart.kinds import ObservedPicture
from eyechart.schema import Picture, Request, Seen, Size
from eyechart.seen.algorithms import Resized
from eyechart.seen.ledger import seen_as

Predictor = Callable[[Size], ObservedPicture | None]
"""Says beforehand what a model will see of a picture of a given size, None if it cannot tell."""

UNREPORTED = "the model does not say what it sees"
TOKENS_ALONE = "the reply tells tokens, but no size"


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
    known = Resized(unseen=UNREPORTED) if told is None else _resized(told, picture.size)
    planned = seen_as(request_id, index, picture, known, unseen=UNREPORTED)
    told_by = {} if told is None else {"rule_id": told.rule_id, "configuration_sha256": told.configuration_sha256}
    if phase_is_planned:
        return msgspec.structs.replace(planned, evidence=told.evidence if told else "unknown", **told_by)
    return msgspec.structs.replace(
        planned,
        phase="observed",
        evidence=told.evidence if told else "unknown",
        sent_bytes=sent[0],
        sent_media_type=sent[1],
        **told_by,
    )


def _resized(told: ObservedPicture, sent: Size) -> Resized:
    stages = told.stages or (() if told.seen_size is None else (told.seen_size,))
    unseen = "" if stages else UNREPORTED if told.visual_tokens is None else TOKENS_ALONE
    return Resized(stages, told.visual_tokens, told.n_tiles, told.cell_px, sent=sent, kept=told.kept, unseen=unseen)

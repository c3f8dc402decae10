"""What is known before anything is sent of what a model will see: by its own word, or by a published rule."""

import datetime
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eyechart.errors import BadRequestError, ModelError, UsageError
from eyechart.kinds import Model, PredictsSeen
from eyechart.runs.sight import Predictor, planned_seen
from eyechart.runs.unreadable import fault_of
from eyechart.schema import ModelIdentity, Request, Seen, Size
from eyechart.seen.ledger import planned_ledger
from eyechart.seen.rules import Lookup, Rule, TellsRule, look_up
from eyechart.seen.transport import FitSize, fit_of, no_grid, parse_transport

_MOST_STEPS = 8


class Foresight(NamedTuple):
    """Where the planned ledger of a run comes from.

    Args:
        model: ``provider/name``.
        predict: The model's own prediction; None if it makes none.
        lookup: The rule of a hosted model, or why there is none; None for a model that looks at no picture.
    """

    model: str
    predict: Predictor | None
    lookup: Lookup | None

    @property
    def is_known(self) -> bool:
        """Whether sizes can be told before anything is sent."""
        return self.predict is not None or (self.lookup is not None and self.lookup.rule is not None)

    def ledger(self, requests: Sequence[Request]) -> Iterator[Seen]:
        """Yield what is expected to be seen of every picture of every request that can be sent."""
        requests = [request for request in requests if fault_of(request.pictures) is None]
        if self.predict is not None:
            return planned_seen(requests, self.predict)
        return iter(()) if self.lookup is None else planned_ledger(requests, self.lookup)


def foresee(model: Model, identity: ModelIdentity, own_rules: Sequence[Rule] = ()) -> Foresight:
    """Return what is known of a model: its own prediction before a rule, and nothing for models that do not look.

    Args:
        model: The model.
        identity: Its identity, as recorded with the run.
        own_rules: The user's rules, which come before the bundled ones.
    """
    predict = model.predict_seen if isinstance(model, PredictsSeen) else None
    lookup = look_up(identity, own_rules) if predict is None and model.reads == "pixels" else None
    return Foresight(identity.spec, predict, lookup)


class Told(NamedTuple):
    """What a model tells by itself of pictures, and why it does not where it should."""

    rule: Rule | None = None
    reason: str = ""


async def told_rule(model: Model, today: datetime.date) -> Told:
    """Let a model tell what becomes of pictures, by its processor here or by its server.

    Args:
        model: The model; what it loads for this is kept for its answers.
        today: The day.

    Raises:
        UsageError: If it has no processor.
        BadRequestError: If its address is wrong, such as one that is redirected.
    """
    if not isinstance(model, TellsRule):
        return Told()
    try:
        rule = await model.seen_rule(today)
    except ModelError as error:
        if isinstance(error, BadRequestError) and error.parameter in {"base_url", "proxy"}:
            raise  # what stands between would strike every question as well
        return Told(reason=f"{model.identity.spec} cannot be asked what it sees: {error.message}")
    if rule is None:
        return Told(reason=f"{model.identity.spec} does not tell what it does to pictures")
    return Told(rule)


def fit_for(transport: str, ahead: Foresight) -> FitSize | None:
    """Return how pictures are fitted, None where the transport policy does not fit.

    Raises:
        UsageError: If the policy is unknown, or the model's grid is not known.
    """
    if parse_transport(transport).kind != "fit":
        return None
    if ahead.predict is not None:
        return _fit_by_prediction(ahead.predict, ahead.model)
    if ahead.lookup is None:
        raise UsageError(
            f"{ahead.model} looks at no picture, so there is no grid to fit", hint="leave --transport fit out"
        )
    return fit_of(ahead.lookup, ahead.model)


def _fit_by_prediction(predict: Predictor, model: str) -> FitSize:
    """Return the size at which a model's own processor leaves a picture as it is, or nearly so."""

    def fit(size: Size, n_pictures: int) -> Size:  # noqa: ARG001 -- a processor does not count pictures
        for _ in range(_MOST_STEPS):
            predicted = predict(size)
            if predicted is None or predicted.seen_size is None:
                raise no_grid(f"{model} cannot tell what it makes of {size.width}×{size.height} px")
            if predicted.seen_size == size:
                break
            size = predicted.seen_size
        return size

    return fit

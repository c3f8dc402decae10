"""Matched designs: the same size of target, or as many tokens on it, under every view of a question."""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from eyechart.errors import UsageError
from eyechart.kinds import PlannedPicture
from eyechart.runs.foresight import Foresight
from eyechart.runs.showing import Shower, Shown
from eyechart.schema import (
    MatchedCondition,
    Matching,
    Original,
    Picture,
    Question,
    Size,
    Unmatched,
    Value,
    View,
)
from eyechart.seen.ledger import COLLAPSE_LOG_RATIO, chain_of, refusals, target_on_grid
from eyechart.seen.rules import Rule
from eyechart.views import format_view

_NAMES = {"target-px": "px", "tokens": "tokens"}
_SCALABLE = frozenset({"original", "crop", "whiteground", "target_only"})
_BLIND = frozenset({"blank", "no_image"})
_ALMOST = 1e-9


class Reached(NamedTuple):
    """What of its target a model sees in a picture.

    Args:
        px: Shorter side in pixels by what detail is left, None where it will be refused or is not known.
        tokens: Area of the target in tokens, None where tokens are not a grid.
        cell_px: Side of a token on the model's grid, None likewise.
        reason: Why ``px`` is None.
    """

    px: float | None
    tokens: float | None = None
    cell_px: int | None = None
    reason: str = ""


Gauge = Callable[[Picture], Reached]
"""Says what a model will see of a picture's target."""


class MatchDesign(Value, frozen=True):
    """What is held constant, and at which levels.

    Args:
        quantity: ``target-px``, the shorter side of the target in pixels the model sees, or ``tokens`` on the target.
        levels: The levels, each asked under every view; without any, each question gets the largest level that all
            its views reach.
    """

    quantity: Literal["target-px", "tokens"]
    levels: tuple[float, ...] = ()

    @property
    def id(self) -> str:
        """The text it is read from.

        Example:
            >>> MatchDesign("target-px", (8.0, 32.0)).id, MatchDesign("tokens").id
            ('target-px=8,32', 'tokens')
        """
        return f"{self.quantity}={','.join(f'{level:g}' for level in self.levels)}" if self.levels else self.quantity

    @property
    def tolerance(self) -> float:
        """Largest |ln| of reached over wanted: that of two pictures which are one to the model, twice for an area."""
        return COLLAPSE_LOG_RATIO * (1 if self.quantity == "target-px" else 2)

    def condition(self, level: float | None, view: View) -> str:
        """Return the name of a condition; the whole picture has no name of its own.

        Example:
            >>> from eyechart.schema import Crop
            >>> design = MatchDesign("target-px", (32.0,))
            >>> design.condition(32.0, Original()), design.condition(0.5, Crop(3))
            ('match_px_32', 'match_px_0_5_crop_3x')
        """
        parts = ["match", _NAMES[self.quantity]]
        if level is not None:
            parts.append(f"{level:g}".replace(".", "_"))
        return "_".join(parts if isinstance(view, Original) else [*parts, format_view(view)])

    def conditions(self, views: Sequence[View]) -> dict[str, str]:
        """Return condition → view id of every condition, in the order of views and levels; blind views keep their name.

        Raises:
            UsageError: If a view cannot be scaled, or none shows a target.

        Example:
            >>> MatchDesign("target-px", (8.0, 32.0)).conditions([Original()])
            {'match_px_8': 'original', 'match_px_32': 'original'}
        """
        _check_views(views)
        levels: tuple[float | None, ...] = self.levels or (None,)
        blind = {format_view(view): format_view(view) for view in views if view.family in _BLIND}
        seen = [view for view in views if view.family not in _BLIND]
        return {self.condition(level, view): format_view(view) for view in seen for level in levels} | blind


def _check_views(views: Sequence[View]) -> None:
    wrong = next((view for view in views if view.family not in _SCALABLE | _BLIND), None)
    if wrong is not None:
        raise UsageError(
            f"view {format_view(wrong)} cannot be matched",
            hint="a matched design chooses the scale itself: name original, crops, white grounds or targets alone",
        )
    if all(view.family in _BLIND for view in views):
        raise UsageError("no view shows a target to match", hint="name original, crops, white grounds or targets alone")


def parse_match(text: str) -> MatchDesign:
    """Return the design that a text names: ``target-px``, ``tokens``, each with ``=LEVEL,LEVEL`` if wanted.

    Raises:
        UsageError: If it names none, or a level is not a positive number or stands twice.

    Example:
        >>> parse_match("target-px=8,32").levels
        (8.0, 32.0)
    """
    quantity, separator, rest = text.partition("=")
    try:
        levels = tuple(float(level) for level in rest.split(",")) if separator else ()
    except ValueError:
        levels = (math.nan,)
    is_good = all(0 < level < math.inf for level in levels) and len(set(levels)) == len(levels)
    if quantity == "target-px" and is_good:
        return MatchDesign("target-px", levels)
    if quantity == "tokens" and is_good:
        return MatchDesign("tokens", levels)
    raise UsageError(
        f"--match {text!r} is not a matched design", hint="target-px or tokens, or levels such as target-px=8,16,32"
    )


def gauge_for(ahead: Foresight) -> Gauge:
    """Return what tells the size of targets on a model's grid before anything is sent.

    Raises:
        UsageError: If what the model sees is not known.
    """
    predict, rule = ahead.predict, ahead.lookup.rule if ahead.lookup else None
    if predict is not None:

        def by_prediction(picture: Picture) -> Reached:
            predicted = predict(picture.size)
            if predicted is None or predicted.seen_size is None:
                return Reached(None, reason="the model cannot tell what it will see")
            return _reached(picture, (predicted.seen_size,), None)

        return by_prediction
    if rule is None:
        reason = ahead.lookup.reason if ahead.lookup else "it looks at no picture"
        raise UsageError(
            f"targets of {ahead.model} cannot be matched: {reason}", hint="give the model's rule with --rules FILE"
        )
    return lambda picture: _reached_by_rule(picture, rule)


def _reached_by_rule(picture: Picture, rule: Rule) -> Reached:
    refused = refusals(rule.limits, picture.size)
    if refused:
        return Reached(None, reason=f"refused: {refused[0]}")
    resized = rule.apply(picture.size)
    if resized.refused:
        return Reached(None, reason=f"refused: {resized.refused}")
    if not resized.stages:
        return Reached(None, reason=f"rule {rule.id} tells no sizes")
    return _reached(picture, resized.stages, resized.cell_px)


def _reached(picture: Picture, stages: Sequence[Size], cell_px: int | None) -> Reached:
    target = target_on_grid(picture, chain_of(picture, stages), cell_px)
    if target is None:
        return Reached(None, reason="the question has no target")
    return Reached(min(target.px), target.tokens, cell_px)


class Matcher:
    """Chooses for every question at which size each view leaves, and keeps what proves that it matched.

    Args:
        shower: Makes the pictures, under the transport policy of the run.
        views: Views to match: the whole picture, crops, white grounds, targets alone. Those that show nothing of the
            picture are asked as they are.
        design: What is held constant.
        gauge: What the model will see.

    Raises:
        UsageError: If a view cannot be scaled.
    """

    def __init__(self, shower: Shower, views: Sequence[View], design: MatchDesign, gauge: Gauge) -> None:
        _check_views(views)
        self._shower, self._design, self._gauge = shower, design, gauge
        self._views = tuple(view for view in views if view.family in _SCALABLE)
        self._blind = tuple(view for view in views if view.family in _BLIND)
        self._reached: dict[str, list[tuple[float, float]]] = {}
        self._unmatched: list[Unmatched] = []

    @property
    def conditions(self) -> tuple[str, ...]:
        """The names of all conditions, in the order of views and levels."""
        return tuple(self._design.conditions((*self._views, *self._blind)))

    def match(self, question: Question) -> tuple[Shown, ...]:
        """Return the pictures of a question under every condition, none if one of them cannot be matched."""
        if question.image.fault is not None:
            first = format_view((*self._views, *self._blind)[0])
            self._unmatched.append(Unmatched(question.id, first, question.image.fault))
            return ()
        try:
            found = list(self._matched(question))
        except _NoMatchError as error:
            self._unmatched.append(Unmatched(question.id, error.view, error.reason))
            return ()
        for shown, value, level in found:
            self._reached.setdefault(shown.condition, []).append((value, level))
        return (*(shown for shown, _, _ in found), *(self._unscaled(question, view) for view in self._blind))

    def proof(self) -> Matching:
        """Return what every condition reached, and which questions could not be matched."""
        return Matching(
            design=self._design.id,
            conditions=tuple(
                _condition(name, reached) for name in self.conditions if (reached := self._reached.get(name))
            ),
            unmatched=tuple(self._unmatched),
            tolerance=self._design.tolerance,
        )

    def _matched(self, question: Question) -> Iterator[tuple[Shown, float, float]]:
        planned = {view: self._planned(question, view) for view in self._views}
        levels: dict[float | None, float] = {level: level for level in self._design.levels}
        levels = levels or {None: self._common_level(question, planned)}
        for view, picture in planned.items():
            for name, level in levels.items():
                shown = self._shown_at(question, view, picture, level, self._design.condition(name, view))
                yield shown, self._check(shown, format_view(view), level), level

    def _planned(self, question: Question, view: View) -> PlannedPicture:
        (picture,) = self._shower.plan(question, view)
        if picture.target is None:
            raise _NoMatchError(format_view(view), "the question has no target")
        return picture

    def _unscaled(self, question: Question, view: View) -> Shown:
        """Return a view that shows nothing of the picture, as it is."""
        view_id = format_view(view)
        for planned in self._shower.plan(question, view):
            return self._shower.show(question, view_id, view_id, planned)
        return Shown(view_id, view_id, (), ())

    def _common_level(self, question: Question, planned: dict[View, PlannedPicture]) -> float:
        """Return the largest level that every view of a question reaches."""
        reached = []
        for view, picture in planned.items():
            shown = self._shower.show(question, format_view(view), format_view(view), picture)
            reached.append(self._value(shown, format_view(view)))
        return min(reached)

    def _shown_at(self, question: Question, view: View, planned: PlannedPicture, level: float, condition: str) -> Shown:
        """Return a view at the scale at which its target has a level; as it is where the model shrinks it to that."""
        view_id = format_view(view)
        whole = self._shower.show(question, condition, view_id, planned)
        reached = self._gauge(_picture(whole))
        value = self._of(reached)
        if value is not None and abs(math.log(value / level)) < _ALMOST:
            return whole
        scale = self._scale(planned, level, reached, view_id)
        size = planned.geometry.size
        wanted = Size(max(1, round(size.width * scale)), max(1, round(size.height * scale)))
        return self._shower.show(question, condition, view_id, planned, wanted)

    def _scale(self, planned: PlannedPicture, level: float, reached: Reached, view_id: str) -> float:
        """Return the scale of a view's pixels that gives a level, at most 1: nothing is enlarged to match."""
        target = planned.target
        assert target is not None  # noqa: S101 -- _planned refused it
        if self._design.quantity == "target-px":
            scale, unit = level / min(target.width, target.height), "px"
        else:
            if reached.cell_px is None:
                reason = reached.reason or "its tokens are not a grid"
                raise _NoMatchError(view_id, reason)
            scale, unit = reached.cell_px * math.sqrt(level / target.area), "tokens"
        if math.log(scale) > COLLAPSE_LOG_RATIO:
            most = min(target.width, target.height) if unit == "px" else target.area / (reached.cell_px or 1) ** 2
            raise _NoMatchError(view_id, f"the target has only {most:.3g} {unit}, not {level:.3g}")
        return min(1.0, scale)

    def _check(self, shown: Shown, view_id: str, level: float) -> float:
        """Return what a condition reaches, refusing what lies off its level."""
        value = self._value(shown, view_id)
        if abs(math.log(value / level)) > self._design.tolerance + _ALMOST:
            unit = _NAMES[self._design.quantity]
            raise _NoMatchError(view_id, f"the model makes {value:.3g} {unit} of {level:.3g}")
        return value

    def _value(self, shown: Shown, view_id: str) -> float:
        reached = self._gauge(_picture(shown))
        value = self._of(reached)
        if value is None:
            raise _NoMatchError(view_id, reached.reason or "the model's tokens are not a grid")
        return value

    def _of(self, reached: Reached) -> float | None:
        return reached.px if self._design.quantity == "target-px" else reached.tokens


def _condition(name: str, reached: Sequence[tuple[float, float]]) -> MatchedCondition:
    values = [value for value, _ in reached]
    return MatchedCondition(
        condition=name,
        n_questions=len(values),
        smallest=min(values),
        median=statistics.median(values),
        largest=max(values),
        largest_error=max(abs(value / level - 1) for value, level in reached),
    )


class _NoMatchError(Exception):
    """A view of a question that cannot be matched."""

    def __init__(self, view: str, reason: str) -> None:
        super().__init__(reason)
        self.view, self.reason = view, reason


def _picture(shown: Shown) -> Picture:
    assert shown.pictures is not None  # noqa: S101 -- matched pictures are always built
    return shown.pictures[0]

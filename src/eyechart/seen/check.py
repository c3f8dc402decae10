"""What hosted models will see of a benchmark's views before anything is sent: geometry only, no pixel read."""

import datetime
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from eyechart.schema import ModelIdentity, Picture, Request, Seen, Size, Value
from eyechart.seen.ledger import Scale, cut_of, have_collapsed, refusals, seen_by_rule, sent_scale
from eyechart.seen.rules import Lookup, Rule, look_up, warnings_of

# Near, but not one picture: nominal scales at least 2 apart, what is left of them less than 1.25 apart.
NEAR_NOMINAL_RATIO, NEAR_SEEN_RATIO = 2.0, 1.25
_ENLARGED = 1.01  # grid rounding alone is no enlargement

FOUR_FAMILIES = (
    ModelIdentity("openai", "gpt-5.4", settings={"detail": "high"}),
    ModelIdentity("anthropic", "claude-sonnet-4-5"),
    ModelIdentity("google", "gemini-2.5-pro", settings={"media_resolution": "high"}),
    ModelIdentity("dashscope", "qwen3-vl-plus"),
)
"""One model each of four hosted families, for whoever names none."""


class ShownPicture(NamedTuple):
    """One picture of one question under one view."""

    question_id: str
    view: str
    picture: Picture
    n_pictures: int = 1


class ViewCheck(Value, frozen=True, kw_only=True):
    """One view to one model. Medians and quartiles are over questions; None where no rule is known.

    Args:
        view: The view's id; with ``#2`` for the second picture of a request.
        n: Pictures, one a question.
        sent_size: Median size as sent, per side.
        seen_size: Median size on the model's grid, per side, without the refused.
        tokens: Median tokens, without the refused.
        total_tokens: Tokens of all pictures.
        target_px: Quartiles of the shorter side of the effective target, in pixels.
        target_tokens: Median of the fewest and of the most tokens that the target touches.
        refused: Reason without its numbers → pictures.
        n_enlarged: Pictures that the model enlarges.
        same_as: Other view → questions for which both are one picture to the model.
        near_to: Other view → questions for which both are nearly one, though sent at twice the scale.
    """

    view: str
    n: int
    sent_size: Size
    seen_size: Size | None = None
    tokens: float | None = None
    total_tokens: int | None = None
    target_px: tuple[float, float, float] | None = None
    target_tokens: Scale | None = None
    refused: dict[str, int]
    n_enlarged: int = 0
    same_as: dict[str, int]
    near_to: dict[str, int]


class ModelCheck(Value, frozen=True, kw_only=True):
    """All views to one model.

    Args:
        model: ``provider/name``.
        settings: The settings that the rule depends on.
        rule_id: The rule, None where none is known.
        rule_date: When it was read from its source.
        source: Where it is published.
        evidence: ``documented``, ``inferred`` or ``unknown``.
        reason: Why no rule is known.
        views: In the order they were first shown.
        groups: Views that are one picture to the model for every question, each group in order; singles left out.
        warnings: What to know before trusting the rule.
    """

    model: str
    settings: dict[str, str]
    rule_id: str | None
    rule_date: str | None
    source: str | None
    evidence: str
    reason: str
    views: tuple[ViewCheck, ...]
    groups: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...]

    @property
    def n_distinct(self) -> int | None:
        """How many different pictures the views are to the model, None where no rule is known."""
        return None if self.rule_id is None else len(self.views) - sum(len(group) - 1 for group in self.groups)


class SeenTable(Value, frozen=True):
    """What some models will see, as of a day."""

    models: tuple[ModelCheck, ...]
    n_questions: int
    as_of: str


def shown_pictures(requests: Iterable[Request]) -> Iterator[ShownPicture]:
    """Yield the pictures of planned requests; of repeats only the first."""
    for request in requests:
        if request.repeat:
            continue
        for index, picture in enumerate(request.pictures):
            view = request.view if index == 0 else f"{request.view}#{index + 1}"
            yield ShownPicture(request.question_id, view, picture, len(request.pictures))


def check_pictures(
    shown: Iterable[ShownPicture],
    models: Sequence[ModelIdentity] = FOUR_FAMILIES,
    *,
    today: datetime.date,
    own_rules: Sequence[Rule] = (),
) -> SeenTable:
    """Work out what models will see of every picture.

    Args:
        shown: The pictures, for example ``shown_pictures(plan.requests)``.
        models: The models, with the settings they will be asked under.
        today: For the age of rules.
        own_rules: The user's rules, which come before the bundled ones.
    """
    pictures = tuple(shown)
    checks = tuple(_check_model(pictures, model, look_up(model, own_rules), today) for model in models)
    return SeenTable(checks, len({picture.question_id for picture in pictures}), today.isoformat())


def sentences(table: SeenTable) -> tuple[str, ...]:
    """Return one sentence per model: which views are one picture to it, by which rule of which day.

    Example:
        >>> sentences(check_pictures((), [ModelIdentity("openai", "gpt-9")], today=datetime.date(2026, 11, 30)))
        ('openai/gpt-9: unknown (no rule is known for openai/gpt-9)',)
    """
    return tuple(f"{model.model}: {_sentence(model)}" for model in table.models)


def _sentence(model: ModelCheck) -> str:
    if model.rule_id is None:
        return f"unknown ({model.reason})"
    said = [f"{', '.join(group[:-1])} and {group[-1]} are one picture" for group in model.groups]
    refused = [view.view for view in model.views if view.refused]
    if refused:
        said.append(f"refused for some or all questions: {', '.join(refused)}")
    facts = "; ".join(said) or "every view is a picture of its own"
    return f"{facts} ({model.evidence} rule {model.rule_id}, {model.rule_date})"


class _Row(NamedTuple):
    shown: ShownPicture
    seen: Seen | None
    refused: tuple[str, ...]


def _check_model(
    pictures: Sequence[ShownPicture], model: ModelIdentity, lookup: Lookup, today: datetime.date
) -> ModelCheck:
    rule = lookup.rule
    rows = _rows(pictures, rule)
    by_view: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        by_view[row.shown.view].append(row)
    same, near = _joined_views(rows)
    shared = _shared_questions(pictures)
    whole = {pair for pair, n in same.items() if n == shared[pair]}
    names = {name for names in (rule.when, rule.overrides.values()) for name in names} if rule else set()
    return ModelCheck(
        model=model.spec,
        settings={name: str(model.settings[name]) for name in sorted(names) if name in model.settings},
        rule_id=rule.id if rule else None,
        rule_date=rule.date.isoformat() if rule else None,
        source=rule.source if rule else None,
        evidence=rule.evidence if rule else "unknown",
        reason=lookup.reason,
        views=tuple(_check_view(view, own, same, near) for view, own in by_view.items()),
        groups=_groups(tuple(by_view), whole),
        warnings=warnings_of(rule, model.settings, today) if rule else (),
    )


def _rows(pictures: Sequence[ShownPicture], rule: Rule | None) -> list[_Row]:
    if rule is None:
        return [_Row(shown, None, ()) for shown in pictures]
    resize = lru_cache(maxsize=None)(rule.apply)
    rows = []
    for shown in pictures:
        picture = shown.picture
        n_bytes, media_type = _file_as_sent(picture)
        refused = refusals(rule.limits, picture.size, n_bytes=n_bytes, media_type=media_type, n_images=shown.n_pictures)
        resized = None if refused else resize(picture.size)
        if resized is not None and resized.refused:
            refused = (resized.refused,)
        seen = seen_by_rule("", 0, picture, rule, resized, refused)
        rows.append(_Row(shown, seen, refused))
    return rows


def _file_as_sent(picture: Picture) -> tuple[int | None, str | None]:
    """Return length and media type of a picture that leaves as its own file; built views leave as PNG."""
    geometry = picture.recipe.geometry
    is_whole = geometry.size == picture.image.size and sent_scale(picture) == (1.0, 1.0)
    if is_whole and getattr(geometry, "kept", None) == (0, 0, *picture.image.size):
        return picture.image.n_bytes, picture.image.media_type
    return None, "image/png"


def _check_view(
    view: str, rows: Sequence[_Row], same: Mapping[tuple[str, str], int], near: Mapping[tuple[str, str], int]
) -> ViewCheck:
    seen = [row.seen for row in rows if row.seen is not None and not row.refused]
    sizes = [record.seen_size for record in seen if record.seen_size is not None]
    tokens = [record.visual_tokens for record in seen if record.visual_tokens is not None]
    short_sides = [min(record.target_px) for record in seen if record.target_px is not None]
    touched = [record.target_tokens for record in seen if record.target_tokens is not None]
    return ViewCheck(
        view=view,
        n=len(rows),
        sent_size=_median_size([row.shown.picture.size for row in rows]),
        seen_size=_median_size(sizes) if sizes else None,
        tokens=statistics.median(tokens) if tokens else None,
        total_tokens=sum(tokens) if tokens else None,
        target_px=_quartiles(short_sides),
        target_tokens=_median_pair(touched),
        refused=dict(Counter(_without_numbers(row.refused[0]) for row in rows if row.refused)),
        n_enlarged=sum(_is_enlarged(row) for row in rows),
        same_as=_others(view, same),
        near_to=_others(view, near),
    )


def _joined_views(rows: Sequence[_Row]) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return for how many questions each pair of views is one picture to the model, and for how many nearly one."""
    by_cut: dict[tuple[object, ...], list[_Row]] = defaultdict(list)
    for row in rows:
        if row.seen is not None and row.seen.information_scale is not None:
            by_cut[row.shown.question_id, *cut_of(row.shown.picture)].append(row)
    same: Counter[tuple[str, str]] = Counter()
    near: Counter[tuple[str, str]] = Counter()
    for group in by_cut.values():
        for index, first in enumerate(group):
            for second in group[index + 1 :]:
                scales = _information(first), _information(second)
                pair = _pair(first.shown.view, second.shown.view)
                if have_collapsed(*scales):
                    same[pair] += 1
                elif _are_near(first, second, scales):
                    near[pair] += 1
    return same, near


def _are_near(first: _Row, second: _Row, scales: tuple[Scale, Scale]) -> bool:
    nominal = _ratio(sent_scale(first.shown.picture)[0], sent_scale(second.shown.picture)[0])
    left = max(_ratio(a, b) for a, b in zip(*scales, strict=True))
    return nominal >= NEAR_NOMINAL_RATIO and left < NEAR_SEEN_RATIO


def _ratio(a: float, b: float) -> float:
    return max(a, b) / min(a, b)


def _information(row: _Row) -> Scale:
    assert row.seen is not None  # noqa: S101 -- only rows with a scale are grouped
    assert row.seen.information_scale is not None  # noqa: S101 -- likewise
    return row.seen.information_scale


def _shared_questions(pictures: Sequence[ShownPicture]) -> Counter[tuple[str, str]]:
    """Return for how many questions both views of each pair are shown."""
    views: dict[str, list[str]] = defaultdict(list)
    for shown in pictures:
        views[shown.question_id].append(shown.view)
    return Counter(_pair(a, b) for own in views.values() for index, a in enumerate(own) for b in own[index + 1 :])


def _pair(first: str, second: str) -> tuple[str, str]:
    """Return two views in one order, whichever was asked first."""
    return (first, second) if first < second else (second, first)


def _groups(views: Sequence[str], joined: set[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Return groups whose members are all joined to their first, so that small differences do not add up."""
    groups: list[list[str]] = []
    for view in views:
        home = next((group for group in groups if _pair(group[0], view) in joined), None)
        if home is None:
            groups.append([view])
        else:
            home.append(view)
    return tuple(tuple(group) for group in groups if len(group) > 1)


def _others(view: str, pairs: Mapping[tuple[str, str], int]) -> dict[str, int]:
    return {(second if first == view else first): n for (first, second), n in pairs.items() if view in {first, second}}


def _is_enlarged(row: _Row) -> bool:
    if row.seen is None or row.seen.presented_scale is None:
        return False
    sent = sent_scale(row.shown.picture)
    return all(shown > _ENLARGED * own for shown, own in zip(row.seen.presented_scale, sent, strict=True))


def _without_numbers(reason: str) -> str:
    """Return a reason as a group of reasons: what was too much, without how much."""
    what, _, rest = reason.partition(", ")
    return rest if what[:1].isdigit() else what.partition(" of ")[0]


def _median_size(sizes: Sequence[Size]) -> Size:
    return Size(
        round(statistics.median(size.width for size in sizes)), round(statistics.median(size.height for size in sizes))
    )


def _median_pair(pairs: Sequence[Scale]) -> Scale | None:
    if not pairs:
        return None
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def _quartiles(values: Sequence[float]) -> tuple[float, float, float] | None:
    if not values:
        return None
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high

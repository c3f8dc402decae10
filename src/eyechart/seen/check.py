"""What hosted models will see of a benchmark's views before anything is sent: geometry only, no pixel read."""

import datetime
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from eyechart.schema import Matching, ModelIdentity, Size, Value
from eyechart.seen.collapse import SeenPicture, group_views, joined_views, shared_questions
from eyechart.seen.cost import Asking, Cost, cost_of
from eyechart.seen.ledger import Scale, refusals, seen_by_rule, sent_scale
from eyechart.seen.policies import POLICIES, PolicyCheck, check_policies, reason_kind, upload_of
from eyechart.seen.prices import Price, price_of
from eyechart.seen.rules import Lookup, Rule, look_up, warnings_of
from eyechart.seen.shown import ShownPicture
from eyechart.seen.transport import Transport, parse_transport

_ENLARGED = 1.01  # grid rounding alone is not an enlargement

FOUR_FAMILIES = (
    ModelIdentity("openai", "gpt-5.4", settings={"detail": "high"}),
    ModelIdentity("anthropic", "claude-sonnet-4-5"),
    ModelIdentity("google", "gemini-2.5-pro", settings={"media_resolution": "high"}),
    ModelIdentity("dashscope", "qwen3-vl-plus"),
)
"""One model each of four hosted families, for whoever names none."""


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
        most_bytes: Upload of all pictures at most, before base64.
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
    most_bytes: int = 0
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
        reason: Why no rule is known, or why the rule tells no size.
        views: In the order they were first shown.
        groups: Views that are one picture to the model for every question, each group in order; singles left out.
        warnings: What to know before trusting the rule.
        policies: What each transport policy would upload and have refused.
        matching: What proves a matched design, None for plain views.
        cost: Calls, tokens, money and hours, None where nothing was said of how much is asked.
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
    policies: tuple[PolicyCheck, ...] = ()
    cost: Cost | None = None
    matching: Matching | None = None

    @property
    def is_known(self) -> bool:
        """Whether the size on the model's grid is known for every view that is not refused."""
        return self.rule_id is not None and all(
            view.seen_size is not None or view.n <= sum(view.refused.values()) for view in self.views
        )

    @property
    def n_distinct(self) -> int | None:
        """How many different pictures the views are to the model, None where their sizes are not known."""
        return len(self.views) - sum(len(group) - 1 for group in self.groups) if self.is_known else None


class SeenTable(Value, frozen=True):
    """What some models will see, as of a day.

    ``unreadable`` says which questions are not asked because their pictures cannot be read; empty where all can.
    """

    models: tuple[ModelCheck, ...]
    n_questions: int
    as_of: str
    unreadable: tuple[str, ...] = ()


def check_pictures(
    shown: Iterable[ShownPicture],
    models: Sequence[ModelIdentity] = FOUR_FAMILIES,
    *,
    today: datetime.date,
    own_rules: Sequence[Rule] = (),
    native: Sequence[ShownPicture] | None = None,
    asking: Asking | None = None,
    policies: Sequence[Transport] = POLICIES,
) -> SeenTable:
    """Work out what models will see of every picture.

    Args:
        shown: The pictures, for example ``pictures_of(plan.requests)``.
        models: The models, with the settings they will be asked under.
        today: For the age of rules.
        own_rules: The user's rules, which come before the bundled ones.
        native: The same pictures as they are without any transport policy, to compare policies; none are compared if
            left out.
        asking: How much is asked, for the cost; no cost is worked out if left out.
        policies: The transport policies to compare.
    """
    pictures = tuple(shown)
    checks = []
    for model in models:
        lookup = look_up(model, own_rules)
        checked = _check_model(pictures, model, lookup, today)
        checks.append(
            msgspec.structs.replace(
                checked,
                policies=() if native is None else check_policies(native, lookup.rule, policies),
                cost=None if asking is None else _cost(checked, asking, price_of(model, asking.assumed.prices)),
            )
        )
    return SeenTable(tuple(checks), len({picture.question_id for picture in pictures}), today.isoformat())


def _cost(checked: ModelCheck, asking: Asking, price: Price | None) -> Cost:
    """Return the cost of a model; its image tokens are known only if those of every view that is not refused are."""
    tokens = [view.total_tokens for view in checked.views if view.n > sum(view.refused.values())]
    return cost_of(
        asking,
        price,
        image_tokens=sum(one or 0 for one in tokens) if all(one is not None for one in tokens) else None,
        most_bytes=sum(view.most_bytes for view in checked.views),
        n_refused=sum(sum(view.refused.values()) for view in checked.views),
    )


def sentences(table: SeenTable) -> tuple[str, ...]:
    """Return one sentence per model: which views are one picture to it, by which rule of which day.

    Example:
        >>> sentences(check_pictures((), [ModelIdentity("openai", "gpt-9")], today=datetime.date(2026, 11, 30)))
        ('openai/gpt-9: unknown (no rule is known for openai/gpt-9)',)
    """
    return tuple(f"{model.model}: {_sentence(model)}" for model in table.models)


def _sentence(model: ModelCheck) -> str:
    if not model.is_known:
        return f"unknown ({model.reason})"
    said = [f"{', '.join(group[:-1])} and {group[-1]} are one picture" for group in model.groups]
    refused = [view.view for view in model.views if view.refused]
    if refused:
        said.append(f"refused for some or all questions: {', '.join(refused)}")
    facts = "; ".join(said) or "every view is a picture of its own"
    return f"{facts} ({model.evidence} rule {model.rule_id}, {model.rule_date})"


def _check_model(
    pictures: Sequence[ShownPicture], model: ModelIdentity, lookup: Lookup, today: datetime.date
) -> ModelCheck:
    rule = lookup.rule
    rows = _rows(pictures, rule)
    by_view: dict[str, list[SeenPicture]] = defaultdict(list)
    for row in rows:
        by_view[row.shown.view].append(row)
    same, near = joined_views(rows)
    shared = shared_questions(pictures)
    whole = {pair for pair, n in same.items() if n == shared[pair]}
    names = {name for names in (rule.when, rule.overrides.values()) for name in names} if rule else set()
    return ModelCheck(
        model=model.spec,
        settings={name: str(model.settings[name]) for name in sorted(names) if name in model.settings},
        rule_id=rule.id if rule else None,
        rule_date=rule.date.isoformat() if rule else None,
        source=rule.source if rule else None,
        evidence=rule.evidence if rule else "unknown",
        reason=lookup.reason or next((row.seen.reason for row in rows if _is_unseen(row) and row.seen), None) or "",
        views=tuple(_check_view(view, own, same, near) for view, own in by_view.items()),
        groups=group_views(tuple(by_view), whole),
        warnings=warnings_of(rule, model.settings, today) if rule else (),
    )


def _rows(pictures: Sequence[ShownPicture], rule: Rule | None) -> list[SeenPicture]:
    if rule is None:
        return [SeenPicture(shown, None, (), upload_of(shown.picture, shown.picture.size)[0]) for shown in pictures]
    resize, sha256 = lru_cache(maxsize=None)(rule.apply_to_all), rule.sha256
    is_jpeg = lru_cache(maxsize=None)(lambda transport: parse_transport(transport).is_jpeg)
    rows = []
    for shown in pictures:
        picture = shown.picture
        n_bytes, is_exact, media_type = upload_of(picture, picture.size, is_jpeg=is_jpeg(picture.recipe.transport))
        refused = refusals(
            rule.limits,
            picture.size,
            n_bytes=n_bytes if is_exact else None,
            media_type=media_type,
            n_images=shown.n_pictures,
        )
        resized = None if refused else resize(shown.sizes)[shown.place]
        if resized is not None and resized.refused:
            refused = (resized.refused,)
        seen = seen_by_rule("", 0, picture, rule, resized, refused, configuration_sha256=sha256)
        rows.append(SeenPicture(shown, seen, refused, n_bytes))
    return rows


def _is_unseen(row: SeenPicture) -> bool:
    """Whether the model takes a picture, and its size there is not known."""
    return not row.refused and row.seen is not None and row.seen.seen_size is None


def _check_view(
    view: str, rows: Sequence[SeenPicture], same: Mapping[tuple[str, str], int], near: Mapping[tuple[str, str], int]
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
        refused=dict(Counter(reason_kind(row.refused[0]) for row in rows if row.refused)),
        n_enlarged=sum(_is_enlarged(row) for row in rows),
        most_bytes=sum(row.n_bytes for row in rows),
        same_as=_others(view, same),
        near_to=_others(view, near),
    )


def _others(view: str, pairs: Mapping[tuple[str, str], int]) -> dict[str, int]:
    return {(second if first == view else first): n for (first, second), n in pairs.items() if view in {first, second}}


def _is_enlarged(row: SeenPicture) -> bool:
    if row.seen is None or row.seen.presented_scale is None:
        return False
    sent = sent_scale(row.shown.picture)
    return all(shown > _ENLARGED * own for shown, own in zip(row.seen.presented_scale, sent, strict=True))


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

"""What models will see of a benchmark, and what asking them will cost, worked out from geometry alone."""

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from eyechart.kinds import Benchmark, Model
from eyechart.opening import DEFAULT_SCORER, open_prompt, open_scorer
from eyechart.releases.fitness import check_collection
from eyechart.runs.choosing import defaults_of
from eyechart.runs.foresight import Foresight, fit_for, foresee
from eyechart.runs.matching import Matcher, gauge_for, parse_match
from eyechart.runs.options import RunOptions, checked
from eyechart.runs.pictures import check_drawing
from eyechart.runs.plan import choose_questions
from eyechart.runs.plan_options import DEFAULT_TRANSPORT, PlanOptions, check_counts
from eyechart.runs.showing import Shower
from eyechart.runs.unreadable import fault_of, tell_unreadable
from eyechart.schema import ModelIdentity, Picture, Question, View
from eyechart.seen.check import ModelCheck, SeenTable, check_pictures
from eyechart.seen.cost import Asking, Costing, asking_of
from eyechart.seen.policies import POLICIES
from eyechart.seen.rules import Rule, look_up
from eyechart.seen.shown import ShownPicture, shown_pictures
from eyechart.seen.transport import FitSize, fit_of, parse_transport
from eyechart.views import format_view


def refuse_as_run(
    benchmark: Benchmark,
    views: Sequence[View],
    models: Sequence[Model],
    options: RunOptions,
) -> None:
    """Refuse what ``run`` refuses before it asks anything, in the same words; only a key is not needed here.

    Args:
        benchmark: Where the questions come from.
        views: How each picture is shown.
        models: The models, opened under their settings.
        options: Everything else; its rules are those of the user and those that models tell.

    Raises:
        EyechartError: As a run would.
    """
    check_counts(views, options.plan)
    check_drawing(options.plan)
    open_prompt(defaults_of(benchmark).prompt)
    for model in models:
        open_scorer(checked(options, benchmark, model, views).scorer or DEFAULT_SCORER)
        ahead = foresee(model, model.identity, options.rules)
        fit_for(options.plan.transport, ahead)
        if options.plan.match is not None:
            gauge_for(ahead)
    questions = choose_questions(tuple(benchmark.questions()), options.plan.limit, options.plan.seed)
    ids = [question.id for question in questions]
    check_collection(benchmark, ids, [format_view(view) for view in views], allows_faults=options.allows_faults)


class _Planned(NamedTuple):
    """The pictures of one question under one condition."""

    question_id: str
    pictures: tuple[Picture, ...]
    condition: str


def check_benchmark(
    benchmark: Benchmark,
    views: Sequence[View],
    models: Sequence[ModelIdentity],
    *,
    today: datetime.date,
    options: PlanOptions | None = None,
    own_rules: Sequence[Rule] = (),
    costing: Costing | None = None,
) -> SeenTable:
    """Plan the views and work out what each model sees of them; no pixel is read, no model asked.

    Args:
        benchmark: Where the questions come from.
        views: How each picture is shown.
        models: The models, with the settings they will be asked under.
        today: For the age of rules.
        options: Policies, limit, repeats.
        own_rules: The user's rules, which come before the bundled ones.
        costing: What costs are worked out from; without it neither costs nor transport policies are shown.

    Raises:
        UsageError: If pictures are to be fitted to a grid that is not known, or as ``check_counts``.
    """
    options = options or PlanOptions()
    check_counts(views, options)
    questions = choose_questions(tuple(benchmark.questions()), options.limit, options.seed)
    if options.match is not None:
        checks = [
            _check_matched(benchmark, questions, views, model, options, today, own_rules, costing) for model in models
        ]
        return SeenTable(tuple(checks), len(questions), today.isoformat())
    by_default = msgspec.structs.replace(options, transport=DEFAULT_TRANSPORT)
    planned = _planned(benchmark, questions, views, by_default)
    unreadable = tell_unreadable(
        ((one.question_id, one.pictures) for one in planned), len(questions)
    )  # exactly as a run says it
    native = _readable(planned)
    asking = None if costing is None else _asking(benchmark, questions, native, costing, options.repeats)
    transport = parse_transport(options.transport)
    shown, is_fitted = native, transport.kind == "fit"
    policies = POLICIES if transport in POLICIES else (*POLICIES, transport)
    if options.transport != DEFAULT_TRANSPORT and not is_fitted:
        shown = _pictures(benchmark, questions, views, options)
    checks = []
    for model in models:
        if is_fitted:
            fit = fit_of(look_up(model, own_rules), model.spec)
            shown = _pictures(benchmark, questions, views, options, fit)
        table = check_pictures(
            shown,
            [model],
            today=today,
            own_rules=own_rules,
            native=native if costing else None,
            asking=asking,
            policies=policies,
        )
        checks.append(table.models[0])
    return SeenTable(tuple(checks), len(questions), today.isoformat(), unreadable)


def _check_matched(
    benchmark: Benchmark,
    questions: Sequence[Question],
    views: Sequence[View],
    model: ModelIdentity,
    options: PlanOptions,
    today: datetime.date,
    own_rules: Sequence[Rule],
    costing: Costing | None,
) -> ModelCheck:
    """Return what a model sees of a matched design, with what proves that it matched."""
    ahead = Foresight(model.spec, None, look_up(model, own_rules))
    shower = Shower(benchmark, tuple(views), options, fit_for(options.transport, ahead))
    matcher = Matcher(shower, views, parse_match(options.match or ""), gauge_for(ahead))
    shown = tuple(
        picture
        for question in questions
        for one in matcher.match(question)
        for picture in shown_pictures(question.id, one.condition, one.pictures or ())
    )
    asking = None if costing is None else _asking(benchmark, questions, shown, costing, options.repeats)
    table = check_pictures(shown, [model], today=today, own_rules=own_rules, asking=asking)
    return msgspec.structs.replace(table.models[0], matching=matcher.proof())


def _pictures(
    benchmark: Benchmark,
    questions: Sequence[Question],
    views: Sequence[View],
    options: PlanOptions,
    fit: FitSize | None = None,
) -> tuple[ShownPicture, ...]:
    """Return the pictures of every view of every question; those that are missing or cannot be read are left out."""
    return _readable(_planned(benchmark, questions, views, options, fit))


def _planned(
    benchmark: Benchmark,
    questions: Sequence[Question],
    views: Sequence[View],
    options: PlanOptions,
    fit: FitSize | None = None,
) -> tuple[_Planned, ...]:
    """Return the pictures of every view of every question, those that cannot be read too."""
    shower = Shower(benchmark, tuple(views), options, fit)
    return tuple(
        _Planned(question.id, shown.pictures or (), shown.condition)
        for question in questions
        for shown in shower.views_of(question)
    )


def _readable(planned: Sequence[_Planned]) -> tuple[ShownPicture, ...]:
    return tuple(
        picture
        for one in planned
        if fault_of(one.pictures) is None
        for picture in shown_pictures(one.question_id, one.condition, one.pictures)
    )


def _asking(
    benchmark: Benchmark,
    questions: Sequence[Question],
    pictures: Sequence[ShownPicture],
    costing: Costing,
    n_repeats: int,
) -> Asking:
    """Count calls and the tokens of their prompts; a view without a picture is no call here."""
    n_calls = Counter(one.question_id for one in pictures if "#" not in one.view)
    prompt = open_prompt(defaults_of(benchmark).prompt)
    n_characters = sum(n_calls[question.id] * len(prompt.render(question, question.choices)) for question in questions)
    return asking_of(n_calls.total(), n_characters, costing, n_repeats)

"""What models will see of a benchmark, and what asking them will cost, worked out from geometry alone."""

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from eyechart.kinds import Benchmark, Model, Prompt
from eyechart.opening import DEFAULT_SCORER
from eyechart.releases.fitness import check_collection
from eyechart.runs.folders import Origin, run_record
from eyechart.runs.foresight import Foresight, fit_for, foresee
from eyechart.runs.later_plans import RUN_FILE
from eyechart.runs.matching import Gauge, Matcher, gauge_for, parse_match
from eyechart.runs.options import RunOptions, check_scorable, check_settings, checked, with_scorer, with_told_order
from eyechart.runs.plan import choose_questions, orders_of, plan_run
from eyechart.runs.plan_options import DEFAULT_TRANSPORT, PlanOptions, check_counts
from eyechart.runs.shard import Shard, questions_of
from eyechart.runs.showing import Shower
from eyechart.runs.store import RunStore, check_growth, check_ours
from eyechart.runs.unreadable import fault_of, fault_of_size, tell_too_large, tell_unreadable
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
    prompt: Prompt,
    models: Sequence[Model],
    options: RunOptions,
) -> None:
    """Refuse what ``run`` refuses before it asks anything, in the same words; only a key is not needed here.

    Args:
        benchmark: Where the questions come from.
        views: How each picture is shown.
        prompt: The wording.
        models: The models, opened under their settings; none refuses what can be run with no model.
        options: Everything else; its rules are those of the user and those that models tell.

    Raises:
        EyechartError: As a run would.
    """
    questions = choose_questions(tuple(benchmark.questions()), options.plan.limit, options.plan.seed)
    if not models:
        spending = msgspec.structs.replace(options.loop.spending, max_dollars=None)  # its price is a model's
        loop = msgspec.structs.replace(options.loop, spending=spending)
        check_settings(msgspec.structs.replace(options, loop=loop), views)
        check_scorable(questions, with_scorer(options, benchmark).scorer or DEFAULT_SCORER)
    for model in models:
        own = checked(with_told_order(options, benchmark, model), benchmark, model, views)
        ahead = foresee(model, model.identity, options.rules)
        fit, gauge = fit_for(options.plan.transport, ahead), None
        if options.plan.match is not None:
            gauge = gauge_for(ahead)
        check_scorable(questions, own.scorer or DEFAULT_SCORER)
        if options.where.out is not None:
            _refuse_folder(benchmark, views, prompt, model, own, fit, gauge)
    ids = [question.id for question in questions]
    check_collection(benchmark, ids, [format_view(view) for view in views], allows_faults=options.allows_faults)


def _refuse_folder(
    benchmark: Benchmark,
    views: Sequence[View],
    prompt: Prompt,
    model: Model,
    options: RunOptions,
    fit: FitSize | None,
    gauge: Gauge | None,
) -> None:
    """Refuse a folder that holds something else than this run, without writing anything.

    Which weights a server has now is not asked: they are taken for those of the run that is there.
    """
    out = options.where.out
    if out is None:
        return
    if not (out / RUN_FILE).is_file():
        check_ours(out)
        return
    stored = RunStore(out).run.model
    identity = msgspec.structs.replace(model.identity, fingerprint=stored.fingerprint)
    plan = plan_run(
        benchmark,
        views,
        prompt,
        model=identity,
        sampling=options.sampling,
        options=options.plan,
        fit=fit,
        gauge=gauge,
    )
    origin = Origin(now=datetime.datetime.now(tz=datetime.UTC))
    check_growth(RunStore(out), run_record(plan, out.name, origin), plan)


class Counting(NamedTuple):
    """What calls and costs of a run are counted by.

    Args:
        prompt: The wording.
        costing: What costs are worked out from.
        shard: The part of the run that is counted; all of it if None.
        reads_pixels: Whether pictures are drawn for a model, so that some can be too large.
    """

    prompt: Prompt
    costing: Costing = Costing()
    shard: Shard | None = None
    reads_pixels: bool = True


class _Planned(NamedTuple):
    """The pictures of one question under one condition; None where a released one is missing, which is not asked."""

    question_id: str
    pictures: tuple[Picture, ...] | None
    condition: str


def check_benchmark(
    benchmark: Benchmark,
    views: Sequence[View],
    models: Sequence[ModelIdentity],
    *,
    today: datetime.date,
    options: PlanOptions | None = None,
    own_rules: Sequence[Rule] = (),
    counting: Counting | None = None,
) -> SeenTable:
    """Plan the views and work out what each model sees of them; no pixel is read, no model asked.

    Args:
        benchmark: Where the questions come from.
        views: How each picture is shown.
        models: The models, with the settings they will be asked under.
        today: For the age of rules.
        options: Policies, limit, repeats.
        own_rules: The user's rules, which come before the bundled ones.
        counting: What calls and costs are counted by; without it neither costs nor transport policies are shown.

    Raises:
        UsageError: If pictures are to be fitted to a grid that is not known, or as ``check_counts``.
    """
    options = options or PlanOptions()
    check_counts(views, options)
    questions = choose_questions(tuple(benchmark.questions()), options.limit, options.seed)

    reads_pixels = counting is None or counting.reads_pixels
    if options.match is not None:
        checks = [
            _check_matched(benchmark, questions, views, model, options, today, own_rules, counting) for model in models
        ]
        return SeenTable(tuple(checks), len(questions), today.isoformat())
    by_default = _planned(benchmark, questions, views, msgspec.structs.replace(options, transport=DEFAULT_TRANSPORT))
    told = list(tell_unreadable(((one.question_id, one.pictures or ()) for one in by_default), len(questions)))
    native = _shown(one for one in by_default if one.pictures is not None and fault_of(one.pictures) is None)
    transport = parse_transport(options.transport)
    policies = POLICIES if transport in POLICIES else (*POLICIES, transport)
    planned, checks = by_default, []
    for model in models:
        if options.transport != DEFAULT_TRANSPORT:
            fit = fit_of(look_up(model, own_rules), model.spec) if transport.kind == "fit" else None
            planned = _planned(benchmark, questions, views, options, fit)
        large = tell_too_large((one.question_id, one.condition, one.pictures or ()) for one in planned)
        told += [line for line in large if reads_pixels and line not in told]  # exactly as a run says it
        sent = [one for one in planned if _is_sent(one, reads_pixels=reads_pixels)]
        table = check_pictures(
            _shown(sent),
            [model],
            today=today,
            own_rules=own_rules,
            native=native if counting else None,
            asking=None if counting is None else _asking(questions, sent, options, counting),
            policies=policies,
        )
        checks.append(table.models[0])
    return SeenTable(tuple(checks), len(questions), today.isoformat(), tuple(told))


def _check_matched(
    benchmark: Benchmark,
    questions: Sequence[Question],
    views: Sequence[View],
    model: ModelIdentity,
    options: PlanOptions,
    today: datetime.date,
    own_rules: Sequence[Rule],
    counting: Counting | None,
) -> ModelCheck:
    """Return what a model sees of a matched design, with what proves that it matched."""
    ahead = Foresight(model.spec, None, look_up(model, own_rules))
    shower = Shower(benchmark, tuple(views), options, fit_for(options.transport, ahead))
    matcher = Matcher(shower, views, parse_match(options.match or ""), gauge_for(ahead))
    planned = [
        _Planned(question.id, one.pictures, one.condition) for question in questions for one in matcher.match(question)
    ]
    sent = [one for one in planned if _is_sent(one, reads_pixels=counting is None or counting.reads_pixels)]
    asking = None if counting is None else _asking(questions, sent, options, counting)
    table = check_pictures(_shown(sent), [model], today=today, own_rules=own_rules, asking=asking)
    return msgspec.structs.replace(table.models[0], matching=matcher.proof())


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
        _Planned(question.id, shown.pictures, shown.condition)
        for question in questions
        for shown in shower.views_of(question)
    )


def _is_sent(one: _Planned, *, reads_pixels: bool) -> bool:
    """Return whether a run asks it, with or without a picture."""
    if one.pictures is None or fault_of(one.pictures) is not None:
        return False
    return not reads_pixels or fault_of_size(one.pictures, one.question_id) is None


def _shown(planned: Iterable[_Planned]) -> tuple[ShownPicture, ...]:
    return tuple(
        picture for one in planned for picture in shown_pictures(one.question_id, one.condition, one.pictures or ())
    )


def _asking(
    questions: Sequence[Question],
    sent: Sequence[_Planned],
    options: PlanOptions,
    counting: Counting,
) -> Asking:
    """Count the calls that a run makes, and the characters of their prompts."""
    n_views = Counter(one.question_id for one in sent)
    own = questions_of(counting.shard, questions)
    n_calls = n_characters = 0
    for question in questions:
        if own is not None and question.id not in own:
            continue
        given = options.orders.get(question.id)
        orders = orders_of(question, options.rotations) if given is None else (given,)
        texts = [
            counting.prompt.render(question, tuple(question.choices[index] for index in order)) for order in orders
        ]
        n_calls += n_views[question.id] * len(texts) * options.repeats
        n_characters += n_views[question.id] * sum(map(len, texts)) * options.repeats
    return asking_of(n_calls, n_characters, counting.costing, n_repeats=n_calls / max(1, n_views.total()))

"""Everything about a run besides benchmark, model, views and prompt, and what of it cannot be run."""

from collections.abc import Sequence

import msgspec

from eyechart.batching import AsksInBatches, BatchLimits
from eyechart.benchmarks._options import keeps_its_order
from eyechart.benchmarks._shown_options import options_in_row, orders_of
from eyechart.errors import BenchmarkError, UsageError
from eyechart.kinds import Benchmark, Model, ReadsLetters, TellsOrder
from eyechart.opening import open_scorer
from eyechart.runs.batches import BatchSettings
from eyechart.runs.choosing import defaults_of
from eyechart.runs.execute import LoopSettings, check_limits
from eyechart.runs.folders import Destination
from eyechart.runs.pictures import check_drawing
from eyechart.runs.plan import Plan, PlanOptions, check_counts
from eyechart.runs.ray_engine import RayWork, check_ray
from eyechart.runs.registration import StudyPlan
from eyechart.runs.shard import Shard
from eyechart.runs.spending import BATCH_DISCOUNT, BatchSpending
from eyechart.runs.unreadable import fault_of
from eyechart.runs.view_store import ViewStore
from eyechart.schema import ModelIdentity, Question, Request, ResponseState, Sampling, TokenPrice, View
from eyechart.seen.costs import estimate_dollars, token_price
from eyechart.seen.rules import Rule

_READS_LETTERS = frozenset({"option_letter", "hrscene_letter", "vlmevalkit_letter", "letter_share"})


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a run besides benchmark, model, views and prompt.

    Args:
        sampling: Sampling parameters.
        plan: Policies, limit, seed, repeats.
        loop: Concurrency and patience.
        where: Which folder.
        scorer: ``name``, ``name.mode`` or ``name.mode@version``; the benchmark's own if None.
        has_preflight: Whether the first answers are checked before the rest is asked.
        is_same_weights: The user vouches that the served model did not change, so that old answers are reused.
        command: The command line, for ``run.json``.
        registration: The plan that was written before; a copy is kept in the run folder.
        rules: The user's own rules of what models see, which come before the bundled ones.
        max_decoded_bytes: Bound of the decoded originals kept in memory.
        allows_faults: Whether a published collection with errors is asked all the same.
        protocol: Name of the protocol that fixed prompt, order, extraction and judge.
        price: What tokens cost; the bundled price of the model if left out.
        shard: The part of the run that this process asks; everything if left out.
        ray: What workers of a Ray cluster open; None asks from this process.
        view_store: Drawn views on disk that runs share; None draws each when it is asked.
        batches: How to wait for the provider's batches; None asks one by one.
        ask_again: States of stored final errors that are asked again.
    """

    sampling: Sampling = Sampling()
    plan: PlanOptions = PlanOptions()
    loop: LoopSettings = LoopSettings()
    where: Destination = Destination()
    scorer: str | None = None
    has_preflight: bool = True
    is_same_weights: bool = False
    command: tuple[str, ...] = ()
    registration: StudyPlan | None = None
    rules: tuple[Rule, ...] = ()
    max_decoded_bytes: int = 512 << 20
    allows_faults: bool = False
    protocol: str | None = None
    price: TokenPrice | None = None
    shard: Shard | None = None
    batches: BatchSettings | None = None
    view_store: ViewStore | None = None
    ray: RayWork | None = None
    ask_again: tuple[ResponseState, ...] = ()


def _with_price(options: RunOptions, identity: ModelIdentity) -> RunOptions:
    """Return the options with the price that holds for this model, where one is known."""
    price = options.price or token_price(identity)
    spending = msgspec.structs.replace(options.loop.spending, price=price)
    loop = msgspec.structs.replace(options.loop, spending=spending)
    return msgspec.structs.replace(options, price=price, loop=loop)


def with_scorer(options: RunOptions, benchmark: Benchmark) -> RunOptions:
    """Return the options with the plan's or benchmark's scorer, where none is given."""
    planned = options.registration.scorer if options.registration is not None else None
    return msgspec.structs.replace(options, scorer=options.scorer or planned or defaults_of(benchmark).scorer)


def with_told_order(options: RunOptions, benchmark: Benchmark, model: Model) -> RunOptions:
    """Return the options with the order in which stored answers say that choices were shown, unless one is given.

    Raises:
        BenchmarkError: If the options told are not those of the question, or an answer tells another order than others.
    """
    if options.plan.orders or not isinstance(model, TellsOrder):
        return options
    told = [(place, name, options_in_row(row)) for place, name, row in model.told_options()]
    if all(shown is None for _, _, shown in told):
        return options
    orders = orders_of(told, tuple(benchmark.questions()), has_others=True)
    return msgspec.structs.replace(options, plan=msgspec.structs.replace(options.plan, orders=orders))


def checked(options: RunOptions, benchmark: Benchmark, model: Model, views: Sequence[View]) -> RunOptions:
    """Return the options with the plan's or benchmark's scorer and the model's price, where nothing else is given.

    Raises:
        UsageError: If something in them cannot be run with this model.
    """
    options = _with_price(with_scorer(options, benchmark), model.identity)
    reads_letters = isinstance(model, ReadsLetters) and model.reads_letters
    if options.sampling.score_mode == "logprob" and not reads_letters:
        raise UsageError(
            f"{model.identity.spec} tells no token probabilities under these settings",
            hint="leave out --score-mode logprob; hf/… and chat completions tell them",
        )
    if options.batches is not None and batch_limits(model) is None:
        raise UsageError(
            f"{model.identity.spec} has no batch interface", hint="leave out --batch; openai/… and anthropic/… have one"
        )
    check_settings(options, views)
    return options


def check_settings(options: RunOptions, views: Sequence[View]) -> None:
    """Refuse options that can be run with no model.

    Raises:
        UsageError: If there are such.
    """
    if options.ask_again and options.where.is_new:
        raise UsageError("a new run holds no error to ask again", hint="leave out --new or --ask-again")
    if options.shard is not None and options.where.out is None:
        raise UsageError("shards need a folder that all of them write to", hint="give --out DIR with --shard i/n")
    if options.ray is not None:
        check_ray()
    check_drawing(options.plan)
    check_counts(views, options.plan)
    check_limits(options.loop, options.sampling)


def check_scorable(questions: Sequence[Question], scorer_id: str) -> None:
    """Refuse to ask what the scorer cannot judge: questions without options, if it reads an option's letter.

    Args:
        questions: The questions that will be asked.
        scorer_id: ``name``, ``name.mode`` or ``name.mode@version``.

    Raises:
        BenchmarkError: If there is such a question.
    """
    name = open_scorer(scorer_id)[0].name
    free = [question for question in questions if question.answers and not question.choices]
    if name in _READS_LETTERS and free:
        raise BenchmarkError(
            f"{len(free)} of {len(questions)} questions have no options (the first is {free[0].id!r}), and {name} "
            f"reads the letter of an option",
            hint="--scorer vqa_soft judges free answers, zoombench_answer letters and free answers",
        )


def orders_kept(questions: Sequence[Question], rotations: int) -> str | None:
    """Return what to say of questions whose options are not turned because one of them speaks of the others."""
    kept = [question for question in questions if keeps_its_order(question.choices)] if rotations > 1 else []
    if not kept:
        return None
    example = next(text for text in kept[0].choices if keeps_its_order((text,)))
    return (
        f"{len(kept)} of {len(questions)} questions keep the order of their options: one speaks of the others "
        f"({example[:60]!r} in {kept[0].id})"
    )


def estimated_cost(requests: Sequence[Request], model: ModelIdentity, price: TokenPrice | None) -> float | None:
    """Return the expected cost in US dollars, None where no price is known; unreadable pictures cost nothing."""
    sent = [request for request in requests if fault_of(request.pictures) is None]
    return None if price is None else round(estimate_dollars(sent, model, price), 6)


def expected_cost(options: RunOptions, plan: Plan) -> float | None:
    """Return what a whole run is expected to cost in US dollars, None where no price is known."""
    dollars = estimated_cost(plan.requests, plan.model, options.price)
    return dollars if dollars is None or options.batches is None else dollars * BATCH_DISCOUNT


def batch_limits(model: Model) -> BatchLimits | None:
    """Return what a batch of this model may hold, None where there are no batches."""
    return model.batch_limits if isinstance(model, AsksInBatches) else None


def batch_spending(options: RunOptions, model: ModelIdentity, dollars: float, n_sent: int) -> BatchSpending:
    """Return who says which batches may still be handed over.

    Args:
        options: The bounds.
        model: Whose picture tokens are estimated.
        dollars: What the answers so far cost, in US dollars.
        n_sent: Requests sent in this start so far.
    """
    limits = options.loop.spending

    def expected(requests: Sequence[Request]) -> float:
        return BATCH_DISCOUNT * (estimated_cost(requests, model, limits.price) or 0.0)

    return BatchSpending(limits, expected, dollars, n_sent)

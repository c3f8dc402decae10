"""What a run will ask, from arithmetic alone: questions, view images and requests with their ids."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import msgspec

from eyechart.benchmarks._options import keeps_its_order
from eyechart.errors import BenchmarkError, UsageError
from eyechart.kinds import Benchmark, Prompt
from eyechart.runs.gold import right_answer
from eyechart.runs.matching import Gauge, Matcher, parse_match
from eyechart.runs.plan_options import DEFAULT_RESAMPLER, DEFAULT_TRANSPORT, PlanOptions, check_counts
from eyechart.runs.showing import MISSING_RELEASE, Shower, Shown, upright, upright_size
from eyechart.schema import (
    BenchmarkIdentity,
    Matching,
    ModelIdentity,
    Question,
    Request,
    Sampling,
    Value,
    View,
    ViewImage,
    request_id,
)
from eyechart.seen.transport import FitSize
from eyechart.views import format_view

__all__ = [
    "DEFAULT_RESAMPLER",
    "DEFAULT_TRANSPORT",
    "MISSING_RELEASE",
    "MissingView",
    "Plan",
    "PlanOptions",
    "check_counts",
    "choice_orders",
    "choose_questions",
    "orders_of",
    "plan_id_of",
    "plan_run",
    "shown_answer",
    "upright",
    "upright_size",
]


class MissingView(Value, frozen=True):
    """A view of a question that a release should hold and does not."""

    question_id: str
    view: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A run before anything is asked.

    ``requests`` are in the order of asking: all views of a picture together, each question starting at another view,
    so that no view is always asked first. ``missing`` are released pictures that do not exist; they are not asked.
    ``plan_id`` is the SHA-256 of the sorted request ids.
    """

    plan_id: str
    benchmark: BenchmarkIdentity
    views: tuple[str, ...]
    model: ModelIdentity
    sampling: Sampling
    prompt_id: str
    options: PlanOptions
    questions: tuple[Question, ...]
    view_images: tuple[ViewImage, ...]
    requests: tuple[Request, ...]
    missing: tuple[MissingView, ...] = ()
    matching: Matching | None = None


def plan_run(
    benchmark: Benchmark,
    views: Sequence[View],
    prompt: Prompt,
    *,
    model: ModelIdentity,
    sampling: Sampling | None = None,
    options: PlanOptions | None = None,
    fit: FitSize | None = None,
    gauge: Gauge | None = None,
) -> Plan:
    """Plan every request of a run. No pixel is read.

    A released view is planned as its file, unchanged; every other view is planned from the question's original.

    Args:
        benchmark: Where the questions come from.
        views: The views to ask every question under, at least one.
        prompt: The wording.
        model: Identity of the model, part of every request id.
        sampling: Sampling parameters, part of every request id; default temperature 0.
        options: Policies, limit, seed and repeats.
        fit: How pictures are fitted to the model's grid, needed by the transport policy ``fit`` only.
        gauge: What the model will see of a target, needed by matched designs only.

    Returns:
        The plan; the same arguments give the same plan on every machine.

    Raises:
        GeometryError: If a question cannot be shown in a view; the message names both.
        BenchmarkError: If there is no question, or an id repeats.
        UsageError: If no view is named, ``limit`` or ``repeats`` is below 1, or a picture cannot be fitted.
    """
    options, sampling = options or PlanOptions(), sampling or Sampling()
    check_counts(views, options)
    questions = _chosen(benchmark, options)
    shower = Shower(benchmark, tuple(views), options, fit)
    matcher = None if options.match is None else _matcher(shower, views, options.match, gauge)
    asker = _Asker(benchmark.identity.name, prompt, model, sampling)
    images: list[ViewImage] = []
    requests: list[Request] = []
    missing: list[MissingView] = []
    for position, question in enumerate(_by_picture(questions)):
        shown = tuple(shower.views_of(question)) if matcher is None else matcher.match(question)
        for one in shown:
            images.extend(one.rows)
        missing.extend(MissingView(question.id, one.view) for one in shown if one.pictures is None)
        asked = [one for one in shown if one.pictures is not None]
        requests.extend(asker.requests(question, _rotate(asked, position), options))
    return Plan(
        plan_id=plan_id_of(_distinct_ids(requests)),
        benchmark=benchmark.identity,
        views=tuple(format_view(view) for view in views) if matcher is None else matcher.conditions,
        model=model,
        sampling=sampling,
        prompt_id=asker.prompt_id,
        options=options,
        questions=questions if matcher is None else _matched(questions, matcher),
        view_images=tuple(images),
        requests=tuple(requests),
        missing=tuple(missing),
        matching=None if matcher is None else matcher.proof(),
    )


def _matcher(shower: Shower, views: Sequence[View], match: str, gauge: Gauge | None) -> Matcher:
    if gauge is None:
        raise UsageError("nothing tells what the model will see of a target", hint="leave --match out")
    return Matcher(shower, views, parse_match(match), gauge)


def _matched(questions: Sequence[Question], matcher: Matcher) -> tuple[Question, ...]:
    """Return the questions that could be matched.

    Raises:
        UsageError: If there is none.
    """
    proof = matcher.proof()
    left_out = {one.question_id for one in proof.unmatched}
    matched = tuple(question for question in questions if question.id not in left_out)
    if not matched:
        first = proof.unmatched[0]
        raise UsageError(
            f"no question can be matched by {proof.design}; {first.question_id} in {first.view}: {first.reason}",
            hint="try a smaller level, or target-px without a level for the largest size that all views reach",
        )
    return matched


def _chosen(benchmark: Benchmark, options: PlanOptions) -> tuple[Question, ...]:
    questions = choose_questions(tuple(benchmark.questions()), options.limit, options.seed)
    if not questions:
        raise BenchmarkError(f"{benchmark.identity.name} holds no question", hint="check --data and its filters")
    return questions


def plan_id_of(request_ids: Iterable[str]) -> str:
    """Return the SHA-256 of the sorted request ids, as lower-case hex.

    Example:
        >>> plan_id_of(["b", "a"]) == plan_id_of(["a", "b"])
        True
    """
    return hashlib.sha256("\n".join(sorted(request_ids)).encode()).hexdigest()


def choose_questions(questions: tuple[Question, ...], limit: int | None, seed: int) -> tuple[Question, ...]:
    """Return ``limit`` whole questions chosen at random by ``seed``, in their own order; all if there are no more.

    The chosen set depends on the number of questions and the seed alone, so it is the same for every model.
    """
    if limit is None or limit >= len(questions):
        return questions
    import numpy as np  # late: `eyechart --help` must not import numpy

    chosen = np.random.default_rng(seed).choice(len(questions), size=limit, replace=False)
    return tuple(questions[index] for index in sorted(chosen.tolist()))


def shown_answer(question: Question, request: Request) -> str | None:
    """Return the right letter as the request shows its options, or the right cell; None where hidden or free-form.

    Example:
        >>> from eyechart.schema import ImageRef, ModelIdentity, Question, Request, Sampling, Size
        >>> image = ImageRef("", Size(4, 3), "image/png")
        >>> question = Question(id="q", benchmark="b", text="?", image=image, image_group="g", answer="A")
        >>> request = Request(
        ...     id="r", benchmark="b", question_id="q", view="original", condition="original", pictures=(), prompt="?",
        ...     prompt_id="p@1", prompt_sha256="", choices=("no", "yes"), choice_order=(1, 0),
        ...     model=ModelIdentity("simulated", "x"), sampling=Sampling(),
        ... )
        >>> shown_answer(question, request)
        'B'
    """
    return right_answer(question, request.view, request.choice_order)


class _Asker:
    """Writes the requests of one prompt to one model."""

    def __init__(self, benchmark: str, prompt: Prompt, model: ModelIdentity, sampling: Sampling) -> None:
        self.prompt_id = f"{prompt.name}@{prompt.version}"
        self._benchmark, self._prompt, self._model, self._sampling = benchmark, prompt, model, sampling

    def requests(self, question: Question, asked: Sequence[Shown], options: PlanOptions) -> Iterator[Request]:
        """Yield the requests of one question: every view, then every view again for each order and repeat."""
        given = options.orders.get(question.id)
        orders = orders_of(question, options.rotations) if given is None else (given,)
        worded = [self._worded(question, order) for order in orders]
        for repeat, (order, text, text_sha256) in product(range(options.repeats), worded):
            for shown in asked:
                request = Request(
                    id="",
                    benchmark=self._benchmark,
                    question_id=question.id,
                    view=shown.view,
                    condition=shown.condition,
                    pictures=shown.pictures or (),
                    prompt=text,
                    prompt_id=self.prompt_id,
                    prompt_sha256=text_sha256,
                    choices=tuple(question.choices[index] for index in order),
                    choice_order=order,
                    model=self._model,
                    sampling=self._sampling,
                    repeat=repeat,
                )
                yield msgspec.structs.replace(request, id=request_id(request))

    def _worded(self, question: Question, order: tuple[int, ...]) -> tuple[tuple[int, ...], str, str]:
        """Return an order of the choices with the prompt that shows it, and the prompt's hash."""
        text = self._prompt.render(question, tuple(question.choices[index] for index in order))
        return order, text, hashlib.sha256(text.encode()).hexdigest()


def choice_orders(n_choices: int, rotations: int) -> tuple[tuple[int, ...], ...]:
    """Return the orders in which choices are shown: as given, then each turned by one more place.

    Args:
        n_choices: Number of choices, 0 for a free-form question.
        rotations: Number of orders wanted.

    Example:
        >>> choice_orders(3, 2), choice_orders(2, 4), choice_orders(0, 4)
        (((0, 1, 2), (1, 2, 0)), ((0, 1), (1, 0)), ((),))
    """
    turns = range(min(rotations, max(n_choices, 1)))
    return tuple(tuple((index + turn) % n_choices for index in range(n_choices)) for turn in turns)


def orders_of(question: Question, rotations: int) -> tuple[tuple[int, ...], ...]:
    """Return the orders in which a question's choices are shown: one where an option speaks of the others.

    Args:
        question: The question.
        rotations: Number of orders wanted.
    """
    return choice_orders(len(question.choices), 1 if keeps_its_order(question.choices) else rotations)


def _by_picture(questions: Sequence[Question]) -> list[Question]:
    """Return the questions with those about one picture together, pictures in the order they first appear."""
    by_picture: dict[str, list[Question]] = {}
    for question in questions:
        by_picture.setdefault(question.image.file_sha256, []).append(question)
    return [question for group in by_picture.values() for question in group]


def _rotate(asked: Sequence[Shown], position: int) -> Sequence[Shown]:
    start = position % len(asked) if asked else 0
    return [*asked[start:], *asked[:start]]


def _distinct_ids(requests: Sequence[Request]) -> set[str]:
    seen: set[str] = set()
    for request in requests:
        if request.id in seen:
            raise BenchmarkError(
                f"{request.benchmark}/{request.question_id} in view {request.view} is asked twice",
                hint="question ids must be unique, and each view may be named once",
            )
        seen.add(request.id)
    return seen

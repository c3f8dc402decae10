"""What a run will ask, from arithmetic alone: questions, view images and requests with their ids."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import msgspec

from eyechart.errors import BenchmarkError, UsageError
from eyechart.geometry import GeometryPolicy, rotate_box, whole
from eyechart.kinds import Benchmark, PlannedPicture, Prompt
from eyechart.runs.gold import right_answer
from eyechart.schema import (
    BenchmarkIdentity,
    Box,
    Composition,
    DecodePolicy,
    ImageRef,
    ModelIdentity,
    Picture,
    Question,
    Recipe,
    Request,
    Sampling,
    Size,
    Value,
    View,
    ViewImage,
    recipe_key,
    request_id,
)
from eyechart.views import format_view, plan_view

DEFAULT_RESAMPLER = "pillow-lanczos@1"
DEFAULT_TRANSPORT = "native@1"
MISSING_RELEASE = "missing_in_release"
"""Note on a view image whose released file does not exist: it is not asked, and not counted as wrong."""

# EXIF orientations from 5 on swap the axes (JEITA CP-3451, tag 0x0112).
_FIRST_SWAPPED_ORIENTATION = 5


class PlanOptions(Value, frozen=True):
    """Everything that decides a plan besides benchmark, views, prompt and model.

    Args:
        decode: How files become pixels.
        geometry_policy: How boxes and sizes are rounded and cut.
        resampler: Name and algorithm version of the resampler.
        transport: Name and version of the transport policy.
        limit: Number of whole questions, each under all views; None asks all.
        seed: Seed of the choice of questions under ``limit``.
        repeats: How often each request is asked.
        rotations: In how many orders the choices are shown, each turned by one place; 1 shows them as given. A question
            with fewer choices is asked in as many orders as it has choices.
        view_preset: Name of the preset the views came from, if they did.
    """

    decode: DecodePolicy = DecodePolicy()
    geometry_policy: GeometryPolicy = GeometryPolicy()
    resampler: str = DEFAULT_RESAMPLER
    transport: str = DEFAULT_TRANSPORT
    limit: int | None = None
    seed: int = 0
    repeats: int = 1
    rotations: int = 1
    view_preset: str | None = None


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


def plan_run(
    benchmark: Benchmark,
    views: Sequence[View],
    prompt: Prompt,
    *,
    model: ModelIdentity,
    sampling: Sampling | None = None,
    options: PlanOptions | None = None,
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

    Returns:
        The plan; the same arguments give the same plan on every machine.

    Raises:
        GeometryError: If a question cannot be shown in a view; the message names both.
        BenchmarkError: If there is no question, or an id repeats.
        UsageError: If no view is named, or ``limit`` or ``repeats`` is below 1.
    """
    options, sampling = options or PlanOptions(), sampling or Sampling()
    check_counts(views, options)
    questions = choose_questions(tuple(benchmark.questions()), options.limit, options.seed)
    if not questions:
        raise BenchmarkError(f"{benchmark.identity.name} holds no question", hint="check --data and its filters")
    shown = _Shower(benchmark, tuple(views), options)
    asker = _Asker(benchmark.identity.name, prompt, model, sampling)
    images: list[ViewImage] = []
    requests: list[Request] = []
    missing: list[MissingView] = []
    for position, question in enumerate(_by_picture(questions)):
        asked: list[tuple[str, tuple[Picture, ...]]] = []
        for view_id, rows, pictures in shown.views_of(question):
            images.extend(rows)
            if pictures is None:
                missing.append(MissingView(question.id, view_id))
            else:
                asked.append((view_id, pictures))
        requests.extend(asker.requests(question, _rotate(asked, position), options))
    return Plan(
        plan_id=plan_id_of(_distinct_ids(requests)),
        benchmark=benchmark.identity,
        views=tuple(format_view(view) for view in views),
        model=model,
        sampling=sampling,
        prompt_id=asker.prompt_id,
        options=options,
        questions=questions,
        view_images=tuple(images),
        requests=tuple(requests),
        missing=tuple(missing),
    )


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


def upright(question: Question, decode: DecodePolicy) -> Question:
    """Return the question as the decode policy shows its picture: with ``exif="apply"`` size and boxes are rotated.

    The result serves geometry only: ``image.size`` is then the size after rotation.
    """
    orientation = question.image.exif_orientation
    if decode.exif == "ignore" or orientation == 1:
        return question
    stored = question.image.size
    return msgspec.structs.replace(
        question,
        image=msgspec.structs.replace(question.image, size=upright_size(question.image, decode)),
        targets=tuple(rotate_box(box, stored, orientation) for box in question.targets),
        targets_clipped=tuple(rotate_box(box, stored, orientation) for box in question.targets_clipped),
    )


def upright_size(image: ImageRef, decode: DecodePolicy) -> Size:
    """Return the size of a picture after decoding by the policy.

    Example:
        >>> upright_size(ImageRef("", Size(4, 3), "image/jpeg", exif_orientation=6), DecodePolicy(exif="apply"))
        Size(width=3, height=4)
    """
    if decode.exif == "apply" and image.exif_orientation >= _FIRST_SWAPPED_ORIENTATION:
        return Size(image.size.height, image.size.width)
    return image.size


class _Shower:
    """Plans the pictures of every view of a question."""

    def __init__(self, benchmark: Benchmark, views: tuple[View, ...], options: PlanOptions) -> None:
        self._benchmark = benchmark
        self._views = tuple((format_view(view), view) for view in views)
        self._released = frozenset(benchmark.released_views())
        self._options = options

    def views_of(self, question: Question) -> Iterator[tuple[str, list[ViewImage], tuple[Picture, ...] | None]]:
        """Yield view id, rows for views.jsonl, and the pictures to send (None where a released file is missing)."""
        standing = upright(question, self._options.decode)
        for view_id, view in self._views:
            if view_id in self._released:
                yield self._released_view(question, standing, view_id, view)
            else:
                planned = plan_view(view, standing, self._options.geometry_policy)
                pictures = tuple(self._built_picture(question.image, picture) for picture in planned)
                rows = [
                    _view_row(question.id, view_id, index, picture, plan)
                    for index, (picture, plan) in enumerate(zip(pictures, planned, strict=True))
                ]
                yield view_id, rows, pictures

    def _built_picture(self, image: ImageRef, planned: PlannedPicture) -> Picture:
        # The pictures of a grid become squares of one size.
        is_resampled = not isinstance(planned.geometry, Composition) or planned.geometry.resized is not None
        recipe = Recipe(
            geometry=planned.geometry,
            decode=self._options.decode,
            resampler=self._options.resampler if is_resampled else None,
            transport=self._options.transport,
        )
        return _picture(image, recipe, planned.target)

    def _released_view(
        self, question: Question, standing: Question, view_id: str, view: View
    ) -> tuple[str, list[ViewImage], tuple[Picture, ...] | None]:
        """Plan a released file as it stands; where it is missing, say so with the size it should have."""
        released = self._benchmark.released_image(question, view_id)
        if released is None:
            planned = plan_view(view, standing, self._options.geometry_policy)
            return view_id, [_missing_row(question.id, view_id, picture.geometry.size) for picture in planned], None
        size = upright_size(released.image, self._options.decode)
        recipe = Recipe(
            geometry=Composition(canvas=size, kept=whole(size)),
            decode=self._options.decode,
            transport=self._options.transport,
        )
        target = released.target_in_view
        if target is not None and self._options.decode.exif == "apply":
            target = rotate_box(target, released.image.size, released.image.exif_orientation)
        picture = _picture(released.image, recipe, target)
        row = msgspec.structs.replace(
            released, question_id=question.id, view=view_id, recipe_key=picture.recipe_key, target_in_view=target
        )
        return view_id, [row], (picture,)


class _Asker:
    """Writes the requests of one prompt to one model."""

    def __init__(self, benchmark: str, prompt: Prompt, model: ModelIdentity, sampling: Sampling) -> None:
        self.prompt_id = f"{prompt.name}@{prompt.version}"
        self._benchmark, self._prompt, self._model, self._sampling = benchmark, prompt, model, sampling

    def requests(
        self, question: Question, asked: Sequence[tuple[str, tuple[Picture, ...]]], options: PlanOptions
    ) -> Iterator[Request]:
        """Yield the requests of one question: every view, then every view again for each order and repeat."""
        worded = [self._worded(question, order) for order in choice_orders(len(question.choices), options.rotations)]
        for repeat, (order, text, text_sha256) in product(range(options.repeats), worded):
            for view_id, pictures in asked:
                request = Request(
                    id="",
                    benchmark=self._benchmark,
                    question_id=question.id,
                    view=view_id,
                    condition=view_id,
                    pictures=pictures,
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


def _picture(image: ImageRef, recipe: Recipe, target: Box | None) -> Picture:
    key = recipe_key(image.file_sha256, recipe)
    return Picture(image=image, recipe=recipe, recipe_key=key, size=recipe.geometry.size, target=target)


def _view_row(question_id: str, view_id: str, index: int, picture: Picture, planned: PlannedPicture) -> ViewImage:
    return ViewImage(
        question_id=question_id,
        view=view_id,
        index=index,
        image=ImageRef(file_sha256="", size=picture.size, media_type="image/png"),
        recipe_key=picture.recipe_key,
        source_region=planned.source_region,
        target_in_view=planned.target,
        notes=planned.notes,
        extra={} if planned.area_multiplier is None else {"area_multiplier": planned.area_multiplier},
    )


def _missing_row(question_id: str, view_id: str, size: Size) -> ViewImage:
    image = ImageRef(file_sha256="", size=size, media_type="")
    return ViewImage(question_id=question_id, view=view_id, image=image, notes=(MISSING_RELEASE,))


def _by_picture(questions: Sequence[Question]) -> list[Question]:
    """Return the questions with those about one picture together, pictures in the order they first appear."""
    by_picture: dict[str, list[Question]] = {}
    for question in questions:
        by_picture.setdefault(question.image.file_sha256, []).append(question)
    return [question for group in by_picture.values() for question in group]


def _rotate(
    asked: Sequence[tuple[str, tuple[Picture, ...]]], position: int
) -> Sequence[tuple[str, tuple[Picture, ...]]]:
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


def check_counts(views: Sequence[View], options: PlanOptions) -> None:
    """Refuse a plan that would ask nothing.

    Raises:
        UsageError: If no view is named, or ``limit`` or ``repeats`` is below 1.
    """
    if not views:
        raise UsageError("no view was named", hint="for example --views original,crop_3x or --views sum29")
    if options.limit is not None and options.limit < 1:
        raise UsageError(f"limit {options.limit} asks no question", hint="give --limit a whole number from 1")
    if options.repeats < 1:
        raise UsageError(f"{options.repeats} repeats ask nothing", hint="give --repeat a whole number from 1")
    if options.rotations < 1:
        raise UsageError(
            f"{options.rotations} orders of the choices ask nothing", hint="give --rotate-choices 4, or all"
        )

"""What decides a plan besides benchmark, views, prompt and model."""

from collections.abc import Mapping, Sequence

from eyechart.errors import UsageError
from eyechart.geometry import GeometryPolicy
from eyechart.schema import DecodePolicy, Value, View

DEFAULT_RESAMPLER = "pillow-lanczos@1"
DEFAULT_TRANSPORT = "native@1"


class PlanOptions(Value, frozen=True):
    """Everything that decides a plan besides benchmark, views, prompt and model.

    Args:
        decode: How files become pixels.
        geometry_policy: How boxes and sizes are rounded and cut.
        resampler: Name and algorithm version of the resampler.
        transport: Id of the transport policy (``eyechart.seen.transport``).
        limit: Number of whole questions, each under all views; None asks all.
        seed: Seed of the choice of questions under ``limit``.
        repeats: How often each request is asked.
        rotations: In how many orders the choices are shown, each turned by one place; 1 shows them as given. A question
            with fewer choices is asked in as many orders as it has choices.
        view_preset: Name of the preset the views came from, if they did.
        match: Id of a matched design (``eyechart.runs.matching``), None for plain views.
        orders: Question → for each letter shown the index of its option, where that is not the question's own order.
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
    match: str | None = None
    orders: Mapping[str, tuple[int, ...]] = {}


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
    if options.rotations > 1 and options.orders:
        raise UsageError(
            "--rotate-choices turns the options, and their order is given", hint="leave --rotate-choices or that out"
        )

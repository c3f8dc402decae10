"""Views: how a picture is shown. Each has an id as its text form and is planned by arithmetic alone."""

import inspect
from typing import cast

import msgspec

from eyechart.errors import GeometryError, UsageError
from eyechart.geometry import GeometryPolicy
from eyechart.kinds import PlannedPicture, ViewKind
from eyechart.registry import load, names, unknown_name
from eyechart.schema import Box, Crop, Downsample, ImageRef, Original, Question, Size, TargetOnly, View, Whiteground
from eyechart.views.grid import all_cells

CROP_RATIOS = (1.0, 1.5, 3.0, 6.0, 12.0, 18.0)
# SUM's card names four of its eleven scales; these are the most natural seven between them, hence "candidate".
DOWNSAMPLE_SCALES = (0.9375, 0.875, 0.8125, 0.75, 0.625, 0.5, 0.375, 0.25, 0.1875, 0.125, 0.0625)
TARGET_ONLY_RATIOS = (1.0, 3.0, 6.0, 18.0, None)

PRESETS: dict[str, tuple[View, ...]] = {
    "sum29-candidate-a": (
        Original(),
        *(Crop(ratio) for ratio in CROP_RATIOS),
        *(Whiteground(ratio) for ratio in CROP_RATIOS),
        *(Downsample(scale) for scale in DOWNSAMPLE_SCALES),
        *(TargetOnly(ratio) for ratio in TARGET_ONLY_RATIOS),
    ),
    "core8": (
        Original(),
        Crop(1.0),
        Crop(3.0),
        Whiteground(3.0),
        TargetOnly(3.0),
        Downsample(0.5),
        Downsample(0.25),
        Downsample(0.0625),
    ),
}
# Seven differences from original under Holm's first step, power 0.8, 15 % of questions changing their score, the
# clusters of SUM: eyechart check BENCH --views core8 --effect 0.05 says it of any benchmark.
PRESET_NOTES = {"core8": "detects 5.4 points on SUM's 700 questions, 14.1 on 100"}
PRESET_ALIASES = {"sum29": "sum29-candidate-a"}

# Pixel-identical by construction (sum.md 1.4): their disagreement is run-to-run noise.
IDENTICAL_VIEWS: tuple[tuple[str, str], ...] = (
    ("crop_1x", "target_only_1x"),
    ("whiteground_1x", "target_only_original"),
)


def format_view(view: View) -> str:
    """Return the id of a view.

    Raises:
        UsageError: If a factor cannot be written with six decimals, or the view's family is not registered.

    Example:
        >>> format_view(Crop(1.5)), format_view(Downsample(0.0625)), format_view(TargetOnly(None))
        ('crop_1_5x', 'downsample_0_0625', 'target_only_original')
    """
    return kind_of(view).format(view)


def parse_view(view_id: str) -> View:
    """Return the view that an id names: ``parse_view(format_view(view)) == view``.

    Raises:
        UsageError: If no family reads the id; the hint names a near one, or how the family writes its views.

    Example:
        >>> parse_view("crop_2x"), parse_view("downsample_0_33")
        (Crop(area_ratio=2.0), Downsample(linear_scale=0.33))
    """
    for name in names("view"):
        view = _kind(name).parse(view_id)
        if view is not None:
            return view
    family = max((name for name in names("view") if view_id.startswith(f"{name}_")), key=len, default=None)
    if family is not None and not any(_kind(name).parse(f"{view_id}x") for name in names("view")):
        raise UsageError(f"there is no view named {view_id!r}", hint=_rule_of(family))
    known = (*PRESET_ALIASES, *PRESETS, *(format_view(view) for view in PRESETS["sum29-candidate-a"]), *names("view"))
    raise unknown_name("view", view_id, known)


def resolve_views(text: str) -> tuple[tuple[View, ...], str | None]:
    """Return the views named by a comma-separated list of ids or presets, and the preset if it was one alone.

    A grid without a cell, such as ``grid_white_5x5``, means all its cells, row by row.

    Raises:
        UsageError: If a name is neither a view nor a preset, or a view is named twice.

    Example:
        >>> len(resolve_views("sum29")[0]), resolve_views("sum29")[1]
        (29, 'sum29-candidate-a')
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise UsageError("no view was named", hint="for example --views original,crop_3x or --views sum29")
    views: list[View] = []
    for part in parts:
        preset = PRESETS.get(PRESET_ALIASES.get(part, part)) or all_cells(part)
        views.extend(preset or (parse_view(part),))
    repeated = {format_view(view) for view in views if views.count(view) > 1}
    if repeated:
        raise UsageError(f"named twice: {', '.join(sorted(repeated))}", hint="name each view once")
    alone = PRESET_ALIASES.get(parts[0], parts[0]) if len(parts) == 1 else None
    return tuple(views), alone if alone in PRESETS else None


def plan_view(view: View, question: Question, policy: GeometryPolicy | None = None) -> tuple[PlannedPicture, ...]:
    """Return what a view shows of a question, from numbers alone.

    Raises:
        GeometryError: If the view cannot be made; the message names benchmark, question and view.
    """
    try:
        return kind_of(view).plan(view, question, policy or GeometryPolicy())
    except GeometryError as error:
        place = f"{question.benchmark}/{question.id} in view {format_view(view)}"
        raise GeometryError(f"{place}: {error.message}", hint=error.hint) from error


def needs_target(view: View) -> bool:
    """Return whether a view can be made only of questions with a target box.

    Example:
        >>> needs_target(Crop(3.0)), needs_target(Downsample(0.5))
        (True, False)
    """
    image = ImageRef("", Size(100, 100), "image/png")
    bare = Question(id="", benchmark="", text="?", image=image, image_group="")
    boxed = msgspec.structs.replace(bare, targets=(Box(10, 10, 20, 20),))
    return not _can_plan(view, bare) and _can_plan(view, boxed)


def _can_plan(view: View, question: Question) -> bool:
    try:
        plan_view(view, question)
    except GeometryError:
        return False
    return True


def kind_of(view: View) -> ViewKind[View]:
    """Return the registered family of a view.

    Raises:
        UsageError: If no registered family makes such views.
    """
    for name in names("view"):
        kind = _kind(name)
        if type(view) is kind.view:
            return kind
    raise unknown_name("view family", type(view).__name__, names("view"))


def _rule_of(family: str) -> str:
    """Return how a family writes its views: the first line of its documentation, and what holds for every factor."""
    first = (inspect.getdoc(_kind(family)) or family).splitlines()[0].replace("`", "").rstrip(".")
    return f"{first[0].lower()}{first[1:]}; a factor is written 1_5 for 1.5, with at most six decimals"


def _kind(name: str) -> ViewKind[View]:
    return cast("type[ViewKind[View]]", load("view", name))()

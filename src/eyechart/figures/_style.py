"""The look that all figures share: one column wide, readable in grey, safe for colour-blind readers.

Nothing here changes matplotlib's settings for the caller. Axes that an author passes in keep the author's fonts and
sizes; only figures made here use ours. matplotlib is imported late, because most commands never draw.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from eyechart.errors import UsageError
from eyechart.figures._numbers import format_percent
from eyechart.schema import Estimate, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# One column of the usual two-column paper (CVPR 3.25 in, ACL 3.03 in, IEEE 3.5 in) without being scaled by much.
COLUMN_WIDTH_IN = 3.4

INK = "#1f2328"
MUTED = "#5c6570"
GRID = "#d8dce1"
ACCENT = "#0b5fa5"

_LABEL_HEIGHT = 0.07  # of a line of small text, on an axis from 0 to 1


class LineStyle(Value, frozen=True):
    """How one series is drawn: colour, marker and dashes each tell it apart alone."""

    colour: str
    marker: str
    dashes: str | tuple[int, tuple[int, ...]]


# Okabe and Ito's blue, vermilion and bluish green, darkened so that each has 4.5:1 contrast on white
# (Okabe & Ito 2008, Color Universal Design, https://jfly.uni-koeln.de/color/).
CONTEXT_STYLES = {
    "crop": LineStyle(ACCENT, "o", "-"),
    "whiteground": LineStyle("#b34700", "s", "--"),
    "target_only": LineStyle("#00705a", "^", ":"),
}


def drawing_style(axes: object | None) -> AbstractContextManager[None]:
    """Return the context in which to draw: our own style for our own figure, the author's for given axes."""
    if axes is not None:
        return nullcontext()
    import matplotlib as mpl  # deferred: half a second that only drawing needs

    # Touching the backend makes matplotlib import pyplot and look for a display.
    defaults = dict(mpl.rcParamsDefault)
    defaults.pop("backend")
    return mpl.rc_context(
        {
            **defaults,
            "font.family": ["DejaVu Sans"],  # ships with matplotlib, so a figure looks the same on every machine
            "font.size": 7.0,
            "axes.linewidth": 0.6,
            "axes.labelsize": 7.0,
            "axes.labelcolor": INK,
            "axes.edgecolor": MUTED,
            "axes.titlesize": 7.5,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.axisbelow": True,
            "legend.fontsize": 6.5,
            "lines.linewidth": 1.2,
            "lines.markersize": 3.6,
            "text.color": INK,
            "text.parse_math": False,  # a dollar sign in a name is a dollar sign
            "text.usetex": False,
            "xtick.color": MUTED,
            "xtick.labelcolor": INK,
            "xtick.labelsize": 6.5,
            "ytick.color": MUTED,
            "ytick.labelcolor": INK,
            "ytick.labelsize": 6.5,
        }
    )


def take_axes(axes: object | None, height_in: float) -> "Axes":
    """Return the given axes, or the axes of a new figure one column wide.

    Args:
        axes: matplotlib axes of the author, or None.
        height_in: Height of a new figure in inches.

    Raises:
        UsageError: If ``axes`` is neither.
    """
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if axes is None:
        figure = Figure(figsize=(COLUMN_WIDTH_IN, height_in), layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        return figure.add_subplot()
    if not isinstance(axes, Axes):
        raise UsageError(
            f"cannot draw on {type(axes).__name__}", hint="pass one matplotlib Axes, for example figure.add_subplot()"
        )
    return axes


def draw_accuracy_axis(axes: "Axes") -> None:
    """Fix the vertical axis to 0–100 %, the same for every figure, with a quiet grid."""
    axes.set_ylim(0.0, 1.0)
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0], labels=["0", "25", "50", "75", "100"])
    axes.set_ylabel("accuracy, %")
    axes.grid(axis="y", color=GRID, linewidth=0.5)


def draw_estimates(
    axes: "Axes", places: Sequence[float], estimates: Sequence[Estimate], look: LineStyle, label: str | None = None
) -> None:
    """Draw accuracies with their intervals, joined where the look has dashes.

    Args:
        axes: Where to draw.
        places: Horizontal place of each.
        estimates: As many.
        look: Colour, marker and dashes.
        label: Its name in the legend.
    """
    axes.errorbar(
        places,
        [one.value for one in estimates],
        yerr=[
            [0.0 if one.low is None else one.value - one.low for one in estimates],
            [0.0 if one.high is None else one.high - one.value for one in estimates],
        ],
        color=look.colour,
        marker=look.marker,
        linestyle=look.dashes,
        elinewidth=0.8,
        capsize=1.5,
        zorder=3,
        clip_on=False,
        label=label,
    )


def draw_chance(
    axes: "Axes", chance: float | None, at_right: Sequence[Estimate] = (), *, is_written: bool = True
) -> None:
    """Draw the chance level as a dashed line with its value, if it is known.

    Args:
        axes: Where to draw.
        chance: The level, in 0–1.
        at_right: What is drawn at the right end: the value is written at the left where it would cover these.
        is_written: Whether its value stands at the line.
    """
    if chance is None:
        return
    spans = [one.interval or (one.value, one.value) for one in at_right]
    is_covered = any(low - 0.02 < chance + _LABEL_HEIGHT and high > chance for low, high in spans)
    axes.axhline(chance, color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1.5)
    if not is_written:
        return
    axes.annotate(
        f"chance {format_percent(chance)} %",
        xy=(0.0 if is_covered else 1.0, chance),
        xycoords=("axes fraction", "data"),
        xytext=(2 if is_covered else -2, 2),
        textcoords="offset points",
        ha="left" if is_covered else "right",
        va="bottom",
        fontsize="small",
        color=MUTED,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8},
    )


def write_note(axes: "Axes", lines: Sequence[str], *, is_centred: bool = True) -> None:
    """Write small lines under the label of the horizontal axis: n, coverage, what is left out.

    Args:
        axes: Where to write.
        lines: The lines; empty ones are left out.
        is_centred: Whether they stand under the middle of the axis, or end with it (beside long row names).
    """
    text = "\n".join(line for line in lines if line)
    label = axes.xaxis.get_label()
    axes.annotate(
        text,
        xy=(0.5 if is_centred else 1.0, 0.0),
        xycoords=(axes.transAxes, label),
        xytext=(0, -3),
        textcoords="offset points",
        ha="center" if is_centred else "right",
        va="top",
        fontsize="small",
        color=MUTED,
    )


def settle_ticks(axes: "Axes") -> None:
    """Fix the look of ticks that matplotlib makes only when it draws, after our style no longer holds."""
    axes.tick_params(which="both", labelsize=6.5, labelfontfamily="DejaVu Sans", color=MUTED, labelcolor=INK, width=0.6)
    axes.tick_params(which="major", length=2.5)
    axes.tick_params(which="minor", length=0.0)

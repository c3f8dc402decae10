"""Figures: the estimates of a summary drawn at the width of a paper's column, and their alternative text.

Each public module of this package is one figure (``eyechart.kinds.FigureKind``)::

    ax = ResolutionCurve().draw(summary)              # None if there is nothing to draw
    save_figure(ax.figure, out, "resolution_curve")   # PDF, SVG, PNG

Authors pass their own axes, ``draw(summary, ax=ax)``, and restyle what is drawn.

How numbers are written and which contrast is the main one is decided here too, so that reports say what figures show.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from eyechart.errors import StoreError
from eyechart.figures._numbers import (
    MISSING,
    NO_INTERVAL,
    NOT_SCORED,
    format_contrast,
    format_count,
    format_estimate,
    format_half_size,
    format_level,
    format_n,
    format_p,
    format_percent,
    format_px,
    format_size,
)
from eyechart.figures._series import accuracies, main_contrasts, name_baseline, name_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "MISSING",
    "NOT_SCORED",
    "NO_INTERVAL",
    "PICTURE_SUFFIXES",
    "accuracies",
    "format_contrast",
    "format_count",
    "format_estimate",
    "format_half_size",
    "format_level",
    "format_n",
    "format_p",
    "format_percent",
    "format_px",
    "format_size",
    "main_contrasts",
    "name_baseline",
    "name_difference",
    "render_svg",
    "save_figure",
    "save_picture",
]

_PNG_DPI = 300
# Neither dates nor program versions: the same numbers give the same bytes.
_NO_METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
}
PICTURE_SUFFIXES = tuple(f".{name}" for name in _NO_METADATA)
"""What files of figures end in."""


def save_figure(figure: "Figure", out: Path, stem: str, *, svg: str | None = None) -> tuple[Path, Path, Path]:
    """Save a figure as PDF, SVG and PNG.

    Fonts are embedded (Type 42 in the PDF, outlines in the SVG). The same figure gives the same bytes, on any day.

    Args:
        figure: A matplotlib figure.
        out: Folder, made if it does not exist.
        stem: File name without suffix.
        svg: What ``render_svg`` returned for the figure, where it was rendered before.

    Returns:
        The paths of the PDF, the SVG and the PNG (300 dots per inch).

    Raises:
        StoreError: If the folder or a file cannot be written.
    """
    known = {} if svg is None else {"svg": svg.encode()}
    with _laid_out(figure):
        pdf, vector, png = (_write(figure, out / f"{stem}.{suffix}", known.get(suffix)) for suffix in _NO_METADATA)
    return pdf, vector, png


def save_picture(figure: "Figure", path: Path) -> Path:
    """Save a figure as one file, whose suffix says the format, and return its path.

    Args:
        figure: A matplotlib figure.
        path: A file that ends in one of ``PICTURE_SUFFIXES``; its folder is made if it does not exist.

    Raises:
        StoreError: If the folder or the file cannot be written.
    """
    with _laid_out(figure):
        return _write(figure, path)


def _write(figure: "Figure", path: Path, content: bytes | None = None) -> Path:
    """Write a figure's content, rendered now where it was not before."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_render(figure, path.suffix[1:].lower()) if content is None else content)
    except OSError as error:
        raise StoreError(
            f"cannot write figure {path.stem} into {path.parent}: {error.strerror}",
            hint="is the folder writable, is the disk full?",
        ) from error
    return path


def render_svg(figure: "Figure") -> str:
    """Return a figure as SVG text with outlined letters, without date or program name."""
    with _laid_out(figure):
        return _render(figure, "svg").decode("utf-8")


@contextmanager
def _laid_out(figure: "Figure") -> Iterator[None]:
    """Put a figure's parts in their places once for all formats; matplotlib would do it, and draw, twice for each."""
    engine = figure.get_layout_engine()
    if engine is None:
        yield
        return
    dpi = figure.dpi
    try:
        figure.dpi = _PNG_DPI
        engine.execute(figure)
        figure.dpi = dpi
        figure.set_layout_engine(None)
        yield
    finally:
        figure.dpi = dpi
        figure.set_layout_engine(engine)


def _render(figure: "Figure", suffix: str) -> bytes:
    """Return the bytes of a figure in one format."""
    import matplotlib as mpl  # deferred: half a second that only drawing needs

    buffer = io.BytesIO()
    # Type 42 keeps letters as letters, so that a publisher can search and check them; Type 3 is refused by many.
    # The salt makes the ids of an SVG depend on its content alone.
    with mpl.rc_context({"pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "eyechart"}):
        figure.savefig(buffer, format=suffix, dpi=_PNG_DPI, metadata=_NO_METADATA[suffix])
    return buffer.getvalue()

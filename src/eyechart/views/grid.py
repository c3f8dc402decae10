"""The picture in one cell of a grid: alone on white, or among other pictures with a caption under each."""

import re
from typing import Literal

from eyechart.errors import UsageError
from eyechart.geometry import GeometryPolicy, scale_box, translate, whole
from eyechart.images.haystack import name_haystack, order_haystack
from eyechart.kinds import PlannedPicture
from eyechart.schema import Grid, GridComposition, Question, Size
from eyechart.views._targets import target_or_none

__all__ = ["GridKind"]

# HRScene's geometry: every picture becomes a square of 448 px; captions need a border of 20 px and a band below.
TILE = Size(448, 448)
WHITE_PITCH = TILE
CAPTIONED_PITCH = Size(488, 508)
# Named here as a text, so that planning does not load the atlas; a test holds it against images.captions.
CAPTION_ATLAS = "dejavu-sans-bold-30@1"
MAX_CELLS = 99
"""Rows or columns at most."""

_ID = re.compile(r"grid_(white|captioned)_([1-9]\d?)x([1-9]\d?)_r(0|[1-9]\d?)_c(0|[1-9]\d?)(?:_s([1-9]\d*))?")

_WHOLE = re.compile(r"grid_(white|captioned)_([1-9]\d?)x([1-9]\d?)(?:_s([1-9]\d*))?")


class GridKind:
    """The views ``grid_<white or captioned>_<rows>x<columns>_r<row>_c<column>``, cells counted from 0.

    ``_s<seed>`` follows where the order of the distractors has another seed than 0.
    """

    view = Grid

    def format(self, view: Grid) -> str:
        """Return the view id.

        Raises:
            UsageError: If the cell lies outside the grid, or the grid has more than 99 rows or columns.
        """
        seed = f"_s{view.distractor_seed}" if view.distractor_seed else ""
        view_id = f"grid_{view.style}_{view.rows}x{view.columns}_r{view.row}_c{view.column}{seed}"
        if self.parse(view_id) != view:
            raise UsageError(
                f"no cell at row {view.row}, column {view.column} of a {view.rows}×{view.columns} grid",
                hint=f"cells are counted from 0; a grid has 1 to {MAX_CELLS} rows and columns, a seed is not negative",
            )
        return view_id

    def parse(self, view_id: str) -> Grid | None:
        """Return the view, or None if the id belongs to another family or the cell lies outside the grid."""
        match = _ID.fullmatch(view_id)
        if match is None:
            return None
        rows, columns, row, column = (int(number) for number in match.groups()[1:5])
        if row >= rows or column >= columns:
            return None
        style: Literal["white", "captioned"] = "white" if match[1] == "white" else "captioned"
        return Grid(style, rows, columns, row, column, int(match[6] or 0))

    def plan(
        self,
        view: Grid,
        question: Question,
        policy: GeometryPolicy,  # noqa: ARG002 -- a grid has no box to round
    ) -> tuple[PlannedPicture, ...]:
        """Put the picture, squeezed to the tile, into its cell; the target is the question's own, else the whole tile.

        Raises:
            GeometryError: If a captioned grid has more cells than the question has pictures.
        """
        geometry = compose_grid(view, question)
        corner = geometry.corner(view.row, view.column)
        target = target_or_none(question)
        shown = whole(TILE) if target is None else scale_box(target, question.image.size, TILE)
        return (
            PlannedPicture(
                geometry=geometry,
                source_region=whole(question.image.size),
                target=translate(shown, *corner),
            ),
        )


def compose_grid(view: Grid, question: Question) -> GridComposition:
    """Return what a grid view draws, from numbers and hashes alone.

    Raises:
        GeometryError: If a captioned grid has more cells than the question has pictures.
    """
    is_captioned = view.style == "captioned"
    pitch = CAPTIONED_PITCH if is_captioned else WHITE_PITCH
    n_others = view.rows * view.columns - 1 if is_captioned else 0
    return GridComposition(
        canvas=Size(pitch.width * view.columns, pitch.height * view.rows),
        style=view.style,
        rows=view.rows,
        columns=view.columns,
        row=view.row,
        column=view.column,
        tile=TILE,
        pitch=pitch,
        haystack=name_haystack(order_haystack(question, n_others, view.distractor_seed)),
        distractor_seed=view.distractor_seed if n_others else 0,
        caption=CAPTION_ATLAS if is_captioned else None,
    )


def grid_cells(style: Literal["white", "captioned"], size: int, seed: int = 0) -> tuple[Grid, ...]:
    """Return all cells of a square grid, row by row.

    Example:
        >>> [(cell.row, cell.column) for cell in grid_cells("white", 2)]
        [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return tuple(Grid(style, size, size, row, column, seed) for row in range(size) for column in range(size))


def all_cells(text: str) -> tuple[Grid, ...]:
    """Return the cells of a grid that is named without one, such as ``grid_white_3x5``; none for any other text.

    Example:
        >>> len(all_cells("grid_captioned_3x5_s2")), all_cells("grid_white_3x3_r0_c0")
        (15, ())
    """
    match = _WHOLE.fullmatch(text)
    if match is None:
        return ()
    style: Literal["white", "captioned"] = "white" if match[1] == "white" else "captioned"
    rows, columns, seed = int(match[2]), int(match[3]), int(match[4] or 0)
    return tuple(Grid(style, rows, columns, row, column, seed) for row in range(rows) for column in range(columns))

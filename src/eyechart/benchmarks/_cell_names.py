"""Ids of the cells of grids as the view family writes them; a test holds the two against each other."""


def view_ids(style: str, grids: tuple[int, ...], seed: int = 0) -> tuple[str, ...]:
    """Return the ids of all cells of square grids, row by row; as ``eyechart.views.grid`` writes them.

    Example:
        >>> view_ids("white", (1, 2))[:3]
        ('grid_white_1x1_r0_c0', 'grid_white_2x2_r0_c0', 'grid_white_2x2_r0_c1')
    """
    return tuple(
        view_id_of(style, size, row, column, seed) for size in grids for row in range(size) for column in range(size)
    )


def view_id_of(style: str, size: int, row: int, column: int, seed: int = 0) -> str:
    """Return the id of one cell.

    Example:
        >>> view_id_of("captioned", 3, 0, 2, seed=5)
        'grid_captioned_3x3_r0_c2_s5'
    """
    end = f"_s{seed}" if seed else ""
    return f"grid_{style}_{size}x{size}_r{row}_c{column}{end}"

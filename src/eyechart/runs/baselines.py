"""Which condition of a run each condition is compared with."""

from collections.abc import Mapping, Sequence

BASELINE = "original"


def baselines(conditions: Sequence[str], view_of: Mapping[str, str]) -> dict[str, str]:
    """Return condition → what it is compared with; what is compared with nothing maps to itself.

    Args:
        conditions: Names of the conditions, in the order of the run.
        view_of: Condition → its view; a condition of a matched design is named otherwise than its view.

    Example:
        >>> views = {"match_px_8": "original", "match_px_8_crop_3x": "crop_3x", "match_px_16": "original",
        ...          "match_px_16_crop_3x": "crop_3x"}
        >>> baselines(tuple(views), views)["match_px_16_crop_3x"], baselines(tuple(views), views)["match_px_16"]
        ('match_px_16', 'match_px_8')
    """
    wholes_first = [*(name for name in conditions if view_of[name] == BASELINE), *conditions]
    base_of = {"": next(iter(wholes_first), "")}
    for name in wholes_first:
        base_of.setdefault(level_of(name, view_of[name]), name)
    own = {name: base_of[level_of(name, view_of[name])] for name in conditions}
    return {name: base_of[""] if name == base else base for name, base in own.items()}


def level_of(condition: str, view: str) -> str:
    """Return the level of a matched design that a condition belongs to, empty for a plain view.

    Only the whole picture has no name of its own in a matched design.

    Example:
        >>> level_of("match_px_8_crop_3x", "crop_3x"), level_of("match_px_8", "original"), level_of("blank", "blank")
        ('match_px_8', 'match_px_8', '')
    """
    return "" if condition == view else condition.removesuffix(f"_{view}")

"""Which conditions of a run are compared with which, and which of them show the same pictures."""

from collections.abc import Mapping, Sequence

from eyechart.runs.cells import RunTable
from eyechart.schema import Contrast
from eyechart.stats.conditions import Pair, ScoreTable, contrasts_between
from eyechart.views import IDENTICAL_VIEWS

BASELINE = "original"


def contrast_all(table: RunTable, scores: ScoreTable, controls: Sequence[Pair]) -> tuple[Contrast, ...]:
    """Contrast every condition with the whole picture it belongs to, and the negative controls, as one family.

    A view is compared with the original, or with the first condition where the original was not asked. In a matched
    design a view is compared with the original of its own level, so that only the view differs; the originals of the
    other levels are compared with that of the first.

    Args:
        table: The run.
        scores: Its scores, of the same conditions.
        controls: Pairs of conditions that show the same pictures.
    """
    pairs = [
        (condition, baseline)
        for condition, baseline in baselines(scores.conditions, table.view_of).items()
        if condition != baseline
    ]
    compared = {frozenset(pair) for pair in pairs}
    apart = [pair for pair in controls if frozenset(pair) not in compared]
    shown = [*pairs, *apart]
    return contrasts_between(scores, shown, negative_controls=controls) if shown else ()


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


def same_recipes(table: RunTable) -> tuple[Pair, ...]:
    """Return the pairs of conditions that show the same pictures for every question both were asked.

    These are the pairs that are identical by construction, and any other pair whose recipes agree throughout.
    """
    shown: list[dict[tuple[int, int], tuple[str, ...]]] = [{} for _ in table.conditions]
    for (question, condition, slot), cell in table.cells.items():
        shown[condition][question, slot] = cell.recipes
    pairs = []
    for second in range(len(table.conditions)):
        for first in range(second):
            names = (table.conditions[first], table.conditions[second])
            is_known = names in IDENTICAL_VIEWS or names[::-1] in IDENTICAL_VIEWS
            if is_known or _agree(shown[first], shown[second]):
                pairs.append(names)
    return tuple(pairs)


def _agree(first: Mapping[tuple[int, int], tuple[str, ...]], second: Mapping[tuple[int, int], tuple[str, ...]]) -> bool:
    """Whether two conditions showed the same pictures wherever both were asked, and were asked together at all."""
    shared = first.keys() & second.keys()
    return bool(shared) and all(first[key] == second[key] for key in shared)

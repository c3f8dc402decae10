"""Which conditions of a run are compared with which, and which of them show the same pictures."""

from collections.abc import Mapping, Sequence

from eyechart.runs.baselines import baselines
from eyechart.runs.cells import RunTable
from eyechart.schema import Contrast
from eyechart.stats.conditions import Pair, ScoreTable, contrasts_between
from eyechart.views import IDENTICAL_VIEWS


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

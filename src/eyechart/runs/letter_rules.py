"""Which validity rules about letters apply to a run: a preference for one, and what rotating the choices shows."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from eyechart.runs.cells import Cell, RunTable, letter_index
from eyechart.runs.sights import BLIND_VIEWS
from eyechart.stats.clusters import find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.findings import Finding
from eyechart.stats.letters import estimate_evenness, estimate_letter_bias, summarise_rotations
from eyechart.stats.score_rules import check_letters

_FEWEST_OPTIONS = 2
_CLEAR_LETTERS = 30


def check_letter_preference(table: RunTable) -> list[Finding]:
    """Find a preference for letters under the first condition that shows the picture, per number of options."""
    shown = [index for index, name in enumerate(table.conditions) if table.view_of[name] not in BLIND_VIEWS]
    by_options: dict[int, list[tuple[int, int, str]]] = {}
    asked: dict[int, list[tuple[int, str]]] = {}
    for row, cell in table.column(shown[0]) if shown else []:
        question = table.questions[row]
        given, gold = letter_index(cell.verdict.answer if cell.verdict else None), letter_index(question.answer)
        if gold is None or not cell.choice_order:
            continue
        asked.setdefault(question.n_choices, []).append((cell.choice_order.index(gold), question.image_group))
        if given is not None and given < question.n_choices:
            entry = (given, cell.choice_order.index(gold), question.image_group)
            by_options.setdefault(question.n_choices, []).append(entry)
    found = []
    tested = {n: own for n, own in by_options.items() if len(own) >= _CLEAR_LETTERS and n >= _FEWEST_OPTIONS}
    for n_options, entries in sorted(tested.items()):
        given_letters, gold_letters = (np.array([entry[side] for entry in entries]) for side in (0, 1))
        clusters = find_clusters([entry[2] for entry in entries])
        bias = estimate_letter_bias(given_letters, gold_letters, clusters, n_options)
        golds = np.array([letter for letter, _ in asked[n_options]])
        even = estimate_evenness(golds, find_clusters([image for _, image in asked[n_options]]), n_options)
        rule = check_letters(bias, even, n_groups=len(tested))
        if rule is not None:
            text = f"{n_options} options, {table.conditions[shown[0]]}: {rule.message}"
            found.append(msgspec.structs.replace(rule, message=text))
    return found


def check_rotations(table: RunTable, own: Sequence[Mapping[tuple[int, int], Cell]]) -> list[Finding]:
    """Say what stays when the choices are rotated under their letters, per condition.

    Args:
        table: The run.
        own: Per condition, question and slot → cell.
    """
    if table.run.n_rotations <= 1:
        return []
    parts = []
    for index, name in enumerate(table.conditions):
        shape = (len(table.questions), table.n_slots)
        letters, contents = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        present = np.zeros(shape, dtype=np.bool_)
        gold = np.array([letter_index(question.answer) or 0 for question in table.questions])
        for (row, slot), cell in own[index].items():
            given = letter_index(cell.verdict.answer if cell.verdict else None)
            if cell.value is not None:
                known = given is not None and given < len(cell.choice_order)
                letters[row, slot] = given if known and given is not None else -1
                contents[row, slot] = cell.choice_order[given] if known and given is not None else -1
                present[row, slot] = True
        turned = summarise_rotations(letters, contents, gold, present)
        if turned.n_rotations.any():
            right = 100 * float(turned.all_right[turned.n_rotations > 0].mean())
            parts.append(
                f"{name} {right:.1f} % right in every order, letter followed in {100 * turned.letter_following:.1f} %"
            )
    text = f"choices in {table.run.n_rotations} orders, averaged per question: {'; '.join(parts)}"
    return [Finding(code=Code.SHUFFLE, level="info", message=text)]

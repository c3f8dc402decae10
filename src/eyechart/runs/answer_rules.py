"""Rules that say whether answers mean what they are read as: under this order of the options, about this picture."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from string import ascii_uppercase

import numpy as np

from eyechart.runs.cells import Cell, RunTable, letter_index
from eyechart.runs.sights import BLIND_VIEWS
from eyechart.stats.below_chance import compare_with_chance
from eyechart.stats.clusters import find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.findings import Finding
from eyechart.stats.option_order import (
    GIVEN_UNDER_ANOTHER_ORDER,
    LetterShift,
    OrderPair,
    accuracy_by_text,
    count_orders,
    describe_order,
    find_shift,
    find_turned_view,
    say_text_accuracy,
)
from eyechart.stats.score_rules import CLEAR_P

_GIVEN_ELSEWHERE = frozenset({"imported", "replay"})
_NO_IMAGE = "no_image"
# Every published price by tiles or patches charges more for a picture with a side above _LARGE_SIDE than for one
# that fits a square of _SMALL_SIDE: OpenAI cuts tiles of 512 pixels, Google leaves pictures up to 384 pixels whole.
_SMALL_SIDE, _LARGE_SIDE = 384, 1024
_FEWEST_PRICES = 5
_MOST_NAMED = 5


def check_answers(table: RunTable) -> list[Finding]:
    """Return the rules that forbid to read the answers of a run as they stand, and what is remarked about them."""
    order = check_option_order(table)
    # Letters of another order are what makes answers wrong more often than guesses: that is said once.
    is_explained = any(rule.level == "error" for rule in order)
    below = [] if is_explained else check_below_chance(table)
    return [*order, *below, *check_no_picture(table), *check_flat_price(table)]


def check_below_chance(table: RunTable) -> list[Finding]:
    """Find views whose answers are right less often than guesses: swapped labels, order or reading.

    Only answers in which an option was read count; what is unread, declined, empty or filtered is wrong for another
    reason. Views without the picture are left out, since what a model believes blindly may be wrong.
    """
    groups = table.image_groups
    shown = [index for index, name in enumerate(table.conditions) if table.view_of[name] not in BLIND_VIEWS]
    read: dict[int, list[tuple[int, int, int, str]]] = {index: [] for index in shown}
    for (row, condition, _), cell in sorted(table.cells.items(), key=itemgetter(0)):
        question = table.questions[row]
        gold, given = letter_index(question.answer), letter_index(cell.verdict.answer if cell.verdict else None)
        is_read = cell.is_answered and cell.value is not None and given is not None and given < len(cell.choice_order)
        if condition in read and is_read and gold in cell.choice_order and question.n_choices > 1 and given is not None:
            entry = (given, cell.choice_order.index(gold), question.n_choices, groups[row])
            read[condition].append(entry)
    found = []
    for index, own in read.items():
        given_letters, gold_letters, n_options = (
            np.array([entry[part] for entry in own], dtype=np.int64) for part in range(3)
        )
        clusters = find_clusters([entry[3] for entry in own])
        test = compare_with_chance(given_letters, gold_letters, n_options, clusters, alpha=CLEAR_P / len(shown))
        if test.is_below:
            found.append((table.conditions[index], test))
    if not found:
        return []
    parts = [
        f"{name} {100 * test.accuracy:.1f} % of {test.n_answers} against {100 * min(test.chance, test.expected):.1f} %"
        for name, test in found[:_MOST_NAMED]
    ]
    more = f" and {len(found) - _MOST_NAMED} more views" if len(found) > _MOST_NAMED else ""
    text = (
        f"answers in which an option was read are right less often than guesses ({', '.join(parts)}{more}): the "
        "labels, the order of the options or the reading are swapped"
    )
    names = tuple(name for name, _ in found)
    return [Finding(code=Code.BELOW_CHANCE, level="error", message=text, conditions=names)]


def check_option_order(table: RunTable) -> list[Finding]:
    """Find answers whose letters belong to another order of the options.

    Answers that were given elsewhere (imported, replayed) are blocked: nobody here knows the order they were shown. A
    run that we asked is blocked only if one permutation of the letters explains them; else the model contradicts
    itself, which is said and blocks nothing.
    """
    pairs: dict[str, list[OrderPair]] = {}
    by_condition: dict[str, dict[str, list[OrderPair]]] = {}
    for (row, condition, _), cell in table.cells.items():
        if cell.pair is not None:
            base_id = table.questions[row].base_id or table.questions[row].id
            pairs.setdefault(base_id, []).append(cell.pair)
            by_condition.setdefault(table.conditions[condition], {}).setdefault(base_id, []).append(cell.pair)
    is_given = table.run.model.provider in _GIVEN_ELSEWHERE
    test, where = count_orders(pairs), ""
    if not test.is_alarm:
        turned = find_turned_view(by_condition) if is_given else None
        if turned is None:
            return []
        test, where = turned[1], f"in view {turned[0]} "
    found = f"{where}{describe_order(test)}; {_text_accuracy(table)}"
    if is_given:
        text = f"{found}. {GIVEN_UNDER_ANOTHER_ORDER}"
        return [Finding(code=Code.OPTION_ORDER, level="error", message=text)]
    shift = find_shift(pairs)
    if shift is None:
        text = f"the model contradicts itself: {found}"
        return [Finding(code=Code.OPTION_ORDER, level="warning", message=text)]
    text = f"{found}. {_describe_shift(shift)}: the options were shown in another order than they are read with"
    return [Finding(code=Code.OPTION_ORDER, level="error", message=text)]


def _describe_shift(shift: LetterShift) -> str:
    moved = ", ".join(f"{ascii_uppercase[one]} is {ascii_uppercase[other]}" for one, other in shift.moved.items())
    return (
        f"One order explains {shift.n_explained} of the {shift.n_moved} answers to questions with {shift.n_options} "
        f"options whose letter it moves ({moved})"
    )


def _text_accuracy(table: RunTable) -> str:
    """Say how many of the copied texts are the right option, with its interval."""
    right: dict[int, list[float]] = {}
    for (row, _, _), cell in table.cells.items():
        gold = table.questions[row].answer
        if cell.pair is not None and gold is not None and gold in ascii_uppercase and cell.choice_order:
            is_right = cell.choice_order[cell.pair.named] == ascii_uppercase.index(gold)
            right.setdefault(row, []).append(float(is_right))
    groups = [table.questions[row].image_group for row in right]
    return say_text_accuracy(accuracy_by_text([float(np.mean(own)) for own in right.values()], groups))


def check_no_picture(table: RunTable) -> list[Finding]:
    """Find conditions whose pictures did not reach the model: its requests cost as much as those without a picture.

    Compared are requests of one question with the same words and order of options, once with pictures and once
    under ``no_image``, where both replies report input tokens. A white picture (``blank``) is a picture: it
    tells nothing here. A reply that counts tokens of pictures proves that they came.
    """
    blind = [index for index, name in enumerate(table.conditions) if table.view_of[name] == _NO_IMAGE]
    without: dict[tuple[int, int, str, tuple[int, ...]], set[int]] = {}
    for (row, condition, slot), cell in table.cells.items():
        if condition in blind and not cell.recipes and (tokens := _input_tokens(cell)) is not None:
            without.setdefault(_words(row, slot, cell), set()).add(tokens)
    n_compared, n_equal = dict.fromkeys(table.conditions, 0), dict.fromkeys(table.conditions, 0)
    for (row, condition, slot), cell in table.cells.items():
        tokens, other = _input_tokens(cell), without.get(_words(row, slot, cell))
        if cell.recipes and tokens is not None and other is not None:
            name = table.conditions[condition]
            n_compared[name] += 1
            n_equal[name] += tokens in other and not _image_tokens(cell)
    names = tuple(name for name in table.conditions if n_equal[name])
    if not names:
        return []
    counts = ", ".join(f"{name} {n_equal[name]} of {n_compared[name]}" for name in names)
    text = (
        f"requests with a picture cost exactly as many input tokens as the same words without one ({counts}): the "
        "pictures did not reach the model, or the server counts none; ask it what a picture shows before you allow this"
    )
    return [Finding(code=Code.NO_PICTURE, level="error", message=text, conditions=names)]


def check_flat_price(table: RunTable) -> list[Finding]:
    """Remark that a large picture costs as many tokens as a small one; true of some models, and nothing is blocked.

    Compared are requests with one picture each of the same question and words: one that fits a square of 384 pixels,
    and one with a side of 1,024 pixels or more. Prices by tiles are the same below that.
    """
    no_picture = {name for finding in check_no_picture(table) for name in finding.conditions}
    small: dict[tuple[int, int, str, tuple[int, ...]], set[int]] = {}
    large: dict[tuple[int, int, str, tuple[int, ...]], set[int]] = {}
    for (row, condition, slot), cell in table.cells.items():
        size, tokens = cell.sent_size, _image_tokens(cell) or _input_tokens(cell)
        if len(cell.recipes) != 1 or size is None or tokens is None or table.conditions[condition] in no_picture:
            continue
        longer = max(size.width, size.height)
        if longer <= _SMALL_SIDE:
            small.setdefault(_words(row, slot, cell), set()).add(tokens)
        elif longer >= _LARGE_SIDE:
            large.setdefault(_words(row, slot, cell), set()).add(tokens)
    both = [key for key in small if key in large]
    if len(both) < _FEWEST_PRICES or any(small[key] != large[key] or len(small[key]) > 1 for key in both):
        return []
    text = (
        f"a picture with a side of {_LARGE_SIDE} pixels or more costs as many tokens as one of at most {_SMALL_SIDE} "
        f"({len(both)} questions): the tokens do not tell what size the model sees"
    )
    return [Finding(code=Code.FLAT_PICTURE_PRICE, level="info", message=text)]


def _words(row: int, slot: int, cell: Cell) -> tuple[int, int, str, tuple[int, ...]]:
    """Return what two requests share that differ in their pictures alone."""
    return row, slot, cell.prompt_sha256, cell.choice_order


def _input_tokens(cell: Cell) -> int | None:
    """Return the input tokens of an answer; None where none are reported, and 0 is not a report."""
    usage = None if cell.ending is None or not cell.is_answered else cell.ending.usage
    return (usage.input_tokens or None) if usage is not None else None


def _image_tokens(cell: Cell) -> int | None:
    usage = None if cell.ending is None else cell.ending.usage
    return None if usage is None else usage.image_tokens


def blocking_answers(sides: Iterable[tuple[str, RunTable]], views: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Return what forbids to compare runs or to place them on a board, whoever they are compared with.

    Args:
        sides: Name and whole table of each.
        views: The conditions that are compared; all if empty.
    """
    found: dict[tuple[Code, str], list[str]] = {}
    for label, table in sides:
        for rule in check_answers(table):
            is_concerned = not views or not rule.conditions or set(views) & set(rule.conditions)
            if rule.level == "error" and is_concerned:
                found.setdefault((rule.code, rule.message), []).append(label)
    return tuple(
        Finding(code=code, level="error", message=f"{', '.join(labels)}: {message}")
        for (code, message), labels in found.items()
    )

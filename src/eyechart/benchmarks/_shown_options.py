"""In which order the options of a question were shown, as a file of ids and options tells it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase

from eyechart.benchmarks._cells import SpelledFloat, is_absent, number_in, plain, text_of
from eyechart.benchmarks._ids import QuestionIds
from eyechart.benchmarks._options import entries_in, without_letters
from eyechart.benchmarks._tables import read_rows
from eyechart.errors import BenchmarkError
from eyechart.schema import Question

ID_COLUMNS = ("base_sample_id", "id", "question_id", "index")
OPTION_COLUMNS = ("choices", "options")
_HINT = 'write lines such as {"id": "q1", "choices": ["blue", "red"]}, the options as they were shown'


def order_shown(shown: Sequence[str], choices: Sequence[str]) -> tuple[int, ...] | None:
    """Return for each letter shown the index of its option in ``choices``; None if the two hold other options.

    An equal text is taken first, so that "red" and "Red" keep their places; else case, blanks and a final stop do not
    count, nor how a number is spelled.

    Example:
        >>> order_shown(("blue", "Red"), ("red", "blue")), order_shown(("blue",), ("red", "blue"))
        ((1, 0), None)
    """
    left = list(range(len(choices)))
    order = []
    for option in shown:
        same = next((at for at in left if choices[at] == option), None)
        if same is None:
            same = next((at for at in left if plain(choices[at]) == plain(option)), None)
        if same is None and (number := number_in(option)) is not None:
            same = next((at for at in left if number_in(choices[at]) == number), None)
        if same is None:
            return None
        left.remove(same)
        order.append(same)
    return None if left else tuple(order)


def options_in_row(values: Mapping[str, object]) -> tuple[str, ...] | None:
    """Return the options that a row tells, in its order: a list, an object by letter, or columns A, B, …; None if none.

    Empty options at the end are padding; elsewhere they keep their letter.

    Example:
        >>> options_in_row({"id": 1, "choices": ["blue", "red"]}), options_in_row({"A": "x", "B": None, "C": "y"})
        (('blue', 'red'), ('x', '', 'y'))
    """
    given = next((values[name] for name in OPTION_COLUMNS if not is_absent(values.get(name))), None)
    if given is None and ("B" in values or not is_absent(values.get("A"))):
        given = {letter: values[letter] for letter in ascii_uppercase if letter in values}
    try:
        texts = [text_of(cell) for _, cell in entries_in(given) or ()]
    except BenchmarkError:  # what a question file would be refused for tells no order
        return None
    if isinstance(given, str) and len(texts) == 1:
        return None  # a remark, and not a list
    while texts and not texts[-1]:
        texts.pop()
    return _unlabelled(texts) or None


def _unlabelled(texts: Sequence[str]) -> tuple[str, ...]:
    """Return options without labels of their own, "(A) red", where all of them carry the letters in order."""
    try:
        bare = without_letters(texts, range(len(texts))) if texts and all(texts) else None
    except BenchmarkError:  # letters in another order
        bare = None
    return tuple(texts if bare is None else bare[1])


def shown_as(shown: Sequence[str], choices: Sequence[str]) -> tuple[str, ...] | None:
    """Return the question's own choices in the order shown, "" under a letter that stood for none.

    Returns:
        None if other options were shown.

    Example:
        >>> shown_as(("BLUE", "", "red"), ("red", "blue"))
        ('blue', '', 'red')
    """
    order = order_shown([text for text in shown if text.strip()], choices)
    if order is None:
        return None
    own = iter(order)
    return tuple(choices[next(own)] if text.strip() else "" for text in shown)


def orders_of(
    told: Iterable[tuple[str, object, Sequence[str] | None]], questions: Sequence[Question], *, has_others: bool = False
) -> dict[str, tuple[int, ...]]:
    """Return the order of the options of every question that is told, by its id.

    Args:
        told: Place, id and options as shown of each row; rows without options are passed over.
        questions: The questions.
        has_others: Whether rows about other questions are passed over, too.

    Raises:
        BenchmarkError: If an id is unknown, options are not the question's own, or two rows differ.
    """
    by_id = {question.id: question for question in questions}
    ids = QuestionIds(by_id)
    orders: dict[str, tuple[int, ...]] = {}
    for place, name, shown in told:
        if shown is None:
            continue
        question_id = ids.find(name, place)
        if question_id is None:
            if has_others:
                continue
            raise BenchmarkError(f"{place}: id {name!r} is not a question of this benchmark", hint=_HINT)
        order = order_shown(shown, by_id[question_id].choices)
        if order is None:
            raise BenchmarkError(
                f"{place}: the options shown ({', '.join(shown)}) are not those of question {question_id} "
                f"({', '.join(by_id[question_id].choices)})",
                hint="every option once, in the order of the letters",
            )
        if orders.setdefault(question_id, order) != order:
            raise BenchmarkError(
                f"{place}: question {question_id} was shown in another order before", hint="give one order a question"
            )
    return orders


def read_orders(path: Path, questions: Sequence[Question]) -> dict[str, tuple[int, ...]]:
    """Read a file that tells for each question its options as they were shown: JSONL, JSON, CSV, TSV or parquet.

    A JSON object of ids and lists is read, too. Questions that the file leaves out were shown in their own order.

    Raises:
        BenchmarkError: If the file cannot be read, tells no options, or tells options of another question.
    """
    told: list[tuple[str, object, Sequence[str] | None]] = []
    if (whole := _by_id(path)) is not None:
        told = [(f"{path}: {name}", name, options_in_row({"choices": options})) for name, options in whole.items()]
    else:
        for row in read_rows(path, is_spelled=True):
            name = next((row.values[column] for column in ID_COLUMNS if row.values.get(column) not in (None, "")), None)
            if name is None:
                raise BenchmarkError(f"{row.place}: no id", hint=_HINT)
            told.append((row.place, name, options_in_row(row.values)))
    if not any(shown for _, _, shown in told):
        raise BenchmarkError(f"{path} tells no options", hint=_HINT)
    return orders_of(told, questions)


def _by_id(path: Path) -> dict[str, object] | None:
    """Return a JSON object whose values are all lists or objects of options; None for any other file."""
    if path.suffix.lower() != ".json":
        return None
    try:
        whole = json.loads(path.read_bytes(), parse_float=SpelledFloat)
    except (OSError, ValueError, RecursionError):
        return None  # said where its rows are read
    is_map = isinstance(whole, dict) and bool(whole) and all(isinstance(own, list | dict) for own in whole.values())
    return whole if is_map else None

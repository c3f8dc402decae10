"""The options of one question as a file writes them: their labels, their texts, and what may not be moved silently."""

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Literal, NamedTuple

from eyechart.benchmarks._cells import in_text, is_absent, narrow, plain, shown, text_of
from eyechart.benchmarks._columns import common_name
from eyechart.benchmarks._listed_options import take_apart
from eyechart.errors import BenchmarkError

MIN_CHOICES, MAX_CHOICES = 2, len(ascii_uppercase)

EmptyOptions = Literal["refuse", "drop", "text"]
"""What to do with an empty option before a filled one, and with words for one (nan); ``text`` shows the words."""

OptionLetters = Literal["auto", "keep"]
"""Whether letters that all options carry are taken off, or belong to their texts."""

_CARRIED = re.compile(
    r"\s*(?:\(([A-Za-z]|\d{1,2})\)[.:]?|\[([A-Za-z]|\d{1,2})\]|([A-Za-z]|\d{1,2})[.):])\s+(?P<text>\S.*)", re.S
)
# Without a blank before the text: in full width, and with the comma of East Asian lists, labels stand so.
_CARRIED_CLOSE = re.compile(
    r"\s*(?:(?=[(\uff08].[)\uff09])[(\uff08])?(?P<label>[A-Za-z\uff21-\uff3a\uff41-\uff5a])"
    r"(?P<sign>[.):\uff0e\uff1a\u3001\uff09])\s*(?P<text>\S.*)",
    re.DOTALL,
)
_SECOND_LETTER = re.compile(r"[A-Za-z][.)]")
_SURELY_LABELS = 3
_KEY = re.compile(r"[(\[]?([A-Za-z]|\d{1,2})[)\].:]?")
_OPTION_KEY = re.compile(r"(?:option|choice|opt)([a-z]|\d{1,2})")
# What pandas and R write into a table for a cell that says nothing.
_WORDS_FOR_NOTHING = frozenset({"nan", "NaN", "<NA>", "NA"})
_TEXT_KEYS, _LABEL_KEYS = ("text", "value", "content"), ("label", "key", "letter", "id")
_TAG = re.compile(r"<\|?\s*(?:image|img|picture)[\s_]*\d*\s*\|?>|<imagehere>", re.IGNORECASE)
_PICTURE_NAME = re.compile(r"\S.*\.(?:png|jpe?g|webp|gif|bmp|tiff?)", re.IGNORECASE)
_SECOND = re.compile(r"B[).:]")  # without a second letter there is no list
_HEADING = re.compile(
    r"\s*^[ \t]*(?:the )?(?:answer )?(?:options|choices|candidates)(?: are)?[ \t]*:?[ \t]*$\s*\Z", re.I | re.M
)
_TELLS_HOW = re.compile(
    r"\s*(?:please|answer|respond|reply|choose|select|give|pick|think|explain|only|your answer|return|output|write)\b",
    re.IGNORECASE,
)
_LETTERS = r"\(?[A-Z]\)?(?:\s*(?:,|/|&|and|or|nor|,\s*and)\s*\(?[A-Z]\)?)+"
_SPEAKS_OF_OTHERS = re.compile(
    r"\b(?i:all|none|both|neither|any|either|some|one|two|each)(?i:\s+of)?(?i:\s+the)?(?i:\s+(?:options|choices|answers))?"
    r"(?i:\s+(?:above|below|previous|preceding|foregoing))\b|(?i:\babove\s+(?:options|choices|answers)\b)"
    rf"|^\s*(?i:both|either|neither|only|just|options?|choices?|answers?|all of|\s)*{_LETTERS}(?i:\s+only)?\s*\.?\s*$"
    rf"|\b(?i:both|either|neither|options?|choices?|answers?)\s+{_LETTERS}(?![\w-])|以上"
)
_ONE_LIST = 'write ["red", "blue"], one column per option (A, B, …), or name the separator: choices_separator'


class Options(NamedTuple):
    """The options of a question in the order they are shown.

    Args:
        texts: What is shown.
        labels: The label that the file gives each, such as "C" or "2"; the letters of their places where it gives none.
        places: Which each was among the file's own, from 0; other than 0, 1, 2, … only where empty ones were left out.
        n_written: How many the file has, empty ones before the last included.
        was: What was chosen in reading them, for the note.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    places: tuple[int, ...]
    n_written: int
    was: tuple[str, ...] = ()


class OptionRules(NamedTuple):
    """How options are read: what separates them in a text cell, and what is done with empty ones and letters."""

    separator: str = "|"
    empty: EmptyOptions = "refuse"
    letters: OptionLetters = "auto"


Entries = list[tuple[str, object]]
"""Labels of options, and their cells."""
# A longer number labels no option of a question that can be asked.
_LONGEST_NUMBER = 3


def read_options(
    cell: object, place: str, rules: "OptionRules | None" = None, column: str = "choices"
) -> Options | None:
    """Read the options in one cell: a list, an object by letter or number, or a text that holds one of these.

    Args:
        cell: The cell.
        place: File and row.
        rules: How to read.
        column: Its name, for messages.

    Returns:
        The options; None for a question without any.

    Raises:
        BenchmarkError: If they are not 2–26, one is a picture, or an empty one would move the letters of others.

    Example:
        >>> read_options("red | blue", "q.csv:2").texts, read_options({"B": "blue", "A": "red"}, "").texts
        (('red', 'blue'), ('red', 'blue'))
        >>> read_options(["(A) 1.50", "(B) 2.50", None], "").texts
        ('1.50', '2.50')
    """
    rules = rules or OptionRules()
    entries = entries_in(cell, place, rules.separator, column)
    return None if entries is None else finish(entries, place, rules, column)


def entries_in(
    cell: object, place: str = "", separator: str = OptionRules().separator, column: str = "choices"
) -> Entries | None:
    """Return labels and cells of the options in one cell, empty ones where the file leaves one out; None where none is.

    Raises:
        BenchmarkError: If it is not a list or object of options, or its labels are none.

    Example:
        >>> entries_in({"A": "red", "C": "blue"})
        [('A', 'red'), ('B', None), ('C', 'blue')]
    """
    if is_absent(cell):
        return None
    if isinstance(cell, str):
        cell = _split(cell, separator)
        if is_absent(cell):  # "[]", as MMMU writes it
            return None
    if isinstance(cell, Mapping):
        return _of_object(cell, place, column)
    if isinstance(cell, list | tuple):
        return _of_list(cell, place, column)
    raise BenchmarkError(f"{place}: {column} {shown(cell)} are not a list", hint=_ONE_LIST)


def read_option_columns(
    values: Mapping[str, object], columns: Sequence[tuple[str, str]], place: str, rules: OptionRules
) -> Options | None:
    """Read one option from each column; None where all are empty.

    Args:
        values: The row.
        columns: Label and name of each column, in order.
        place: File and row.
        rules: How to read.

    Raises:
        BenchmarkError: As ``read_options``.
    """
    if not columns:
        return None
    cells = {label: values.get(column) for label, column in columns}
    if all(is_absent(cell) for cell in cells.values()):
        return None
    options = finish(_in_order(cells, place, "column"), place, rules, "column")
    # The number in a column's name numbers the column; what numbers among the answers count, the file has to show.
    letters = (
        ascii_uppercase[at] if label.isdigit() else label
        for label, at in zip(options.labels, options.places, strict=True)
    )
    return options._replace(labels=tuple(letters))


def take_from_text(text: str, place: str = "") -> tuple[str, Options | None]:
    r"""Return a question's text without the options it lists at its end, and those options; None where it lists none.

    Raises:
        BenchmarkError: If lines follow the list of which it is not clear whether they belong to the last option.

    Example:
        >>> take_from_text("Which?\nOptions:\nA. red\nB. blue\nPlease think first.")[0]
        'Which?'
    """
    taken = take_apart(text) if _SECOND.search(text) else None
    if taken is None or not taken.options:
        return text, None
    *before, last = taken.options
    if "\n" in last and not any("\n" in option for option in before):
        last, _, rest = last.partition("\n")
        unclear = [line for line in rest.splitlines() if line.strip() and not _TELLS_HOW.match(line)]
        if unclear:
            raise BenchmarkError(
                f"{place}: line {shown(unclear[0])} follows the options in the question's text",
                hint="give the options in a column choices",
            )
    texts = (*before, last.strip())
    n = len(texts)
    return _HEADING.sub("", taken.stem), Options(texts, tuple(ascii_uppercase[:n]), tuple(range(n)), n)


def equal_up_to_case(choices: Sequence[str]) -> tuple[str, ...]:
    """Return the choices that another one equals up to case and outer blanks, in order.

    Example:
        >>> equal_up_to_case(["red", "Red", "Brown", "Black"])
        ('red', 'Red')
    """
    folded = [choice.strip().casefold() for choice in choices]
    if len(set(folded)) == len(folded):
        return ()
    return tuple(choice for choice, key in zip(choices, folded, strict=True) if folded.count(key) > 1)


def _split(cell: str, separator: str) -> object:
    """Return the list that is written into a text: JSON, Python, with a separator, or with a letter before each."""
    written = in_text(cell)
    if written is not None:
        return written
    if separator in cell:
        return [part.strip() for part in cell.split(separator)]
    listed = take_apart(f"?\n{cell.strip()}").options or take_apart(f"? {cell.strip()}").options
    lines = [line.strip() for line in cell.strip().splitlines()]
    return list(listed) or (lines if len(lines) > 1 and all(lines) else [cell.strip()])


def _of_list(cells: Sequence[object], place: str, column: str) -> Entries:
    if cells and isinstance(cells[0], Mapping) and all(isinstance(cell, Mapping) for cell in cells):
        records = [cell for cell in cells if isinstance(cell, Mapping)]
        texts = [next((name for name in _TEXT_KEYS if name in record), None) for record in records]
        labels = [next((name for name in _LABEL_KEYS if name in record), None) for record in records]
        if all(name is not None for name in texts):
            found = [record[name] for record, name in zip(records, texts, strict=True) if name is not None]
            if all(name is not None for name in labels):
                own = [record[name] for record, name in zip(records, labels, strict=True) if name is not None]
                return _labelled(own, found, place, column)
            cells = found
    if len(cells) <= MAX_CHOICES:
        return list(zip(ascii_uppercase, cells, strict=False))
    return [(f"#{position}", cell) for position, cell in enumerate(cells, start=1)]


def _of_object(cells: Mapping[str, object], place: str, column: str) -> Entries:
    """Return the entries of an object: by letter, by number, or its lists of texts and labels."""
    texts = next((cells[name] for name in _TEXT_KEYS if isinstance(cells.get(name), list)), None)
    labels = next((cells[name] for name in _LABEL_KEYS if isinstance(cells.get(name), list)), None)
    if isinstance(texts, list) and isinstance(labels, list) and len(texts) == len(labels):
        return _labelled(labels, texts, place, column)
    found: dict[str, object] = {}
    for key, cell in cells.items():
        label = _KEY.fullmatch(narrow(str(key)).strip()) or _OPTION_KEY.fullmatch(common_name(str(key)))
        if label is None or label[1].upper() in found:
            raise BenchmarkError(
                f"{place}: {column} are an object with keys {shown(list(map(str, cells)))}",
                hint="name the options by the letters A, B, … or by numbers, each once, or write a list",
            )
        found[label[1].upper()] = cell
    return _in_order(found, place, column)


def _labelled(labels: Sequence[object], texts: Sequence[object], place: str, column: str) -> Entries:
    """Return options with labels of their own, in the order of the file; the labels may stand in another order."""
    own = [text_of(label, "a label", place).strip("().[]: ").upper() for label in labels]
    if len(set(own)) != len(own):
        raise BenchmarkError(f"{place}: {column} have a label twice: {shown(own)}", hint="give each its own label")
    in_order = _in_order(dict(zip(own, texts, strict=True)), place, column)
    return in_order if len(in_order) > len(own) else list(zip(own, texts, strict=True))


def _in_order(cells: Mapping[str, object], place: str, column: str) -> Entries:
    """Return entries by letter or number, with empty ones where the file skips one."""
    if not cells:
        return []
    if all(label.isdecimal() and len(label) <= _LONGEST_NUMBER for label in cells):
        numbers = {int(label): cell for label, cell in cells.items()}
        base = min(1, *numbers)
        return [(str(number), numbers.get(number)) for number in range(base, max(numbers) + 1)]
    if any(len(label) != 1 or label not in ascii_uppercase for label in cells):
        raise BenchmarkError(
            f"{place}: {column} are labelled {shown(list(cells))}", hint="label them A, B, … or with numbers, not both"
        )
    last = ascii_uppercase.index(max(cells))
    return [(letter, cells.get(letter)) for letter in ascii_uppercase[: last + 1]]


def finish(entries: Entries, place: str, rules: OptionRules, column: str) -> Options:
    """Return options from their labels and cells: empty ones at the end left out, carried letters taken off.

    Raises:
        BenchmarkError: As ``read_options``.
    """
    entries, was = _without_words_for_nothing(list(entries), place, rules.empty)
    while entries and is_absent(entries[-1][1]):
        entries.pop()
    for label, cell in entries:
        if not isinstance(cell, str) or "<" in cell or "." in cell or "data:" in cell:
            _check_no_picture(cell, label, place)
    texts = [
        cell.strip() if isinstance(cell, str) else text_of(cell, f"option {label}", place) for label, cell in entries
    ]
    empty = [] if all(texts) else [label for (label, _), text in zip(entries, texts, strict=True) if not text]
    if empty and rules.empty != "drop":
        later = [label for label, _ in entries[[label for label, _ in entries].index(empty[0]) + 1 :]]
        later = [label for label in later if label not in empty]
        skipped = f"column {empty[0]} is empty but {_and(later)} {'are' if len(later) > 1 else 'is'} not"
        raise BenchmarkError(
            f"{place}: {skipped if column == 'column' else f'{column} skip {empty[0]}'}: letter {later[0]} would move",
            hint="--option empty_options=drop shows the others under new letters; the right answer follows its text",
        )
    kept = [position for position, text in enumerate(texts) if text] if empty else list(range(len(texts)))
    if empty:
        was += ("empty options left out",)
    labels, texts, n_written = [entries[at][0] for at in kept], [texts[at] for at in kept], len(entries)
    if not MIN_CHOICES <= len(texts) <= MAX_CHOICES:
        what = f" ({shown(texts[0])})" if len(texts) == 1 else ""
        raise BenchmarkError(
            f"{place}: {len(texts)} choice{'s' * (len(texts) != 1)}{what}",
            hint=f"give {MIN_CHOICES}–{MAX_CHOICES}, or none for a free answer; {_ONE_LIST}",
        )
    bare = None if rules.letters == "keep" else without_letters(texts, kept, place)
    if bare is not None:
        labels, texts = bare
        was += ("letters before the options taken off",)
    return Options(tuple(texts), tuple(labels), tuple(kept), n_written, was)


def _without_words_for_nothing(entries: Entries, place: str, empty: EmptyOptions) -> tuple[Entries, tuple[str, ...]]:
    """Return entries with None where a word such as nan stands for nothing, and what was chosen.

    Raises:
        BenchmarkError: If there is such a word, and the user does not say what it is.
    """
    named = [(label, cell) for label, cell in entries if isinstance(cell, str) and cell.strip() in _WORDS_FOR_NOTHING]
    if not named or empty == "text":
        return entries, ()
    if empty == "refuse":
        label, word = named[0]
        raise BenchmarkError(
            f"{place}: option {label} is {shown(word)}, which tables write for an empty cell",
            hint="--option empty_options=drop leaves such options out, empty_options=text shows them as they stand",
        )
    words = {label for label, _ in named}
    return [(label, None if label in words else cell) for label, cell in entries], (
        "options that are a word for an empty cell left out",
    )


def without_letters(texts: Sequence[str], places: Sequence[int], place: str = "") -> tuple[list[str], list[str]] | None:
    """Return labels and texts of options that carry their labels; None where not all do.

    A letter that no blank divides from the text is a label only if three options or more carry the letters of their
    places, and none is left with the text of another or with a second letter: "A.D. 100" carries none.

    Args:
        texts: The options, none empty.
        places: Which place each has in its file, from 0.
        place: File and row.

    Raises:
        BenchmarkError: If all carry letters, but not those of their places.

    Example:
        >>> without_letters(["(A) red", "(B) blue"], range(2))
        (['A', 'B'], ['red', 'blue'])
        >>> without_letters(["A、red", "B、blue"], range(2)), without_letters(["A.D. 10", "B.C. 10"], range(2))
        ((['A', 'B'], ['red', 'blue']), None)
    """
    marks = [mark for text in texts if (mark := _CARRIED.fullmatch(text) or _CARRIED_CLOSE.fullmatch(text))]
    if len(marks) != len(texts):
        return None
    close = [mark for mark in marks if mark.re is _CARRIED_CLOSE]
    written = [mark["label"] if mark in close else next(filter(None, mark.groups()[:3])) for mark in marks]
    labels = [narrow(label).upper() for label in written]
    bare = [mark["text"].strip() for mark in marks]
    are_of_places = labels == [ascii_uppercase[at] for at in places]
    if any(mark["sign"] in ".:)" for mark in close):
        is_sure = len(texts) >= _SURELY_LABELS and are_of_places and len(set(bare)) == len(bare)
        return (labels, bare) if is_sure and not any(map(_SECOND_LETTER.match, bare)) else None
    if are_of_places or labels in [[str(at + base) for at in places] for base in (0, 1)]:
        return labels, bare
    if len(set(labels)) < len(labels) or not all(label.isalpha() for label in labels):
        return None  # initials of names, or numbers that count something
    wrong = next(at for at, label in enumerate(labels) if label != ascii_uppercase[places[at]])
    raise BenchmarkError(
        f"{place}: option {wrong + 1} carries letter {labels[wrong]}",
        hint="put the options in the order of their letters, or --option option_letters=keep if these are not labels",
    )


def _check_no_picture(cell: object, label: str, place: str) -> None:
    is_named = isinstance(cell, str) and (
        _TAG.search(cell) or cell.lstrip().startswith("data:image/") or _PICTURE_NAME.fullmatch(cell.strip())
    )
    is_held = isinstance(cell, bytes) or (
        isinstance(cell, Mapping) and bool({"bytes", "path", "image", "url"} & set(cell))
    )
    if is_named or is_held:
        raise BenchmarkError(
            f"{place}: option {label} is a picture", hint="eyechart shows one picture a question; leave such rows out"
        )


def keeps_its_order(choices: Sequence[str]) -> bool:
    """Return whether an option speaks of the others by letter or by place, so that no other order makes sense.

    Example:
        >>> keeps_its_order(["red", "blue", "Both A and B"]), keeps_its_order(["None of the above", "red"])
        (True, True)
        >>> keeps_its_order(["vitamin A and B12", "none"])
        False
    """
    return any(_SPEAKS_OF_OTHERS.search(choice) for choice in choices)


def same_list(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two lists of options say the same in the same order."""
    return [plain(text) for text in one] == [plain(text) for text in other]


def _and(labels: Sequence[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"

"""Right answers as files give them: one option of a question, or the accepted texts of a free one."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Literal, NamedTuple

from eyechart.benchmarks._cells import in_text, is_absent, narrow, number_in, plain, shown, text_of
from eyechart.benchmarks._options import Options
from eyechart.errors import BenchmarkError

AnswerForm = Literal["either", "letter", "text", "index0", "index1"]
"""What an answer may be: a letter or a text (and a number, if the file shows from what it counts), or one of these."""

Form = Literal["letter", "text", "index0", "index1"]
COUNTING: tuple[Form, ...] = ("text", "index0", "index1")
"""What a whole number can mean: the text of an option, or its place counted from 0 or from 1."""

_SEPARATOR = "|"
_BARE = re.compile(r"[(\[]?\s*([A-Za-z]|\d{1,2})\s*[)\]]?[.):]?")
_NAMED = re.compile(r"(?:option|choice)[\s_-]+\(?([A-Za-z])\)?\.?", re.IGNORECASE)
_LED = re.compile(
    r"(?:\(([A-Za-z]|\d{1,2})\)[.:]?|\[([A-Za-z]|\d{1,2})\]|([A-Za-z]|\d{1,2})[.):、])\s*(\S.*)", re.DOTALL
)
_WHOLE = re.compile(r"(\d+)(?:\.0+)?")


class Answer(NamedTuple):
    """What an answer can mean: for each form that fits, which option.

    Args:
        place: File and row.
        text: The answer.
        fits: Form → place of the option among those shown.
        labels: Letters of the options as written, to name them in messages.
    """

    place: str
    text: str
    fits: dict[Form, int]
    labels: tuple[str, ...]

    @property
    def is_number(self) -> bool:
        """Whether the answer is a whole number that no label of the file settles."""
        return "letter" not in self.fits and _WHOLE.fullmatch(self.text) is not None


def answer_text(cell: object, place: str) -> str:
    """Return the one answer in a cell, "" where the answer is hidden; a list of one is that one.

    Raises:
        BenchmarkError: If there are several, or the cell holds something else than a text.

    Example:
        >>> answer_text(["B"], ""), answer_text("['B']", ""), answer_text(None, "")
        ('B', 'B', '')
    """
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        written = in_text(cell)
        cell = cell if written is None else written
    if isinstance(cell, list | tuple):
        texts = [answer_text(entry, place) for entry in cell]
        if len(texts) > 1:
            raise BenchmarkError(
                f"{place}: {'two' if len(texts) == 2 else len(texts)} right answers {shown(texts)}",  # noqa: PLR2004 -- in words
                hint="eyechart scores one right option a question; leave such rows out",
            )
        return texts[0] if texts else ""
    return text_of(cell, "answer", place)


def read_answer(
    cell: object, options: Options, place: str, form: AnswerForm = "either", *, is_index: bool = False
) -> Answer | None:
    """Return what an answer can mean, judged against the labels that the file wrote; None where it is hidden.

    Args:
        cell: A letter in any usual spelling, a letter with the text of its option, the text, or a whole number.
        options: The options.
        place: File and row.
        form: What answers are, where the user says it.
        is_index: Whether the column's name says that numbers count options.

    Raises:
        BenchmarkError: If it names no option, or two different ones by its letter and by its text.
    """
    text = answer_text(cell, place)
    if not text:
        return None
    if form == "either" and text.isalpha() and text in options.labels and min(map(len, options.texts)) > len(text) + 1:
        return Answer(place, text, {"letter": options.labels.index(text)}, options.labels)  # too short for an option
    number = _WHOLE.fullmatch(text)
    letter = _by_label(text, options, place) if form in {"either", "letter"} else None
    texts = _by_text(text, options) if form in {"either", "text"} and not (is_index and number) else []
    if len(texts) > 1 or (texts and letter not in {None, texts[0]}):
        raise _fits_several(text, sorted({*texts, *([] if letter is None else [letter])}), options, place)
    fits: dict[Form, int] = {}
    if letter is not None:
        fits["letter"] = letter
    else:
        fits |= {"text": texts[0]} if texts else {}
        fits |= _by_place(int(number[1]), options, form) if number else {}
    if not fits:
        raise _none_fits(text, options, place)
    return Answer(place, text, fits, options.labels)


def _by_label(text: str, options: Options, place: str) -> int | None:
    """Return the option whose label an answer is or begins with, None if there is none."""
    bare = _BARE.fullmatch(text) or _NAMED.fullmatch(text)
    if bare is None and text not in options.texts:
        bare = _BARE.fullmatch(narrow(text))  # letters of full width
    if bare is not None:
        label = bare[1].upper()
        return options.labels.index(label) if label in options.labels else _by_letter_shown(label, options)
    led = _LED.fullmatch(narrow(text))
    if led is None or text in options.texts:
        return None
    label = next(group for group in led.groups()[:3] if group).upper()
    position = options.labels.index(label) if label in options.labels else _by_letter_shown(label, options)
    if position is None:
        return None
    if plain(options.texts[position]) != plain(led[4]):
        named = _by_text(led[4], options)
        if not named:
            return None
        raise BenchmarkError(
            f"{place}: answer {shown(text)} has letter {label} and the text of {options.labels[named[0]]}",
            hint="give the letter alone, or the text alone",
        )
    return position


def _by_letter_shown(label: str, options: Options) -> int | None:
    """Return the place of a letter where the file's own labels are numbers: its options are shown with letters."""
    if any(own.isalpha() for own in options.labels) or label not in ascii_uppercase[: len(options.texts)]:
        return None
    return ascii_uppercase.index(label)


def _by_text(text: str, options: Options) -> list[int]:
    """Return the options that an answer is the text of: verbatim, else as plain text, else as the same number."""
    found = [position for position, option in enumerate(options.texts) if option == text]
    if found:
        return found
    wanted = plain(text)
    found = [position for position, option in enumerate(options.texts) if plain(option) == wanted]
    number = None if found else number_in(text)
    if number is not None:
        found = [position for position, option in enumerate(options.texts) if number_in(option) == number]
    return found


def _by_place(number: int, options: Options, form: AnswerForm) -> dict[Form, int]:
    """Return the options that a whole number counts to; numbers that label the options count nothing else."""
    bases: tuple[tuple[Form, int], ...] = (("index0", 0), ("index1", 1))
    return {
        name: options.places.index(number - base)
        for name, base in bases
        if form in {"either", name} and number - base in options.places
    }


def _fits_several(text: str, positions: Sequence[int], options: Options, place: str) -> BenchmarkError:
    return BenchmarkError(
        f"{place}: answer {shown(text)} fits choices {', '.join(options.labels[at] for at in positions)}",
        hint="say answer_form=letter or answer_form=text, or make the choices distinct",
    )


def _none_fits(text: str, options: Options, place: str) -> BenchmarkError:
    labels = options.labels
    asked = f"give a letter {labels[0]}–{labels[-1]} or the exact text of one choice"
    if _BARE.fullmatch(text) or _NAMED.fullmatch(text):
        return BenchmarkError(f"{place}: answer {shown(text)} is none of {labels[0]}–{labels[-1]}", hint=asked)
    of = f" ({unicodedata.name(text, 'without a name').lower()})" if len(text) == 1 and not text.isascii() else ""
    return BenchmarkError(
        f"{place}: answer {shown(text)}{of} is not among the choices {shown(list(options.texts))}", hint=asked
    )


def settle(answers: Sequence[Answer]) -> Form | None:
    """Return what whole numbers mean throughout a file; None where no row leaves it open.

    A file means one thing by them, so a row that only one form fits settles all: a 0 counts from 0, and a number equal
    to the number of options counts from 1.

    Args:
        answers: All answers of the file.

    Raises:
        BenchmarkError: If rows contradict each other, or nothing settles it and it matters.
    """
    numbers = [answer for answer in answers if answer.is_number]
    if not numbers:
        return None
    open_forms = [form for form in COUNTING if all(form in answer.fits for answer in numbers)]
    if not open_forms:
        raise _contradiction(numbers)
    is_text_elsewhere = any(set(answer.fits) == {"text"} for answer in answers if not answer.is_number)
    if is_text_elsewhere and "text" in open_forms:
        return "text"
    for answer in numbers:
        meant = [answer.fits[form] for form in open_forms]
        if len(set(meant)) > 1:
            raise _open_number(answer, open_forms, numbers)
    return open_forms[0]


def _contradiction(numbers: Sequence[Answer]) -> BenchmarkError:
    narrow = min(numbers, key=lambda answer: len(answer.fits))
    other = next(
        (answer for answer in numbers if not set(answer.fits) & set(narrow.fits)),
        max(numbers, key=lambda answer: len(set(narrow.fits) - set(answer.fits))),
    )
    means = {"text": "is the text of an option", "index0": "counts from 0", "index1": "counts from 1"}
    return BenchmarkError(
        f"{narrow.place}: answer {shown(narrow.text)} {' or '.join(means[form] for form in narrow.fits)}, but "
        f"{other.place}: answer {shown(other.text)} {' or '.join(means[form] for form in other.fits)}",
        hint="say what the numbers are: --option answer_form=text, index0 (from 0) or index1 (from 1)",
    )


def _open_number(answer: Answer, forms: Sequence[Form], numbers: Sequence[Answer]) -> BenchmarkError:
    hint = f"say what the numbers are: --option answer_form={', '.join(forms[:-1])} or {forms[-1]}"
    labels = {form: answer.labels[answer.fits[form]] for form in forms}
    if "text" in forms:
        counted = " or ".join(dict.fromkeys(labels[form] for form in forms if form != "text"))
        return BenchmarkError(
            f"{answer.place}: answer {shown(answer.text)} is the text of {labels['text']} and the index of {counted}",
            hint=hint,
        )
    values = sorted(int(found[1]) for one in numbers if (found := _WHOLE.fullmatch(one.text)))
    told = f"{values[0]}–{values[-1]}" if values[0] != values[-1] else f"{values[0]}"
    return BenchmarkError(f"{answer.place}: whole numbers {told} fit counting from 0 and from 1", hint=hint)


def letter_of(answer: object, choices: Sequence[str], form: AnswerForm, place: str) -> str | None:
    """Return the letter of the right choice of one question, without what other rows of its file tell.

    Returns:
        The letter, None where the answer is hidden.

    Raises:
        BenchmarkError: If the answer is not among the choices, fits several, or means two things.

    Example:
        >>> letter_of("B", ["red", "blue"], "either", "q.jsonl:1"), letter_of("red", ["red", "blue"], "either", "")
        ('B', 'A')
    """
    n = len(choices)
    options = Options(tuple(choices), tuple(ascii_uppercase[:n]), tuple(range(n)), n)
    found = read_answer(answer, options, place, form)
    if found is None:
        return None
    settled = settle([found])
    return ascii_uppercase[found.fits[settled] if settled else next(iter(found.fits.values()))]


# --- free questions ---------------------------------------------------------------------------------------------------


def accepted_texts(answer: object, place: str = "") -> tuple[str, ...]:
    """Return the accepted texts of a free-form question: one text, a list of texts, or none where hidden.

    Example:
        >>> accepted_texts("17"), accepted_texts(["B-17", "B17"]), accepted_texts(None)
        (('17',), ('B-17', 'B17'), ())
    """
    entries = answer if isinstance(answer, list) else [answer]
    return tuple(text for text in (text_of(entry, "answer", place) for entry in entries) if text)


def listed_answers(cell: object) -> tuple[str, ...]:
    """Return the accepted answers: texts, separated by "|" in a text cell, or records with ``answer`` as in VQAv2.

    Example:
        >>> listed_answers("B-17|B17"), listed_answers('["a", "b"]'), listed_answers([{"answer": "red"}])
        (('B-17', 'B17'), ('a', 'b'), ('red',))
    """
    if isinstance(cell, str):
        written = in_text(cell) if cell.lstrip().startswith("[") else None  # a plain answer may start with a bracket
        cell = cell.split(_SEPARATOR) if written is None else written
    entries = cell if isinstance(cell, list) else [cell]
    texts = [entry.get("answer") if isinstance(entry, Mapping) else entry for entry in entries]
    return accepted_texts([text for text in texts if not isinstance(text, list | Mapping | bytes)])


def accepted_answers(answer: object, answers: object, place: str) -> tuple[str, ...]:
    """Return the accepted texts of a free-form question, from the one answer, from a list of answers, or from both.

    Returns:
        Those of the list where there is one, else the one; empty where both are missing.

    Raises:
        BenchmarkError: If the list holds no text, or not the one answer.

    Example:
        >>> accepted_answers(None, ["B-17", "B17"], "q.jsonl:1"), accepted_answers("17", None, "q.jsonl:2")
        (('B-17', 'B17'), ('17',))
    """
    if isinstance(answer, str) and answer.lstrip().startswith("["):
        written = in_text(answer)
        answer = answer if written is None else written
    one = accepted_texts(answer, place)
    if is_absent(answers):
        return one
    listed = listed_answers(answers)
    if not listed:
        raise BenchmarkError(
            f"{place}: answers {shown(answers)} hold no text",
            hint="give the accepted answer, or a list of what several people said",
        )
    strange = [text for text in one if text.casefold() not in {known.casefold() for known in listed}]
    if strange:
        raise BenchmarkError(
            f"{place}: answer {shown(strange[0])} is not among the answers {shown(list(listed))}",
            hint="add it there, or rename column 'answers' if it holds something else than accepted answers",
        )
    return listed

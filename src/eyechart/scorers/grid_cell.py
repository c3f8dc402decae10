"""The row and column a response names: read by name, or as HRScene's published code reads them."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from eyechart.schema import Question, Response, Score
from eyechart.scorers._echo import echo_end
from eyechart.scorers._verdicts import chosen_version, scorer_id, state_notes, state_reason, unread_score
from eyechart.scorers.option_letter.containers import tokens_as_tags, without_thinking
from eyechart.scorers.option_letter.traced import Traced
from eyechart.scorers.option_letter.turns import own_questions, own_turn

__all__ = ["GridCell"]

_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERS = {word: n for words in (_CARDINALS, _ORDINALS) for n, word in enumerate(words, start=1)}
_ORDINAL = rf"(?:[0-9]{{1,2}}(?:st|nd|rd|th)\b|{'|'.join(_ORDINALS)})"
_CARDINAL = rf"(?:(?<![\d.,])[0-9]{{1,2}}(?:\.0)?(?!\d|[.,]\d)|\b(?:{'|'.join(_CARDINALS)})\b)"
_TAG = re.compile(r"<\s*(row|col(?:umn)?)\s*>\s*([0-9]{1,2})\.?\s*<\s*/\s*(?:row|col(?:umn)?)\s*>", re.IGNORECASE)
_GAP = r"(?:_(?:id|number|index|answer))?(?:-(?=\d)|[\s:=#(\"'*_]{0,4})(?:(?:number|no\.|id|is|index)[\s:=#*]{1,3})?"
# "column 10 or 9", "rows 2–3": the reader cannot tell which.
_OTHER = r"(?P<other>\s(?:or|to)\s\d{1,2}\b|\s?[/–-]\s?\d{1,2}\b)?"
_NAMED = re.compile(
    rf"(?<![A-Za-z])(?P<name>rows?|col(?:umn)?s?)(?![A-Za-z])\.?{_GAP}(?P<number>{_CARDINAL}){_OTHER}"
    rf"|\b(?P<ordinal>{_ORDINAL})\s(?P<ordered>row|col(?:umn)?)\b|第?(?P<han>[0-9]{{1,2}})(?P<hanzi>行|列)"
    r"|(?<![A-Za-z])(?P<short>[rc])(?:\s?[=:]\s?)?(?P<shortnumber>[0-9]{1,2})(?!\d|\.\d)",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?:^|(?:\(row,\s?col(?:umn)?\)|answer|position|cell|location|coordinates?)(?:\s(?:is|are))?\W{0,4}"
    r"|\b(?:at|in|is)\s(?=[(\[]))"
    r"[ \t]{0,8}[(\[]?[ \t]?([0-9]{1,2})[ \t]?[,;][ \t]?([0-9]{1,2})[ \t]?[)\]]?[. \t]{0,8}"
    r"(?:</?[\w|]{1,20}>|<\|\w{1,20}\|>)?\r?$",
    re.IGNORECASE | re.MULTILINE,
)
# What the prompt explains, not what the model found: "the left upper corner is row 1, column 1".
_CORNER = re.compile(
    r"\b(?:corner|(?:upper|top)[\s-]left|left[\s-](?:upper|top))\s(?:\w+\s){0,2}?(?:is|being|as|has|counts\sas|starts\sat)\s"
    r"(?:at\s)?row\s1\W+(?:and\s)?column\s1\b",
    re.IGNORECASE,
)
_GOLD = re.compile(r"(\d{1,2})\D+(\d{1,2})")


class Cell(msgspec.Struct, frozen=True):
    """One cell of a grid, rows and columns counted from 1."""

    row: int
    column: int

    def __str__(self) -> str:
        """Return the form HRScene uses: ``row: 2, col: 3``."""
        return f"row: {self.row}, col: {self.column}"


class CellReading(msgspec.Struct, frozen=True):
    """What a response says: a cell, or the reason why there is none."""

    cell: Cell | None = None
    rule: str | None = None
    reason: str | None = None
    span: tuple[int, int] | None = None


class GridCell:
    """Exact match of row and column, both counted from 1.

    ``corrected`` reads tags by their name over the whole text in any order, else rows and columns named in words
    ("row 2, column 4", "second row, fourth column", "第2行第4列"), else a bare pair "2, 4" on a line of its own or
    after "answer". Two different cells are ambiguous; a lone number is not a cell; an echoed prompt is cut first.
    ``compat`` reproduces the published parser with its faults (see ``published_cell``).

    Args:
        version: Of the corrected reading; the newest if left out. Version 2 ends a response at its end token and where
            the model asks itself another question. ``compat`` is the same in all.

    Raises:
        UsageError: If there is no such version.
    """

    name = "grid_cell"
    versions = (1, 2)
    modes = ("corrected", "compat")

    def __init__(self, version: int | None = None) -> None:
        self.version = chosen_version(self.name, self.versions, version)

    def score(
        self,
        response: Response,
        question: Question,
        choices: Sequence[str],  # noqa: ARG002 -- a cell is not a choice
        gold: str | None,
        mode: str,
    ) -> Score:
        """Judge one response.

        Args:
            response: The stored response.
            question: Where ``gold`` is None its first accepted text is the right cell.
            choices: Not consulted: the answer is not a choice.
            gold: The right cell as "row: 2, col: 4".
            mode: ``corrected`` or ``compat``.

        Raises:
            UsageError: If there is no such mode.
        """
        scorer = scorer_id(self.name, self.version, self.modes, mode)
        unread = unread_score(response, scorer)
        if unread is not None:
            return unread
        right = parse_gold(gold if gold is not None else next(iter(question.answers), None))
        text = response.text or ""
        reading = published_cell(text) if mode == "compat" else read_cell(text, question.text, self.version)
        return Score(
            request_id=response.request_id,
            scorer=scorer,
            value=None if right is None else float(reading.cell == right),
            answer=None if reading.cell is None else str(reading.cell),
            span=reading.span,
            rule=reading.rule,
            reason="hidden_answer" if right is None else state_reason(response, reading.reason),
            diagnostics=state_notes(response),
        )


def parse_gold(text: str | None) -> Cell | None:
    """Return the cell in "row: 2, col: 4"; None if the text hides it.

    Example:
        >>> parse_gold("row: 10, col: 7"), parse_gold("None")
        (Cell(row=10, column=7), None)
    """
    match = _GOLD.search(text or "")
    return Cell(int(match[1]), int(match[2])) if match else None


def read_cell(text: str, question_text: str = "", version: int = 2) -> CellReading:
    """Read the cell that a response names.

    Args:
        text: The response.
        question_text: Recognised where the response echoes it.
        version: Of the rules.

    Example:
        >>> read_cell("In the 5x5 grid, it is row 2 column 4").cell
        Cell(row=2, column=4)
        >>> read_cell("12").reason
        'no_cell'
    """
    start = echo_end(text, question_text)
    read = Traced(text).cut(start, len(text))
    if version == 1:
        return _read_cell(without_thinking(read), is_echo=start > 0)
    read = without_thinking(own_turn(tokens_as_tags(read)))
    for asked in own_questions(read.text):
        reading = _read_cell(read.cut(0, asked.start), is_echo=start > 0)
        if reading.cell is not None:
            return reading
    return _read_cell(read, is_echo=start > 0)


def _read_cell(read: Traced, *, is_echo: bool) -> CellReading:
    """Read the cell in a response without echo and thinking."""
    answer = _CORNER.sub(lambda match: " " * len(match.group()), read.text)
    if not answer.strip():
        return CellReading(reason="prompt_echo" if is_echo else "empty")
    for rule, named in (("tags", _tagged(answer)), ("words", _named(answer)), ("pair", _paired(answer))):
        reading = _only_cell(rule, list(named), read)
        if reading is not None:
            return reading
    return CellReading(reason="no_cell")


_Named = tuple[str, int, tuple[int, int]]
_ANOTHER = -1
"""Stands for a second number of the same name, whichever it is."""


def _tagged(text: str) -> Iterator[_Named]:
    for match in _TAG.finditer(text):
        yield match[1][0].lower(), int(match[2]), match.span()


def _named(text: str) -> Iterator[_Named]:
    for match in _NAMED.finditer(text):
        word = match["number"] or match["ordinal"] or match["han"] or match["shortnumber"]
        name = match["name"] or match["ordered"] or match["short"] or ("row" if match["hanzi"] == "行" else "col")
        digits = re.match(r"\d+", word)
        yield name[0].lower(), int(digits.group()) if digits else _NUMBERS[word.lower()], match.span()
        if match["other"]:
            yield name[0].lower(), _ANOTHER, match.span()


def _paired(text: str) -> Iterator[_Named]:
    for match in _PAIR.finditer(text):
        yield "r", int(match[1]), match.span()
        yield "c", int(match[2]), match.span()


def _only_cell(rule: str, named: list[_Named], read: Traced) -> CellReading | None:
    """Return the one cell that all names agree on, a conflict if they do not, None if a row or column is missing."""
    rows = {number for name, number, _ in named if name == "r"}
    columns = {number for name, number, _ in named if name == "c"}
    if not rows or not columns:
        return None
    span = read.original_span(min(where[0] for *_, where in named), max(where[1] for *_, where in named))
    if len(rows) > 1 or len(columns) > 1:
        return CellReading(rule=rule, reason="conflict", span=span)
    row, column = rows.pop(), columns.pop()
    if row < 1 or column < 1:
        return CellReading(rule=rule, reason="beyond_range", span=span)
    return CellReading(Cell(row, column), rule, span=span)


def published_cell(text: str) -> CellReading:
    """Read a cell as HRScene's published code does, faults included.

    Only the last line counts, without dots; tags must come row first; otherwise the first number is the row and the
    last digit the column, joined by a digit looked for at the mirrored place.

    Example:
        >>> published_cell("row 10, column 10").cell, published_cell("12").cell
        (Cell(row=10, column=0), Cell(row=12, column=22))
    """
    line = clean_published(text)
    row = re.search(r"<row>(\d+)</row>", line)
    column = re.compile(r"<col>(\d+)</col>").search(line, row.end()) if row else None
    if row is not None and column is not None:
        return _published(row[1], column[1], "tags")
    first = next((index for index, character in enumerate(line) if character.isdigit()), None)
    last = next((index for index, character in enumerate(reversed(line)) if character.isdigit()), None)
    if first is None or last is None:
        return CellReading(reason="no_cell")
    return _published(
        line[first] + _digit_after(line, first), _digit_after(line, last) + line[-1 - last], "first_and_last_number"
    )


def _published(row: str, column: str, rule: str) -> CellReading:
    try:
        return CellReading(Cell(int(row), int(column)), rule)
    except ValueError:  # "²" is a digit to str.isdigit and none to int: the published code stops there
        return CellReading(reason="published_code_fails")


def _digit_after(line: str, index: int) -> str:
    """Return the digit after ``index``, counted from the left even where the published code counts from the right."""
    following = line[index + 1 : index + 2]
    return following if following.isdigit() else ""


def clean_published(text: str) -> str:
    r"""Return the last line in lower case without "answer:", "*" and every dot, as the published code cleans it.

    Example:
        >>> clean_published("Looks fine.\nAnswer: 3.5 m*")
        '35 m'
    """
    return text.rsplit("\n", maxsplit=1)[-1].lower().replace("answer:", "").replace("*", "").replace(".", "").strip()

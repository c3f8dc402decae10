"""Numbers as numbers: 2.50 is 2.5, 1,000 is 1000, three is 3."""

import re

NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
}
_GROUPED = re.compile(r"\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?")
_DECIMAL = re.compile(r"(?P<whole>\d+)\.(?P<part>\d+)")
_WHOLE = re.compile(r"\d+")


def plain_number(token: str) -> str:
    """Return a number without thousands separators and without zeros that end its decimals; all else as it is.

    A comma is a thousands separator only where three digits follow it each time, so "1,5" stays what it is. Zeros in
    front stay too: "007" is printed so.

    Example:
        >>> [plain_number(token) for token in ("2.50", "1,000", "3.0", "1,5", "10:30", "007")]
        ['2.5', '1000', '3', '1,5', '10:30', '007']
    """
    if _GROUPED.fullmatch(token):
        token = token.replace(",", "").replace("'", "").replace("’", "")
    decimal = _DECIMAL.fullmatch(token)
    if decimal is None:
        return token
    part = decimal["part"].rstrip("0")
    return f"{decimal['whole']}.{part}" if part else decimal["whole"]


def number_pattern(token: str) -> str:
    """Return a pattern of all spellings of a number, with or without separators and last zeros.

    Example:
        >>> re.fullmatch(number_pattern("1000"), "1,000.0") is not None, number_pattern("10:30")
        (True, '10:30')
    """
    number = plain_number(token)
    whole, _, part = number.partition(".")
    if not _WHOLE.fullmatch(whole) or (part and not _WHOLE.fullmatch(part)):
        return re.escape(token)
    first = len(whole) % 3 or 3
    groups = [whole[:first], *(whole[index : index + 3] for index in range(first, len(whole), 3))]
    return ",?".join(groups) + (rf"\.{part}0*" if part else r"(?:\.0+)?")

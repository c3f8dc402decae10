"""Whole numbers in addresses, which anybody may type."""

from eyechart.errors import UsageError

_MAX_DIGITS = 18


def read_number(name: str, text: str) -> int:
    """Return a number from 0.

    Args:
        name: What the number is, for the message.
        text: What stands in the address.

    Raises:
        UsageError: If it is not a whole number, or has so many digits that Python would refuse to read it.

    Example:
        >>> read_number("page", "2")
        2
    """
    if not text.isdecimal():
        raise UsageError(f"{name}={text} is not a whole number", hint="follow a link of the page")
    if len(text) > _MAX_DIGITS:
        raise UsageError(f"{name}={text[:_MAX_DIGITS]}… is too large", hint="follow a link of the page")
    return int(text)

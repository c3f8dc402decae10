"""The likeliest option letter by the probabilities of an answer's first token."""

import math
from collections.abc import Mapping, Sequence

import msgspec

from eyechart.errors import BadRequestError
from eyechart.kinds import Ask, Reply

PROBABILITIES = "letter_probabilities"
"""Key in ``Response.extra``: option letter → its share of the probability that all option letters have."""
LETTER_MASS = "letter_mass"
"""Key in ``Response.extra``: probability of all option letters together; the rest is other tokens."""


def letter_reply(log_probabilities: Mapping[str, float], choices: Sequence[str], *, is_complete: bool) -> Reply:
    """Return the likeliest letter as the answer, with every letter's share.

    Args:
        log_probabilities: Natural logarithms by letter; a letter that was not among the reported tokens is missing.
        choices: The options, in the order shown.
        is_complete: Whether every token was looked at; otherwise missing letters are less likely than those reported.

    Returns:
        The reply. Its text is empty where no option letter was reported, which no scorer counts as right.

    Raises:
        BadRequestError: If there are no options.

    Example:
        >>> reply = letter_reply({"A": math.log(0.6), "B": math.log(0.2)}, ("yes", "no"), is_complete=True)
        >>> reply.text, reply.extra["letter_probabilities"]
        ('A', {'A': 0.75, 'B': 0.25})
    """
    if not choices:
        raise BadRequestError("a question without options has no option letters", hint="leave out --score-mode logprob")
    letters = [chr(ord("A") + index) for index in range(len(choices))]
    chances = {letter: math.exp(log_probabilities[letter]) for letter in letters if letter in log_probabilities}
    mass = sum(chances.values())
    if not chances or mass <= 0:
        return Reply(text="", finish="stop", extra={LETTER_MASS: 0.0})
    shares = {letter: round(chances.get(letter, 0.0) / mass, 9) for letter in letters}
    likeliest = max(letters, key=lambda letter: shares[letter])
    missing = [letter for letter in letters if letter not in chances]
    return Reply(
        text=likeliest,
        finish="stop",
        extra={
            PROBABILITIES: shares,
            LETTER_MASS: round(mass, 9),
            **({} if is_complete or not missing else {"letters_not_reported": missing}),
        },
    )


def first_token_letters(top: Sequence[tuple[str, float]], choices: Sequence[str]) -> dict[str, float]:
    """Return the log-probability of each option letter among reported first tokens, spellings joined.

    Args:
        top: Token text and natural logarithm of its probability.
        choices: The options.

    Example:
        >>> letters = first_token_letters([(" A", math.log(0.25)), ("A", math.log(0.25)), ("The", -3.0)], ("x", "y"))
        >>> letters == {"A": math.log(0.5)}
        True
    """
    known = {chr(ord("A") + index) for index in range(len(choices))}
    chances: dict[str, float] = {}
    for token, log_probability in top:
        letter = token.strip().strip("().*")
        if letter in known:
            chances[letter] = chances.get(letter, 0.0) + math.exp(log_probability)
    return {letter: math.log(chance) for letter, chance in chances.items() if chance > 0}


def with_likeliest_letter(reply: Reply, top: Sequence[tuple[str, float]] | None, ask: Ask) -> Reply:
    """Return a reply with the likeliest letter of its first token in place of its text.

    Raises:
        BadRequestError: If the server told no probabilities, or the question has no options.
    """
    if top is None:
        raise BadRequestError(
            "the server told no token probabilities", hint="leave out --score-mode logprob", parameter="score_mode"
        )
    letters = letter_reply(first_token_letters(top, ask.choices), ask.choices, is_complete=False)
    return msgspec.structs.replace(
        reply,
        text=letters.text,
        finish=letters.finish,
        says_nothing=False,
        extra={**reply.extra, **letters.extra},
    )

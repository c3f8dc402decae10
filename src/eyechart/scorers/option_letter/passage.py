"""What the rules read: the opened text in its forms, with the options, and what a rule found in it."""

from bisect import bisect_left
from functools import cached_property
from typing import NamedTuple

from eyechart.scorers.option_letter.mentions import (
    Mention,
    find_mentions,
    is_negated_after,
    is_negated_before,
    letter_starts,
)
from eyechart.scorers.option_letter.option_texts import OptionTexts
from eyechart.scorers.option_letter.refusals import refusal_spans


class Finding(NamedTuple):
    """What a rule decided; ``letter`` is None where it decided that there is no answer.

    Args:
        rule: Readable name of the rule.
        letter: The letter found, in upper case.
        start: Start of the matched text in the passage.
        end: End of the matched text.
        reason: Why there is no letter: ``conflict`` or ``beyond_range``.
    """

    rule: str
    letter: str | None
    start: int = 0
    end: int = 0
    reason: str | None = None


class Passage:
    """One opened text and the options it may name.

    Args:
        text: Plain text; every run of white space is one space or one line break.
        options: The options as shown.
        version: Of the reading rules.
    """

    def __init__(self, text: str, options: OptionTexts, version: int) -> None:
        self.text = text
        self.options = options
        self.version = version

    @cached_property
    def lowered(self) -> str:
        """The text in lower case, of the same length."""
        return self.text.replace("\u0130", "i").lower()

    @cached_property
    def letter_starts(self) -> tuple[int, ...]:
        """Where letters stand alone, except inside a printed option text such as "Gate B"."""
        starts = letter_starts(self.text, self.version)
        if not self.options.has_lettered_texts:
            return starts
        return tuple(start for start in starts if not self.is_masked(self.text[start], start))

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """The stand-alone letters, each with whether it is rejected; an option's own "No" rejects nothing after it."""
        found = find_mentions(self.text, self.letter_starts, self.version)
        return tuple(
            mention._replace(is_negated=self._is_negated_by_more_than_its_text(mention))
            if mention.is_negated
            else mention
            for mention in found
        )

    def _is_negated_by_more_than_its_text(self, mention: Mention) -> bool:
        """Return whether a rejection stands when the option's own text directly before its letter does not count."""
        index = self.options.letters.find(mention.letter)
        needle = self.options.needles[index] if index >= 0 else ""
        before = self.lowered[: mention.start].rstrip(" ([")
        start = len(before) - len(needle)
        if (
            not needle
            or not before.endswith(needle)
            or not is_negated_before(needle + " ", len(needle) + 1, self.version)
        ):
            return True
        if start and before[start - 1].isalnum():
            return True
        return self.is_rejected(start, mention.start + 1)

    def is_rejected(self, start: int, end: int) -> bool:
        """Return whether the text before or after a span rejects it."""
        return is_negated_before(self.text, start, self.version) or is_negated_after(self.text, end, self.version)

    @cached_property
    def refusals(self) -> tuple[tuple[int, int], ...]:
        """Spans where the text says that it cannot, or will not, answer."""
        return refusal_spans(self.lowered)

    @cached_property
    def lines(self) -> tuple[tuple[int, int], ...]:
        """Spans of the lines that are not blank."""
        spans = []
        begin = 0
        for line in self.text.split("\n"):
            if line.strip():
                spans.append((begin, begin + len(line)))
            begin += len(line) + 1
        return tuple(spans)

    def is_masked(self, letter: str, start: int) -> bool:
        """Return whether the letter at ``start`` belongs to the printed text of another option."""
        index = bisect_left(self._lettered_spans, (start + 1,)) - 1
        if index < 0:
            return False
        begin, end, own = self._lettered_spans[index]
        return begin <= start < end and own != letter

    @cached_property
    def _lettered_spans(self) -> tuple[tuple[int, int, str], ...]:
        return self.options.lettered_spans(self.lowered)

    def finding(self, rule: str, letter: str, start: int, end: int) -> Finding:
        """Return a finding for a letter, or the refusal of one beyond the options."""
        letter = letter.upper()
        if letter not in self.options.letters:
            return Finding(rule, None, start, end, "beyond_range")
        return Finding(rule, letter, start, end)

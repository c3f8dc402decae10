"""Reading one option letter out of a response: the rules in order, strict and lenient, in every version of them."""

from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from eyechart.scorers.option_letter import lenient, placement
from eyechart.scorers.option_letter.characters import read_characters
from eyechart.scorers.option_letter.containers import (
    open_containers,
    tokens_as_tags,
    without_thinking,
    without_tokens,
)
from eyechart.scorers.option_letter.declarations import find_declaration
from eyechart.scorers.option_letter.held import Held, lay_out
from eyechart.scorers.option_letter.markup import plain
from eyechart.scorers.option_letter.option_texts import LETTERS, OptionTexts, options_of, tokens
from eyechart.scorers.option_letter.passage import Finding, Passage
from eyechart.scorers.option_letter.refusals import says_cannot_tell
from eyechart.scorers.option_letter.traced import Traced
from eyechart.scorers.option_letter.turns import own_questions, own_turn, without_struck

Mode = Literal["strict", "lenient"]

VERSIONS = (1, 2)
"""Versions of the rules, the newest last. A stored score keeps the version that read it; version 1 never changes.

Version 2 lets a container decide only where it holds a letter or an option's text, ends a response at its end token and
where the model asks itself, compares contained texts without punctuation and numbers as numbers, counts a negation
only where it governs the option, and takes a letter back where the last words correct it.
"""

STRICT_RULES = (
    placement.find_whole_letter,
    find_declaration,
    placement.find_bare_line,
    placement.find_enumerated,
    placement.find_parenthesised,
)
LENIENT_RULES = (
    lenient.find_equal_text,
    lenient.find_correction,
    lenient.find_lower_enumerator,
    lenient.find_conclusion,
    lenient.find_only_letter,
    lenient.find_contained_text,
    lenient.find_number_word,
    lenient.find_position,
)
IN_A_FORMULA = (placement.find_whole_letter, placement.find_enumerated, lenient.find_equal_text)
"""What is read in a box around a formula: its letters name quantities."""
BESIDE_ANOTHER_ANSWER = (
    lenient.find_correction,
    lenient.find_lower_enumerator,
    lenient.find_conclusion,
    lenient.find_only_letter,
)
"""What the lenient mode also reads outside a container of something else: a letter, never a text in passing."""


class Extraction(NamedTuple):
    """What a response says about the options.

    Args:
        letter: The letter, always one of the options; None if the response states none.
        span: Half-open character span in the response as given; None without a match.
        rule: The rule that decided, None if none did.
        reason: Why there is no letter; None if there is one.
        diagnostics: What else was noticed, sorted: ``beyond_range``, ``conflict``, ``duplicate_choice``,
            ``letter_text_mismatch``, ``refusal_like``.
    """

    letter: str | None
    span: tuple[int, int] | None = None
    rule: str | None = None
    reason: str | None = None
    diagnostics: tuple[str, ...] = ()


def extract(text: str, choices: tuple[str, ...], mode: Mode = "strict", version: int = VERSIONS[-1]) -> Extraction:
    """Read the option letter that a response states.

    Pure, deterministic, linear in the length of ``text``, and never raises. It never guesses: whatever is ambiguous
    has no letter. A strict letter is always the lenient one.

    Args:
        text: The response as stored.
        choices: Options as shown, the first being A. Without options there is no letter.
        mode: ``strict`` wants the letter stated; ``lenient`` also accepts an option's text and a lone letter.
        version: Of the rules, one of ``VERSIONS``.

    Example:
        >>> extract("The answer is **(B)**.", ("red", "blue"))
        Extraction(letter='B', span=(17, 18), rule='declaration', reason=None, diagnostics=())
        >>> extract("It is blue.", ("red", "blue")).letter, extract("It is blue.", ("red", "blue"), "lenient").letter
        (None, 'B')
        >>> [extract("B</s> Answer: A", ("red", "blue"), version=version).letter for version in VERSIONS]
        ['A', 'B']
    """
    if not text.strip():
        return Extraction(None, reason="empty")
    return _read_first(text, choices, mode) if version == 1 else _read_second(text, choices).extraction(mode)


def own_answer(text: str, choices: tuple[str, ...]) -> Traced:
    """Return the part of a response that version 2 reads: without thinking, up to where the model's own turn ends.

    Example:
        >>> own_answer("<think>A?</think>B</s> C", ("red", "blue")).text
        'B'
    """
    return _read_second(text, choices).whole


class _Part:
    """One text that the rules are applied to, outside or inside a container."""

    def __init__(self, text: Traced, choices: tuple[str, ...], version: int, container: str = "") -> None:
        self.read = plain(text)
        self.passage = Passage(self.read.text, options_of(choices, version), version)
        self.container = container

    @cached_property
    def strict(self) -> Finding | None:
        """What the strict rules decide; a conflict where the last words take that letter back."""
        stated = next((found for rule in STRICT_RULES if (found := rule(self.passage)) is not None), None)
        corrected = lenient.find_correction(self.passage) if stated is not None and stated.letter else None
        if corrected is None or corrected.letter in {None, stated.letter if stated else None}:
            return stated
        return corrected._replace(letter=None, reason="conflict")

    @cached_property
    def lenient(self) -> Finding | None:
        """What the further rules of the lenient mode decide, if the strict ones decide nothing."""
        return next((found for rule in LENIENT_RULES if (found := rule(self.passage)) is not None), None)

    @property
    def is_stated(self) -> bool:
        """Whether the strict rules decide it, other than by a letter beyond the options or one that is taken back."""
        return self.strict is not None and self.strict.reason != "beyond_range" and self.strict.rule != "correction"

    def extraction(self, mode: Mode) -> Extraction:
        """Return what it says; the lenient rules go on after a letter beyond the options, never after a conflict."""
        if mode == "strict" or self.is_stated:
            return self.found(self.strict)
        if self.lenient is None:
            return self.found(self.strict)
        read = self.found(self.lenient)
        if self.strict is None or self.strict.reason is None:
            return read
        return read._replace(diagnostics=tuple(sorted({*read.diagnostics, self.strict.reason})))

    def found(self, finding: Finding | None) -> Extraction:
        """Return a finding with its place in the response, its diagnostics, and the reason where there is none."""
        passage = self.passage
        is_refusal = bool(passage.refusals)
        if finding is None:
            if says_cannot_tell(passage.text):
                reason = "cannot_tell"
            else:
                reason = "refusal_like" if is_refusal else "no_option_letter"
            return Extraction(None, reason=reason, diagnostics=("refusal_like",) if is_refusal else ())
        notes = {finding.reason} if finding.reason else set()
        if is_refusal:
            notes.add("refusal_like")
        if finding.letter in passage.options.duplicated:
            notes.add("duplicate_choice")
        if finding.letter and _contradicts_text(passage, finding):
            notes.add("letter_text_mismatch")
        rule = f"{self.container}.{finding.rule}" if self.container else finding.rule
        span = self.read.original_span(finding.start, finding.end) if finding.end > finding.start else None
        return Extraction(finding.letter, span, rule, finding.reason, tuple(sorted(notes)))


def _read_first(text: str, choices: tuple[str, ...], mode: Mode) -> Extraction:
    """Read by the rules of version 1: the last container speaks alone."""
    opened = _first_part(text, choices)
    return opened if isinstance(opened, Extraction) else opened.extraction(mode)


@lru_cache(maxsize=8)
def _first_part(text: str, choices: tuple[str, ...]) -> _Part | Extraction:
    """Return the opened part of a response, kept for the second mode; or why it holds no answer."""
    opened = open_containers(read_characters(text))
    if opened.is_empty or opened.is_conflicting:
        reason = "empty_container" if opened.is_empty else "conflict"
        return Extraction(None, rule=opened.container, reason=reason)
    return _Part(opened.read, choices, 1, opened.container)


@lru_cache(maxsize=8)
def _read_second(text: str, choices: tuple[str, ...]) -> "_Answer":
    """Return a response as version 2 reads it, kept for the second mode: up to where its answer ends."""
    read = without_thinking(without_tokens(without_struck(own_turn(tokens_as_tags(read_characters(text))))))
    for asked in own_questions(read.text):
        answer = _Answer(read.cut(0, asked.start), choices)
        if answer.is_given(is_apart=asked.is_apart):
            return answer
    return _Answer(read, choices)


class _Answer:
    """A response without tokens and thinking: its containers in the order in which they speak, and what is outside."""

    def __init__(self, read: Traced, choices: tuple[str, ...]) -> None:
        self.whole = read
        self._choices = choices
        self._laid = lay_out(read)
        self._held = [(held, _Part(held.content, choices, 2, held.container)) for held in self._laid.containers]

    @cached_property
    def _outside(self) -> _Part:
        return _Part(self._laid.outside, self._choices, 2)

    def is_given(self, *, is_apart: bool) -> bool:
        """Return whether it answers, so that a question behind it is the model's own.

        Args:
            is_apart: Whether that question stands apart; one in running text ends only a plain answer.
        """
        strict = self.extraction("strict")
        if strict.letter or strict.reason == "conflict":
            return True
        said = self.extraction("lenient")
        if not is_apart:
            return said.letter is not None and (said.rule or "").endswith("equal_text")
        return said.letter is not None or said.reason in {"refusal_like", "cannot_tell"}

    def extraction(self, mode: Mode) -> Extraction:
        """Return what the first container says that holds a letter or an option's text, else what stands outside."""
        foreign: list[tuple[Held, _Part]] = []
        for held, part in self._held:
            if held.is_conflicting:
                return Extraction(None, rule=held.container, reason="conflict")
            if held.is_formula and not any(rule(part.passage) for rule in IN_A_FORMULA):
                foreign.append((held, part))
                continue
            said = part.extraction("lenient")
            if said.letter or said.reason in {"conflict", "duplicate_choice"}:
                return said if mode == "lenient" or part.is_stated else self._stated(part, said)
            is_quantity = held.container == "box" and said.reason == "beyond_range" and not self._is_next(held)
            if held.is_withheld or (said.reason != "no_option_letter" and not is_quantity):
                return self._declared_after(held, part, mode)
            foreign.append((held, part))
        if not foreign:
            return self._outside.extraction(mode)
        is_pointed_to = all(held.is_pointer for held, _ in foreign)
        read = self._outside.extraction(mode) if is_pointed_to else self._beside(mode)
        return read if read.letter or read.reason == "conflict" else foreign[0][1].extraction(mode)

    def _is_next(self, held: Held) -> bool:
        """Return whether a box holds the letter after the last option, for an option of the model's own, or Z."""
        letter = held.content.text.strip(" ().$")
        n_options = len(options_of(self._choices, 2).letters)
        return letter in {LETTERS[n_options : n_options + 1], "Z"}

    def _stated(self, part: _Part, said: Extraction) -> Extraction:
        """Return the letter of an option whose text a container holds, if it is stated outside."""
        outside = self._outside.extraction("strict")
        return outside if outside.letter and outside.letter == said.letter else part.extraction("strict")

    def _declared_after(self, held: Held, part: _Part, mode: Mode) -> Extraction:
        """Return what is declared behind a container in which an answer is withheld, or beyond the options."""
        after = _Part(self._laid.whole.cut(held.end, len(self._laid.whole.text)), self._choices, 2)
        finding = find_declaration(after.passage)
        if finding is not None and finding.letter is not None:
            return after.found(finding)
        if not held.content.text.strip():
            return Extraction(None, rule=held.container, reason="empty_container")
        return part.extraction(mode)

    def _beside(self, mode: Mode) -> Extraction:
        """Return the letter stated outside containers that hold something else."""
        stated = self._outside.strict
        if mode == "lenient" and (stated is None or stated.rule == "correction"):
            passage = self._outside.passage
            stated = next((found for rule in BESIDE_ANOTHER_ANSWER if (found := rule(passage)) is not None), stated)
        return self._outside.found(stated)


def _contradicts_text(passage: Passage, finding: Finding) -> bool:
    """Return whether the text printed after the letter is another option's: "B. green" while B is blue."""
    if finding.end - finding.start != 1:
        return False
    line = passage.text[finding.end : finding.end + 2 * passage.options.max_length + 40].split("\n")[0]
    said = tokens(line)
    options: OptionTexts = passage.options
    own = options.tokens[options.letters.index(finding.letter or "A")]
    return bool(said) and said != own and said in options.tokens

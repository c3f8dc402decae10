"""Where a response ends: at an end token, or where the model goes on with a turn or a question of its own."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from eyechart.scorers.option_letter.traced import Edit, Traced

# End tokens and headers of turns, by the public chat templates of the model families; read after folding, so that a
# full-width bar is a plain one.
_TURNS = re.compile(
    r"(?P<end><\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end_of_turn|end_of_turn_token|end[_▁]of[_▁]sentence|end"
    r"|eot|eos|eom|return|endofassistant|message_sep)\|>|</s>|<(?:eos|eot|eod|eoa|end_of_turn|end_of_utterance|endoftext)>"
    r"|\[EOS\])"
    r"|(?P<other><\|(?:im_start|start_header_id|start|start_of_role|turn)\|>\s?(?:user|human|system|tool|ipython)\b"
    r"|<start_of_turn>\s?(?:user|system)\b|<\|(?:user|human|system|observation)\|>|\[INST\])"
    r"|(?P<own><\|(?:im_start|start_header_id|start|start_of_role|turn)\|>\s?(?:assistant|model)\b"
    r"|<start_of_turn>\s?model\b|<\|assistant\|>|\[/INST\])"
    r"|(?P<think><(?:think|thinking|thoughts?|analysis|reasoning)>)"
    r"|(?P<thought></(?:think|thinking|thoughts?|analysis|reasoning)>)"
    r"|(?P<struck><s>)",
    re.IGNORECASE,
)
_HEADER_REST = re.compile(r"(?:<\|(?:end_header_id|end_of_role|message)\|>)?\s{0,2}")
# Headings with which a model goes on to ask itself: of few-shot prompts, of chat transcripts, of instruction data.
_HEADINGS = (
    *("Question", "QUESTION", "Q", "Human", "HUMAN", "User", "USER", "问题", "問題", "题目", "題目", "用户", "質問"),
    *("Frage", "Pregunta", "Pergunta", "Domanda", "Вопрос"),
)
_ORDINARY_WORDS = ("Instruction", "Input", "Problem", "Exercise", "Example")
_ASKED = re.compile(
    r"(?:\n|(?<=[.!?。)] )|(?<=[.!?。)])|(?<=\A[A-Z] )|(?<=[\s:(][A-Z] ))[ #*>]{0,6}(?:"
    rf"(?P<heading>(?:Next|New|Another|Follow-up)\s(?:q|Q)uestion|{'|'.join(_HEADINGS)})(?:\s?#?\d{{1,3}})?[ *]{{0,3}}:"
    rf"|(?:{'|'.join(_ORDINARY_WORDS)})(?:\s?#?\d{{1,3}})?[ *]{{0,3}}:"
    r"|(?<=\n)(?:user|human)\s?\n)"
)
# A question with options, below an answer: few-shot prompts without headings.
_ASKED_WITH_OPTIONS = re.compile(r"\n[^\n]{8,300}\?\s{0,3}\n\s{0,3}\(?A[.):]")
_STRUCK_BY_TOKEN = re.compile(r"(?<=\w )<s>[^<>\n]{1,200}</s>", re.IGNORECASE)
_MARKS = (*_HEADINGS, *_ORDINARY_WORDS, "question", "user", "human")
_MOST_QUESTIONS = 4
"""So many headings are tried; what is asked later stands behind them."""


class OwnQuestion(NamedTuple):
    """Where the model begins to ask itself, and whether that stands apart: under a heading and behind a blank line."""

    start: int
    is_apart: bool


class _Turn:
    """Where the model's own turn begins and ends, as far as the marks of a response have been passed."""

    def __init__(self) -> None:
        self.begin = self.position = 0
        self.end: int | None = None
        self._is_own, self._is_thinking, self._is_struck, self._has_said = True, False, False, False

    def passes(self, mark: re.Match[str]) -> None:
        """Take the text before a mark, then the mark."""
        if self.end is None and self._is_own and not self._is_thinking:
            self._has_said = self._has_said or bool(mark.string[self.position : mark.start()].strip())
        self.position = mark.end()
        kind = mark.lastgroup
        if kind == "think":
            self._is_thinking = True
        elif kind == "thought":
            self._ends_thinking()
        elif kind == "struck":
            self._is_struck = self._has_said
        elif kind == "own":
            self._begins_anew(mark)
        elif self._is_struck and mark.group() == "</s>":
            self._is_struck = False
        else:
            self._ends(mark.start())
            self._is_own = self._is_own and kind != "other"

    def _ends_thinking(self) -> None:
        if not self._is_thinking:  # opened in the prompt: all before it was thinking
            self.end = None
        self._is_thinking, self._has_said = False, self._has_said and self.end is not None

    def _begins_anew(self, mark: re.Match[str]) -> None:
        """Pass the header of an answer; behind an echoed prompt the answer begins there."""
        header = _HEADER_REST.match(mark.string, self.position)
        self.position = header.end() if header else self.position
        if not self._is_own and not self._has_said:
            self.begin = self.position
        self._is_own = True

    def _ends(self, position: int) -> None:
        if self._has_said and self._is_own and self.end is None:
            self.end = position


def own_turn(read: Traced) -> Traced:
    """Keep the model's first turn: up to its end token, without an echoed prompt before it.

    An end token before which nothing was said, or only thinking, ends nothing.

    Example:
        >>> own_turn(Traced("B<|im_end|><|im_start|>user And the hat?<|im_end|>C")).text
        'B'
    """
    if "<" not in read.text and "[" not in read.text:
        return read
    turn = _Turn()
    for mark in _TURNS.finditer(read.text):
        turn.passes(mark)
    return read.cut(turn.begin, len(read.text) if turn.end is None else turn.end)


def own_questions(text: str) -> Iterator[OwnQuestion]:
    r"""Yield where the model asks itself a question after it has said something.

    Example:
        >>> list(own_questions("Question: Which?\nAnswer: B\n\nQuestion: Why?"))
        [OwnQuestion(start=27, is_apart=True)]
    """
    found: list[OwnQuestion] = []
    if any(heading in text for heading in _MARKS):
        found += islice(_under_headings(text), _MOST_QUESTIONS)
    if "?" in text and "\n" in text:
        asked = (OwnQuestion(match.start(), is_apart=False) for match in _ASKED_WITH_OPTIONS.finditer(text))
        found += islice((one for one in asked if text[: one.start].strip()), _MOST_QUESTIONS)
    yield from sorted(found)


def _under_headings(text: str) -> Iterator[OwnQuestion]:
    begin = len(text) - len(text.lstrip())
    for match in _ASKED.finditer(text, begin + 1):
        is_behind_blank_line = text[max(0, match.start() - 40) : match.start()].rstrip(" \t").endswith("\n")
        is_heading = match["heading"] is not None or "#" in match.group()
        yield OwnQuestion(match.start(), is_behind_blank_line and is_heading)


def without_struck(read: Traced) -> Traced:
    """Drop what is struck out with <s> inside a sentence; at the beginning that token begins the text.

    Example:
        >>> without_struck(Traced("The lid is <s>red</s> blue")).text
        'The lid is  blue'
    """
    if "<" not in read.text:
        return read
    return read.edited(Edit(match.start(), match.end(), "") for match in _STRUCK_BY_TOKEN.finditer(read.text))

"""Where a response begins behind an echo of its own prompt."""

import re

_CHAT_HEADER = re.compile(
    r"<\|im_start\|>\s?assistant|<\|start_header_id\|>\s?assistant\s?<\|end_header_id\|>|<start_of_turn>\s?model"
    r"|\[/INST\]|<\|assistant\|>|(?:^|\n)\s?ASSISTANT:"
)
# The format line of the HRScene prompts: a placeholder, then an example that is not an answer.
_EXAMPLES = re.compile(
    r"<ans>\s*ANSWER\s*</ans>[^<]{0,200}<ans>\s*[A-Z]\s*</ans>[.\"']*"
    r"|<row>\s*ROW\w*\s*</row>\s*<col>\s*COL\w*\s*</col>[^<]{0,300}"
    r"<row>\s*\d+\s*</row>\s*<col>\s*\d+\s*</col>[.\"']*"
    r"|\b(?:for example|example|e\.g\.)[,:]?\s{0,12}"
    r"(?:<ans>\s*[A-Z]\s*</ans>|<row>\s*\d+\s*</row>\s*<col>\s*\d+\s*</col>)[.\"']*",
    re.IGNORECASE,
)
# How the prompts of hrscene_clean end; a test holds this against them.
_CLEAN_ENDS = re.compile(
    r"(?:<ans>LETTER</ans>|<row>NUMBER</row><col>NUMBER</col>),\sand\swith\snothing\selse\."
    r"|Reply\swith\sthe\sanswer\salone,\sin\sas\sfew\swords\sas\syou\scan\."
)
_WORD = re.compile(r"\S+")
_LABEL_WORDS = 2
"""How many words, such as "(A)", may stand before an echoed option."""


def echo_end(text: str, question_text: str, choices: tuple[str, ...] = ()) -> int:
    """Return where the response proper begins; 0 if it echoes nothing.

    An echo is recognised verbatim and with other white space: by the chat header of the assistant, by the example in
    the prompt's format line, or by the question with its options at the beginning.

    Example:
        >>> echo_end("Which  colour? (A) red (B) blue B", "Which colour?", ("red", "blue"))
        31
        >>> echo_end("<ans>B</ans>", "Which colour?", ("red", "blue"))
        0
    """
    ends = [match.end() for pattern in (_CHAT_HEADER, _EXAMPLES, _CLEAN_ENDS) for match in pattern.finditer(text)]
    return max([_question_end(text, question_text, choices), *ends])


def _question_end(text: str, question_text: str, choices: tuple[str, ...]) -> int:
    """Return where the question and its options end if the response begins with them."""
    asked = question_text.split()
    words = list(_WORD.finditer(text))
    if not asked or [word.group() for word in words[: len(asked)]] != asked:
        return 0
    position = len(asked)
    for choice in choices:
        after = _after_choice(words, position, choice.split())
        if after is None:
            break
        position = after
    return words[position - 1].end()


def _after_choice(words: list[re.Match[str]], position: int, choice: list[str]) -> int | None:
    for begin in range(position, position + _LABEL_WORDS):
        if choice and [word.group() for word in words[begin : begin + len(choice)]] == choice:
            return begin + len(choice)
    return None

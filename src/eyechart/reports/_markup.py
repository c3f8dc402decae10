"""Plain text made safe for Markdown and LaTeX."""

import re

from eyechart.reports._printable import REPLACEMENT, printable

# What starts markup, HTML, mathematics or a new cell inside a line. Square brackets are plain without a target, and
# intervals need them, so only a bracket that a target follows is escaped.
_MARKDOWN = re.compile(r"[\\`*_<>|~$&#]|(?<=\])[(:]")
_LATEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "`": r"{\char96}",
    "[": "{[}",  # a bracket after a line break would be read as its length
    "]": "{]}",
    "−": "$-$",
    "×": r"$\times$",
    "–": "--",
    "²": "$^2$",
    "₂": "$_2$",
    "≤": r"$\leq$",
    "\N{THIN SPACE}": r"\,",
    "\N{NO-BREAK SPACE}": "~",
    REPLACEMENT: "?",
}
_LATEX = re.compile("|".join(re.escape(character) for character in _LATEX_ESCAPES))
_STAR_FIRST = re.compile(r"^( *)\*")


def escape_markdown(text: str) -> str:
    r"""Return text in which nothing is Markdown.

    Example:
        >>> escape_markdown("a_b [1](x)")
        'a\\_b [1]\\(x)'
    """
    return _MARKDOWN.sub(lambda match: f"\\{match.group()}", printable(text))


def escape_latex(text: str) -> str:
    r"""Return text in which nothing is a command.

    Example:
        >>> escape_latex("50 % of a_b")
        '50 \\% of a\\_b'
    """
    escaped = _LATEX.sub(lambda match: _LATEX_ESCAPES[match.group()], printable(text))
    return _STAR_FIRST.sub(r"\1{*}", escaped)  # a line break before it would take the star for a part of its command

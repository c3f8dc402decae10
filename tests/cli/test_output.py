"""What commands print: no text from data can drive the terminal or the table's own markup."""

import json
from pathlib import Path

import pytest

from eyechart.cli._output import print_json, print_table, print_text, say

ESCAPES = "\x1b]0;planted\x07 \x9b2J \x7f \u202eback \r"
MARKUP = ["[/red]", r"\[/red]", r"\\[bold]x", "[link=file:///x]y[/link]", "[", "\\", ":smile:"]
DRIVERS = set("\x1b\x07\x9b\x7f\u202e\r")


@pytest.mark.parametrize("cell", MARKUP)
def test_markup_in_a_cell_or_title_is_printed_as_it_is(cell, capsys):
    print_table([cell and "cell"], [[cell]], title=cell)
    title, _, shown = capsys.readouterr().out.splitlines()
    assert (title.rstrip(), shown.rstrip()) == (cell, cell)


@pytest.mark.parametrize(
    "show",
    [
        lambda text: print_table(["cell"], [[text]], title=text),
        lambda text: print_json({text: [text]}),
        print_text,
        say,
    ],
    ids=["table", "json", "text", "note"],
)
def test_escapes_and_marks_that_turn_the_text_do_nothing(show, capfdbinary):
    show(ESCAPES)
    shown = b"".join(capfdbinary.readouterr()).decode()
    assert "planted" in shown
    assert not DRIVERS & set(shown)


def test_json_is_read_back_as_it_was(capfdbinary):
    print_json({"text": ESCAPES})
    assert json.loads(capfdbinary.readouterr().out) == {"text": ESCAPES}


def test_paths_are_text_in_json(capfdbinary):
    print_json({"file": Path("a") / "b"})
    assert json.loads(capfdbinary.readouterr().out) == {"file": "a/b"}
    with pytest.raises(NotImplementedError, match="object has no form in JSON"):
        print_json(object())

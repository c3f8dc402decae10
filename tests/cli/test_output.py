"""What commands print: no text from data can drive the terminal or the table's own markup."""

import ast
import codecs
import encodings.aliases
import io
import json
import re
import sys
import unicodedata
from pathlib import Path

import pytest

import eyechart
from eyechart.cli import _app
from eyechart.cli._app import printable, run_app
from eyechart.cli._command import recorded_command
from eyechart.cli._events import switch_events
from eyechart.cli._output import print_json, print_table, print_text, say
from eyechart.figures import format_count

# Patterns and tables that name the marks which are taken out or escaped; none of these is printed.
KEEPERS = frozenset(
    {
        *("_cells.py", "_output.py", "characters.py", "literals.py", "mentions.py", "replies.py", "scorer.py"),
        "screens.py",
    }
)

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


# --- terminals of any encoding ----------------------------------------------------------------------------------------

OUR_CHARACTERS = "−×·…–→≤•≥█▁ü\N{THIN SPACE}中文😀"


def lacking_codecs():
    """Every codec for text that lacks one of the characters that reports and questions hold."""
    found = set()
    for name in sorted(set(encodings.aliases.aliases.values()) | {"undefined", "koi8_u", "cp875"}):
        try:
            codec = codecs.lookup(name)
            io.TextIOWrapper(io.BytesIO(), encoding=name)
        except LookupError:
            continue
        try:
            OUR_CHARACTERS.encode(codec.name)
        except UnicodeError:
            found.add(codec.name)
    return sorted(found)


CODECS = lacking_codecs()


def show_everything():
    say(f"{OUR_CHARACTERS}: said")
    print_table([OUR_CHARACTERS], [[OUR_CHARACTERS]], title=OUR_CHARACTERS)
    print_text(f"{OUR_CHARACTERS}\n")
    print_json({"text": OUR_CHARACTERS})
    print(OUR_CHARACTERS)  # noqa: T201 -- one of the ways
    sys.stdout.write(OUR_CHARACTERS)
    sys.stderr.write(OUR_CHARACTERS)
    return 0


def run_on_terminal(monkeypatch, encoding, arguments, errors="strict"):
    """Run a command whose stdout and stderr have an encoding; return the exit code and both outputs as bytes."""
    written = []
    for name in ("stdout", "stderr"):
        stream = io.BytesIO()
        stream.close = lambda: None
        written.append(stream)
        monkeypatch.setattr(sys, name, io.TextIOWrapper(stream, encoding=encoding, errors=errors, write_through=True))
    code = run_app(arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code, *(stream.getvalue() for stream in written)


def test_there_are_codecs_to_try():
    assert {"gbk", "cp932", "cp437", "koi8-r", "ascii", "cp1252", "iso8859-1", "big5"} <= set(CODECS)


@pytest.mark.parametrize("encoding", CODECS)
def test_no_encoding_of_a_terminal_ends_a_command(encoding, monkeypatch):
    """gbk, cp932, cp437, koi8-r and ascii cost a paid run its report: UnicodeEncodeError after the last answer."""
    monkeypatch.setattr(_app, "build_app", lambda: lambda *_, **__: show_everything())
    code, shown, _ = run_on_terminal(monkeypatch, encoding, ["x"])
    assert code == 0
    assert json.dumps({"text": OUR_CHARACTERS}, indent=2, ensure_ascii=False).encode() in shown


@pytest.mark.parametrize("encoding", ["gbk", "cp932", "cp437", "koi8-r", "ascii"])
@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["run", "--help"], ["ls", "models"], ["ls", "views", "--json"], ["nonsense é−"], ["--version"]],
)
def test_commands_and_their_help_print_on_any_terminal(encoding, arguments, monkeypatch):
    code, shown, said = run_on_terminal(monkeypatch, encoding, arguments)
    assert code == (2 if "nonsense" in arguments[0] else 0)
    assert b"Traceback" not in shown + said


@pytest.mark.parametrize("errors", ["replace", "ignore", "xmlcharrefreplace"])
def test_replacement_that_the_user_chose_stays(errors, monkeypatch):
    monkeypatch.setattr(_app, "build_app", lambda: lambda *_, **__: print_text("é") or 0)
    _, shown, _ = run_on_terminal(monkeypatch, "ascii", ["x"], errors)
    assert shown == "é".encode("ascii", errors)


@pytest.mark.parametrize("encoding", ["gbk", "ascii"])
def test_events_are_json_on_any_terminal(encoding, monkeypatch):
    def tell(*_, **__):
        switch_events(True)
        say(OUR_CHARACTERS)

    monkeypatch.setattr(_app, "build_app", lambda: tell)
    _, _, said = run_on_terminal(monkeypatch, encoding, ["x"])
    assert json.loads(said) == {"event": "note", "text": OUR_CHARACTERS}


def test_argument_that_is_no_text_in_this_locale_is_stored_as_the_text_it_was(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["eyechart", "run", "café".encode().decode("ascii", "surrogateescape")])
    assert recorded_command() == ("eyechart", "run", "café")


def own_texts():
    """Every text constant of our code: what it prints is among them."""
    for path in Path(eyechart.__file__).parent.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if source.isascii() and not re.search(r"\\[uUN]", source):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.isascii():
                yield path.name, node.value


def test_no_space_or_sign_of_our_own_is_printed_as_an_escape():
    """Counts of 1,000 and more were printed as ``1\\u2009000``: our filter did not know our own thin space."""
    escaped = {
        (name, character)
        for name, text in own_texts()
        for character in text
        if ord(character) > 0x9F and printable(character) != character
    }
    assert {name for name, _ in escaped} <= KEEPERS, escaped
    assert printable(format_count(20300)) == "20\N{THIN SPACE}300"


def test_every_width_of_space_is_printed_and_every_mark_that_hides_is_not():
    for code in range(0x110000):
        category = unicodedata.category(chr(code))
        if category == "Zs":
            assert printable(chr(code)) == chr(code)
        elif category in {"Cc", "Zl", "Zp", "Cs"} and chr(code) not in "\n\t":
            assert printable(chr(code)).startswith("\\")


def test_path_that_is_no_text_in_this_locale_is_json(capfdbinary):
    path = Path("café".encode().decode("ascii", "surrogateescape"))
    print_json({"file": path, "name": str(path)})
    assert json.loads(capfdbinary.readouterr().out) == {"file": "café", "name": "café"}

"""The commands by name, and how their errors are shown.

Exit codes: 0 done, 1 error, 2 usage, 3 done but answers are missing, 4 the gate fails, 5 the gate cannot tell, 130
interrupted.
"""

import contextlib
import errno
import io
import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from keyword import iskeyword
from typing import TextIO

from cyclopts import App, CycloptsError, UnknownCommandError, UnknownOptionError, UnusedCliTokensError

from eyechart import __version__
from eyechart.cli._events import Failed, emit, has_events, switch_events
from eyechart.errors import EyechartError
from eyechart.registry import unknown_name

INTERRUPTED = 130
USAGE = 2
_MOST_SHOWN = 100
# A file-size limit and a quota are a full disk too.
_DISK_IS_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

COMMANDS: dict[str, str] = {
    "demo": "Try it: an offline eye test of a small OCR model, or of your own endpoint.",
    "ls": "List views, presets, benchmarks, models, prompts, scorers, figures and reports.",
    "fetch": "Load a published collection, or only some views and questions of it.",
    "show": "Show one question with all its views, here and as an HTML page.",
    "check": "Show what models will see of each view, without asking anything.",
    "probe": "Find out what an endpoint does to pictures, by blank pictures of many sizes.",
    "run": "Ask a model every question under every view; run it again to go on.",
    "annotate": "Let a person answer the same views in the browser, or correct questions and boxes.",
    "score": "Score stored answers again, or predictions made elsewhere, without asking anything.",
    "judge": "Ask a judge model about answers that rules leave open; its replies are stored.",
    "report": "Write the report of a run: HTML, figures, LaTeX and Markdown tables.",
    "explore": "Look at runs in the browser: all views of a question side by side, filters, comparisons.",
    "diff": "Compare two runs, two views of one run, or rank many models.",
    "gate": "Judge a new run against an old one: pass, fail or cannot tell, each with its exit code.",
    "import": "Bring in answers that were given elsewhere, as run folders.",
    "leaderboard": "Show published results and your own runs side by side.",
    "draw": "Draw picture sizes beside model limits, example questions, models by category; no report needed.",
    "export": "Write answers as a long table, a static site, a submission, or a challenge with private answers.",
    "build": "Write a collection with all its views in the layout of SUM, from one source or several.",
    "split": "Split questions by picture, stratified by task and source.",
    "verify": "Check every image, number and box of a collection, and say how it was made.",
    "new": "Start a view, benchmark, model, prompt, scorer, figure or report as one file and its test.",
}
"""Command name (and name of its module and function) → help line."""


def build_app() -> App:
    """Return the application; commands are imported only when they run."""
    app = App(
        name="eyechart",
        help="An eye test for vision-language models: the same question about the same picture under controlled views.",
        version=__version__,
        help_format="plaintext",
        suppress_keyboard_interrupt=False,
    )
    for name, help_line in COMMANDS.items():
        module = f"{name}_" if iskeyword(name) else name
        app.command(f"eyechart.cli.{module}:{module}", name=name, help=help_line)
    return app


def run_app(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; no ``EyechartError`` ends in a traceback.

    Stdout and stderr are left as they were found: called from a notebook or a test, they are the caller's.

    Args:
        arguments: The command line without the program's name.
    """
    with accepting_every_character(sys.stdout), accepting_every_character(sys.stderr):
        return _run_command(arguments)


def _run_command(arguments: Sequence[str]) -> int:
    app = build_app()
    try:
        result = app(arguments or ["--help"], exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        return _show_usage_error(error)
    except EyechartError as error:
        show_error(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        show_error("interrupted", "run the same command again to go on")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (head, less) went away: that is not an error, but Python would print one at exit.
        _close_own_stdout()
        return 0
    except OSError as error:
        return _show_system_error(error)
    finally:
        switch_events(False)  # one process may run several commands
    return result if isinstance(result, int) else 0


def _show_system_error(error: OSError) -> int:
    """Show what the system refused, mostly a full disk behind stdout; files of a run carry errors of their own."""
    name = str(error.filename or "")
    shown = name if len(name) <= _MOST_SHOWN else f"{name[:_MOST_SHOWN]}… ({len(name):,} characters)"
    if error.errno == errno.ENAMETOOLONG:
        hint = "this is too long for the name of a file: give a path"
    elif name and error.errno not in _DISK_IS_FULL:
        hint = "check the path, and that it may be read or written"
    else:
        hint = "is the disk full, or the output no longer writable?"
    show_error(f"{shown}: {error.strerror or error}" if shown else f"{error.strerror or error}", hint)
    _close_own_stdout()  # what is still buffered would fail again at exit
    return EyechartError.exit_code


def _close_own_stdout() -> None:
    """Send what is still to be written to stdout nowhere, if it is the process's own and not a caller's stream."""
    own = sys.__stdout__
    if own is None:
        return
    with contextlib.suppress(OSError, ValueError):
        if sys.stdout.fileno() != own.fileno():
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, own.fileno())
        os.close(nowhere)


def show_error(message: str, hint: str = "") -> None:
    """Print an error and its hint to stderr; where progress is told as events, it is one of them."""
    if has_events():
        emit(Failed(message=printable(message), hint=printable(hint)))
        return
    print(f"error: {printable(message)}", file=sys.stderr)  # noqa: T201 -- stderr is where errors go
    if hint:
        print(f"hint: {printable(hint)}", file=sys.stderr)  # noqa: T201 -- stderr is where errors go


@contextlib.contextmanager
def accepting_every_character(stream: TextIO | None) -> Iterator[None]:
    """Let a stream write what its encoding lacks as an escape, as Python's own stderr does, instead of failing.

    Everything that is printed goes through stdout and stderr, so that no terminal costs a report. What replaces such
    characters already is left alone; an encoding that lacks even the escapes gives way to UTF-8. Afterwards the stream
    is as it was; it is never closed, and one that is closed is left alone.
    """
    if not isinstance(stream, io.TextIOWrapper) or stream.closed or stream.errors not in _FAILING:
        yield
        return
    encoding, errors = stream.encoding, stream.errors
    try:
        _OWN_ESCAPES.encode(encoding)
    except (UnicodeError, LookupError):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    else:
        stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        # A pipe whose reader has gone, a full disk, or a stream that its owner has closed meanwhile.
        with contextlib.suppress(OSError, ValueError):
            if stream.encoding == encoding:
                stream.reconfigure(errors=errors)
            else:
                stream.reconfigure(encoding=encoding, errors=errors)


# The ways to meet a character that an encoding lacks which end in an error.
_FAILING = frozenset({"strict", "surrogateescape", "surrogatepass"})
_OWN_ESCAPES = "\\xuU0123456789abcdef"
# Zero-width joiners belong to the spelling of Persian, Hindi and others.
_HARMLESS = "\n\t\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def printable(text: str) -> str:
    r"""Return text whose control characters can do nothing to a terminal; spaces of every width stay.

    Example:
        >>> printable("a\x1b[2Jb\n"), printable("20\N{THIN SPACE}300") == "20\N{THIN SPACE}300"
        ('a\\x1b[2Jb\n', True)
    """
    return "".join(
        character if _is_harmless(character) else character.encode("unicode_escape").decode() for character in text
    )


def _is_harmless(character: str) -> bool:
    return character.isprintable() or character in _HARMLESS or unicodedata.category(character) == "Zs"


def _show_unused(word: str) -> int:
    """Show the error for a word that no command expects where it stands."""
    hint = f"files are given by a flag, for example --data {word}" if "." in word else "add --help to see what it takes"
    show_error(f"the word {word!r} belongs to no flag", hint)
    return USAGE


def _as_benchmark_option(flag: str) -> str | None:
    """Return how an option of a benchmark is given that was written as a flag, None where no benchmark has it."""
    from eyechart.opening import benchmark_options
    from eyechart.registry import names

    option = flag.lstrip("-").replace("-", "_")
    owners = [name for name in names("benchmark") if option in benchmark_options(name)]
    return f"it is an option of a benchmark ({', '.join(owners)}): --option {option}=…" if owners else None


def _show_usage_error(error: CycloptsError) -> int:
    if isinstance(error, UnknownCommandError):
        # Its own text would import every command to suggest one.
        above = " ".join(error.command_chain or ())
        known = tuple(COMMANDS) if not above or error.app is None else tuple(n for n in error.app if n[0] != "-")
        unknown = unknown_name(f"{above} command".lstrip(), (error.unused_tokens or ["?"])[0], known)
        show_error(unknown.message, unknown.hint)
        return USAGE
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        return _show_unused(error.unused_tokens[0])
    if isinstance(error, UnknownOptionError) and error.token is not None:
        option = error.token.keyword or ""
        pair = _as_benchmark_option(option)
        if pair:
            show_error(f"there is no flag {option}", pair)
            return USAGE
    sentence, separator, suggestion = " ".join(str(error).split()).partition("Did you mean ")
    show_error(sentence.strip(), f"did you mean {suggestion}" if separator else "add --help to see what it takes")
    return USAGE

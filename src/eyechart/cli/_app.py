"""The commands by name, and how their errors are shown.

Exit codes: 0 done, 1 error, 2 usage, 3 done but answers are missing, 4 the gate fails, 5 the gate cannot tell, 130
interrupted.
"""

import contextlib
import os
import sys
from collections.abc import Sequence
from keyword import iskeyword

from cyclopts import App, CycloptsError, UnknownCommandError

from eyechart import __version__
from eyechart.cli._events import Failed, emit, has_events, switch_events
from eyechart.errors import EyechartError
from eyechart.registry import unknown_name

INTERRUPTED = 130
USAGE = 2

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

    Args:
        arguments: The command line without the program's name.
    """
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
        # The reader of our output (head, less) went away: that is no error, but Python would print one at exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _show_system_error(error)
    finally:
        switch_events(False)  # one process may run several commands
    return result if isinstance(result, int) else 0


def _show_system_error(error: OSError) -> int:
    """Show what the system refused, mostly a full disk behind stdout; files of a run carry errors of their own."""
    place = f"{error.filename}: " if error.filename else ""
    show_error(f"{place}{error.strerror or error}", "is the disk full, or the output no longer writable?")
    with contextlib.suppress(OSError, ValueError):  # what is still buffered would fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EyechartError.exit_code


def show_error(message: str, hint: str = "") -> None:
    """Print an error and its hint to stderr; where progress is told as events, it is one of them."""
    if has_events():
        emit(Failed(message=printable(message), hint=printable(hint)))
        return
    print(f"error: {printable(message)}", file=sys.stderr)  # noqa: T201 -- stderr is where errors go
    if hint:
        print(f"hint: {printable(hint)}", file=sys.stderr)  # noqa: T201 -- stderr is where errors go


_HARMLESS = "\n\t\N{NO-BREAK SPACE}"


def printable(text: str) -> str:
    r"""Return text whose control characters can do nothing to a terminal.

    Example:
        >>> printable("a\x1b[2Jb\n")
        'a\\x1b[2Jb\n'
    """
    return "".join(
        character if character.isprintable() or character in _HARMLESS else character.encode("unicode_escape").decode()
        for character in text
    )


def _show_usage_error(error: CycloptsError) -> int:
    if isinstance(error, UnknownCommandError):
        # Its own text would import every command to suggest one.
        above = " ".join(error.command_chain or ())
        known = tuple(COMMANDS) if not above or error.app is None else tuple(n for n in error.app if n[0] != "-")
        unknown = unknown_name(f"{above} command".lstrip(), (error.unused_tokens or ["?"])[0], known)
        show_error(unknown.message, unknown.hint)
        return USAGE
    sentence, separator, suggestion = " ".join(str(error).split()).partition("Did you mean ")
    show_error(sentence.strip(), f"did you mean {suggestion}" if separator else "add --help to see what it takes")
    return USAGE

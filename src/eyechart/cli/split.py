"""Split a collection without tearing pictures apart."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eyechart.cli._flags import Data, Option, Plugin, load_plugins, open_named_benchmark
from eyechart.cli._output import Json, print_json, print_table, say
from eyechart.errors import UsageError
from eyechart.settings import parse_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyechart.releases.split import Split
    from eyechart.schema import Question


def split(
    benchmark: str,
    /,
    *,
    share: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Part and its share, as dev=0.2; once for each part; sum 1."),
    ] = ("dev=0.2", "test=0.8"),
    seed: Annotated[int, Parameter(help="Seed of the shuffle.")] = 0,
    out: Annotated[Path, Parameter(help="File to write.")] = Path("split.json"),
    ids: Annotated[
        Path | None, Parameter(help="Folder for one list of ids per part, as build --select reads them.")
    ] = None,
    data: Data = None,
    option: Option = (),
    plugin: Plugin = (),
    json: Json = False,
) -> int:
    """Split questions by picture, stratified by task and source: all questions and views of a picture on one side.

    Args:
        benchmark: Name of the benchmark, for example sum.
    """
    from eyechart.images.files import write_pieces
    from eyechart.releases.split import split_questions, write_split

    load_plugins(plugin)
    questions = tuple(open_named_benchmark(benchmark, data, option).questions())
    divided = split_questions(questions, _shares(share), seed=seed)
    write_split(divided, out)
    if ids is not None:
        for part in divided.shares:
            lines = [f"{name}\n".encode() for name, where in divided.parts.items() if where == part]
            write_pieces(ids / f"{part}.txt", lines)
    if json:
        print_json(divided)
    else:
        _show(questions, divided)
    say(f"split: {out}, id {divided.id[:12]}")
    return 0


def _shares(pairs: tuple[str, ...]) -> dict[str, float]:
    shares = {}
    for part, value in parse_pairs(pairs, "--share").items():
        try:
            shares[part] = float(str(value))
        except ValueError:
            raise UsageError(f"--share {part}={value} is not a number", hint="for example --share dev=0.2") from None
    return shares


def _show(questions: "Sequence[Question]", divided: "Split") -> None:
    """Print how many questions of every task and source each part has."""
    parts = tuple(divided.shares)
    rows = [["all", *(f"{divided.counts[part]} ({_percent(divided.counts[part], len(questions))})" for part in parts)]]
    rows.append(["pictures", *(str(len(_groups(questions, divided, part))) for part in parts)])
    for field in ("task", "source"):
        for name in sorted({getattr(question, field) or "not stated" for question in questions}):
            members = [question for question in questions if (getattr(question, field) or "not stated") == name]
            counts = [sum(divided.parts[question.id] == part for question in members) for part in parts]
            rows.append([f"{field} {name}", *(f"{n} ({_percent(n, len(members))})" for n in counts)])
    headings = [f">{part} (wanted {100 * divided.shares[part]:g} %)" for part in parts]
    print_table(["questions", *headings], rows, title=f"{len(questions)} questions, seed {divided.seed}.")


def _groups(questions: "Sequence[Question]", divided: "Split", part: str) -> set[str]:
    return {question.image_group for question in questions if divided.parts[question.id] == part}


def _percent(n: int, n_all: int) -> str:
    return f"{100 * n / n_all:.0f} %"

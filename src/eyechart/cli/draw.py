"""Draw what benchmarks are made of and what is known of models on them, without a report of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from cyclopts import App, Parameter

from eyechart.cli._flags import Data, Option, Plugin, load_plugins, open_named_benchmark
from eyechart.cli._output import say
from eyechart.errors import UsageError
from eyechart.stats.averages import Rule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eyechart.figures._resolutions import ModelLimit
    from eyechart.schema import PictureGroup

draw = App(name="draw", help_format="plaintext")
"""``eyechart draw WHAT …``: figures of benchmarks, which need no run of one's own."""

_NOTICE = "Questions and pictures belong to the benchmarks' authors and keep their licences."
_PAGE_SUFFIX = ".html"
Out = Annotated[Path, Parameter(name="--out", help="Folder for PDF, SVG, PNG and HTML; or one file of these.")]


@draw.command(name="resolutions")
def resolutions(
    *benchmarks: str,
    model: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="provider/name whose input limit is drawn; may be repeated."),
    ] = (),
    option: Option = (),
    out: Out = Path("figures"),
    plugin: Plugin = (),
) -> int:
    """Draw box plots of picture sizes, one per benchmark, beside the most that reaches models by documented rules.

    Args:
        benchmarks: NAME, or NAME=DATA with the file or folder it reads. An option goes to those that have it.
    """
    from eyechart.figures._resolutions import describe_resolutions, draw_resolutions

    load_plugins(plugin)
    _check_out(out)
    if not benchmarks:
        raise UsageError("no benchmark was named", hint="eyechart draw resolutions demo hrscene=FOLDER")
    groups = [_sizes(text, own) for text, own in zip(benchmarks, _divided(option, benchmarks), strict=True)]
    limits = [_limit(spec) for spec in model]
    axes = draw_resolutions(groups, limits)
    figure = cast("Figure", axes.figure)
    _write(figure, out, "resolutions", "How large the pictures are", describe_resolutions(groups, limits))
    return 0


@draw.command(name="gallery")
def gallery(
    benchmark: str,
    /,
    *,
    data: Data = None,
    option: Option = (),
    seed: Annotated[int, Parameter(help="Seed of the choice.")] = 0,
    out: Out = Path("figures"),
    plugin: Plugin = (),
) -> int:
    """Draw one example question per category with its picture; the right answers are not marked.

    Args:
        benchmark: Name of the benchmark, for example hrscene.
    """
    from eyechart.figures._examples import choose_examples, load_example
    from eyechart.figures._gallery import describe_gallery, draw_gallery

    load_plugins(plugin)
    _check_out(out)
    opened = open_named_benchmark(benchmark, data, option)
    examples = [load_example(opened, question) for question in choose_examples(opened.questions(), seed)]
    title = f"One question per category of {benchmark}"
    _write(draw_gallery(examples, title), out, "gallery", title, describe_gallery(examples))
    return 0


@draw.command(name="radar")
def radar(
    benchmark: str,
    /,
    *runs: Path,
    model: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Row of the board to draw; may be repeated. The best if none."),
    ] = (),
    split: Annotated[str, Parameter(help="Split: test, testmini, or that of the runs.")] = "test",
    average: Annotated[Rule, Parameter(help="How the datasets of a category are averaged.")] = "size_weighted",
    scorer: Annotated[str | None, Parameter(help="Judges the runs; hrscene_letter if left out.")] = None,
    out: Out = Path("figures"),
    plugin: Plugin = (),
) -> int:
    """Draw rows of a leaderboard on a wheel of categories: people, published models and runs of your own.

    Args:
        benchmark: hrscene.
        runs: Run folders to draw beside the published rows.
    """
    from eyechart.benchmarks._published import read_published
    from eyechart.cli.leaderboard import permit, read_runs
    from eyechart.figures._board_radar import choose_rows, describe_board_radar, draw_board_radar
    from eyechart.runs.leaderboard import build_board

    load_plugins(plugin)
    _check_out(out)
    own = read_runs(runs, scorer)
    permit([(run.name, run.table) for run in own], ())
    board = build_board(read_published(benchmark), split, average, own)
    rows = choose_rows(board, model)
    figure = cast("Figure", draw_board_radar(board, rows).figure)
    _write(figure, out, "radar", f"Score by category, {board.title}", describe_board_radar(board, rows))
    return 0


def _divided(option: tuple[str, ...], benchmarks: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the options of each benchmark: those that it has, and those that none has, which it will refuse."""
    from eyechart.opening import benchmark_options

    known = [benchmark_options(text.partition("=")[0]) for text in benchmarks]
    keys = {pair: pair.partition("=")[0] for pair in option}
    strange = [pair for pair in option if not any(keys[pair] in names for names in known)]
    return [tuple(pair for pair in option if pair in strange or keys[pair] in names) for names in known]


def _sizes(text: str, option: tuple[str, ...]) -> "PictureGroup":
    """Return the sizes of all pictures of a benchmark named as NAME or NAME=DATA, read from headers alone."""
    import numpy as np

    from eyechart.schema import PictureGroup

    name, _, data = text.partition("=")
    opened = open_named_benchmark(name, Path(data) if data else None, option)
    questions = list(opened.questions())
    sizes = {question.image.file_sha256: question.image.size.n_px for question in questions}
    if not sizes:
        raise UsageError(f"{name} holds no picture", hint="check its data")
    px = np.array(list(sizes.values()), dtype=float)
    low, lower, middle, upper, high = (float(value) for value in np.quantile(px, [0.0, 0.25, 0.5, 0.75, 1.0]))
    return PictureGroup(name, None, len(questions), len(sizes), (low, lower, middle, upper, high), float(px.mean()))


def _limit(spec: str) -> "ModelLimit":
    """Return the most pixels that reach a model, over several shapes of a gigapixel picture."""
    from eyechart.figures._resolutions import ModelLimit
    from eyechart.schema import ModelIdentity, Size
    from eyechart.seen.rules import look_up

    provider, _, name = spec.partition("/")
    found = look_up(ModelIdentity(provider, name))
    if found.rule is None:
        raise UsageError(f"no input limit of {spec} is known: {found.reason}", hint="eyechart check shows known rules")
    shapes = [Size(round(31623 * ratio), round(31623 / ratio)) for ratio in (1.0, 1.15, 1.33, 1.5, 2.0, 3.0)]
    seen = [size for shape in shapes if (size := found.rule.algorithm.apply(shape).size) is not None]
    if not seen:
        raise UsageError(f"rule {found.rule.id} of {spec} says no size", hint="leave this model out")
    largest = max(size.n_px for size in seen)
    return ModelLimit(spec, largest, found.rule.id, found.rule.date.isoformat())


def _check_out(out: Path) -> None:
    """Refuse a name that looks like a file of no kind that is drawn; a folder that is there may be called anything.

    Raises:
        UsageError: If it is one.
    """
    # A suffix of digits is a version of a folder, as in figures-0.5.
    if _is_file(out) or out.is_dir() or not out.suffix or out.suffix[1:].isdecimal():
        return
    raise UsageError(
        f"--out {out}: no figure is written as {out.suffix}",
        hint=f"give a folder, or a file that ends in {', '.join(_suffixes())}",
    )


def _suffixes() -> tuple[str, ...]:
    from eyechart.figures import PICTURE_SUFFIXES

    return (*PICTURE_SUFFIXES, _PAGE_SUFFIX)


def _is_file(out: Path) -> bool:
    return not out.is_dir() and out.suffix.lower() in _suffixes()


def _write(figure: "Figure", out: Path, stem: str, title: str, words: str) -> None:
    """Write the figure as every kind of file into a folder, or as the one file that is named."""
    from eyechart.figures import save_figure, save_picture
    from eyechart.reports import figure_page
    from eyechart.runs.files import write_whole

    if not _is_file(out):
        paths = [*save_figure(figure, out, stem), out / f"{stem}{_PAGE_SUFFIX}"]
    elif out.suffix.lower() == _PAGE_SUFFIX:
        paths = [out]
    else:
        paths = [save_picture(figure, out)]
    if paths[-1].suffix.lower() == _PAGE_SUFFIX:
        write_whole(paths[-1], [figure_page(figure, title, words, _NOTICE).encode()])
    for path in paths:
        say(f"wrote {path}")

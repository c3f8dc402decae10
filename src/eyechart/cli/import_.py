"""Bring in answers that were given elsewhere, as run folders."""

import re
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from eyechart.cli._command import recorded_command
from eyechart.cli._flags import OptionsAs
from eyechart.cli._output import say
from eyechart.errors import EyechartError, UsageError

import_ = App(name="import", help_format="plaintext")
"""``eyechart import FILE``, or ``eyechart import FORMAT FILE``: one command per format."""

_EXPLORER_FORMS = frozenset({"eyechart-answers", "hrscene-explorer"})

Form = Annotated[str | None, Parameter(help="Form of the file, where its content fits several.")]
Out = Annotated[Path, Parameter(help="Folder for one run folder per model.")]


@import_.default
def recognised(file: Path, /, *, out: Out = Path("runs"), form: Form = None, options_as: OptionsAs = None) -> int:
    """Write run folders of a file of answers, whose content tells which kit wrote it.

    Args:
        file: The file, or the folder that a kit writes.
    """
    from eyechart.releases.forms import not_read, recognise

    found = recognise(file, form)
    if found.form.name in _EXPLORER_FORMS:
        return hrscene_explorer(file, out=out, options_as=options_as)
    if found.form.reader is not None:
        raise UsageError(
            f"{file} is {found.form.what} ({found.form.name}); import does not read it yet",
            hint=f"eyechart score --predictions {file} scores it; rows of id, view and response become a run by "
            "eyechart run BENCH --model replay/FILE",
        )
    raise not_read(file, found)


@import_.command(name="hrscene-explorer")
def hrscene_explorer(
    *file: Path,
    out: Out = Path("runs"),
    model: Annotated[
        tuple[str, ...], Parameter(negative="", show_default=False, help="Only this model; may be repeated.")
    ] = (),
    options_as: OptionsAs = None,
) -> int:
    """Write one run folder per model of the answers on HRScene's site; score, compare and report them after.

    Args:
        file: data.js and model_responses/MODEL/data.js as the site has them, the folder that holds them, or a JSON file
            with questions and the answers of every model. Nothing in them is run.
    """
    from eyechart import __version__
    from eyechart.benchmarks._hrscene.explorer import SPLIT, read_explorer
    from eyechart.benchmarks._shown_options import read_orders
    from eyechart.runs.execute import utc_now
    from eyechart.runs.folders import Origin
    from eyechart.runs.imported import PROVIDER, write_imported
    from eyechart.schema import BenchmarkIdentity, ModelIdentity, content_sha256

    if not file:
        raise UsageError("no file was named", hint="eyechart import hrscene-explorer FOLDER --out runs")
    for one in file:
        _refuse_other_forms(one)
    explorer = read_explorer(*file)
    orders = {} if options_as is None else read_orders(options_as, explorer.questions)
    unknown = [name for name in model if name not in explorer.answers]
    if unknown:
        raise UsageError(
            f"{', '.join(map(str, file))} has no model {', '.join(unknown)}",
            hint=f"it has {', '.join(explorer.answers)}",
        )
    identity = BenchmarkIdentity("hrscene", content_sha256(explorer.questions), {"split": SPLIT})
    origin = Origin(
        now=utc_now(),
        versions={"eyechart": __version__},
        command=recorded_command(),
        scorer="hrscene_letter",
    )
    for name in model or tuple(explorer.answers):
        answered = ModelIdentity(PROVIDER, name, fingerprint=explorer.sha256[name])
        folder = out / re.sub(r"[^A-Za-z0-9._-]+", "-", name)
        answers = explorer.answers[name]
        write_imported(identity, explorer.questions, answers, answered, folder, origin, orders=orders)
        n_missing = sum(text is None for text in answers)
        say(f"{folder}: {len(answers) - n_missing} answers" + (f", {n_missing} missing" if n_missing else ""))
    if explorer.source:
        say(f"source: {explorer.source}; licence: {explorer.licence or 'not said'}")
    return 0


def _refuse_other_forms(file: Path) -> None:
    """Say what a file is that is known to be of another kit; one that nothing recognises is left to the reader."""
    from eyechart.releases.forms import not_read, recognise

    try:
        found = recognise(file)
    except EyechartError:
        return
    if found.form.name not in _EXPLORER_FORMS:
        raise not_read(file, found)

"""Bring in answers that were given elsewhere, as run folders."""

import re
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from eyechart.cli._command import recorded_command
from eyechart.cli._output import say
from eyechart.errors import UsageError

import_ = App(name="import", help_format="plaintext")
"""``eyechart import FORMAT FILE``: one command per format."""


@import_.command(name="hrscene-explorer")
def hrscene_explorer(
    *file: Path,
    out: Annotated[Path, Parameter(help="Folder for one run folder per model.")] = Path("runs"),
    model: Annotated[
        tuple[str, ...], Parameter(negative="", show_default=False, help="Only this model; may be repeated.")
    ] = (),
) -> int:
    """Write one run folder per model of the answers on HRScene's site; score, compare and report them after.

    Args:
        file: data.js and model_responses/MODEL/data.js as the site has them, the folder that holds them, or a JSON file
            with questions and the answers of every model. Nothing in them is run.
    """
    from eyechart import __version__
    from eyechart.benchmarks._hrscene.explorer import SPLIT, read_explorer
    from eyechart.runs.execute import utc_now
    from eyechart.runs.folders import Origin
    from eyechart.runs.imported import PROVIDER, write_imported
    from eyechart.schema import BenchmarkIdentity, ModelIdentity, content_sha256

    if not file:
        raise UsageError("no file was named", hint="eyechart import hrscene-explorer FOLDER --out runs")
    explorer = read_explorer(*file)
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
        write_imported(identity, explorer.questions, answers, answered, folder, origin)
        n_missing = sum(text is None for text in answers)
        say(f"{folder}: {len(answers) - n_missing} answers" + (f", {n_missing} missing" if n_missing else ""))
    if explorer.source:
        say(f"source: {explorer.source}; licence: {explorer.licence or 'not said'}")
    return 0

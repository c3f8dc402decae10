"""Check a collection: every image, every number, every box."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from eyechart.cli._output import Json, notes_console, print_json, print_table, say


def verify(
    release: Path,
    /,
    *,
    jobs: Annotated[int | None, Parameter(help="Decoding processes; one per processor if left out.")] = None,
    json: Json = False,
) -> int:
    """Decode every image of a release and check hashes, sizes, counts, ids, answers, boxes and identities.

    Levels: an error stops a run; a warning does not; known is what the release declares itself.
    Ends with exit code 1 if there is an error.

    Args:
        release: Folder of the release.
    """
    from rich.progress import Progress

    from eyechart.releases.verify import verify_release

    console = notes_console()
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        bar = progress.add_task("images", total=None)
        checked = verify_release(
            release,
            n_processes=jobs,
            on_progress=lambda n_done, n_all: progress.update(bar, completed=n_done, total=n_all),
        )
    if json:
        print_json(checked)
    elif checked.findings:
        print_table(
            ["level", "code", "id", "view", "path", "what"],
            [
                [finding.level, finding.code, finding.id or "", finding.view or "", finding.path, finding.message]
                for finding in checked.findings
            ],
        )
    n_errors = len(checked.errors)
    n_known = sum(finding.level == "known" for finding in checked.findings)
    n_warnings = len(checked.findings) - n_errors - n_known
    say(
        f"{checked.n_questions} questions, {checked.n_views} views, {checked.n_images} images: "
        f"{n_errors} errors, {n_warnings} warnings, {n_known} known"
    )
    return 1 if n_errors else 0

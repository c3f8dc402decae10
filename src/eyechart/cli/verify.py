"""Check a collection: every image, every number, every box."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eyechart.cli._output import Json, notes_console, print_json, print_table, say
from eyechart.releases.conform import DEFAULT_PIXEL_QUESTIONS

if TYPE_CHECKING:
    from eyechart.releases.findings import VerifyReport


def verify(
    release: Path,
    /,
    *,
    explain: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="Also say which border, rounding and resampling policies explain its boxes, sizes and pixels.",
        ),
    ] = False,
    pixels: Annotated[
        int, Parameter(help="Under --explain, decode so many questions to compare pixels; 0 reads none.")
    ] = DEFAULT_PIXEL_QUESTIONS,
    jobs: Annotated[int | None, Parameter(help="Decoding processes; one per processor if left out.")] = None,
    json: Json = False,
) -> int:
    """Decode every image of a release and check hashes, sizes, counts, ids, answers, boxes and identities.

    Levels: an error stops a run; a warning does not; known is what the release declares itself.
    Ends with exit code 1 if there is an error.

    Args:
        release: Folder of the release.
    """
    checked = _check(release, jobs)
    conformance = None
    if explain:
        from eyechart.releases.conform import explain_release

        damaged = {finding.id for finding in checked.errors if finding.id is not None}
        conformance = explain_release(release, n_pixel_questions=pixels, without=damaged)
    if json:
        print_json({"verified": checked, "explained": conformance} if explain else checked)
    else:
        _show_findings(checked)
    _say_counts(checked)
    if conformance is not None and not json:
        from eyechart.cli._explain import show_conformance

        show_conformance(conformance)
    return 1 if checked.errors else 0


def _check(release: Path, jobs: int | None) -> "VerifyReport":
    from rich.progress import Progress

    from eyechart.releases.verify import verify_release

    console = notes_console()
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        bar = progress.add_task("images", total=None)
        return verify_release(
            release,
            n_processes=jobs,
            on_progress=lambda n_done, n_all: progress.update(bar, completed=n_done, total=n_all),
        )


def _show_findings(checked: "VerifyReport") -> None:
    if checked.findings:
        print_table(
            ["level", "code", "id", "view", "path", "what"],
            [
                [finding.level, finding.code, finding.id or "", finding.view or "", finding.path, finding.message]
                for finding in checked.findings
            ],
        )


def _say_counts(checked: "VerifyReport") -> None:
    n_errors = len(checked.errors)
    n_known = sum(finding.level == "known" for finding in checked.findings)
    n_warnings = len(checked.findings) - n_errors - n_known
    say(
        f"{checked.n_questions} questions, {checked.n_views} views, {checked.n_images} images: "
        f"{n_errors} errors, {n_warnings} warnings, {n_known} known"
    )

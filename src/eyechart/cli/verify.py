"""Check a collection: every image, every number, every box."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eyechart.cli._events import switch_events
from eyechart.cli._output import Json, print_json, print_table, say
from eyechart.errors import UsageError
from eyechart.releases.conform import DEFAULT_PIXEL_QUESTIONS
from eyechart.releases.findings import CODES, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eyechart.releases.conform import ConformReport
    from eyechart.releases.content import ContentReport
    from eyechart.releases.findings import VerifyReport

_N_SHOWN = 3
_SPELLING = frozenset({"keys_differ", "not_aligned", "type_differs"})


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
    content: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="Also list suspect labels, questions solvable without the picture, and near-duplicate pictures.",
        ),
    ] = False,
    run: Annotated[
        tuple[Path, ...],
        Parameter(
            negative="",
            show_default=False,
            help="Run over it, for --content; best with --blind; may be repeated.",
        ),
    ] = (),
    opens: Annotated[
        bool | None,
        Parameter(
            name="--open",
            negative="--no-open",
            show_default=False,
            help="Also open every view with the datasets library, as the card says; done where it is installed.",
        ),
    ] = None,
    jobs: Annotated[int | None, Parameter(help="Decoding processes; one per processor if left out.")] = None,
    json: Json = False,
) -> int:
    """Decode every image of a release and check hashes, sizes, counts, ids, answers, boxes and identities.

    Levels: an error stops a run; a warning does not; known is what the release declares itself, and stands in one line
    per kind (all of them with --json). A view that cannot be opened with datasets is an error here and stops no run.
    Ends with exit code 1 if there is an error.

    For a report.html it estimates everything again from the items that the page carries, and compares every number.

    Args:
        release: Folder of the release, or a report.html.
    """
    switch_events(json)
    if release.suffix == ".html":
        return _verify_report(release, json=json)
    if not release.is_dir():
        what = "is a file" if release.is_file() else "does not exist"
        raise UsageError(f"{release} {what}", hint="give the folder of a release, or a report.html")
    if run and not content:
        raise UsageError("--run is read by --content only", hint="add --content")
    checked = _check(release, jobs, opens=opens)
    conformance = _explain(release, checked, pixels) if explain else None
    listed = _check_content(release, run, jobs) if content else None
    if json:
        parts = {"verified": checked, "explained": conformance, "content": listed}
        print_json({name: part for name, part in parts.items() if part is not None} if explain or content else checked)
        _say_counts(checked)
    else:
        _show(checked, conformance, listed)
    return 1 if checked.errors else 0


def _verify_report(path: Path, *, json: bool) -> int:
    """Print where a report says something else than its own items give."""
    from eyechart.reports import check_report

    check = check_report(path)
    if json:
        print_json(check)
    else:
        for one in check.differences:
            say(f"error: printed {one.printed or 'nothing'!r}, recomputed {one.recomputed or 'nothing'!r}")
        verdict = f"{len(check.differences)} places differ" if check.differences else "all agree"
        say(f"{path}: {check.n_numbers:,} numbers recomputed from {check.n_items:,} items: {verdict}")
    return 1 if check.differences else 0


def _show(checked: "VerifyReport", conformance: "ConformReport | None", listed: "ContentReport | None") -> None:
    _show_findings(checked)
    _say_counts(checked)
    _say_how_to_mend(checked)
    if conformance is not None:
        from eyechart.cli._explain import show_conformance

        show_conformance(conformance)
    if listed is not None:
        from eyechart.cli._content import show_content

        show_content(listed)


def _explain(release: Path, checked: "VerifyReport", n_pixel_questions: int) -> "ConformReport":
    from eyechart.releases.conform import explain_release

    damaged = {finding.id for finding in checked.errors if finding.id is not None}
    return explain_release(release, n_pixel_questions=n_pixel_questions, without=damaged)


def _check(release: Path, jobs: int | None, *, opens: bool | None) -> "VerifyReport":
    from eyechart.cli._work import WorkProgress
    from eyechart.releases.opening import can_open
    from eyechart.releases.verify import verify_release

    if opens is None:
        opens = can_open()
        if not opens:
            say("the views were not opened as the card says, because datasets is not installed")
    with WorkProgress("verify", "questions", str(release)) as progress:
        return verify_release(release, n_processes=jobs, opens=opens, on_progress=progress.update)


def _check_content(release: Path, runs: tuple[Path, ...], jobs: int | None) -> "ContentReport":
    from eyechart.benchmarks.sum import SumBenchmark
    from eyechart.releases.content import check_content

    return check_content(SumBenchmark(release), runs, n_processes=jobs)


def _show_findings(checked: "VerifyReport") -> None:
    """Print errors and warnings one by one, and what is known in one line per code."""
    lines = [
        [finding.level, finding.code, finding.id or "", finding.view or "", finding.path, finding.message]
        for finding in checked.findings
        if finding.level != "known"
    ]
    known: dict[str, list[Finding]] = {}
    for finding in checked.findings:
        if finding.level == "known":
            known.setdefault(finding.code, []).append(finding)
    for code, alike in known.items():
        one = alike[0]
        what = one.message if len(alike) == 1 else f"{len(alike)} ×: {CODES[code][1]}"
        cells = [_some(finding.id for finding in alike), _some(finding.view for finding in alike)]
        lines.append(["known", code, *cells, _some(finding.path for finding in alike), what])
    if lines:
        print_table(["level", "code", "id", "view", "path", "what"], lines)


def _some(names: "Iterable[str | None]") -> str:
    """Return the first of several names, each once."""
    listed = list(dict.fromkeys(name for name in names if name))
    return ", ".join(listed[:_N_SHOWN]) + (", …" if len(listed) > _N_SHOWN else "")


def _say_how_to_mend(checked: "VerifyReport") -> None:
    """Say what helps where rows were written before their columns were declared, or by another program."""
    if any(finding.level == "warning" and finding.code in _SPELLING for finding in checked.findings):
        say(
            "its rows differ from the columns that eyechart build declares by now; they are read as they are. If you "
            "built it, the same eyechart build into the same folder writes its rows anew and keeps every picture"
        )


def _say_counts(checked: "VerifyReport") -> None:
    n_errors = len(checked.errors)
    n_known = sum(finding.level == "known" for finding in checked.findings)
    n_warnings = len(checked.findings) - n_errors - n_known
    say(
        f"{checked.n_questions} questions, {checked.n_views} views, {checked.n_images} images: "
        f"{n_errors} errors, {n_warnings} warnings, {n_known} known"
    )

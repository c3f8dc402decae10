"""Judge a new run against an old one: pass, fail or cannot tell; no model is asked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eyechart.cli._flags import Plugin, load_plugins, read_codes
from eyechart.cli._output import Json, print_json, print_table, print_text, say
from eyechart.errors import StoreError, UsageError

if TYPE_CHECKING:
    from eyechart.runs.gate import Gate, GateRow

_COLUMNS = ("view", "n", "missing, %", "new − old, points", "lower", "upper", "limit", "p below", "verdict")


def gate(
    new: Path,
    *,
    against: Annotated[Path, Parameter(help="The old run, or the one to keep up with.")],
    margin: Annotated[
        float, Parameter(help="Loss of the mean over the views that does not matter: 0.02 is two points; 0 is none.")
    ],
    view_margin: Annotated[
        float | None,
        Parameter(help="Loss of one view that does not matter; 0.05 if left out, or --margin if that is more."),
    ] = None,
    max_missing: Annotated[
        float | None,
        Parameter(help="Largest share of missing answers under a view; half of --margin if left out."),
    ] = None,
    views: Annotated[str, Parameter(help="Views to judge, comma-separated; all shared ones if left out.")] = "",
    allow: Annotated[
        tuple[str, ...],
        Parameter(
            negative="", show_default=False, help="Judge in spite of this code, such as DIFFERENT_PROMPTS; repeat it."
        ),
    ] = (),
    scorer: Annotated[
        str | None, Parameter(help="Judges both runs, such as option_letter.lenient; the old run's own if left out.")
    ] = None,
    markdown: Annotated[
        bool, Parameter(negative="", help="Print Markdown, as a comment on a pull request takes it.")
    ] = False,
    junit: Annotated[Path | None, Parameter(help="Also write this file for a CI server, in JUnit's XML.")] = None,
    plugin: Plugin = (),
    json: Json = False,
) -> int:
    """Exit 0 if the new run passes, 4 if it fails, 5 if the answers cannot tell, 3 if a run is not finished.

    It passes if the mean over the views and every view are shown to lose no more than their margins (each at one-sided
    95 %, missing answers counted against the new run). It fails if one of them is shown to lose more (two-sided 95 %,
    Holm over mean and views, missing answers counted for the new run).

    Args:
        new: The folder of the new run.
    """
    from eyechart.cli.diff import read_sides
    from eyechart.runs.compare import DiffOptions
    from eyechart.runs.gate import GateLimits, gate_runs

    load_plugins(plugin)
    if json and markdown:
        raise UsageError("--json and --markdown both print to stdout", hint="give one of them")
    allow = read_codes(allow)
    limits = GateLimits(margin=margin, view_margin=view_margin, max_missing=max_missing)
    (old_side, new_side), scorer_id = read_sides((against, new), scorer)
    chosen = tuple(part.strip() for part in views.split(",") if part.strip())
    found = gate_runs(new_side, old_side, scorer_id, limits, DiffOptions(views=chosen, allowed=tuple(allow)))
    if json:
        print_json({**_plain(found), "exit_code": found.exit_code})
    elif markdown:
        print_text(render_markdown(found))
    else:
        _show(found)
    if junit is not None:
        _write(junit, render_junit(found))
    return found.exit_code


def say_gate(found: "Gate") -> None:
    """Say a verdict and why on stderr."""
    say(f"gate: {found.verdict.upper()}: {found.reason}")


def _plain(found: "Gate") -> dict[str, object]:
    import msgspec

    plain: dict[str, object] = msgspec.to_builtins(found)
    return plain


def _show(found: "Gate") -> None:
    print_table(
        [_COLUMNS[0], *(f">{name}" for name in _COLUMNS[1:-1]), _COLUMNS[-1]],
        [_cells(row) for row in found.rows],
        title=f"{found.new} against {found.old}: {found.n_questions} questions about {found.n_clusters} pictures, "
        f"scored by {found.scorer}",
    )
    for warning in found.warnings:
        say(f"warning: {warning}")
    say_gate(found)
    for sentence in found.power:
        say(sentence)


def _cells(row: "GateRow") -> list[str]:
    from eyechart.figures import format_p

    def points(share: float | None) -> str:
        return "–" if share is None else f"{100 * share:+.1f}".replace("-", "−")

    return [
        row.view,
        str(row.n_questions),
        f"{100 * row.missing:.1f}",
        points(None if row.contrast is None else row.contrast.value),
        points(row.lower),
        points(row.upper),
        points(-row.margin),
        format_p(row.p_fail),
        row.verdict,
    ]


def render_markdown(found: "Gate") -> str:
    """Return a verdict as Markdown: a heading, a table, and what a candidate without loss can expect."""
    from eyechart.reports._markup import escape_markdown

    def line(cells: "list[str]") -> str:
        return "| " + " | ".join(cells) + " |"

    rows = [line([escape_markdown(cell) for cell in _cells(row)]) for row in found.rows]
    parts = [
        f"### eyechart gate: {found.verdict}",
        escape_markdown(f"{found.new} against {found.old}: {found.reason}."),
        "\n".join([line(list(_COLUMNS)), line(["---"] + ["---:"] * (len(_COLUMNS) - 2) + ["---"]), *rows]),
        "\n".join(f"- {escape_markdown(text)}" for text in (*found.power, *found.warnings)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def render_junit(found: "Gate") -> str:
    """Return a verdict as JUnit XML: one case for the whole, one for the mean and one for every view.

    A row that fails is a failure; one that cannot be told is skipped, and the whole is an error unless it passes or
    fails, so that a CI server never shows silence as success.
    """
    from xml.etree import ElementTree as ET

    from eyechart.cli._app import printable

    cases = [("gate", found.verdict, found.reason)]
    cases += [(row.view, row.verdict, ", ".join(_cells(row)[3:8])) for row in found.rows]
    suite = ET.Element(
        "testsuite",
        name=printable(f"eyechart gate {found.new} against {found.old}"),
        tests=str(len(cases)),
        failures=str(sum(verdict == "fail" for _, verdict, _ in cases)),
        errors=str(int(found.verdict not in {"pass", "fail"})),
        skipped=str(sum(row.verdict == "cannot tell" for row in found.rows)),
    )
    for name, verdict, text in cases:
        case = ET.SubElement(suite, "testcase", classname="eyechart.gate", name=printable(name))
        if verdict == "fail":
            ET.SubElement(case, "failure", message=printable(text))
        elif verdict != "pass":
            ET.SubElement(case, "error" if name == "gate" else "skipped", message=printable(f"{verdict}: {text}"))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror}", hint="give --junit a file in a folder that exists"
        ) from error

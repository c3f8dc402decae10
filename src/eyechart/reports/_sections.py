"""What the sections of the page say, as plain text: selection and wording, no markup."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from eyechart.figures import MISSING, format_count, format_percent, format_px, format_size
from eyechart.reports._expense import format_dollars
from eyechart.reports._verdicts import Verdict, VerdictKind, verdict_of, verdict_of_code
from eyechart.runs.findings import state
from eyechart.schema import ConditionSummary, Contrast, Expense, Failure, Finding, Run, Summary, Value

_PROVIDER_NOTES = {
    "ocr": "OCR model, not a vision-language model",
    "simulated": "simulated answers: no model looked at a picture",
    "replay": "answers that were given beforehand",
    "human": "a person answered",
    "imported": "answers that were given elsewhere; neither pictures nor prompt were recorded",
}
_NOTICES = (
    "This report was written by eyechart (Apache License 2.0). It loads nothing and sends nothing.",
    "Letters in the figures are outlines of DejaVu Sans (Bitstream Vera licence), drawn by matplotlib.",
    "Questions and pictures belong to the benchmark's authors and keep their licences; this file holds no picture.",
)

_CHART_NOTICE = (
    "Interactive charts: Vega, Vega-Lite and vega-interpreter (BSD-3-Clause, University of Washington Interactive Data "
    "Lab) with D3 modules (ISC, Mike Bostock and others); their licences stand at the beginning of the page's script."
)
_MOST_FIRST = 8
# Where the sentence on the regions of a grid goes on to its numbers.
_NUMBERS = ": the best region lies"
_ORDER: Mapping[VerdictKind, int] = {"holds": 0, "blocked": 1, "open": 2, "untested": 2}


class Fact(Value, frozen=True):
    """A number of the headline with what it counts."""

    value: str
    label: str


class Claim(Value, frozen=True):
    """What is claimed, what it rests on, and the verdict, with the contrast and the place of its row in the table."""

    text: str
    evidence: str
    further: str
    verdict: Verdict
    contrast: str
    row: int | None


class SeenRow(Value, frozen=True):
    """What was sent and what was seen under one condition."""

    condition: str
    cells: tuple[str, ...]


class FailureRow(Value, frozen=True):
    """One cause of failures."""

    state: str
    cause: str
    count: str
    conditions: str
    example: str


class Setting(Value, frozen=True):
    """One entry of ``run.json``: a dotted name and its value."""

    name: str
    value: str


SEEN_HEADINGS = (
    "pixels sent",
    "shown area ÷ target's",
    "target sent, px",
    "target seen, px",
    "evidence",
    "whole picture",
)


def provider_note(summary: Summary) -> str:
    """Return what must be said about this kind of model, empty for a model that looks and answers itself."""
    return _PROVIDER_NOTES.get(summary.run.model.provider, "")


def headline_facts(summary: Summary) -> tuple[Fact, ...]:
    """Return the counts of the headline."""
    n_asked = sum(condition.n_asked for condition in summary.conditions)
    n_missing = sum(condition.n_missing for condition in summary.conditions)
    facts = [
        Fact(format_count(summary.n_questions), "question" if summary.n_questions == 1 else "questions"),
        Fact(format_count(summary.n_clusters), "picture" if summary.n_clusters == 1 else "pictures"),
        Fact(format_count(len(summary.conditions)), "view" if len(summary.conditions) == 1 else "views"),
        Fact(f"{format_count(n_asked - n_missing)} of {format_count(n_asked)}", "answers came back"),
    ]
    if summary.chance is not None:
        facts.append(Fact(f"{format_percent(summary.chance)} %", "right by chance"))
    if summary.expense is not None:
        facts.append(_expense_fact(summary.expense))
    return tuple(facts)


def _expense_fact(expense: Expense) -> Fact:
    told = ["reported"] if expense.is_reported or expense.price is None else []
    basis = ", else ".join(told if expense.price is None else [*told, f"price of {expense.price.date}"])
    expected = "" if expense.estimated is None else f", {format_dollars(expense.estimated)} expected"
    return Fact(
        format_dollars(expense.dollars), f"cost of {format_count(expense.n_priced)} answers ({basis}{expected})"
    )


def claims(summary: Summary) -> tuple[Claim, ...]:
    """Return the findings as claim, evidence and verdict: what holds first, then what is blocked, then what is open."""
    places = {condition.condition: index for index, condition in enumerate(summary.conditions)}
    conditions = {condition.condition: condition for condition in summary.conditions}
    contrasts = {(one.condition, one.baseline): one for one in reversed(summary.contrasts) if one.subset is None}
    found = [_claim(finding, contrasts, conditions, places) for finding in summary.findings]
    return tuple(sorted(found, key=lambda claim: _ORDER[claim.verdict.kind]))


def _claim(
    finding: Finding,
    contrasts: Mapping[tuple[str, str], Contrast],
    conditions: Mapping[str, ConditionSummary],
    places: Mapping[str, int],
) -> Claim:
    """Return one finding in its parts; a finding that no contrast gives says only itself."""
    contrast = None if finding.contrast is None else contrasts.get(finding.contrast)
    if contrast is None or finding.contrast is None:
        return _bare_claim(finding)
    said = state(contrast, conditions)
    claim, parting, rest = finding.text.partition(f": {said.evidence}")
    condition, baseline = finding.contrast
    return Claim(
        f"{claim}." if parting else finding.text,
        f"{said.evidence}{rest}" if parting else f"{said.evidence}.",
        _further(contrast),
        verdict_of(contrast),
        f"{condition} − {baseline}",
        places.get(condition),
    )


def _bare_claim(finding: Finding) -> Claim:
    """Return a finding that no contrast gives, such as one about the regions of a grid."""
    claim, parting, numbers = finding.text.partition(_NUMBERS)
    evidence = f"{_NUMBERS[2:].capitalize()}{numbers}" if parting else ""
    return Claim(f"{claim}." if parting else finding.text, evidence, "", verdict_of_code(finding.code), "", None)


def _further(contrast: Contrast) -> str:
    """Return how many scores flipped, and what this many questions could have found."""
    if contrast.blocked_by:
        return ""
    flips = f"{format_count(contrast.gained)} gained, {format_count(contrast.lost)} lost"
    if contrast.detectable is None or contrast.claimed:
        return f"{flips}."
    return f"{flips}; this n finds {100 * contrast.detectable:.1f} points with a power of 80 %."


def first_page(found: Sequence[Claim]) -> tuple[tuple[Claim, ...], tuple[Claim, ...]]:
    """Return what stands on page one, and the rest: all that holds or is blocked, then as much of the open as fits."""
    n_decided = sum(claim.verdict.kind in {"holds", "blocked"} for claim in found)
    n_first = max(n_decided, _MOST_FIRST)
    return tuple(found[:n_first]), tuple(found[n_first:])


def notices(*, has_charts: bool) -> tuple[str, ...]:
    """Return the notices of what a page is made with."""
    return (*_NOTICES, _CHART_NOTICE) if has_charts else _NOTICES


def verdict_line(found: Sequence[Claim]) -> str:
    """Return how many comparisons hold, are open and are blocked.

    Example:
        >>> open_one = Claim("", "", "", Verdict("open", "cannot be told apart"), "", None)
        >>> verdict_line([open_one, open_one])
        'Of 2 comparisons, none holds and 2 cannot be told apart.'
    """
    if not found:
        return ""
    kinds = Counter(claim.verdict.kind for claim in found)
    n_open = kinds["open"] + kinds["untested"]
    n_holds = kinds["holds"]
    parts = ["none holds" if n_holds == 0 else f"{n_holds} hold{'s' if n_holds == 1 else ''}"]
    parts += [f"{n_open} cannot be told apart"] if n_open else []
    parts += [f"{kinds['blocked']} {'is' if kinds['blocked'] == 1 else 'are'} blocked"] if kinds["blocked"] else []
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Of {len(found)} comparison{'' if len(found) == 1 else 's'}, {listed}."


def seen_rows(summary: Summary) -> tuple[SeenRow, ...]:
    """Return what each condition sent and what the model saw of it; a dash where it is not known."""
    return tuple(SeenRow(condition.condition, _seen_cells(condition)) for condition in summary.conditions)


def _seen_cells(condition: ConditionSummary) -> tuple[str, ...]:
    """Return the cells under ``SEEN_HEADINGS``."""
    multiplier = condition.median_area_multiplier
    return (
        format_size(condition.median_sent_size),
        "–" if multiplier is None else f"{multiplier:.2f}",
        format_px(condition.target_px_sent),
        format_px(condition.target_px_seen),
        _evidence_text(condition),
        f"{format_count(condition.n_saturated)} of {format_count(condition.n_asked)}" if condition.n_saturated else "–",
    )


def _evidence_text(condition: ConditionSummary) -> str:
    """Return how the seen sizes are known, and the tokens where these alone are."""
    sizes, tokens = condition.seen_evidence, condition.tokens_evidence
    if sizes in {None, "unknown"} and tokens not in {None, "unknown"}:
        return f"unknown; tokens {tokens}"
    return sizes or MISSING


def failure_rows(summary: Summary) -> tuple[FailureRow, ...]:
    """Return the causes of failures, most frequent first."""
    ordered = sorted(summary.failures, key=lambda failure: -failure.n)
    return tuple(_failure_row(failure) for failure in ordered)


def _failure_row(failure: Failure) -> FailureRow:
    """Return one cause with its views."""
    conditions = ", ".join(f"{condition} ({format_count(n)})" for condition, n in failure.conditions.items())
    return FailureRow(
        failure.state.replace("_", " "), failure.cause, format_count(failure.n), conditions, failure.example
    )


def settings(run: Run) -> tuple[Setting, ...]:
    """Return every entry of ``run.json``, nested names joined by dots, what is not set said so.

    Example:
        >>> _flatten("seeds", {"limit": 7})
        [Setting(name='seeds.limit', value='7')]
    """
    entries: list[Setting] = []
    for name, value in msgspec.to_builtins(run).items():
        entries += _flatten(name, value)
    return tuple(entries)


def _flatten(name: str, value: object) -> list[Setting]:
    """Return an entry, or the entries inside it."""
    if isinstance(value, dict) and value:
        return [entry for key, inner in value.items() for entry in _flatten(f"{name}.{key}", inner)]
    if value is None or value in ("", [], (), {}):
        return [Setting(name, "not set")]
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return [Setting(name, shlex.join(value) if name == "command" else ", ".join(value))]
    if isinstance(value, str):
        return [Setting(name, value)]
    return [Setting(name, msgspec.json.encode(value).decode())]


def reproduction(run: Run) -> tuple[str, ...]:
    """Return the commands that ask the same again, as far as the run recorded them."""
    version = run.versions.get("eyechart")
    install = f"python -m pip install 'eyechart=={version}'" if version else "python -m pip install eyechart"
    return (install, shlex.join(run.command)) if run.command else (install,)

"""How ``check`` prints what models will see: one table of views per model, policies, cost, and the line to run."""

import re
from typing import TYPE_CHECKING

from eyechart.cli._output import print_table, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyechart.cli._run_line import RunLine
    from eyechart.schema import Matching
    from eyechart.seen.check import ModelCheck, SeenTable, ViewCheck
    from eyechart.seen.cost import Cost
    from eyechart.seen.policies import PolicyCheck

_COLUMNS = ["view", ">n", ">sent", ">seen", ">tokens", ">target seen, px", "one picture with", "and"]
_KILO, _MEGA, _GIGA = 1e3, 1e6, 1e9
_MINUTES = 60
_MOST_NAMED = 3
_REGION = re.compile(r"_r\d+_c\d+(?=_s\d+$|$)")


def show_seen(table: "SeenTable", run_line: "RunLine | None" = None) -> None:
    """Print one table per model on stdout, with rule, date and what is one picture to it; notes go to stderr.

    Args:
        table: What was found.
        run_line: The command that asks these views; nothing is proposed without.
    """
    for number, checked in enumerate(table.models):
        if number:
            print_table([], [])
        rule = f"rule {checked.rule_id} of {checked.rule_date}, {checked.evidence}" if checked.rule_id else "no rule"
        settings = "".join(f" {name}={value}" for name, value in checked.settings.items())
        print_table(_COLUMNS, _rows(checked.views), title=f"{checked.model}{settings}: {rule}")
        if checked.policies:
            print_table([], [])
            columns = ["transport", ">refused", ">upload at most", "refused views"]
            print_table(columns, [_policy_row(policy) for policy in checked.policies])
        if checked.matching is not None:
            show_matching(checked.matching)
        for line in (*_notes(checked), *_cost_notes(checked.cost)):
            say(line if line.startswith(("warning: ", checked.model)) else f"{checked.model}: {line}")
        if run_line is not None and (checked.policies or checked.matching):
            transport = propose(checked) if checked.policies else run_line.pictures.transport
            say(f"to ask: {run_line.text(number, checked, transport)}")


def show_matching(matching: "Matching") -> None:
    """Print what every condition of a matched design reaches, and say which questions are left out and why."""
    print_table([], [])
    columns = ["matched", ">questions", ">smallest", ">median", ">largest", ">off by at most"]
    rows = [
        [
            one.condition,
            str(one.n_questions),
            f"{one.smallest:.2f}",
            f"{one.median:.2f}",
            f"{one.largest:.2f}",
            f"{100 * one.largest_error:.1f} %",
        ]
        for one in matching.conditions
    ]
    print_table(columns, rows)
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in matching.unmatched:
        reasons.setdefault((one.view, _without_digits(one.reason)), []).append(f"{one.question_id} ({one.reason})")
    if matching.unmatched:
        say(f"not matched: {len(matching.unmatched)} questions, which are asked under no view")
    for (view, _), names in reasons.items():
        say(f"not matched for {view}: {len(names)} questions, such as {_few(names)}; --json lists all")


def _without_digits(reason: str) -> str:
    return "".join(character for character in reason if not character.isdigit())


def propose(checked: "ModelCheck") -> str:
    """Return the transport policy under which every view gets through, ``native`` where no grid is known."""
    from eyechart.seen.policies import needs_jpeg

    policy = needs_jpeg(checked.policies)
    if policy is not None:
        return policy.id.replace("@1", "")
    fits = [check for check in checked.policies if check.transport.startswith("fit") and check.reason is None]
    return "fit+jpeg95" if fits else "native"


def _rows(views: "Sequence[ViewCheck]") -> list[list[str]]:
    """Return a row per view; regions of one needle grid that look alike to the model share one, their n added."""
    alike: dict[tuple[str, ...], list[ViewCheck]] = {}
    n_regions: dict[str, int] = {}
    for view in views:
        grid = _REGION.sub("", view.view)
        n_regions[grid] = n_regions.get(grid, 0) + 1
        alike.setdefault((grid, *_row(view)[1:]), []).append(view)
    rows = []
    for (grid, n, *cells), own in alike.items():
        name = own[0].view
        if len(own) > 1:
            name = f"{grid}, {len(own)} regions" if len(own) == n_regions[grid] else f"{name} and {len(own) - 1} more"
        rows.append([name, n if len(own) == 1 else str(sum(view.n for view in own)), *cells])
    return rows


def _row(view: "ViewCheck") -> list[str]:
    same = _named(view.same_as, view.n)
    asides = [
        f"refused ({'; '.join(view.refused)}): {sum(view.refused.values())}" if view.refused else "",
        f"near {_named(view.near_to, view.n)}" if view.near_to else "",
        "enlarged" + (f" ({view.n_enlarged} of {view.n})" if view.n_enlarged < view.n else "")
        if view.n_enlarged
        else "",
    ]
    return [
        view.view,
        str(view.n),
        f"{view.sent_size.width}×{view.sent_size.height}",
        f"{view.seen_size.width}×{view.seen_size.height}" if view.seen_size else "unknown",
        f"{view.tokens:.0f}" if view.tokens is not None else "unknown",
        " / ".join(f"{side:.1f}" for side in view.target_px) if view.target_px else "–",
        same,
        "; ".join(part for part in asides if part),
    ]


def _named(pairs: "dict[str, int]", n: int) -> str:
    """Name views with the number of questions where these are not all."""
    names = [other + (f" ({count} of {n})" if count < n else "") for other, count in pairs.items()]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _policy_row(policy: "PolicyCheck") -> list[str]:
    if policy.reason is not None:
        return [policy.transport, "–", "–", policy.reason]
    refused = [f"{view} ({n})" for view, n in policy.refused.items()]
    risky = [f"{view} ({n})" for view, n in policy.at_risk.items()]
    words = [
        f"{_few(refused)}: {'; '.join(policy.reasons)}" if refused else "",
        f"perhaps for their bytes: {_few(risky)}" if risky else "",
    ]
    return [
        policy.transport,
        str(policy.n_refused),
        format_bytes(policy.most_bytes),
        "; ".join(word for word in words if word) or "none",
    ]


def _few(names: "Sequence[str]") -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _notes(checked: "ModelCheck") -> list[str]:
    notes = [f"{checked.model}: one picture to this model: {' = '.join(group)}" for group in checked.groups]
    if checked.groups and checked.n_distinct is not None:
        pictures = "1 distinct picture" if checked.n_distinct == 1 else f"{checked.n_distinct} distinct pictures"
        notes.append(f"{checked.model}: your {len(checked.views)} views are {pictures}")
    if checked.reason:
        notes.append(f"{checked.model}: {checked.reason}")
    return [*notes, *(f"warning: {warning}" for warning in checked.warnings)]


def _cost_notes(cost: "Cost | None") -> list[str]:
    if cost is None:
        return []
    images = "unknown" if cost.image_tokens is None else f"{cost.image_tokens:,}"
    told = (
        f"{cost.n_calls:,} call{'s' * (cost.n_calls != 1)}, {format_hours(cost.hours)}; tokens: {images} of pictures, "
        f"about {cost.text_tokens:,} of prompts, {cost.answer_tokens:,} of answers (assumed); upload at most "
        f"{format_bytes(cost.most_upload_bytes)}"
    )
    return [told, _price_note(cost)]


def _price_note(cost: "Cost") -> str:
    if cost.price is None:
        return "price: not known; give --price INPUT,OUTPUT in US dollars a million tokens"
    origin = "as given" if cost.price.date is None else f"list price of {cost.price.date}, {cost.price.source}"
    rates = f"{cost.price.input:g} and {cost.price.output:g} $ a million tokens, {origin}"
    return (
        f"price: unknown, for the tokens of pictures are; {rates}"
        if cost.usd is None
        else (f"price: about {cost.usd:,.2f} $ ({rates})")
    )


def format_bytes(n_bytes: float) -> str:
    """Write a number of bytes.

    Example:
        >>> format_bytes(950), format_bytes(7_340_000), format_bytes(21_000_000_000)
        ('950 B', '7.3 MB', '21.0 GB')
    """
    for unit, name in ((_GIGA, "GB"), (_MEGA, "MB"), (_KILO, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes:.0f} B"


def format_hours(hours: float) -> str:
    """Write a duration.

    Example:
        >>> format_hours(7.06), format_hours(0.3)
        ('about 7.1 h', 'about 18 min')
    """
    return f"about {hours:.1f} h" if hours >= 1 else f"about {max(1, round(hours * _MINUTES))} min"

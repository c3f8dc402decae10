"""What a validity rule found, and how it reaches the contrasts it concerns."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from eyechart.schema import Contrast
from eyechart.stats.codes import Code

Level = Literal["info", "warning", "error"]


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One rule that applies.

    Args:
        code: Name of the rule.
        level: ``error`` blocks the contrasts it concerns, ``warning`` and ``info`` are printed beside them.
        message: What was found, with numbers.
        conditions: Conditions it concerns; empty means all.
    """

    code: Code
    level: Level
    message: str
    conditions: tuple[str, ...] = ()


def attach(contrasts: Sequence[Contrast], findings: Sequence[Finding]) -> tuple[Contrast, ...]:
    """Mark contrasts with what concerns them: errors in ``blocked_by``, warnings in ``warnings``; info is left out.

    A finding with conditions concerns a contrast that has one of them on either side.

    Example:
        >>> finding = Finding(code=Code.PROMPT_MIX, level="error", message="2 prompts", conditions=("crop_3x",))
        >>> attach((), [finding])
        ()
    """
    marked = []
    for contrast in contrasts:
        own = [
            finding
            for finding in findings
            if not finding.conditions or {contrast.condition, contrast.baseline} & set(finding.conditions)
        ]
        blocked = (*contrast.blocked_by, *(str(finding.code) for finding in own if finding.level == "error"))
        warnings = (*contrast.warnings, *(str(finding.code) for finding in own if finding.level == "warning"))
        marked.append(
            msgspec.structs.replace(
                contrast, blocked_by=tuple(dict.fromkeys(blocked)), warnings=tuple(dict.fromkeys(warnings))
            )
        )
    return tuple(marked)

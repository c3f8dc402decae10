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
        pairs: Pairs of conditions, in either order, whose contrasts alone it concerns; empty means every contrast
            with one of ``conditions``.
    """

    code: Code
    level: Level
    message: str
    conditions: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()

    def concerns(self, condition: str, baseline: str) -> bool:
        """Whether it concerns the contrast of two conditions."""
        if self.pairs:
            return (condition, baseline) in self.pairs or (baseline, condition) in self.pairs
        return not self.conditions or condition in self.conditions or baseline in self.conditions


def attach(contrasts: Sequence[Contrast], findings: Sequence[Finding]) -> tuple[Contrast, ...]:
    """Mark contrasts with what concerns them: errors in ``blocked_by``, warnings in ``warnings``; info is left out.

    A finding with pairs concerns their contrasts, one with conditions those that have one of them on either side.

    Example:
        >>> finding = Finding(code=Code.DIFFERENT_PROMPTS, level="error", message="2 prompts", conditions=("crop_3x",))
        >>> attach((), [finding])
        ()
    """
    marked = []
    for contrast in contrasts:
        own = [finding for finding in findings if finding.concerns(contrast.condition, contrast.baseline)]
        blocked = (*contrast.blocked_by, *(str(finding.code) for finding in own if finding.level == "error"))
        warnings = (*contrast.warnings, *(str(finding.code) for finding in own if finding.level == "warning"))
        marked.append(
            msgspec.structs.replace(
                contrast, blocked_by=tuple(dict.fromkeys(blocked)), warnings=tuple(dict.fromkeys(warnings))
            )
        )
    return tuple(marked)

import msgspec
import numpy as np

from eyechart.stats.codes import Code
from eyechart.stats.conditions import ScoreTable, contrasts_against
from eyechart.stats.findings import Finding, attach


def _contrasts():
    values = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(float)
    table = ScoreTable(values, values >= 0, [f"i{k}" for k in range(40)], ("original", "crop_3x", "crop_6x"))
    return contrasts_against(table, "original")


def test_errors_block_and_warnings_warn_only_what_they_concern():
    findings = [
        Finding(code=Code.DIFFERENT_PROMPTS, level="error", message="", conditions=("crop_3x",)),
        Finding(code=Code.MISSING_BY_VIEW, level="warning", message="", conditions=("original",)),
        Finding(code=Code.SHARED_IMAGE, level="info", message=""),
    ]
    first, second = attach(_contrasts(), findings)
    assert (first.blocked_by, first.warnings) == (("DIFFERENT_PROMPTS",), ("MISSING_BY_VIEW",))
    assert (second.blocked_by, second.warnings) == ((), ("MISSING_BY_VIEW",))


def test_finding_without_conditions_concerns_all_and_is_named_once():
    finding = Finding(code=Code.EPOCHS, level="error", message="")
    assert [contrast.blocked_by for contrast in attach(_contrasts(), [finding, finding])] == [("EPOCHS",)] * 2


def test_findings_survive_storage():
    finding = Finding(code=Code.MISSING_BY_VIEW, level="warning", message="x", conditions=("a",))
    assert msgspec.json.decode(msgspec.json.encode(finding), type=Finding) == finding


def test_every_code_says_in_a_report_what_it_means():
    from eyechart.reports._codes import MEANINGS

    assert set(MEANINGS) == set(Code)

"""Estimates that were stored under former names of rules are read under the names of now."""

import json

from runs_made import question_file

import eyechart
from eyechart.runs.store import RunStore
from eyechart.stats.codes import FORMER


def test_stored_estimates_name_rules_as_they_are_called_now(tmp_path):
    questions = eyechart.benchmark("folder", question_file(tmp_path), box_format="xyxy")
    eyechart.run(questions, model="simulated/vlm", views="original,crop_3x", out=tmp_path / "run")
    file, former, now = tmp_path / "run" / "estimates.json", list(FORMER), tuple(FORMER.values())
    stored = json.loads(file.read_text(encoding="utf-8"))
    stored["contrasts"][0] |= {"blocked_by": former, "warnings": former}
    stored["estimates"][0] |= {"warnings": former}
    stored["rules"] = [{"code": code, "level": "error", "message": f"{code} here"} for code in former]
    stored["findings"] = [{"code": "BLOCKED", "text": f"a and b are not compared: {', '.join(former)}."}]
    stored["warnings"] = ["MNAR: 3 % are missing", "MNAR_2: of another rule"]
    file.write_text(json.dumps(stored), encoding="utf-8")

    summary = RunStore(tmp_path / "run").summary()

    assert summary.contrasts[0].blocked_by == summary.contrasts[0].warnings == summary.estimates[0].warnings == now
    assert tuple(rule.code for rule in summary.rules) == now
    assert tuple(rule.message for rule in summary.rules) == tuple(f"{code} here" for code in now)
    assert summary.findings[0].text == f"a and b are not compared: {', '.join(now)}."
    assert summary.warnings == ("MISSING_BY_VIEW: 3 % are missing", "MNAR_2: of another rule")
    assert not any(code in repr(summary).replace("MNAR_2", "") for code in former)

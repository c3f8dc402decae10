"""What a report rests on: every benchmark and source has its references, and what is not known is not invented."""

import re

import msgspec
import pytest
from runs_made import question_file
from summaries import demo_summary, sum_summary

from eyechart import registry
from eyechart.benchmarks._cited import benchmark_keys, cited, method_keys, references, source_keys
from eyechart.benchmarks._hrscene.sets import facts
from eyechart.cli._app import run_app
from eyechart.reports import anonymise, bibtex_of
from eyechart.reports._references import sources_table
from eyechart.reports._statistics import statistics_table, used_methods
from eyechart.schema import PictureGroup

FIELD = re.compile(r"^  ([a-z]+) = \{(.*)\},?$")
# Of unknown origin, as sets.toml says.
WITHOUT = {"CAD", "Galaxy", "Grass"}


def sum_of_sources(*names):
    groups = tuple(PictureGroup(name, "OCR", 10, 9, (1, 2, 3, 4, 5), 3) for name in names)
    return msgspec.structs.replace(sum_summary(), pictures=groups)


@pytest.mark.parametrize("key", references())
def test_entry_is_whole(key):
    first, *lines, last = references()[key].splitlines()
    assert re.fullmatch(r"@[a-z]+\{[a-z0-9]+,", first)
    assert last == "}"
    fields = dict(FIELD.match(line).groups() for line in lines)
    assert {"title", "author"} <= set(fields)
    assert "year" in fields or key == "eyechart"
    assert references()[key].count("{") == references()[key].count("}")
    assert not lines[-1].endswith(",")


def test_every_named_key_has_an_entry_and_every_entry_is_named():
    named = [keys for table in (cited().benchmarks, cited().sources, cited().methods) for keys in table.values()]
    assert {key for keys in named for key in keys} | {"eyechart"} == set(references())


def test_every_benchmark_of_others_has_a_reference():
    assert {name for name in registry.names("benchmark") if not benchmark_keys(name)} == {"folder"}


def test_every_dataset_of_hrscene_has_a_reference_where_its_origin_is_known():
    assert {one.name for one in facts().sets if not source_keys(one.name)} == WITHOUT


def test_report_cites_benchmark_revision_sources_statistics_and_itself():
    text = bibtex_of(sum_of_sources("VStarBench", "ZoomBench", "HR-Bench"))
    keys = re.findall(r"^@[a-z]+\{([a-z0-9]+),", text, re.MULTILINE)
    assert keys[:4] == ["sum", "wu2024vstar", "wei2026zoombench", "wang2025hrbench"]
    assert {"wilson1927", "bonett2012", "holm1979"} <= set(keys)
    assert keys[-1] == "eyechart"
    assert len(set(keys)) == len(keys)
    assert f"revision {sum_summary().run.benchmark.revision}" in text


def test_sources_stand_with_n_terms_and_keys():
    rows = sources_table(sum_of_sources("VStarBench", "my photographs")).rows
    assert [row.cells[0] for row in rows] == ["VStarBench", "my photographs"]
    assert "MIT" in rows[0].cells[1]
    assert rows[0].cells[2:] == ("wu2024vstar", "10", "9")
    assert rows[1].cells[1:3] == ("–", "unknown here: cite where it comes from")


def test_anonymous_report_keeps_references_and_drops_names():
    summary = sum_of_sources("VStarBench")
    clean = anonymise(summary, names=("alicexyz",))
    assert bibtex_of(clean) == bibtex_of(summary)
    named = sum_of_sources("/home/alicexyz/photos of alicexyz")
    shown = str(sources_table(anonymise(named, names=("alicexyz",))))
    assert "alicexyz" not in shown


def test_every_method_of_a_run_stands_in_the_statistics_with_n():
    summary = demo_summary()
    table = statistics_table(summary)
    said = "\n".join(cell for row in table.rows for cell in row.cells)
    for record in (*summary.estimates, *summary.contrasts):
        assert record.method in said
        assert str(record.n_questions) in said
    assert "Holm" in said
    assert "cluster sign-flip mid-p" in said
    assert any("Seeds of the run: limit 0, order 0" in note for note in table.notes)


def test_every_method_that_has_a_paper_is_found_by_its_name():
    assert {"wilson1927", "bonett2012", "canay2017", "holm1979"} <= set(method_keys(used_methods(demo_summary())))


def test_bibtex_file_is_the_section_of_the_report(tmp_path):
    questions = question_file(tmp_path, n=8)
    asked = ["run", "folder", "--data", str(questions), "--option", "box_format=xyxy", "--out", str(tmp_path / "run")]
    assert run_app([*asked, "--model", "simulated/vlm", "--views", "original,crop_3x", "--no-report"]) == 0
    assert run_app(["report", str(tmp_path / "run"), "--static", "--bibtex", str(tmp_path / "refs.bib")]) == 0
    entries = (tmp_path / "refs.bib").read_text()
    page = (tmp_path / "run" / "report.html").read_text()
    shown = page[page.index('<pre tabindex="0" id="bibtex-entries"') :]
    shown = shown[shown.index("<code>") + 6 : shown.index("</code>")]
    assert shown.replace("&#39;", "'").replace("&amp;", "&").strip() == entries.strip()

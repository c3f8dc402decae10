"""Laws of a report that carries its items: every printed number is recomputed, and a changed one is found."""

import json
import re

import pytest
from runs_made import question_file

from eyechart.cli._app import run_app
from eyechart.errors import SchemaError, StoreError
from eyechart.reports import check_report


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A run with a plan's worth of views, and its report."""
    home = tmp_path_factory.mktemp("carried")
    questions = question_file(home, n=32)
    asked = ["run", "folder", "--data", str(questions), "--option", "box_format=xyxy", "--out", str(home / "run")]
    code = run_app([*asked, "--model", "simulated/vlm", "--views", "original,crop_1x,crop_3x,whiteground_3x,blank"])
    assert code == 0
    return home / "run"


def test_every_number_of_a_report_follows_from_its_items(run_folder):
    check = check_report(run_folder / "report.html")
    assert check.differences == ()
    assert check.n_items == 32 * 5
    assert check.n_numbers > 300


def test_report_of_a_model_whose_sizes_are_known_is_checked_alike(tmp_path):
    pytest.importorskip("rapidocr")
    pytest.importorskip("onnxruntime")
    asked = ["run", "folder", "--data", str(question_file(tmp_path, n=20)), "--option", "box_format=xyxy"]
    views = "original,crop_3x,crop_6x,blank,downsample_0_5"
    assert run_app([*asked, "--out", str(tmp_path / "run"), "--model", "ocr/rapidocr", "--views", views]) == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert "executed" in page
    assert check_report(tmp_path / "run" / "report.html").differences == ()


def test_checking_a_report_draws_no_figure(run_folder, monkeypatch):
    monkeypatch.setattr("eyechart.figures._render", lambda *_: pytest.fail("a figure was drawn"))
    assert check_report(run_folder / "report.html").differences == ()


def test_numbers_are_checked_where_the_run_is_gone(run_folder, tmp_path):
    (tmp_path / "alone.html").write_bytes((run_folder / "report.html").read_bytes())
    assert run_app(["verify", str(tmp_path / "alone.html")]) == 0


def test_changed_accuracy_is_found(run_folder, tmp_path, capsys):
    page = (run_folder / "report.html").read_text()
    accuracy = re.search(r"<td>(\d+\.\d) <span[^>]*>\[", page).group(1)
    (tmp_path / "changed.html").write_text(page.replace(f"<td>{accuracy} <", "<td>99.9 <", 1))
    assert run_app(["verify", str(tmp_path / "changed.html")]) == 1
    said = capsys.readouterr().err
    assert "printed '99.9 [" in said
    assert f"recomputed '{accuracy} [" in said


def test_changed_item_is_found(run_folder, tmp_path):
    page = (run_folder / "report.html").read_text()
    start = page.index('id="eyechart-items">') + len('id="eyechart-items">')
    content = json.loads(page[start : page.index("</script>", start)])
    content["items"]["score"]["values"].reverse()
    changed = json.dumps(content).replace("<", "\\u003c")
    (tmp_path / "changed.html").write_text(page[:start] + changed + page[page.index("</script>", start) :])
    assert check_report(tmp_path / "changed.html").differences


def test_changed_number_of_a_chart_is_found(run_folder, tmp_path):
    page = (run_folder / "report.html").read_text()
    number = re.search(r'"value":(\d+\.\d+),"low"', page).group(1)
    (tmp_path / "changed.html").write_text(page.replace(f'"value":{number},"low"', '"value":99.9,"low"', 1))
    [found] = check_report(tmp_path / "changed.html").differences
    assert '"value":99.9' in found.printed
    assert f'"value":{number}' in found.recomputed


def test_changed_line_of_reference_of_a_chart_is_found(run_folder, tmp_path):
    page = (run_folder / "report.html").read_text()
    (tmp_path / "changed.html").write_text(page.replace('{"datum":25.0', '{"datum":5.0', 1))
    assert len(check_report(tmp_path / "changed.html").differences) == 1


@pytest.mark.parametrize(
    ("pattern", "planted"),
    [
        (r"(?<=Of )\d+(?= comparisons)", "9"),
        (r"(?<=<strong>)(?:holds|cannot be told apart)(?=</strong>)", "holds beyond doubt"),
        (r"(?<= interval )[+−]\d+\.\d(?= to)", "+0.1"),
    ],
)
def test_changed_claim_evidence_or_verdict_is_found(run_folder, tmp_path, pattern, planted):
    page = (run_folder / "report.html").read_text()
    changed, n = re.subn(pattern, planted, page, count=1)
    assert n == 1
    (tmp_path / "changed.html").write_text(changed)
    [found] = check_report(tmp_path / "changed.html").differences
    assert planted in found.printed


def test_another_script_on_the_page_is_found(run_folder, tmp_path):
    page = (run_folder / "report.html").read_text()
    (tmp_path / "more.html").write_text(page.replace("</body>", "<script>document.title = 1</script></body>"))
    [found] = check_report(tmp_path / "more.html").differences
    assert found.printed.startswith("script sha256-")


def test_static_report_is_checked_too(run_folder, tmp_path):
    arguments = ["report", str(run_folder), "--static", "--out", str(tmp_path), "--bibtex", str(tmp_path / "refs.bib")]
    assert run_app(arguments) == 0
    assert "script-src" not in (tmp_path / "report.html").read_text()
    assert check_report(tmp_path / "report.html").differences == ()
    assert "@software{eyechart," in (tmp_path / "refs.bib").read_text()


def test_anonymous_report_carries_no_name_and_is_checked_alike(run_folder, tmp_path):
    assert run_app(["report", str(run_folder), "--anonymous", "--hide", "folder", "--out", str(tmp_path)]) == 0
    assert check_report(tmp_path / "report.html").differences == ()
    page = (tmp_path / "report.html").read_text()
    assert str(run_folder) not in page


def test_what_carries_no_items_is_refused(tmp_path):
    (tmp_path / "other.html").write_text("<p>12</p>")
    with pytest.raises(SchemaError, match="carries no items"):
        check_report(tmp_path / "other.html")
    (tmp_path / "broken.html").write_text('<script type="application/json" id="eyechart-items">{</script>')
    with pytest.raises(SchemaError, match="are damaged"):
        check_report(tmp_path / "broken.html")
    with pytest.raises(StoreError, match="cannot be read"):
        check_report(tmp_path / "none.html")

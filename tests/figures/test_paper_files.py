"""What a publisher asks of every figure: all fonts inside the PDF, none of Type 3, and the width of a column."""

import re

import pytest
from grid_summaries import category_summary, grid_summary
from runs_made import question_file
from summaries import sum_summary

from eyechart import registry
from eyechart.cli._app import run_app
from eyechart.figures import save_figure

COLUMN_PT = 3.4 * 72
SUMMARIES = (sum_summary, lambda: grid_summary(1, 3, 5), category_summary)
# Pictures beside their questions take both columns.
PAGE_PT = 7.0 * 72
COMMANDS = {
    "resolutions": ["resolutions", "folder={data}", "--option", "box_format=xyxy", "--model", "openai/gpt-4o"],
    "gallery": ["gallery", "folder", "--data", "{data}", "--option", "box_format=xyxy"],
    "radar": ["radar", "hrscene"],
}


def fonts_of(pdf):
    """Every font object of a PDF."""
    objects = re.findall(rb"\d+ 0 obj\n(.*?)\nendobj", pdf, re.DOTALL)
    return [one for one in objects if re.search(rb"/Type /Font\b", one)], objects


def check_fonts(pdf):
    fonts, objects = fonts_of(pdf)
    kinds = {re.search(rb"/Subtype /(\w+)", one).group(1) for one in fonts}
    assert kinds == {b"Type0", b"CIDFontType2"}
    described = [one for one in objects if b"/Type /FontDescriptor" in one]
    assert len(described) == sum(b"CIDFontType2" in one for one in fonts) > 0
    for one in described:
        number = re.search(rb"/FontFile2 (\d+) 0 R", one).group(1)
        assert re.search(rb"\n%s 0 obj\n<<.*?>>\nstream" % number, pdf, re.DOTALL)
    assert b"/Type3" not in pdf


def check_svg(svg):
    assert "<text" not in svg
    assert "font-family" not in svg
    assert len(re.findall(r"<use [^>]*#DejaVuSans", svg)) > 10  # letters, as outlines that the file holds itself
    assert set(re.findall(r'href="#([^"]+)"', svg)) <= set(re.findall(r'id="([^"]+)"', svg))


def width_pt(pdf):
    (box,) = set(re.findall(rb"/MediaBox \[([^\]]*)\]", pdf))
    left, bottom, right, top = map(float, box.split())
    assert left == bottom == 0
    assert top < 11 * 72
    return right


def draw(name):
    drawn = (registry.load("figure", name)().draw(make()) for make in SUMMARIES)
    return next(axes for axes in drawn if axes is not None).figure


@pytest.mark.parametrize("name", registry.names("figure"))
def test_every_figure_of_a_report_embeds_its_fonts_and_is_as_wide_as_a_column(name, tmp_path):
    pdf, svg, _ = save_figure(draw(name), tmp_path, name)
    check_fonts(pdf.read_bytes())
    assert width_pt(pdf.read_bytes()) == pytest.approx(COLUMN_PT, abs=0.01)
    text = svg.read_text(encoding="utf-8")
    check_svg(text)
    assert float(re.search(r'<svg [^>]*width="([\d.]+)pt"', text).group(1)) == pytest.approx(COLUMN_PT, abs=0.01)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_figure_that_draw_writes_embeds_its_fonts_and_fits_a_page(name, tmp_path):
    data = question_file(tmp_path, n=8)
    assert run_app(["draw", *(part.format(data=data) for part in COMMANDS[name]), "--out", str(tmp_path / "out")]) == 0
    pdf = (tmp_path / "out" / f"{name}.pdf").read_bytes()
    check_fonts(pdf)
    assert width_pt(pdf) == pytest.approx(PAGE_PT if name == "gallery" else COLUMN_PT, abs=0.01)
    check_svg((tmp_path / "out" / f"{name}.svg").read_text(encoding="utf-8"))

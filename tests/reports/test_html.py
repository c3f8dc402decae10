"""The page loads nothing, runs nothing, escapes everything, and can be read without eyes or colours."""

import re
from collections import Counter
from html.parser import HTMLParser

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from summaries import (
    CASES,
    HOSTILE,
    demo_summary,
    single_question_summary,
    sum_summary,
    unanswered_summary,
)

from eyechart.errors import StoreError
from eyechart.figures import accuracies, format_estimate
from eyechart.reports import html, render_table, write_all
from eyechart.reports._printable import printable
from eyechart.reports._scripts import chart_script, script_digest
from eyechart.reports._sections import SEEN_HEADINGS, claims, first_page, seen_rows, verdict_line
from eyechart.reports.html import HtmlReport
from eyechart.runs.findings import find
from eyechart.schema import Finding

VOID = {"meta", "link", "br", "wbr", "img", "input", "hr", "use", "path"}

INLINE = {"a", "b", "code", "i", "span", "u", "wbr"}


class Page(HTMLParser):
    """Elements with attributes, and the text of each element, of a page whose tags must balance."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.scripts: list[list] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in INLINE:
            self.words.append(" ")
        if tag == "script":
            self.scripts.append([dict(attrs), ""])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts[-1][1] += data
        elif "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The page of every case, as text."""
    return {name: HtmlReport().render(case()) for name, case in CASES.items()}


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", CASES)
class TestEveryPage:
    """Laws for all cases."""

    def test_nothing_is_loaded_from_anywhere(self, name, pages):
        page = Page(pages[name])
        for tag, attributes in page.elements:
            assert tag not in {"link", "iframe", "object", "embed", "img", "base", "form", "audio", "video"}
            for attribute in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
                assert attributes.get(attribute, "#").startswith("#"), (tag, attributes)
            assert not any(attribute.startswith("on") for attribute in attributes)
        rest = re.sub(r'<pre tabindex="0" id="bibtex-entries".*?</pre>', "", pages[name], flags=re.DOTALL)
        assert not re.search(r"url\((?!#)|@import|https?://", rest.replace(chart_script().text, ""))

    def test_policy_forbids_the_network_and_every_script_but_one(self, name, pages):
        page = Page(pages[name])
        policies = [m for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
        assert [policy["content"].split(";")[0] for policy in policies] == ["default-src 'none'"]
        run = [text for attributes, text in page.scripts if attributes.get("type") != "application/json"]
        allowed = re.findall(r"script-src ([^;]*)", policies[0]["content"])
        assert allowed == [f"'{script_digest(text)}'" for text in run]
        assert len(run) == bool(page.all("figure"))

    def test_ids_are_distinct_and_every_reference_resolves(self, name, pages):
        page = Page(pages[name])
        ids = Counter(attributes["id"] for _, attributes in page.elements if "id" in attributes)
        assert all(count == 1 for count in ids.values())
        for _, attributes in page.elements:
            references = attributes.get("aria-labelledby", "").split()
            references += [attributes["href"][1:]] if attributes.get("href", "").startswith("#") else []
            assert set(references) <= set(ids)
        drawn = pages[name].replace(chart_script().text, "")
        assert set(re.findall(r"url\(#([^)]+)\)", drawn)) <= set(ids)

    def test_landmarks_headings_and_tables_are_named(self, name, pages):
        page = Page(pages[name])
        assert page.all("html")[0]["lang"] == "en"
        assert [len(page.all(tag)) for tag in ("main", "header", "footer", "nav", "h1")] == [1, 1, 1, 1, 1]
        assert all("aria-labelledby" in section for section in page.all("section"))
        assert len(page.all("caption")) == len(page.all("table"))
        assert all("scope" in header for header in page.all("th"))
        for attributes in (a for _, a in page.elements if a.get("class") == "scroll"):
            assert (attributes["role"], attributes["tabindex"]) == ("group", "0")
        landmarks = [a["aria-labelledby"] for tag, a in page.elements if tag == "section" or a.get("role") == "region"]
        assert len(landmarks) == len(set(landmarks))

    def test_every_figure_has_title_and_description(self, name, pages):
        page = Page(pages[name])
        figures = page.all("svg")
        assert len(figures) == len(page.all("figure")) == len(page.all("desc")) == len(page.all("title")) - 1
        assert all(svg["role"] == "img" and len(svg["aria-labelledby"].split()) == 2 for svg in figures)

    def test_every_accuracy_with_interval_n_and_chance_is_in_the_text(self, name, pages):
        summary, text = CASES[name](), Page(pages[name]).text
        for estimate in accuracies(summary).values():
            assert format_estimate(estimate) in text
            assert str(estimate.n_questions) in text
        if summary.chance is not None:
            assert "right by chance 25.0 %" in text

    def test_every_cell_of_the_table_findings_warnings_and_failures_are_in_the_text(self, name, pages):
        summary, text = CASES[name](), Page(pages[name]).text
        said = [cell for row in render_table(summary).rows for cell in row.cells]
        said += [words for claim in claims(summary) for words in (claim.text, claim.evidence, claim.verdict.words)]
        said += list(summary.warnings)
        said += [failure.cause for failure in summary.failures]
        for words in said:
            assert " ".join(printable(words).split()) in text


@pytest.mark.filterwarnings("ignore:Glyph")
def test_planted_markup_is_text_everywhere(pages):
    page = Page(pages["hostile"])
    assert "<script>" not in pages["hostile"].replace(f"<script>{chart_script().text}</script>", "")
    assert page.text.count("<script>alert('x')</script>") > 15
    assert "\u202e" not in pages["hostile"]
    assert printable(HOSTILE) in page.text


def test_template_marks_in_a_text_are_not_evaluated():
    page = Page(HtmlReport().render(msgspec.structs.replace(unanswered_summary(), warnings=("{{7*7}} {% if %}",))))
    assert "{{7*7}} {% if %}" in page.text


def test_ocr_model_is_said_to_be_no_vision_language_model(pages):
    assert "OCR model, not a vision-language model" in Page(pages["demo"]).text
    assert "OCR model" not in Page(pages["sum"]).text


def test_every_setting_of_the_run_is_listed(pages):
    text = Page(pages["demo"]).text
    for name, value in msgspec.to_builtins(demo_summary().run).items():
        assert name in text
        if isinstance(value, str):
            assert value in text
    assert "view_preset not set" in text


def test_claims_link_to_the_row_of_their_contrast(pages):
    page = Page(pages["sum"])
    links = [attributes["href"] for attributes in page.all("a") if attributes.get("href", "").startswith("#view-")]
    assert len(links) == len(sum_summary().findings)


def test_run_without_contrasts_claims_nothing(pages):
    assert "This run supports no claim" in Page(pages["unanswered"]).text
    assert "Of 2 comparisons, none holds and 2 cannot be told apart." in Page(pages["unanimous"]).text


def test_page_without_charts_runs_nothing(pages):
    page = HtmlReport(is_static=True).render(demo_summary())
    assert "<script" not in page
    assert "script-src" not in page
    assert Page(page).all("svg") == Page(pages["demo"]).all("svg")
    assert len(page) < len(pages["demo"]) - 700_000


def test_claim_evidence_and_verdict_are_one_sentence_of_the_findings():
    for case in (demo_summary, sum_summary, single_question_summary):
        summary = case()
        texts = {finding.text for finding in summary.findings}
        for claim in claims(summary):
            assert f"{claim.text.removesuffix('.')}: {claim.evidence}" in texts
            assert (" scores " in claim.text) == (claim.verdict.words == "holds")
            assert "n = " in claim.evidence
            assert re.search(r" interval [−+0-9]|too few pictures for an interval", claim.evidence)


def test_blocked_claim_names_its_code():
    blocked = tuple(msgspec.structs.replace(one, blocked_by=("MISSING_BY_VIEW",)) for one in demo_summary().contrasts)
    summary = msgspec.structs.replace(demo_summary(), contrasts=blocked, findings=find(blocked, ()))
    assert {claim.verdict.words for claim in claims(summary)} == {"blocked: MISSING_BY_VIEW"}
    assert "blocked: MISSING_BY_VIEW" in Page(HtmlReport(is_static=True).render(summary)).text


def test_what_holds_stands_on_page_one_however_much_it_is():
    found = claims(sum_summary())
    first, rest = first_page(found)
    assert first + rest == found
    assert not [claim for claim in rest if claim.verdict.kind in {"holds", "blocked"}]
    assert verdict_line(found).startswith(f"Of {len(found)} comparisons")


def test_page_has_the_same_bytes_twice(pages):
    assert HtmlReport().render(demo_summary()) == pages["demo"]


def test_given_notices_are_printed():
    text = Page(HtmlReport(notices=("Photograph: CC0 & free.",)).render(unanswered_summary())).text
    assert "Photograph: CC0 & free." in text


def test_page_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="report"):
        HtmlReport().write(unanswered_summary(), tmp_path / "file")


def test_page_and_files_show_one_drawing_of_each_figure(tmp_path, monkeypatch):
    import eyechart.figures

    rendered, render = Counter(), eyechart.figures._render

    def counted(figure, suffix):
        rendered[id(figure), suffix] += 1
        return render(figure, suffix)

    monkeypatch.setattr("eyechart.figures._render", counted)
    written = write_all(single_question_summary(), tmp_path)
    files = Counter(path.suffix for path in written if path.parent.name == "figures")
    assert Counter(f".{suffix}" for _, suffix in rendered) == files
    assert set(rendered.values()) == {1}


def test_all_reports_and_figures_are_written_and_named(tmp_path):
    paths = write_all(demo_summary(), tmp_path, is_anonymous=True)
    names = [str(path.relative_to(tmp_path)) for path in paths]
    assert names[:3] == ["report.html", "table.tex", "table.md"]
    stems = (
        "acuity_curve",
        "eye_chart",
        "resolution_curve",
        "context_curve",
        "seen_curve",
        "view_forest",
        "view_matrix",
    )
    assert names[3:] == [f"figures/{stem}.{suffix}" for stem in stems for suffix in ("pdf", "svg", "png")]
    assert all(path.stat().st_size > 0 for path in paths)
    assert "anonymous version" in paths[0].read_text(encoding="utf-8")


@given(st.text(alphabet="ab_<&[]0123456789.,− +", max_size=60))
def test_text_of_a_cell_stays_itself_and_no_markup(text):
    from html import unescape

    for shown in (html._whole(text), html._breakable(text)):
        bare = re.sub(r"</?span[^>]*>|<wbr>", "", str(shown))
        assert "<" not in bare
        assert unescape(bare) == text


def test_intervals_in_cells_do_not_break():
    assert str(html._whole("(54.2 [33.8, 73.3]) *")) == '(54.2 <span class="whole">[33.8, 73.3]</span>) *'
    assert "span" not in html._whole("[a name in brackets]")


def test_findings_that_no_contrast_gives_have_evidence_and_a_verdict_in_words():
    gap = "grid_white_3x3: the regions cannot be told apart: the best region lies 8.0 points above the mean of all 9."
    (one,) = claims(msgspec.structs.replace(demo_summary(), findings=(Finding("CANNOT_TELL", gap),)))
    assert one.text == "grid_white_3x3: the regions cannot be told apart."
    assert one.evidence == "The best region lies 8.0 points above the mean of all 9."
    assert one.verdict.words == "cannot be told apart"


@pytest.mark.parametrize(
    ("sizes", "tokens", "shown"),
    [
        ("unknown", "reported", "unknown; tokens reported"),
        (None, "reported", "unknown; tokens reported"),
        ("documented", "reported", "documented"),
        ("unknown", None, "unknown"),
        (None, None, "–"),
    ],
)
def test_what_the_model_saw_names_the_evidence_of_sizes_and_of_tokens_that_stand_alone(sizes, tokens, shown):
    summary = demo_summary()
    changed = [msgspec.structs.replace(one, seen_evidence=sizes, tokens_evidence=tokens) for one in summary.conditions]
    rows = seen_rows(msgspec.structs.replace(summary, conditions=tuple(changed)))
    assert {row.cells[SEEN_HEADINGS.index("evidence")] for row in rows} == {shown}

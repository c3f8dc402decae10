"""Planted names of user, host, folder, endpoint and organisation are in no part of an anonymous file."""

import base64
import csv
import html
import json
import re
import shutil
import zlib
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec
import pytest
from runs_made import question_file
from summaries import demo_summary

from eyechart.cli._app import run_app
from eyechart.explorer.anonymous import clean_answer
from eyechart.reports import check_report
from eyechart.runs.anonymous import cleaner_of
from eyechart.schema import Response, ResponseState, Score

USER, HOST, FOLDER, ENDPOINT, ORGANISATION = "alicexyz", "gpu17", "heidisthesis", "llm-proxy", "acmecorp"
SECRETS = (USER, HOST, FOLDER, ENDPOINT, ORGANISATION)
_INFLATED = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")


def spelt(name):
    """A name as errors carry it: plain, percent-encoded once and twice, with escapes of JSON and HTML, in Base64."""
    path = f"/home/{name}/x"
    encoded = quote(path, safe="")
    yield from (f"of {name}", encoded, quote(encoded, safe=""), f"line\\n{name}", json.dumps(path).replace("/", "\\/"))
    yield "".join(f"\\u{ord(letter):04x}" for letter in name)
    yield "".join(f"&#{ord(letter)};" for letter in name)
    yield f"Basic {base64.b64encode(f'{name}:hunter2'.encode()).decode()}"
    yield f"token {base64.urlsafe_b64encode(f'~{name}??'.encode()).decode()}"


def decoded(text, layers=2):
    """The text, and everything that is readable in it after undoing escapes."""
    yield text
    if not layers:
        return
    undone = [unquote(text), html.unescape(text)]
    undone.append(re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match.group(1), 16)), text))
    words = []
    for word in set(_BASE64.findall(text)):
        letters = word.rstrip("=").replace("-", "+").replace("_", "/")
        if len(letters) % 4 != 1:
            words.append(base64.b64decode(letters + "=" * (-len(letters) % 4)).decode("utf-8", "replace"))
    undone.append("\n".join(words))
    for other in undone:
        if other != text:
            yield from decoded(other, layers - 1)


def texts_of(path):
    """Everything that a file says: its bytes as text, and what is deflated inside a PDF."""
    content = path.read_bytes()
    yield content.decode("utf-8", "replace")
    if path.suffix == ".pdf":
        for stream in _INFLATED.findall(content):
            try:
                yield zlib.decompress(stream).decode("latin-1")
            except zlib.error:
                yield stream.decode("latin-1")


def leaks(path):
    return sorted({s for text in texts_of(path) for shown in decoded(text) for s in SECRETS if s in shown.casefold()})


def files_in(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A run with names in ids, groups, tasks, sources, notes, errors, answers of servers, settings and the command."""
    home = tmp_path_factory.mktemp("planted") / FOLDER
    home.mkdir()
    rows = [json.loads(line) for line in question_file(home, n=24).read_text().splitlines()]
    for number, row in enumerate(rows):
        row |= {"id": f"{USER}_{number}", "image_group": f"{FOLDER}/{number // 2}.png"}
        row |= {"question": f"What did {USER} write?", "choices": [f"a {HOST}", "y", "z", "w"]}
        row |= {"source": f"{ORGANISATION} scans", "task": (f"read {USER}", f"{HOST} logs")[number % 2]}
    (home / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    answers = [
        {"id": row["id"], "view": view, "text": f"{USER} says {row['answer'] if (at + len(view)) % 3 else 'D'}"}
        for at, row in enumerate(rows[:-1])
        for view in ("original", "crop_1x", "crop_3x", "downsample_0_5", "whiteground_3x")
    ]
    said = [text for name in SECRETS for text in spelt(name)]
    for answer, text in zip(answers[::2], said, strict=False):
        answer["error"] = text
        del answer["text"]
    (home / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    out = home / f"run-of-{USER}"
    views = "original,crop_1x,crop_3x,downsample_0_5,whiteground_3x"
    asked = ["run", "folder", "--data", str(home / "questions.jsonl"), "--option", "box_format=xyxy", "--views", views]
    replayed = ["--model", f"replay/{home / 'answers.jsonl'}", "--out", str(out), "--no-report", "--no-preflight"]
    assert run_app([*asked, *replayed]) in {0, 3}
    run = json.loads((out / "run.json").read_text())
    run["model"] |= {
        "provider": "vllm",
        "name": f"{ORGANISATION}/eye-7b",
        "revision": f"/home/{USER}/weights",
        "settings": {"base_url": f"http://{USER}:pw@{HOST}.{ENDPOINT}.example:8000/v1", "organization": ORGANISATION},
    }
    run["versions"] |= {"hostname": HOST, "python": f"3.12 ({quote(f'/home/{USER}/env', safe='')})"}
    run["benchmark"]["options"] |= {"choices_separator": f"/srv/{FOLDER}/pictures"}
    run["benchmark"]["revision"] = f"https://{ENDPOINT}.example/{ORGANISATION}@1"
    (out / "run.json").write_text(json.dumps(run))
    return out


@pytest.fixture(scope="module")
def own_names():
    """The login and the host of the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("getpass.getuser", lambda: USER)
        patch.setattr("socket.gethostname", lambda: f"{HOST}.{ENDPOINT}.example")
        yield


HIDDEN = ["--anonymous", "--hide", FOLDER, "--hide", ENDPOINT]


@pytest.fixture(scope="module")
def reported(planted, own_names, tmp_path_factory):
    """The report with all that stands beside it, and the BibTeX, once with names and once without."""
    del own_names
    home = tmp_path_factory.mktemp("reported")
    for name, options in (("open", []), ("closed", HIDDEN)):
        bibtex = ["--bibtex", str(home / name / "references.bib")]
        (home / name).mkdir()
        assert run_app(["report", str(planted), "--out", str(home / name), *bibtex, *options]) == 0
    return home


def test_the_planted_names_are_found_where_names_are_kept(reported):
    found = leaks(reported / "open" / "report.html")
    assert found == sorted(SECRETS)


def test_no_name_is_in_any_file_of_an_anonymous_report(reported):
    files = files_in(reported / "closed")
    assert {path.suffix for path in files} == {".html", ".md", ".tex", ".bib", ".pdf", ".svg", ".png"}
    assert {path.name: found for path in files if (found := leaks(path))} == {}


def test_charts_items_and_words_of_an_anonymous_page_are_all_there_to_be_searched(reported):
    page = (reported / "closed" / "report.html").read_text()
    specs = re.findall(r'<script type="application/json" class="spec">(.*?)</script>', page, re.DOTALL)
    assert len(specs) >= 3
    assert all(json.loads(spec)["data"]["values"] for spec in specs)
    items = json.loads(re.search(r'id="eyechart-items">(.*?)</script>', page, re.DOTALL).group(1))
    questions = items["table"]["questions"]
    assert len(questions) == len({one["id"] for one in questions}) == 24
    assert len({one["image_group"] for one in questions}) == 12
    assert len({one["task"] for one in questions}) == 2
    assert len({json.dumps(error) for error in items["items"]["ending.error"]["values"]}) > 4
    for part in ('class="claims"', "<desc", "@software{eyechart,"):
        assert part in page


def test_numbers_of_an_anonymous_report_are_those_of_the_open_one_and_follow_from_its_items(reported):
    assert check_report(reported / "closed" / "report.html").differences == ()
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", (reported / name / "report.html").read_text()) for name in
             ("open", "closed")]  # fmt: skip
    texts = [[re.sub(r"<[^>]*>", "", cell).replace("\N{NO-BREAK SPACE}", " ") for cell in own] for own in cells]
    accuracies = [[text for text in own if re.match(r"\d+\.\d \[", text)] for own in texts]
    assert accuracies[0]
    assert accuracies[0] == accuracies[1]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_no_name_is_in_an_anonymous_long_table(planted, own_names, tmp_path, suffix):
    del own_names
    out = tmp_path / f"long{suffix}"
    assert run_app(["export", str(planted), "--out", str(out), *HIDDEN]) == 0
    if suffix == ".csv":
        rows = list(csv.DictReader(out.open()))
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(out).to_pylist()
        (tmp_path / "rows.json").write_text(json.dumps(rows, default=str))
        assert leaks(tmp_path / "rows.json") == []
    assert leaks(out) == []
    assert len(rows) == 24 * 5
    assert len({row["question"] for row in rows}) == 24
    assert len({row["image"] for row in rows}) == 12


@pytest.fixture(scope="module")
def sites(planted, own_names, tmp_path_factory):
    """The static site of the run beside itself, once with names and once without."""
    del own_names
    home = tmp_path_factory.mktemp("sites")
    for name, options in (("open", []), ("closed", HIDDEN)):
        folders = [str(planted), str(planted.parent / "again")]
        shutil.copytree(planted, folders[1], dirs_exist_ok=True)
        data = ["--data", str(planted.parent / "questions.jsonl")]
        assert run_app(["export", "site", *folders, *data, "--out", str(home / name), *options]) == 0
    return home


def test_no_name_is_in_any_file_of_an_anonymous_site_or_in_a_file_s_name(sites):
    assert set(leaks(sites / "open" / "grid.html")) >= {USER, HOST, ORGANISATION}
    files = [path for path in files_in(sites / "closed") if path.parent.name != "static"]
    assert {path.suffix for path in files} >= {".html", ".js", ".png"}
    assert {str(path): found for path in files if (found := leaks(path))} == {}
    assert not [path for path in files for secret in SECRETS if secret in path.relative_to(sites).as_posix()]


def test_an_anonymous_site_has_all_pages_pictures_and_marks_of_the_open_one(sites):
    counts = [
        sorted((path.relative_to(sites / name).parent.as_posix(), path.suffix) for path in files_in(sites / name))
        for name in ("open", "closed")
    ]
    assert counts[0] == counts[1]
    marks = [re.findall(r'"marks":"(\d+)"', (sites / name / "grid.html").read_text()) for name in ("open", "closed")]
    assert marks[0]
    assert marks[0] == marks[1]


def test_the_span_of_an_answer_stays_on_its_words_or_is_given_up():
    cleaner = cleaner_of(demo_summary(), names=("alicexyz",))
    response = Response(request_id="r", state=ResponseState.ANSWERED, text="alicexyz says: the answer is B")
    begin = response.text.index("answer")
    score = Score(request_id="r", scorer="s", value=1.0, span=(begin, len(response.text)))
    clean, moved = clean_answer(response, score, cleaner)
    assert clean.text[slice(*moved.span)] == "answer is B"
    _, lost = clean_answer(response, msgspec.structs.replace(score, span=(3, 12)), cleaner)
    assert lost.span is None


def test_words_to_hide_need_an_anonymous_file(planted, tmp_path, capsys):
    assert run_app(["report", str(planted), "--out", str(tmp_path), "--hide", "someone"]) == 2
    assert "--hide someone without --anonymous removes nothing" in capsys.readouterr().err

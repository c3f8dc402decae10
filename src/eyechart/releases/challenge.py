"""A bundle to host a leaderboard with private answers on an EvalAI server: configuration, script, answers, pages."""

import html
import io
import json
import zipfile
from collections.abc import Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path

import msgspec
import numpy as np
from PIL import Image

from eyechart.errors import BenchmarkError, UsageError
from eyechart.releases.evalai_scoring import OVERALL, UNPARSED
from eyechart.runs.files import write_whole
from eyechart.schema import Question, Value
from eyechart.stats.averages import LABELS, Group, Rule, weigh_datasets

_EPOCH = (1980, 1, 1, 0, 0, 0)
_LOGO_PX = 200
# Rows of squares that halve, as on an eye chart.
_LOGO_ROWS = ((20, 60), (95, 30), (140, 15), (170, 8))


class Phase(Value, frozen=True):
    """One phase: its code name, its questions with their right answers, and whether everybody sees its scores."""

    codename: str
    questions: tuple[Question, ...]
    is_public: bool = True


class ChallengeTerms(Value, frozen=True):
    """What the host says about the challenge. Dates are UTC; sizes are those of whole categories, for weighting."""

    title: str
    start: datetime
    end: datetime
    description: str = ""
    rule: Rule = "micro"
    max_submissions_per_day: int = 5
    sizes: dict[str, int] = msgspec.field(default_factory=dict)
    dataset_sizes: dict[str, int] = msgspec.field(default_factory=dict)


def write_challenge(phases: Sequence[Phase], terms: ChallengeTerms, out: Path) -> tuple[Path, ...]:
    """Write the bundle: a folder, and ``challenge.zip`` with the same to upload.

    ``public/`` holds the questions without answers, for participants, and is not in the upload. The same questions and
    terms give the same bytes.

    Args:
        phases: At least one, with distinct code names; every question needs a right letter among its options.
        terms: Title, dates and averaging.
        out: Folder, new or empty.

    Returns:
        The files written, ``challenge.zip`` last.

    Raises:
        UsageError: If there is no phase, a code name repeats or is not a plain word, the dates are in the wrong order,
            or the folder holds other files.
        BenchmarkError: If a question has no right letter, or an id stands twice in a phase.
        StoreError: If a file cannot be written.
    """
    _check(phases, terms, out)
    bundle = {
        "challenge_config.yaml": _configuration(phases, terms).encode(),
        "evaluation_script.zip": _zipped(_script()),
        "logo.png": _logo(),
        **{f"templates/{name}": page.encode() for name, page in _pages(phases, terms).items()},
        **{f"annotations/{phase.codename}.json": _annotations(phase, terms) for phase in phases},
    }
    shown = {f"evaluation_script/{name}": content for name, content in _script().items()}
    public = {f"public/{phase.codename}.jsonl": _public(phase) for phase in phases}
    everything = {**bundle, **shown, **public, "challenge.zip": _zipped(bundle)}
    for name, content in everything.items():
        write_whole(out / name, [content])
    return tuple(out / name for name in everything)


def _check(phases: Sequence[Phase], terms: ChallengeTerms, out: Path) -> None:
    names = [phase.codename for phase in phases]
    if not names or len(set(names)) != len(names) or not all(name.isidentifier() for name in names):
        raise UsageError(f"phases {', '.join(names) or 'none'}", hint="name each phase once, by letters and digits")
    if terms.end <= terms.start:
        raise UsageError(f"the challenge ends {terms.end} and starts {terms.start}", hint="give a later --end")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not empty", hint="give --out a new folder")
    for phase in phases:
        _check_questions(phase)


def _check_questions(phase: Phase) -> None:
    seen: set[str] = set()
    if not phase.questions:
        raise BenchmarkError(f"phase {phase.codename} has no question", hint="check the benchmark's options")
    for question in phase.questions:
        letters = _letters(question)
        if question.answer is None or question.answer not in letters:
            raise BenchmarkError(
                f"phase {phase.codename}: {question.id} has no right letter among its {len(question.choices)} options",
                hint="a challenge needs every right answer; hidden ones cannot be hosted",
            )
        if question.id in seen:
            raise BenchmarkError(f"phase {phase.codename}: id {question.id} stands twice", hint="ids must be unique")
        seen.add(question.id)


def _letters(question: Question) -> str:
    return "".join(chr(ord("A") + index) for index in range(len(question.choices)))


def _categories(phases: Sequence[Phase]) -> list[str]:
    return sorted({question.task for phase in phases for question in phase.questions if question.task})


def _annotations(phase: Phase, terms: ChallengeTerms) -> bytes:
    """Return the right answers of a phase with the weights of its datasets: private, never shown to participants."""
    answers = {
        question.id: {
            "answer": question.answer,
            "options": _letters(question),
            **({"category": question.task} if question.task else {}),
            **({"dataset": question.source} if question.source else {}),
        }
        for question in phase.questions
    }
    record = {"phase": phase.codename, "split": f"{phase.codename}_split", "rule": terms.rule, "answers": answers}
    weights = _weights(phase, terms)
    return _json({**record, "weights": weights} if weights else record)


def _weights(phase: Phase, terms: ChallengeTerms) -> dict[str, float]:
    """Return dataset → share of the overall score; empty where every question counts the same."""
    if terms.rule == "micro":
        return {}
    counts: dict[tuple[str, str], int] = {}
    for question in phase.questions:
        if not question.source:
            raise BenchmarkError(
                f"phase {phase.codename}: {question.id} names no dataset, which {terms.rule} needs",
                hint="give the benchmark its map to datasets, or --average micro",
            )
        key = (question.source, question.task or "")
        counts[key] = counts.get(key, 0) + 1
    groups = [Group(name, category, terms.dataset_sizes.get(name, n)) for (name, category), n in counts.items()]
    shares = weigh_datasets(groups, list(counts.values()), terms.rule, terms.sizes)
    return {group.dataset: round(float(share), 12) for group, share in zip(groups, shares, strict=True)}


def _public(phase: Phase) -> bytes:
    """Return the questions as participants see them: without the answer and without the options' truth."""
    lines = [
        json.dumps(
            {
                "id": question.id,
                "question": question.text,
                "choices": list(question.choices),
                "image_sha256": question.image.file_sha256,
            },
            ensure_ascii=False,
        )
        for question in phase.questions
    ]
    return ("\n".join(lines) + "\n").encode()


def _script() -> dict[str, bytes]:
    source = (files("eyechart.releases") / "evalai_scoring.py").read_bytes()
    package = b'"""The evaluation of this challenge."""\n\nfrom .main import evaluate\n\n__all__ = ["evaluate"]\n'
    return {"__init__.py": package, "main.py": source}


def _configuration(phases: Sequence[Phase], terms: ChallengeTerms) -> str:
    """Return the challenge as YAML; every text is a JSON string, which YAML reads as it stands."""
    labels = [*_categories(phases), OVERALL, UNPARSED]
    lines = [
        "# Written by eyechart. Fields: https://evalai.readthedocs.io/en/latest/configuration.html",
        f"title: {_text(terms.title)}",
        f"short_description: {_text((terms.description or terms.title)[:140])}",
        "description: templates/description.html",
        "evaluation_details: templates/evaluation_details.html",
        "terms_and_conditions: templates/terms_and_conditions.html",
        "image: logo.png",
        "submission_guidelines: templates/submission_guidelines.html",
        f"leaderboard_description: {_text(f'Percent. {terms.rule}: {LABELS[terms.rule]}.')}",
        "evaluation_script: evaluation_script.zip",
        "remote_evaluation: False",
        "is_docker_based: False",
        f"start_date: {_date(terms.start)}",
        f"end_date: {_date(terms.end)}",
        "published: False",
        "leaderboard:",
        "  - id: 1",
        "    schema:",
        f"      labels: {json.dumps(labels)}",
        f"      default_order_by: {_text(OVERALL)}",
        "challenge_phases:",
    ]
    for index, phase in enumerate(phases, start=1):
        lines += [
            f"  - id: {index}",
            f"    name: {_text(phase.codename)}",
            f"    description: templates/phase_{phase.codename}.html",
            f"    leaderboard_public: {phase.is_public}",
            "    is_public: True",
            "    is_submission_public: False",
            f"    start_date: {_date(terms.start)}",
            f"    end_date: {_date(terms.end)}",
            f"    test_annotation_file: annotations/{phase.codename}.json",
            f"    codename: {_text(phase.codename)}",
            f"    max_submissions_per_day: {terms.max_submissions_per_day}",
            '    allowed_submission_file_types: ".json"',
            "    is_restricted_to_select_one_submission: False",
            "    is_partial_submission_evaluation_enabled: False",
        ]
    lines.append("dataset_splits:")
    for index, phase in enumerate(phases, start=1):
        lines += [
            f"  - id: {index}",
            f"    name: {_text(f'{phase.codename} split')}",
            f"    codename: {_text(f'{phase.codename}_split')}",
        ]
    lines.append("challenge_phase_splits:")
    for index, phase in enumerate(phases, start=1):
        lines += [
            f"  - challenge_phase_id: {index}",
            "    leaderboard_id: 1",
            f"    dataset_split_id: {index}",
            f"    visibility: {3 if phase.is_public else 1}",
            "    leaderboard_decimal_precision: 2",
            "    is_leaderboard_order_descending: True",
        ]
    return "\n".join(lines) + "\n"


def _pages(phases: Sequence[Phase], terms: ChallengeTerms) -> dict[str, str]:
    """Return the pages a server shows, every text escaped."""
    title, about = html.escape(terms.title), html.escape(terms.description or terms.title)
    pages = {
        "description.html": f"<h2>{title}</h2>\n<p>{about}</p>\n",
        "evaluation_details.html": (
            f"<p>A submission is right where its letter is the right one. Averaging rule <code>{terms.rule}</code>: "
            f"{html.escape(LABELS[terms.rule])}. {UNPARSED} counts answers that are not among the letters offered; "
            "they are wrong.</p>\n"
        ),
        "terms_and_conditions.html": "<p>Pictures and questions keep the licences of their sources.</p>\n",
        "submission_guidelines.html": (
            "<p>One JSON object with every id of the phase exactly once and one capital letter each: "
            "<code>{&quot;0&quot;: &quot;A&quot;}</code>. <code>eyechart export evalai RUN</code> writes it.</p>\n"
        ),
    }
    for phase in phases:
        pages[f"phase_{phase.codename}.html"] = f"<p>{phase.codename}: {len(phase.questions)} questions.</p>\n"
    return pages


def _logo() -> bytes:
    """Return a picture of our own: rows of squares that halve."""
    pixels = np.full((_LOGO_PX, _LOGO_PX, 3), 255, dtype=np.uint8)
    for top, side in _LOGO_ROWS:
        for left in range(_LOGO_PX // 2 - side // 2 - 2 * side, _LOGO_PX - side, 2 * side):
            if left >= 0 and left + side <= _LOGO_PX:
                pixels[top : top + side, left : left + side] = (11, 95, 165)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format="PNG")
    return buffer.getvalue()


def _zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip file whose bytes depend on nothing but names and contents."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), members[name])
    return buffer.getvalue()


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1).encode() + b"\n"


def _text(text: str) -> str:
    return json.dumps(text)


def _date(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")

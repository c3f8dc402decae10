"""What is left to do before a built collection is published; nothing is ever uploaded from here."""

import shlex
from collections import Counter
from pathlib import Path

from eyechart.releases.curation import Curated
from eyechart.releases.layout import BuildSettings
from eyechart.releases.source_terms import is_settled, source_name

_PLACEHOLDER = "OWNER/NAME"


def closing_checklist(curated: Curated, settings: BuildSettings, out: Path) -> tuple[str, ...]:
    """Return the open points of a collection and the exact commands that check and publish it, in order.

    Args:
        curated: Its questions.
        settings: How it was built.
        out: Its folder.
    """
    return (*open_points(curated, settings), *commands(settings, out))


def open_points(curated: Curated, settings: BuildSettings) -> tuple[str, ...]:
    """Return what a person has to settle, each as one line; none if all is settled."""
    sources = Counter(source_name(question) for question in curated.questions)
    points = [
        f"[ ] terms of {name} ({sources[name]} questions): state them, or leave the source out"
        for name in sorted(sources)
        if not is_settled(name, settings.notices)
    ]
    not_split = curated.split_report.not_split
    if not_split:
        shown = ", ".join(not_split[:5]) + (", …" if len(not_split) > 5 else "")  # noqa: PLR2004 -- enough to look at
        points.append(f"[ ] {len(not_split)} texts look as if they listed their options and were left whole: {shown}")
    n_open = sum(question.task is None for question in curated.questions)
    if n_open:
        points.append(f"[ ] {n_open} questions have no task")
    n_hidden = sum(question.answer is None and not question.answers for question in curated.questions)
    if n_hidden:
        points.append(f"[ ] {n_hidden} questions have no answer")
    unused = sorted(set(settings.tasks) - set(curated.old_tasks.values()))
    if unused:
        points.append(f"[ ] no question has the task {', '.join(unused)}, which the mapping renames")
    if settings.repository is None:
        points.append("[ ] name the repository, so that cards and croissant.json give its address")
    return tuple(points)


def commands(settings: BuildSettings, out: Path) -> tuple[str, ...]:
    """Return the commands that check and upload, for a shell."""
    folder = shlex.quote(str(out))
    hub = settings.repository or _PLACEHOLDER
    message = "--commit-message 'Publish the collection'"
    lines = [
        f"[ ] eyechart verify {folder} --explain",
        f"[ ] python {shlex.quote(str(out / 'scripts' / 'evaluate.py'))} --help",
        "[ ] hf auth login",
        f"[ ] hf upload {hub} {folder} . --repo-type dataset {message}",
    ]
    if settings.mirror is not None:
        lines += [
            "[ ] ms-hub login",
            f"[ ] ms-hub upload {settings.mirror} {folder} --repo-type dataset {message}",
        ]
    lines.append("[ ] fetch it again into a new folder, and verify that copy: hosts may take files out")
    return tuple(lines)

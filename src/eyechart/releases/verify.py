"""Check every image and every row of a release, and say what is wrong with path and id."""

import multiprocessing
import os
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

from eyechart.benchmarks._foreign_views import known_view
from eyechart.benchmarks._release import as_box, as_size, card_configs, is_sha256
from eyechart.errors import ImageError
from eyechart.images.workers import n_processors, start_worker
from eyechart.releases.contents import Contents, Row, read_contents
from eyechart.releases.findings import Finding, VerifyReport, found, root_causes
from eyechart.releases.image_checks import QuestionFiles, ViewFile, check_images
from eyechart.releases.opening import open_as_promised
from eyechart.releases.row_checks import check_rows
from eyechart.releases.row_types import check_types, is_typed

_CARD = "README.md"
# Row faults that leave an image file without a row.
_LOSES_FILES = frozenset(
    {"missing_metadata", "malformed_row", "missing_id", "missing_field", "unsafe_path", "duplicate_file"}
)


def verify_release(
    root: Path,
    *,
    n_processes: int | None = None,
    opens: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> VerifyReport:
    """Check a release: structure, rows, and every image, fully decoded.

    What follows from another finding is left out, so that one fault gives one finding. What the release declares
    itself (boxes over the border with their clipped copies, errata, the two images missing from the mirror) is
    ``known``.

    Args:
        root: Folder of the release.
        n_processes: Decoding processes; the number of processors if None.
        opens: Also open every view with the ``datasets`` library, as the card says.
        on_progress: Called with the number of questions whose images are checked, and of all.

    Raises:
        BenchmarkError: If the folder holds nothing that looks like a release.
        ImageError: If a process was killed, usually for lack of memory.
        EyechartError: If it is to be opened and ``datasets`` is not installed.
    """
    contents, findings = check_papers(root)
    questions, absent = _files_by_question(contents)
    findings += absent
    for number, about_images in enumerate(_check_all_images(root, questions, n_processes), start=1):
        findings += about_images
        if on_progress is not None:
            on_progress(number, len(questions))
    if opens:
        findings += _failures_to_open(contents, findings)
    return VerifyReport(
        n_questions=len(contents.canonical),
        n_views=len(contents.views),
        n_images=sum(len(question.files) for question in questions),
        findings=root_causes(_join_crop_faults(findings)),
    )


def check_papers(root: Path) -> tuple[Contents, list[Finding]]:
    """Check all that can be checked without opening an image: structure, rows, configs, and which files there are.

    Raises:
        BenchmarkError: If the folder holds nothing that looks like a release.
    """
    contents, structure = read_contents(root)
    findings = [*structure, *check_rows(contents), *check_types(contents), *_check_configs(contents)]
    findings += _check_files(contents, {finding.view for finding in findings if finding.code in _LOSES_FILES})
    return contents, findings


def _failures_to_open(contents: Contents, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Open the views that are whole and without an error so far, and yield what cannot be opened.

    What a card of an earlier build did not promise, that its views can be joined, is only a warning there.
    """
    broken = {finding.view for finding in findings if finding.level == "error" or finding.code == "not_fetched"}
    whole = [view_id for view_id in contents.views if view_id not in broken and contents.rows[view_id]]
    for failure in open_as_promised(contents.root, whole):
        message = f"{failure.action}: {failure.reason}"
        if failure.view_id is not None:
            path = f"data/{failure.view_id}/test/metadata.jsonl"
            yield found("not_loadable", path, message, view=failure.view_id)
        else:
            yield found("not_loadable" if is_typed(contents) else "not_aligned", _CARD, message)


def _check_all_images(
    root: Path, questions: Sequence[QuestionFiles], n_processes: int | None
) -> Iterator[tuple[Finding, ...]]:
    n_processes = max(1, min(n_processes or n_processors(), len(questions)))
    check = partial(check_images, root)
    if n_processes == 1:
        yield from map(check, questions)
        return
    # Not fork: a copy of a process whose libraries run threads can hang.
    context = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
    with ProcessPoolExecutor(n_processes, mp_context=context, initializer=start_worker) as pool:
        try:
            yield from pool.map(check, questions)
        except BrokenProcessPool as error:
            raise ImageError(
                f"a checking process ended before its work did, with {n_processes} at once",
                hint="the usual cause is too little memory: use fewer processes",
            ) from error


def _files_by_question(contents: Contents) -> tuple[list[QuestionFiles], list[Finding]]:
    """Return the image files to check, question by question, and a finding for each view that was not fetched."""
    views = [view_id for view_id in contents.views if _is_on_disk(contents, view_id)]
    absent = [
        found("not_fetched", f"data/{view_id}/test/images", view=view_id)
        for view_id in contents.views
        if view_id not in views and contents.rows[view_id]
    ]
    for view_id in views:
        lacking = [row for row in contents.rows[view_id] if row.image and is_left_out(contents, row.image)]
        if lacking:
            message = f"{len(lacking)} of {len(contents.rows[view_id])} images of this view are not on disk"
            absent.append(found("not_fetched", f"data/{view_id}/test/images", message, view=view_id))
    views.sort(key=lambda view_id: view_id != "original")
    files: dict[str, list[ViewFile]] = {}
    shown: set[str] = set()
    for view_id in views:
        for row in contents.rows[view_id]:
            if row.image is not None and row.image not in shown and not is_left_out(contents, row.image):
                shown.add(row.image)
                files.setdefault(row.id, []).append(_view_file(contents, view_id, row, row.image))
    originals = {row.id: row for row in reversed(contents.rows.get("original", ()))}
    has_manifest = contents.manifest is not None
    questions = [
        QuestionFiles(question_id, tuple(listed), _group_hash(originals.get(question_id)), has_manifest)
        for question_id, listed in files.items()
    ]
    return questions, absent


def is_left_out(contents: Contents, name: str) -> bool:
    """Return whether an image is not there because only other parts of the release were fetched."""
    return contents.is_left_out(name) and not (contents.root / name).exists()


def _is_on_disk(contents: Contents, view_id: str) -> bool:
    return any(row.image is not None and (contents.root / row.image).is_file() for row in contents.rows[view_id])


def _view_file(contents: Contents, view_id: str, row: Row, name: str) -> ViewFile:
    recorded = (contents.manifest or {}).get(name)
    crop = as_box(row.values.get("crop_box_original"))
    inside, source = as_box(row.values.get("bbox_clipped")), as_box(row.values.get("bbox_original"))
    targets = () if inside is None else (inside,) if source in {inside, None} else (inside, source)
    view = known_view(view_id, row.values)
    return ViewFile(view_id, view, name, as_size(row.values), recorded, crop, targets)


def _group_hash(original: Row | None) -> str | None:
    """Return the group of a question where it is a content hash, as SUM says; own groups may be any text."""
    group = original.values.get("image_group_id") if original else None
    return group if isinstance(group, str) and is_sha256(group) else None


def _check_configs(contents: Contents) -> Iterator[Finding]:
    """Yield where card, summary and folders disagree about the configs."""
    in_card = set(card_configs(contents.root / _CARD))
    listed = contents.summary.get("configs") if isinstance(contents.summary, dict) else None
    configs = [config for config in listed if isinstance(config, dict)] if isinstance(listed, list) else []
    declared = {str(config.get("config_name")) for config in configs} or in_card
    undeclared = set(contents.views) - declared if declared else set()
    for view_id in sorted(undeclared):
        yield found("undeclared_view", f"data/{view_id}", view=view_id)
    for view_id in contents.views:
        if contents.rows[view_id] and contents.view_of(view_id) is None:
            yield found("unread_view", f"data/{view_id}", view=view_id)
    odd = (in_card ^ set(contents.views)) - undeclared if in_card else set()
    if odd:
        yield found("card_differs", _CARD, ", ".join(sorted(odd)))
    n_ids = len(contents.canonical)
    for config in configs:
        if isinstance(config.get("rows"), int) and config["rows"] != n_ids:
            message = f"{config.get('config_name')}: {config['rows']} rows, {n_ids} ids"
            yield found("wrong_count", "metadata/validation_summary.json", message)


def _check_files(contents: Contents, views_with_lost_rows: Container[str | None]) -> Iterator[Finding]:
    """Yield files under ``data/`` that no row shows, and manifest entries without file and row.

    In a view whose rows are damaged, files that the manifest names are those of the damaged rows.
    """
    named = {row.image for rows in contents.rows.values() for row in rows if row.image is not None}
    manifest = contents.manifest or {}
    for path in sorted((contents.root / "data").rglob("*")):
        name = path.relative_to(contents.root).as_posix()
        view_id = name.split("/")[1]
        is_ours = name.endswith("/test/metadata.jsonl") or path.name.startswith(".")
        if not path.is_file() or is_ours or name in named:
            continue
        if view_id not in views_with_lost_rows or (manifest and name not in manifest):
            yield found("extra_file", name, view=view_id)
    for name in manifest:
        if contents.is_left_out(name):
            continue
        view_id = name.split("/")[1] if name.count("/") > 1 else ""
        if name not in named and not (contents.root / name).exists() and view_id not in views_with_lost_rows:
            yield found("manifest_orphan", "metadata/image_manifest.json", name)


def _join_crop_faults(findings: Sequence[Finding]) -> list[Finding]:
    """Name the crop box where both the pixels and the target of a view contradict it."""
    joined = list(findings)
    boxes = {(finding.view, finding.id) for finding in findings if finding.code == "box_view_differs"}
    for finding in findings:
        if finding.code == "pixels_differ" and (finding.view, finding.id) in boxes:
            path = f"data/{finding.view}/test/metadata.jsonl"
            joined.append(found("crop_box_differs", path, id=finding.id, view=finding.view))
    return joined

"""Whether a collection is fit to be asked: its errors, found without decoding an image."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from eyechart.benchmarks._release import MIRROR_OMISSIONS
from eyechart.errors import BenchmarkError, ImageError
from eyechart.images.probe import header_size
from eyechart.kinds import Benchmark, HoldsRelease
from eyechart.releases.contents import Contents
from eyechart.releases.findings import Finding, found, root_causes
from eyechart.releases.verify import check_papers, is_left_out

_N_NAMED = 3


def faults_of(
    root: Path, question_ids: Collection[str], view_ids: Collection[str], *, has_images: bool = True
) -> tuple[Finding, ...]:
    """Return the errors of a release that concern what is about to be asked.

    Rows, numbers, boxes and answers are checked in full. Images are only checked for being there with their recorded
    length and size; ``verify`` decodes them all, and an image whose hash is another one is never sent.

    Args:
        root: Folder of the release.
        question_ids: What is asked.
        view_ids: In which views; views that are made here need the original only.
        has_images: Whether the images lie in the folder, not on a host.

    Raises:
        BenchmarkError: If the folder holds nothing that looks like a release.
    """
    contents, findings = check_papers(root)
    wanted = frozenset(question_ids)
    views = frozenset(view_ids) | {"original"}
    if has_images:
        findings += _image_faults(contents, wanted, views)
    return tuple(
        finding
        for finding in root_causes(findings)
        if finding.level == "error"
        and (finding.id is None or finding.id in wanted)
        and (finding.view is None or finding.view in views)
    )


def check_collection(
    benchmark: Benchmark, question_ids: Collection[str], view_ids: Collection[str], *, allows_faults: bool
) -> tuple[str, ...]:
    """Return the errors of a published collection that the user allows; none for any other benchmark.

    Raises:
        BenchmarkError: If it has errors and they are not allowed.
    """
    if not isinstance(benchmark, HoldsRelease):
        return ()
    return check_fitness(
        benchmark.root, question_ids, view_ids, has_images=not benchmark.is_streamed, allows_faults=allows_faults
    )


def check_fitness(
    root: Path, question_ids: Collection[str], view_ids: Collection[str], *, has_images: bool, allows_faults: bool
) -> tuple[str, ...]:
    """Refuse a collection with errors, or return them in short where the user allows them.

    Args:
        root: Folder of the release.
        question_ids: What is asked.
        view_ids: In which views.
        has_images: Whether the images lie in the folder.
        allows_faults: Whether to go on.

    Returns:
        One sentence per kind of error; none for a sound collection.

    Raises:
        BenchmarkError: If there are errors and they are not allowed.
    """
    faults = faults_of(root, question_ids, view_ids, has_images=has_images)
    if faults and not allows_faults:
        first = faults[0]
        about = f", question {first.id}" if first.id else ""
        raise BenchmarkError(
            f"{root} has {len(faults)} error{'s' if len(faults) > 1 else ''}; the first is {first.code} at "
            f"{first.path}{about}: {first.message}",
            hint=f"eyechart verify {root} lists them; --allow-faults asks all the same, and every report says so",
        )
    return describe_faults(faults)


def describe_faults(faults: Collection[Finding]) -> tuple[str, ...]:
    """Return one phrase per kind of error, with its number and the first questions concerned."""
    phrases = []
    for code, n in Counter(fault.code for fault in faults).items():
        ids = list(dict.fromkeys(fault.id for fault in faults if fault.code == code and fault.id is not None))
        named = f" ({', '.join(ids[:_N_NAMED])}{', …' if len(ids) > _N_NAMED else ''})" if ids else ""
        phrases.append(f"{n} × {code}{named}")
    return tuple(phrases)


def _image_faults(contents: Contents, question_ids: frozenset[str], view_ids: frozenset[str]) -> Iterator[Finding]:
    for view_id in contents.views:
        for row in contents.rows[view_id] if view_id in view_ids else ():
            if row.id not in question_ids or row.image is None or is_left_out(contents, row.image):
                continue
            path = contents.root / row.image
            if not path.is_file():
                is_known = row.image in MIRROR_OMISSIONS
                yield found("missing_image", row.image, id=row.id, view=view_id, is_declared=is_known)
                continue
            recorded = (contents.manifest or {}).get(row.image)
            n_bytes = path.stat().st_size
            if recorded is not None and recorded.n_bytes is not None and recorded.n_bytes != n_bytes:
                message = f"{n_bytes} bytes, recorded {recorded.n_bytes}"
                yield found("wrong_bytes", row.image, message, id=row.id, view=view_id)
                continue
            for code, message in _header_faults(path, row.values):
                yield found(code, row.image, message, id=row.id, view=view_id)


def _header_faults(path: Path, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    try:
        size = header_size(path)
    except ImageError as error:
        yield "not_an_image", error.message
        return
    if (values.get("width"), values.get("height")) != tuple(size):
        yield "wrong_size", f"{size.width}×{size.height}, the row says {values.get('width')}×{values.get('height')}"

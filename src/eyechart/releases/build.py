"""Write a release in SUM's layout from any benchmark whose questions have target boxes."""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from eyechart.errors import BenchmarkError, EyechartError, ImageError, StoreError
from eyechart.images.files import write_pieces
from eyechart.images.render import RenderSettings
from eyechart.images.workers import PictureJob, RenderOutcome, render_batches
from eyechart.kinds import Benchmark
from eyechart.releases.checklist import closing_checklist
from eyechart.releases.curation import curate
from eyechart.releases.journal import BuiltImage, Journal, is_whole, read_built, write_if_changed
from eyechart.releases.layout import BuildSettings, PlannedImage, check_unique_names, plan_release
from eyechart.releases.papers import write_papers
from eyechart.releases.rows import encode_document, tell_fields
from eyechart.releases.stems import SplitReport
from eyechart.runs.unreadable import refuse_unreadable
from eyechart.schema import Question, Value

_BLOCK_BYTES = 1 << 20
_IMAGE_NAME = re.compile(r"data/[^/]+/test/images/[^/]+")


class BuildReport(Value, frozen=True):
    """What a build did: images written now, images kept from before, stale files removed.

    ``stems`` says which texts were split from their options, ``fields`` which foreign fields are not columns or became
    text, ``checklist`` what is left to do before publishing.
    """

    n_questions: int
    n_images: int
    n_written: int
    n_kept: int
    n_removed: int
    stems: SplitReport
    checklist: tuple[str, ...]
    fields: tuple[str, ...] = ()


def build_release(
    benchmark: Benchmark,
    out: Path,
    settings: BuildSettings | None = None,
    *,
    n_processes: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> BuildReport:
    """Write a release, or finish or renew one that is there.

    Originals keep their bytes. An image that an earlier build finished from the same original by the same recipe is
    not touched. The same input gives the same bytes on the same libraries. Views that are equal in pixels are
    files of their own.

    Args:
        benchmark: Where questions and originals come from.
        out: Folder of the release; made if missing, and refused if it holds anything else.
        settings: Views and policies; the 29 views with their defaults if None.
        n_processes: Rendering processes; the number of processors if None.
        on_progress: Called with the number of finished and of all images.

    Raises:
        UsageError: If a view cannot be part of a release, or two questions would share a file.
        GeometryError: If a view of a question cannot be made; nothing is written then.
        ImageError: If originals cannot be decoded; all others are finished, and a later call goes on from there.
        StoreError: If the folder holds something else, cannot be written, or the disk is full.
        BenchmarkError: If there is no question, or an original changed since it was read.
    """
    settings = settings or BuildSettings()
    curated = curate(benchmark.questions(), settings.tasks)
    questions = curated.questions
    if not questions:
        raise BenchmarkError(f"benchmark {benchmark.identity.name} has no question", hint="check the data")
    refuse_unreadable(questions)
    images = tuple(plan_release(questions, settings))
    check_unique_names(images)
    built = read_built(out)
    finished = {
        image.name: built[image.name]
        for image in images
        if image.name in built and built[image.name].build_key == image.key and is_whole(out, built[image.name])
    }
    n_kept = len(finished)
    journal = Journal(out)
    journal.append(())
    pending = [image for image in images if image.name not in finished]
    for batch in _make(benchmark, questions, pending, out, settings, n_processes):
        journal.append(batch)
        finished.update({image.path: image for image in batch})
        if on_progress is not None:
            on_progress(len(finished), len(images))
    write_papers(benchmark, curated, images, out, settings)
    n_removed = _remove_stale(out, set(built) - {image.name for image in images})
    manifest = [finished[image.name] for image in images]
    write_if_changed(out / "metadata" / "image_manifest.json", encode_document(manifest))
    journal.remove()
    return BuildReport(
        n_questions=len(questions),
        n_images=len(images),
        n_written=len(images) - n_kept,
        n_kept=n_kept,
        n_removed=n_removed,
        stems=curated.split_report,
        checklist=closing_checklist(curated, settings, out),
        fields=tell_fields(questions),
    )


def _make(
    benchmark: Benchmark,
    questions: Sequence[Question],
    pending: Sequence[PlannedImage],
    out: Path,
    settings: BuildSettings,
    n_processes: int | None,
) -> Iterator[list[BuiltImage]]:
    """Yield finished images in batches: originals one by one, built views by picture.

    Raises:
        ImageError: After all others are finished, if originals cannot be decoded.
        StoreError: At once, if a file cannot be written.
    """
    by_id = {question.id: question for question in questions}
    for image in pending:
        if image.is_original:
            yield [_copy_original(benchmark, by_id[image.question_id], image, out)]
    views_of: dict[str, list[PlannedImage]] = {}
    for image in pending:
        if not image.is_original:
            views_of.setdefault(by_id[image.question_id].image.file_sha256, []).append(image)
    jobs = [_job(benchmark, by_id[images[0].question_id], images) for images in views_of.values()]
    render = RenderSettings(resampler=settings.resampler, jpeg=settings.jpeg, hash_pixels=False)
    failed: list[EyechartError] = []
    outcomes = render_batches(jobs, out, render, n_processes=n_processes) if jobs else iter(())
    for outcome, images in zip(outcomes, views_of.values(), strict=True):
        if isinstance(outcome.error, StoreError):
            raise outcome.error
        if outcome.error is not None:
            failed.append(outcome.error)
        else:
            yield _built_views(outcome, images, out)
    if failed:
        rest = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        raise ImageError(f"{failed[0].message}{rest}", hint=f"{failed[0].hint}; the other pictures are finished")


def _job(benchmark: Benchmark, question: Question, images: Sequence[PlannedImage]) -> PictureJob:
    views = tuple((image.name, image.composition) for image in images)
    return PictureJob(benchmark.image_path(question.image), views, f"{question.benchmark}/{question.id}")


def _copy_original(benchmark: Benchmark, question: Question, image: PlannedImage, out: Path) -> BuiltImage:
    source = benchmark.image_path(question.image)
    try:
        with source.open("rb") as stream:
            blocks = iter(lambda: stream.read(_BLOCK_BYTES), b"")
            sha256, n_bytes = write_pieces(out / image.name, blocks)
    except OSError as error:
        raise ImageError(f"{source}: cannot read ({error.strerror})", hint="check the path") from error
    if sha256 != question.image.file_sha256:
        (out / image.name).unlink()
        raise BenchmarkError(f"{source} changed while it was being read", hint="build again")
    return BuiltImage(image.name, sha256, n_bytes, *question.image.size, image.key)


def _built_views(outcome: RenderOutcome, images: Sequence[PlannedImage], out: Path) -> list[BuiltImage]:
    rendered = outcome.picture.views if outcome.picture else ()
    built = []
    for view, image in zip(rendered, images, strict=True):
        _separate(out / view.name)
        ref = view.image
        built.append(BuiltImage(image.name, ref.file_sha256, ref.n_bytes or 0, *ref.size, image.key))
    return built


def _separate(path: Path) -> None:
    """Give a file its own bytes where it shares them with an equal view: changing one must not change another."""
    if path.stat().st_nlink > 1:
        own = path.with_name(f".{path.name}.part")
        shutil.copyfile(path, own)
        own.replace(path)


def _remove_stale(out: Path, names: set[str]) -> int:
    """Delete images that an earlier build made and this one does not have, and parts of files left by a kill."""
    stale = [out / name for name in names if _IMAGE_NAME.fullmatch(name) and (out / name).is_file()]
    for path in stale:
        path.unlink()
    for folder in {path.parent for path in stale}:
        if not any(folder.iterdir()):
            shutil.rmtree(folder.parent.parent)
    for part in (out / "data").glob("*/test/images/.*.part"):
        part.unlink()
    return len(stale)

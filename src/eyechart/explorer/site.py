"""The screens as plain files that open from a disk or any web host, with thumbnails and crops."""

import io
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
from PIL import Image

from eyechart.errors import EyechartError, UsageError
from eyechart.explorer.filters import MARKS, Filter, size_bands, sources, tasks, verdict_codes
from eyechart.explorer.links import UNSAFE, SiteLinks, board_file
from eyechart.explorer.pages import clip
from eyechart.explorer.pictures import BenchmarkPictures
from eyechart.explorer.question import ViewPane
from eyechart.explorer.screens import Screens
from eyechart.explorer.server import asset_names, read_asset
from eyechart.explorer.site_pair import PairData
from eyechart.explorer.study import ExploredRun, Study
from eyechart.explorer.tiles import TileCutter
from eyechart.runs.baselines import BASELINE
from eyechart.runs.files import write_whole
from eyechart.schema import JsonObject, Size

_CROP_FAMILIES = ("crop", "target_only", "original_plus_crop")
_N_HASH = 8
"""Digits that tell a question from another one of the same id in another run."""


class SiteOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a site holds.

    Args:
        views: Conditions whose pictures are written; all if empty.
        original_px: Longest side of the whole picture.
        crop_px: Longest side of crops.
        whole_px: Longest side of other pictures that are as large as the original.
        quality: JPEG quality of pictures that are shrunk; what fits is written as PNG of the very pixels.
    """

    views: tuple[str, ...] = ()
    original_px: int = 1600
    crop_px: int = 1024
    whole_px: int = 640
    quality: int = 80


class WrittenSite(msgspec.Struct, frozen=True):
    """What was written."""

    index: Path
    n_files: int
    n_bytes: int
    notes: tuple[str, ...]


def _tell_nobody(n_done: int, n_all: int) -> None:
    del n_done, n_all


def write_site(
    study: Study,
    out: Path,
    data: Path | None = None,
    options: SiteOptions | None = None,
    *,
    tell: Callable[[int, int], None] = _tell_nobody,
) -> WrittenSite:
    """Write all screens of a study into a folder.

    Args:
        study: The runs.
        out: A new or empty folder, or an older site of ours, whose files are replaced.
        data: File or folder of the pictures, where a run's own is not there any more.
        options: What to write.
        tell: Called with how many pages of questions and answers are written, and of how many.

    Returns:
        Its first page, files and bytes.

    Raises:
        UsageError: If ``out`` holds something else.
        StoreError: If a file cannot be written.
    """
    _check_empty(out)
    options = options or SiteOptions()
    written = _Written(out)
    pages = tuple(_page_names(number, run) for number, run in enumerate(study.runs))
    pictures = SitePictures(study, data, options, written)
    for name in asset_names():
        written.write(f"static/{name}", read_asset(name) or b"")
    top = Screens(study, SiteLinks("", pages), pictures, _site_note(options))
    written.write("index.html", top.index().encode())
    for number in range(len(study.runs)):
        written.write(f"run-{number}.html", top.run(number).encode())
        for other in study.comparable(number):
            written.write(f"compare-{number}-{other}.html", top.compare(number, other).encode())
    n_done, n_all = 0, n_long_pages(study)
    tell(n_done, n_all)
    written.write("grid.html", top.site_grid(_grid_data(study, pages)).encode())
    if len(study.runs) > 1:
        data_of_pairs = PairData(study, pages, pictures)
        for name, script in data_of_pairs.scripts():
            written.write(name, script)
            n_done += 1
            tell(n_done, n_all)
        written.write("pair.html", top.site_pair(data_of_pairs.page()).encode())
    for key in top.boards.keys:
        written.write(board_file(*key), top.leaderboard(key).encode())
    inner = Screens(study, SiteLinks("../", pages), pictures)
    for number, run in enumerate(study.runs):
        for question in run.table.questions:
            name = pages[number][question.id]
            page = inner.question(number, question.id, Filter(sort="pattern"), page_name=name)
            written.write(f"questions/{name}", page.encode())
            n_done += 1
            tell(n_done, n_all)
    pictures.close()
    return WrittenSite(out / "index.html", written.n_files, written.n_bytes, pictures.notes)


def n_long_pages(study: Study) -> int:
    """Return how many files of a site take long: a page per question, and answers per view where runs are paired."""
    n_questions = sum(len(run.table.questions) for run in study.runs)
    return n_questions + (sum(len(run.table.conditions) for run in study.runs) if len(study.runs) > 1 else 0)


class SitePictures:
    """Writes the pictures of the panes on first use, each distinct picture once.

    Args:
        study: The runs.
        data: File or folder of the pictures.
        options: Sizes and views.
        written: Where to write.
    """

    def __init__(self, study: Study, data: Path | None, options: SiteOptions, written: "_Written") -> None:
        self._study = study
        self._options = options
        self._written = written
        self._opened = tuple(BenchmarkPictures(run.recorded, data) for run in study.runs)
        self._cutters: dict[str, TileCutter] = {}
        self._sources: dict[tuple[str, Size | None], JsonObject] = {}
        self._notes: dict[str, None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be written, each once."""
        return tuple(self._notes)

    def missing(self, number: int) -> str:
        """Return why pictures are not here, empty if they are."""
        reason = self._study.run(number).clean(self._opened[number].missing)
        if reason:
            self._notes[reason] = None
        return reason

    def source(self, number: int, pane: ViewPane, seen: Size | None) -> JsonObject | None:
        """Return the file of a picture, written now if it is new; None if it is not here or was not asked for."""
        if self.missing(number) or (self._options.views and pane.condition not in self._options.views):
            return None
        key = (pane.picture.recipe_key, seen)
        if key not in self._sources:
            try:
                self._sources[key] = self._write(number, pane, seen)
            except EyechartError as error:
                self._notes[error.message] = None
                return None
        return self._sources[key]

    def thumbnail(self, number: int, pane: ViewPane) -> str:
        """Return the address of a picture from a page at the top of the site."""
        found = self.source(number, pane, None)
        return "" if found is None else str(found["url"]).removeprefix("../")

    def close(self) -> None:
        """Remove temporary files."""
        for cutter in self._cutters.values():
            cutter.close()

    def _write(self, number: int, pane: ViewPane, seen: Size | None) -> JsonObject:
        longest = _longest_side(self._study.run(number).table.view_of[pane.condition], self._options)
        pixels = self._cutter(number).thumbnail(pane.picture, seen, longest)
        height, width = pixels.shape[:2]
        is_exact = Size(width, height) == (seen or pane.picture.size)
        stem = pane.picture.recipe_key[:20] + ("" if seen is None else f"-{seen.width}x{seen.height}")
        name = f"pictures/{stem}.{'png' if is_exact else 'jpg'}"
        stream = io.BytesIO()
        image = Image.fromarray(np.ascontiguousarray(pixels))
        if is_exact:
            image.save(stream, "PNG", optimize=False)
        else:
            image.save(stream, "JPEG", quality=self._options.quality, optimize=True)
        self._written.write(name, stream.getvalue())
        return {"url": f"../{name}", "width": width, "height": height, "exact": is_exact}

    def _cutter(self, number: int) -> TileCutter:
        benchmark = self._opened[number].benchmark
        if benchmark is None:
            raise UsageError(self.missing(number))
        key = self._opened[number].key
        if key not in self._cutters:
            self._cutters[key] = TileCutter(benchmark)
        return self._cutters[key]


class _Written:
    """Counts what is written into a folder."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self.n_files, self.n_bytes = 0, 0

    def write(self, name: str, content: bytes) -> None:
        """Write one file.

        Raises:
            StoreError: If it cannot be written.
        """
        write_whole(self._out / name, (content,))
        self.n_files += 1
        self.n_bytes += len(content)


def _longest_side(view: str, options: SiteOptions) -> int:
    if view == BASELINE:
        return options.original_px
    return options.crop_px if view.startswith(_CROP_FAMILIES) else options.whole_px


def _check_empty(out: Path) -> None:
    if out.is_dir() and any(out.iterdir()) and not (out / "static" / "question.js").is_file():
        raise UsageError(f"{out} holds other files", hint="give --out a new or empty folder")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file", hint="give --out a folder")


def _page_names(number: int, run: ExploredRun) -> dict[str, str]:
    """Return the file of every question: its place and what of its id a file name may hold."""
    return {
        question.id: f"run{number}-{at + 1:04d}-{UNSAFE.sub('-', question.id)[:40]}.html"
        for at, question in enumerate(run.table.questions)
    }


def _site_note(options: SiteOptions) -> str:
    which = "all views" if not options.views else ", ".join(options.views)
    return (
        f"Pictures of {which}: originals up to {options.original_px} px, crops up to {options.crop_px} px, others up "
        f"to {options.whole_px} px a side; "
        "a caption says where a picture was shrunk for this site. Made by eyechart; no script here loads anything else."
    )


def _grid_data(study: Study, pages: tuple[dict[str, str], ...]) -> JsonObject:
    """Return the matrices of all runs, small enough to stand in one page."""
    has_several = len({run.table.run.benchmark.name for run in study.runs}) > 1
    labels = [f"{run.label} · {run.table.run.benchmark.name}" if has_several else run.label for run in study.runs]
    return {"runs": [_run_data(run, label, own) for run, label, own in zip(study.runs, labels, pages, strict=True)]}


def _run_data(run: ExploredRun, label: str, pages: dict[str, str]) -> JsonObject:
    codes = verdict_codes(run)
    rows = zip(run.table.questions, run.texts, tasks(run), sources(run), strict=True)
    targets, seen = size_bands(run.target_px), size_bands(run.seen_px)
    return {
        "label": label,
        "baselines": run.baselines,
        "conditions": run.table.conditions,
        "views": [run.table.view_of[name] for name in run.table.conditions],
        "questions": [
            {
                "id": question.id,
                "content": question.content[:_N_HASH],
                "text": clip(text),
                "task": task,
                "source": source,
                "target": targets[at],
                "seen": seen[at],
                "target_px": None if np.isnan(run.target_px[at]) else round(float(run.target_px[at]), 1),
                "seen_px": None if np.isnan(run.seen_px[at]) else round(float(run.seen_px[at]), 1),
                "marks": "".join(str(code) for code in codes[at].tolist()),
                "page": pages[question.id],
            }
            for at, (question, text, task, source) in enumerate(rows)
        ],
        "marks": [MARKS[code] for code in sorted(MARKS)],
    }

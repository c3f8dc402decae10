"""A published collection in SUM's layout, read by its own metadata and never recomputed."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from eyechart.benchmarks._foreign_views import known_view, own_id
from eyechart.benchmarks._release import (
    MEDIA_TYPES,
    MIRROR_OMISSIONS,
    ORIGINAL,
    FolderShelf,
    ManifestEntry,
    Shelf,
    ViewRow,
    as_box,
    as_boxes,
    as_choices,
    as_notes,
    as_size,
    canonical_rows,
    config_names,
    errata_notes,
    fetched_from,
    image_name,
    is_sha256,
    metadata_path,
    read_json,
    read_manifest,
    view_rows,
)
from eyechart.errors import BenchmarkError, UsageError
from eyechart.geometry import intersect, whole
from eyechart.images.decode import examine
from eyechart.images.hash import file_sha256
from eyechart.schema import BenchmarkIdentity, Box, ImageRef, Question, Size, ViewImage, content_sha256

__all__ = ["SumKind"]

_QUESTION_FIELDS = frozenset(
    {
        *("id", "base_sample_id", "question", "question_raw", "choices", "answer", "answer_text", "answers"),
        *("image_group_id", "source_dataset", "task_type", "quality_notes"),
        *("bbox_original", "bbox_clipped", "targets", "target_policy"),
    }
)
_VIEW_FIELDS = frozenset({"image", "file_name", "view_id", "width", "height", "bbox_view", "crop_box_original"})
_SCALE_FIELDS = frozenset({"view_family", "crop_area_multiplier", "downsample_linear_scale"})
_REVISION_FILES = ("image_manifest", "errata")
_N_SHOWN = 3


class SumOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A release is read as it is: there is nothing to choose."""


class SumBenchmark:
    """A release folder: complete, or the part of it that was fetched.

    ``warnings`` names the images that a view's rows promise and that are not on disk.

    Args:
        root: The folder with its papers and rows.
        shelf: Where its images are; in the same folder if None.
    """

    identity: BenchmarkIdentity

    def __init__(self, root: Path, shelf: Shelf | None = None) -> None:
        self.root = self._root = root
        self.is_streamed = shelf is not None
        self._shelf = shelf or FolderShelf(root)
        self._views = config_names(root)
        self._manifest = read_manifest(root)
        self._rows: dict[str, dict[str, ViewRow]] = {}
        canonical = canonical_rows(root) or self._first_rows()
        if not canonical:
            raise BenchmarkError(
                f"{root} holds no release: neither dataset.json nor data/<view>/test/metadata.jsonl",
                hint="give the folder that holds data/ and metadata/",
            )
        self._canonical = _by_id(canonical)
        self._errata = errata_notes(read_json(root, "errata"), tuple(self._canonical))
        origin = fetched_from(root)
        self.identity = BenchmarkIdentity(
            name="sum", revision=self._revision(), options={"fetched_from": origin} if origin else {}
        )

    def questions(self) -> Iterator[Question]:
        """Yield every question in the order of ``dataset.json``, else of the original view's rows."""
        return iter(self._questions.values())

    def image_path(self, image: ImageRef) -> Path:
        """Return where the bytes of a picture lie, original or released view.

        Raises:
            BenchmarkError: If no row shows it, or its file is not on disk.
        """
        name = self._names.get(image.file_sha256) or self._recorded_names.get(image.file_sha256)
        if name is None or not self._shelf.holds(name):
            where = "is not on disk" if name else "is in no row of this release"
            place = self._root / name if name else self._root
            raise BenchmarkError(
                f"{place}: the picture with SHA-256 {image.file_sha256[:12]}… {where}",
                hint="fetch the view it belongs to",
            )
        return self._shelf.path(name)

    def released_views(self) -> tuple[str, ...]:
        """Return the views of the release's own configs, in its own order, those of ``read_as`` by our ids."""
        return tuple(self.read_as.get(config, config) for config in self._views)

    @cached_property
    def read_as(self) -> dict[str, str]:
        """Our id of each config whose own id no family reads, where its rows tell family and scale."""
        found: dict[str, str] = {}
        for config in self._views:
            if known_view(config) is None:
                row = next(iter(self._view(config).values()), None)
                view = known_view(config, row.values) if row else None
                view_id = config if view is None else own_id(view)
                if view_id not in {*self._views, *found.values()}:
                    found[config] = view_id
        return found

    @cached_property
    def _config_of(self) -> dict[str, str]:
        return {view_id: config for config, view_id in self.read_as.items()}

    def released_image(self, question: Question, view_id: str) -> ViewImage | None:
        """Return a released view by what metadata and manifest say, reading no pixel.

        A file that no manifest names is hashed.

        Returns:
            None if the view has no row for this question, or its file is missing.

        Raises:
            BenchmarkError: If the row's place or size cannot be told.
        """
        config = self._config_of.get(view_id, view_id)
        row = self._view(config).get(question.id)
        if row is None:
            return None
        name = self._name(config, row.values)
        if name is None or not self._shelf.holds(name):
            return None
        image = self._image(config, row)
        values = row.values
        region = as_box(values.get("crop_box_original")) or whole(question.image.size)
        self._names[image.file_sha256] = name
        return ViewImage(
            question_id=question.id,
            view=view_id,
            image=image,
            source_region=region,
            target_in_view=as_box(values.get("bbox_view")),
            notes=("saturated",) if _is_saturated(values, question.image.size) else (),
            extra={
                name: value
                for name, value in values.items()
                if name not in _QUESTION_FIELDS | _VIEW_FIELDS and value is not None
            },
        )

    @cached_property
    def unread_views(self) -> tuple[str, ...]:
        """The release's views whose rows are not on disk, because only others were fetched."""
        return tuple(view_id for view_id in self._views if not self._view(view_id))

    @cached_property
    def missing(self) -> dict[str, tuple[str, ...]]:
        """Release-relative paths of the images that rows promise and that are not on disk, by view."""
        absent: dict[str, tuple[str, ...]] = {}
        for view_id in self._views:
            names = [self._name(view_id, row.values) for row in self._view(view_id).values()]
            lost = tuple(name for name in names if name is not None and not self._shelf.holds(name))
            if lost:
                absent[view_id] = lost
        return absent

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for views read by their rows, one for those without rows, and one for each that lacks images."""
        renamed = ", ".join(f"{config} as {view_id}" for config, view_id in self.read_as.items())
        told = [f"read by their rows: {renamed}"] if renamed else []
        unread = [f"{', '.join(self.unread_views)}: no rows on disk"] if self.unread_views else []
        lost = [self._lost(view_id, names) for view_id, names in self.missing.items()]
        return (*told, *unread, *lost)

    def _lost(self, view_id: str, names: tuple[str, ...]) -> str:
        shown = f"{', '.join(names[:_N_SHOWN])}{', …' if len(names) > _N_SHOWN else ''}"
        # Only where it is all that lacks: a part that was fetched lacks it for another reason.
        is_omission = set(names) <= MIRROR_OMISSIONS
        known = (
            " (ModelScope took it out; Hugging Face has it). Comparisons leave its question out" if is_omission else ""
        )
        return f"{view_id}: {len(names)} of {len(self._view(view_id))} images missing: {shown}{known}"

    @cached_property
    def _questions(self) -> dict[str, Question]:
        return {question_id: self._question(row) for question_id, row in self._canonical.items()}

    @cached_property
    def _names(self) -> dict[str, str]:
        """The image of each known content hash; released views are added as they are asked for."""
        found = {}
        for question in self._questions.values():
            row = self._view(ORIGINAL).get(question.id) or self._canonical[question.id]
            name = self._name(ORIGINAL, row.values)
            if name is not None:
                found[question.image.file_sha256] = name
        return found

    @cached_property
    def _recorded_names(self) -> dict[str, str]:
        """The image of each hash in the manifest, on disk if one of that content is: for pictures of an earlier run."""
        found: dict[str, str] = {}
        for name, entry in self._manifest.items():
            if entry.sha256 is not None and (entry.sha256 not in found or self._shelf.holds(name)):
                found[entry.sha256] = name
        return found

    def _first_rows(self) -> list[ViewRow]:
        order = sorted(self._views, key=lambda view_id: view_id != ORIGINAL)
        return next((rows for rows in (list(view_rows(self._root, view_id)) for view_id in order) if rows), [])

    def _view(self, view_id: str) -> dict[str, ViewRow]:
        if view_id not in self._rows:
            self._rows[view_id] = _by_id(list(view_rows(self._root, view_id)))
        return self._rows[view_id]

    def _name(self, view_id: str, values: Mapping[str, object]) -> str | None:
        file_name = values.get("file_name")
        if isinstance(file_name, str):
            return image_name(view_id, file_name)
        path = values.get("image")
        return image_name(view_id, f"../../../{path}") if isinstance(path, str) else None

    def _image(self, view_id: str, row: ViewRow) -> ImageRef:
        """Return what metadata and manifest say about a row's image; only what they leave out is read from the file."""
        name = self._name(view_id, row.values)
        if name is None:
            raise BenchmarkError(f"{row.place}: no usable file_name", hint="file_name is relative to its metadata file")
        entry = self._manifest.get(name, ManifestEntry(None, None, None))
        sha256 = entry.sha256 or (_group_sha256(row.values) if view_id == ORIGINAL else None)
        size = as_size(row.values) or entry.size
        media_type = MEDIA_TYPES.get(Path(name).suffix.lower())
        if sha256 is None or size is None or media_type is None:
            return examine(self._shelf.path(name), name)[0]
        return ImageRef(file_sha256=sha256, size=size, media_type=media_type, n_bytes=entry.n_bytes)

    def _question(self, canonical: ViewRow) -> Question:
        original = self._view(ORIGINAL).get(canonical.id)
        own = {name: value for name, value in canonical.values.items() if value is not None}
        values = {**(original.values if original else {}), **own}
        image = self._image(ORIGINAL, ViewRow(canonical.place, canonical.id, values))
        targets = as_boxes(values.get("targets")) or as_boxes(values.get("bbox_original"))
        clipped = () if values.get("targets") is not None else as_boxes(values.get("bbox_clipped"))
        erratum = tuple(f"errata: {note}" for note in self._errata.get(canonical.id, ()))
        raw = values.get("question_raw")
        return Question(
            id=canonical.id,
            benchmark="sum",
            text=_text(values, "question") or _text(values, "question_raw") or "",
            text_raw=raw if isinstance(raw, str) else None,
            image=image,
            image_group=_group(values) or image.file_sha256 or canonical.id,
            choices=as_choices(values.get("choices")),
            answer=_text(values, "answer"),
            answers=as_choices(values.get("answers")),
            targets=targets,
            targets_clipped=clipped or _clipped(targets, image.size),
            target_policy="first" if values.get("target_policy") == "first" else "union",
            task=_text(values, "task_type"),
            source=_text(values, "source_dataset"),
            notes=(*as_notes(values.get("quality_notes")), *erratum),
            extra=_foreign(values),
        )

    def _revision(self) -> str:
        """Return a hash of what the release says about itself: the same however many of its views were fetched.

        Images enter through the hashes of the manifest; the rows of the views enter only where there is no manifest.
        """
        files = [self._root / "dataset.json", *(self._root / "metadata" / f"{name}.json" for name in _REVISION_FILES)]
        if not self._manifest or not files[0].is_file():
            files += [metadata_path(self._root, view_id) for view_id in self._views]
        present = [path for path in files if path.is_file()]
        return content_sha256([[path.relative_to(self._root).as_posix(), file_sha256(path)[0]] for path in present])


class SumKind:
    """A release folder in the layout of SUM, read by its own metadata."""

    options = SumOptions

    def open(self, data: Path | None, options: msgspec.Struct) -> SumBenchmark:  # noqa: ARG002 -- there are none
        """Return the benchmark of a release folder.

        Raises:
            UsageError: If no data is given, or it is not a folder.
            BenchmarkError: If the folder holds no release, or a row is damaged or stands twice.
        """
        if data is None:
            raise UsageError("sum needs the folder of a release, and none was named", hint="--data FOLDER")
        if not data.is_dir():
            raise UsageError(f"sum needs the folder of a release, not {data}", hint="--data FOLDER")
        return SumBenchmark(data)


def _by_id(rows: list[ViewRow]) -> dict[str, ViewRow]:
    by_id: dict[str, ViewRow] = {}
    for row in rows:
        if row.id in by_id:
            raise BenchmarkError(
                f"{row.place}: id {row.id!r} stands already at {by_id[row.id].place}",
                hint="eyechart verify lists every fault of a release",
            )
        by_id[row.id] = row
    return by_id


def _clipped(targets: tuple[Box, ...], size: Size) -> tuple[Box, ...]:
    inside = (intersect(target, whole(size)) for target in targets)
    return tuple(box for box in inside if box is not None)


def _group(values: Mapping[str, object]) -> str | None:
    return _text(values, "image_group_id")


def _group_sha256(values: Mapping[str, object]) -> str | None:
    """Return the group where it is the content hash of the original, as SUM says; own groups may be any text."""
    group = _group(values)
    return group if group is not None and is_sha256(group) else None


def _text(values: Mapping[str, object], field: str) -> str | None:
    value = values.get(field)
    return value if isinstance(value, str) and value else None


def _foreign(values: Mapping[str, object]) -> dict[str, object]:
    own = _QUESTION_FIELDS | _VIEW_FIELDS | _SCALE_FIELDS
    return {name: value for name, value in values.items() if name not in own and value is not None}


def _is_saturated(values: Mapping[str, object], original: Size) -> bool:
    return as_box(values.get("crop_box_original")) == whole(original)

"""Everything a release says about itself, read leniently: what cannot be read is a finding, not an exception."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from eyechart.benchmarks._foreign_views import known_view
from eyechart.benchmarks._release import (
    ManifestEntry,
    as_id,
    as_notes,
    canonical_rows,
    config_names,
    errata_notes,
    id_of,
    image_name,
    metadata_path,
    read_json,
    read_manifest,
)
from eyechart.benchmarks._tables import decode_json
from eyechart.errors import BenchmarkError
from eyechart.hub.record import read_record
from eyechart.releases.findings import Finding, found
from eyechart.releases.journal import JOURNAL_NAME
from eyechart.schema import View

METADATA_FILES = ("image_manifest", "validation_summary", "errata", "path_mapping", "features")


class Row(NamedTuple):
    """One row of a view: where it stands, its question's id, its fields, and the file it shows if that is a path."""

    path: str
    line: int
    id: str
    values: dict[str, object]
    image: str | None


class Contents(NamedTuple):
    """A release as read.

    Args:
        root: Its folder.
        views: Declared configs and folders, in order.
        rows: Readable rows by view.
        canonical: Fields of ``dataset.json`` by id; those of the original view where there is no such file.
        has_dataset: Whether there is a ``dataset.json``.
        manifest: Entries by path, None where there is no manifest.
        errata: What the errata say, by id.
        summary: The validation summary.
        features: What ``metadata/features.json`` declares, None where it is not there or no JSON.
        fetched: Files that were fetched, None where the folder is not part of a larger release.
    """

    root: Path
    views: tuple[str, ...]
    rows: dict[str, tuple[Row, ...]]
    canonical: dict[str, dict[str, object]]
    has_dataset: bool
    manifest: dict[str, ManifestEntry] | None
    errata: dict[str, tuple[str, ...]]
    summary: object
    features: object = None
    fetched: frozenset[str] | None = None

    def view_of(self, view_id: str) -> View | None:
        """Return the view of an id by its spelling, else by its first row, None where neither tells."""
        first = next(iter(self.rows[view_id]), None)
        return known_view(view_id, first.values if first else None)

    def is_left_out(self, name: str) -> bool:
        """Return whether a file is missing because only other parts of the release were fetched."""
        return self.fetched is not None and name not in self.fetched

    def is_declared(self, question_id: str) -> bool:
        """Return whether the release itself says that something is odd about a question."""
        notes = as_notes(self.canonical.get(question_id, {}).get("quality_notes"))
        return question_id in self.errata or bool(notes)


def read_contents(root: Path) -> tuple[Contents, tuple[Finding, ...]]:
    """Read all metadata of a release, and report what cannot be read.

    Raises:
        BenchmarkError: If there is nothing that looks like a release.
        HubError: If the record of what was fetched is damaged.
    """
    findings = list(_unreadable_files(root))
    broken = {finding.path for finding in findings}
    views = config_names(root) if "metadata/validation_summary.json" not in broken else _folders(root)
    record = read_record(root)
    fetched = None if record is None else frozenset(record.files)
    rows: dict[str, tuple[Row, ...]] = {}
    for view_id in views:
        readable = list(_read_rows(root, view_id, fetched))
        rows[view_id] = tuple(entry for entry in readable if isinstance(entry, Row))
        findings += [entry for entry in readable if isinstance(entry, Finding)]
    has_dataset = (root / "dataset.json").is_file() and "dataset.json" not in broken
    canonical = {row.id: row.values for row in canonical_rows(root)} if has_dataset else {}
    canonical = canonical or {row.id: row.values for row in rows.get("original", ())}
    if not canonical and not any(rows.values()):
        raise BenchmarkError(
            f"{root} holds no release: no dataset.json and no data/<view>/test/metadata.jsonl",
            hint="give the folder that holds data/ and metadata/",
        )
    has_manifest = (root / "metadata/image_manifest.json").is_file() and "metadata/image_manifest.json" not in broken
    errata = None if "metadata/errata.json" in broken else read_json(root, "errata")
    summary = None if "metadata/validation_summary.json" in broken else read_json(root, "validation_summary")
    features = None if "metadata/features.json" in broken else read_json(root, "features")
    contents = Contents(
        root=root,
        views=views,
        rows=rows,
        canonical=canonical,
        has_dataset=has_dataset,
        manifest=read_manifest(root) if has_manifest else None,
        errata=errata_notes(errata, tuple(canonical)),
        summary=summary,
        features=features,
        fetched=fetched,
    )
    findings += _missing_papers(contents, broken)
    findings += _unknown_errata(errata, canonical)
    return contents, tuple(findings)


def _folders(root: Path) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in (root / "data").glob("*") if path.is_dir()))


def _unreadable_files(root: Path) -> Iterator[Finding]:
    for name in METADATA_FILES:
        try:
            read_json(root, name)
        except BenchmarkError as error:
            yield found("unreadable_json", f"metadata/{name}.json", error.message)
    try:
        canonical_rows(root)
    except BenchmarkError as error:
        yield found("unreadable_json", "dataset.json", error.message)


def _missing_papers(contents: Contents, broken: set[str]) -> Iterator[Finding]:
    root = contents.root
    if not contents.has_dataset and "dataset.json" not in broken:
        yield found("missing_dataset", "dataset.json")
    if contents.manifest is None and "metadata/image_manifest.json" not in broken:
        yield found("missing_manifest", "metadata/image_manifest.json")
    if (root / JOURNAL_NAME).exists():
        yield found("unfinished_build", JOURNAL_NAME)


def _unknown_errata(errata: object, canonical: Mapping[str, object]) -> Iterator[Finding]:
    for entry in errata if isinstance(errata, list) else []:
        ids = entry.get("ids") if isinstance(entry, Mapping) else None
        for listed in ids if isinstance(ids, list) else []:
            question_id = as_id(listed)
            if question_id is not None and question_id not in canonical:
                yield found("unknown_erratum", "metadata/errata.json", question_id, id=question_id)


def _read_rows(root: Path, view_id: str, fetched: frozenset[str] | None) -> Iterator[Row | Finding]:
    """Yield the rows of one view, and a finding for each line that is none."""
    path = metadata_path(root, view_id)
    name = path.relative_to(root).as_posix()
    if not path.is_file():
        is_left_out = fetched is not None and name not in fetched
        yield found("not_fetched" if is_left_out else "missing_metadata", name, view=view_id)
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                values = decode_json(line, f"line {number}")
                if not isinstance(values, dict):
                    yield found("malformed_row", name, f"line {number} is not an object", view=view_id, line=number)
                    continue
                file_name = values.get("file_name")
                image = image_name(view_id, file_name) if isinstance(file_name, str) else None
                yield Row(name, number, id_of(values, f"line {number}"), values, image)
            except BenchmarkError as error:
                yield found("malformed_row", name, error.message, view=view_id, line=number)

"""``croissant.json``: a release described in the Croissant format, one record set per configuration."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from eyechart.schema import JsonObject

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"

_CONTEXT: JsonObject = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_LICENSE_NOTE = "Terms differ by source: see THIRD_PARTY_NOTICES.md."


class ConfigFile(NamedTuple):
    """The metadata file of one configuration.

    Args:
        view_id: The configuration.
        name: Path of its ``metadata.jsonl`` inside the release.
        sha256: Of that file.
        n_bytes: Its length.
        rows: Its rows.
    """

    view_id: str
    name: str
    sha256: str
    n_bytes: int
    rows: Sequence[Mapping[str, object]]


def describe(
    configs: Sequence[ConfigFile],
    *,
    title: str,
    description: str,
    repository: str | None,
    date_published: str | None,
    version: str,
) -> JsonObject:
    """Return the description as JSON-LD.

    Args:
        configs: All configurations.
        title: Name of the collection.
        description: One or two sentences.
        repository: ``OWNER/NAME`` on the Hugging Face hub, if it is known.
        date_published: Day, ``YYYY-MM-DD``, if it is known.
        version: Version of the content, ``MAJOR.MINOR.PATCH``.
    """
    url = f"https://huggingface.co/datasets/{repository}" if repository else None
    head: JsonObject = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": title,
        "description": f"{description} {_LICENSE_NOTE}",
        "license": f"{url}/blob/main/THIRD_PARTY_NOTICES.md" if url else "other",
        "citeAs": f"{title}, {url or 'cite its address'} (name the revision)",
        "version": version,
    }
    if url is not None:
        head["url"] = url
    if date_published is not None:
        head["datePublished"] = date_published
    return {
        **head,
        "distribution": [
            *(_file_object(config) for config in configs),
            *([] if url is None else [_repository(url), *(_file_set(config) for config in configs)]),
        ],
        "recordSet": [_record_set(config) for config in configs],
    }


def _file_object(config: ConfigFile) -> JsonObject:
    return {
        "@type": "cr:FileObject",
        "@id": f"rows-{config.view_id}",
        "name": f"rows-{config.view_id}",
        "description": f"{len(config.rows)} rows of the configuration {config.view_id}; file_name is relative to it.",
        "contentUrl": config.name,
        "contentSize": f"{config.n_bytes} B",
        "encodingFormat": "application/jsonlines",
        "sha256": config.sha256,
    }


def _repository(url: str) -> JsonObject:
    return {
        "@type": "cr:FileObject",
        "@id": "repository",
        "name": "repository",
        "description": "The repository that holds the images.",
        "contentUrl": url,
        "encodingFormat": "git+https",
        # A repository has no hash of its own; the hub's descriptions name this open point too.
        "sha256": "https://github.com/mlcommons/croissant/issues/80",
    }


def _file_set(config: ConfigFile) -> JsonObject:
    return {
        "@type": "cr:FileSet",
        "@id": f"images-{config.view_id}",
        "name": f"images-{config.view_id}",
        "description": f"Images of the configuration {config.view_id}.",
        "containedIn": {"@id": "repository"},
        "encodingFormat": "image/*",
        "includes": f"data/{config.view_id}/test/images/*",
    }


def _record_set(config: ConfigFile) -> JsonObject:
    return {
        "@type": "cr:RecordSet",
        "@id": config.view_id,
        "name": config.view_id,
        "description": f"Questions with their images in the view {config.view_id}.",
        "key": {"@id": f"{config.view_id}/id"},
        "field": list(_fields(config)),
    }


def _fields(config: ConfigFile) -> Iterator[JsonObject]:
    names = dict.fromkeys(name for row in config.rows for name in row)
    for name in names:
        values = [row[name] for row in config.rows if row.get(name) is not None]
        if not values:
            continue
        kind, is_list = _kind_of(values)
        field: JsonObject = {
            "@type": "cr:Field",
            "@id": f"{config.view_id}/{name}",
            "name": name,
            "dataType": kind,
            "source": {"fileObject": {"@id": f"rows-{config.view_id}"}, "extract": {"column": name}},
        }
        if is_list:
            field |= {"isArray": True, "arrayShape": _shape(values)}
        yield field


def _kind_of(values: Sequence[object]) -> tuple[str, bool]:
    """Return the Croissant type of a column, and whether its cells are lists."""
    is_list = all(isinstance(value, list) for value in values)
    cells = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    while cells and all(isinstance(cell, list) for cell in cells):
        cells = [entry for cell in cells if isinstance(cell, list) for entry in cell]
    if cells and all(isinstance(cell, bool) for cell in cells):
        return "sc:Boolean", is_list
    if cells and all(isinstance(cell, int) and not isinstance(cell, bool) for cell in cells):
        return "sc:Integer", is_list
    if cells and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells):
        return "sc:Float", is_list
    return "sc:Text", is_list


def _shape(values: Sequence[object]) -> str:
    """Return the shape of a list column: its length where all have the same, -1 else; lists of lists have two."""
    lengths = {len(value) for value in values if isinstance(value, list)}
    inner = {len(entry) for value in values if isinstance(value, list) for entry in value if isinstance(entry, list)}
    outer = lengths.pop() if len(lengths) == 1 else -1
    if not inner:
        return str(outer)
    return f"{outer},{inner.pop() if len(inner) == 1 else -1}"

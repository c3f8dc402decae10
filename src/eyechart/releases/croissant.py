"""``croissant.json``: a release described in the Croissant format, one record set per configuration."""

from collections.abc import Sequence
from typing import NamedTuple

from eyechart.releases.row_schema import Field, croissant_type
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
        n_rows: Number of its rows.
    """

    view_id: str
    name: str
    sha256: str
    n_bytes: int
    n_rows: int


def describe(
    configs: Sequence[ConfigFile],
    schema: Sequence[Field],
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
        schema: The columns of each of them.
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
        "recordSet": [_record_set(config, schema) for config in configs],
    }


def _file_object(config: ConfigFile) -> JsonObject:
    return {
        "@type": "cr:FileObject",
        "@id": f"rows-{config.view_id}",
        "name": f"rows-{config.view_id}",
        "description": f"{config.n_rows} rows of the configuration {config.view_id}; file_name is relative to it.",
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


def _record_set(config: ConfigFile, schema: Sequence[Field]) -> JsonObject:
    return {
        "@type": "cr:RecordSet",
        "@id": config.view_id,
        "name": config.view_id,
        "description": f"Questions with their images in the view {config.view_id}.",
        "key": {"@id": f"{config.view_id}/id"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{config.view_id}/{field.name}",
                "name": field.name,
                "source": {"fileObject": {"@id": f"rows-{config.view_id}"}, "extract": {"column": field.name}},
                **croissant_type(field),
            }
            for field in schema
        ],
    }

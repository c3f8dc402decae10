"""Which sample is of which dataset: an explicit table, checked against what is published of each dataset."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from eyechart.benchmarks._hrscene.sets import SourceSet, Split, facts, set_named, split_size
from eyechart.benchmarks._tables import decode_json, read_rows
from eyechart.errors import BenchmarkError
from eyechart.registry import unknown_name
from eyechart.schema import Size

_N_SHOWN = 3


class MappedSample(NamedTuple):
    """What is known of a sample before its dataset."""

    id: str
    size: Size
    n_options: int


def read_dataset_map(path: Path) -> dict[str, str]:
    """Read a table from sample id to dataset name.

    Args:
        path: JSON with one object ``{"0": "Autonomous_Driving"}``, or CSV or JSONL with columns ``id`` and ``dataset``.

    Raises:
        BenchmarkError: If the file cannot be read, a row lacks a value, or an id stands twice.
        UsageError: If a name is none of the 25.
    """
    found: dict[str, str] = {}
    for place, sample_id, name in _pairs(path):
        if set_named(name) is None:
            raise unknown_name(f"HRScene dataset at {place}", name, tuple(one.name for one in facts().sets))
        if sample_id in found:
            raise BenchmarkError(f"{place}: id {sample_id!r} stands twice", hint="name each sample once")
        found[sample_id] = name
    return found


def check_dataset_map(names: Mapping[str, str], samples: Sequence[MappedSample], split: Split) -> tuple[str, ...]:
    """Hold a map against the samples of a split, and against what is published of each dataset.

    Args:
        names: Sample id → dataset name.
        samples: All samples that were read.
        split: Their split.

    Returns:
        What contradicts the published tables without being impossible, one sentence each.

    Raises:
        BenchmarkError: If a sample has no dataset, a dataset has more samples than it has in all, or a picture has
            another size than all pictures of its dataset.
    """
    lacking = [sample.id for sample in samples if sample.id not in names]
    if lacking:
        raise BenchmarkError(
            f"{len(lacking)} of {len(samples)} samples have no dataset: {_first(lacking)}",
            hint="name every id of the split, or leave the map out",
        )
    by_name: dict[str, list[MappedSample]] = {}
    for sample in samples:
        by_name.setdefault(names[sample.id], []).append(sample)
    notes = [note for one in facts().sets for note in _check_set(one, by_name.get(one.name, []))]
    is_complete = len(samples) == split_size(split)
    counted = Counter({name: len(group) for name, group in by_name.items()})
    return (*notes, *(_check_counts(counted, split) if is_complete else ()))


def _check_set(one: SourceSet, samples: list[MappedSample]) -> list[str]:
    if len(samples) > one.n_samples:
        raise BenchmarkError(
            f"the map gives {one.name} {len(samples)} samples, it has {one.n_samples} in all",
            hint="check the map: are the ids those of this split?",
        )
    known = [sample for sample in samples if sample.size.n_px]  # pictures that can be read
    wrong = [sample for sample in known if not one.smallest.n_px <= sample.size.n_px <= one.largest.n_px]
    if wrong and one.is_of_one_size:
        first = wrong[0]
        raise BenchmarkError(
            f"the map calls {first.id} {one.name}, whose pictures are {_text(one.smallest)}; it is {_text(first.size)}",
            hint=f"{len(wrong)} of {len(samples)} samples of {one.name} contradict the published size: check the map",
        )
    notes = []
    if wrong:
        shown = _first([f"{sample.id} ({_text(sample.size)})" for sample in wrong])
        notes.append(f"{one.name}: {len(wrong)} of {len(samples)} pictures lie beyond its published extremes: {shown}")
    # Five public questions per dataset show which numbers of options there are, not which there are not.
    odd = [sample for sample in samples if sample.n_options and sample.n_options not in one.n_options]
    if samples and len(odd) * 2 > len(samples):
        numbers = " or ".join(str(number) for number in one.n_options)
        notes.append(
            f"{one.name}: {len(odd)} of {len(samples)} questions have not {numbers} options, as public ones do"
        )
    return notes


def _check_counts(counted: Counter[str], split: Split) -> list[str]:
    notes = []
    for one in facts().sets:
        expected = one.n_in(split) if split != "validation" else split_size("validation") // len(facts().sets)
        if expected is not None and counted[one.name] != expected:
            notes.append(f"{one.name}: {counted[one.name]} samples in {split}, {expected} expected")
    return notes


def _pairs(path: Path) -> list[tuple[str, str, str]]:
    if path.suffix.lower() == ".json" and path.is_file():
        given = decode_json(path.read_bytes(), str(path))
        if isinstance(given, dict):
            return [(f"{path}: {key}", str(key), str(name)) for key, name in given.items()]
    rows = []
    for row in read_rows(path):
        sample_id, name = row.values.get("id"), row.values.get("dataset")
        if sample_id is None or not isinstance(name, str):
            raise BenchmarkError(f"{row.place}: no id or no dataset", hint="give columns id and dataset")
        rows.append((row.place, str(sample_id), name))
    return rows


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:_N_SHOWN]) + (", …" if len(names) > _N_SHOWN else "")


def _text(size: Size) -> str:
    return f"{size.width}×{size.height}"

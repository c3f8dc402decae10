"""HRScene's real-world part: 25 datasets of large pictures, with two to ten options each."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from eyechart.benchmarks._cache import cache_folder
from eyechart.benchmarks._hrscene.dataset_map import MappedSample, check_dataset_map, read_dataset_map
from eyechart.benchmarks._hrscene.options import SplitText, split_options
from eyechart.benchmarks._hrscene.samples import Sample, Samples, read_samples
from eyechart.benchmarks._hrscene.sets import Split, set_named, split_size
from eyechart.benchmarks._hrscene.tables import fact_tables
from eyechart.benchmarks._release import fetched_from
from eyechart.benchmarks._unread import refuse_if_none_can_be_read
from eyechart.errors import BenchmarkError, UsageError
from eyechart.kinds import AskDefaults, FactTable
from eyechart.schema import BenchmarkIdentity, ImageRef, Question, ViewImage, content_sha256

__all__ = ["HRSceneKind"]

_LETTER = re.compile(r"\(?([A-J])\)?\.?")
_HIDDEN = frozenset({"", "none", "null", "nan"})
_OWN_COLUMNS = frozenset({"id", "image", "file_name", "question", "answer", "dataset", "category", "split"})
_N_SHOWN = 3
NO_MAP = (
    "the rows name no dataset, so there is no score per dataset or category: give the map from id to dataset with "
    "--option datasets=FILE (columns id and dataset)"
)


class HRSceneOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which part is read.

    Args:
        split: ``validation`` (750, answered by people too), ``testmini`` (1,000) or ``test`` (5,323, answers hidden).
        config: ``realworld_combined``, or the name of one dataset where the copy has such configs.
        datasets: Table from sample id to dataset (JSON, CSV or JSONL); needed for scores per dataset and category where
            the rows themselves do not say.
    """

    split: Split = "testmini"
    config: str | None = None
    datasets: str | None = None


class HRSceneBenchmark:
    """Questions of one split. ``task`` is the category and ``source`` the dataset, both None where no one says them.

    ``warnings`` say what is hidden, missing or odd.
    """

    identity: BenchmarkIdentity
    warnings: tuple[str, ...]
    defaults = AskDefaults(views=("original",), prompt="hrscene_clean", scorer="hrscene_letter")

    def __init__(self, samples: Samples, options: HRSceneOptions, data: Path) -> None:
        origin = {"fetched_from": found} if (found := fetched_from(data)) else {}
        place = str(data)
        if not samples.rows:
            raise BenchmarkError(f"{place} holds no sample of split {options.split}", hint="check --option split=")
        self._path = samples.path
        read = [_Reading(sample) for sample in samples.rows]
        _check_ids(read)
        refuse_if_none_can_be_read([(sample.place, sample.image) for sample in samples.rows])
        names, notes = _datasets(read, options)
        self._questions = tuple(one.question(names.get(one.id), options.split) for one in read)
        self.warnings = (*samples.warnings, *_counts(self._questions, options.split), *_oddities(read), *notes)
        self.identity = BenchmarkIdentity(
            name="hrscene",
            revision=content_sha256([samples.revision, names]),
            options={"split": options.split, "config": options.config, **origin},
        )

    def questions(self) -> Iterator[Question]:
        """Yield every question, in the order of the rows."""
        return iter(self._questions)

    def image_path(self, image: ImageRef) -> Path:
        """Return where the bytes of a picture lie; a picture out of parquet stays for the next 64 at least.

        Raises:
            BenchmarkError: If no question shows it.
        """
        return self._path(image)

    def released_views(self) -> tuple[str, ...]:
        """Return no view: all are made here."""
        return ()

    def released_image(self, question: Question, view_id: str) -> ViewImage | None:  # noqa: ARG002 -- none is released
        """Return None: all views are made here."""
        return None


class HRSceneKind:
    """The benchmark ``hrscene``: pictures of 1 to 945 megapixels, from street views to telescopes."""

    options = HRSceneOptions

    def fact_tables(self) -> tuple[FactTable, ...]:
        """Return key statistics, the overview of the 25 datasets, and their origins and licences."""
        return fact_tables()

    def open(self, data: Path | None, options: msgspec.Struct) -> HRSceneBenchmark:
        """Return a split.

        Args:
            data: A copy of the hub's parquet files, or a folder with a question file.
            options: An ``HRSceneOptions``.

        Raises:
            UsageError: If no data is given, or a dataset name is none of the 25.
            BenchmarkError: If the data or the map breaks the contract.
            MissingDependencyError: If it is parquet and pyarrow is not installed.
        """
        if not isinstance(options, HRSceneOptions):
            raise UsageError(f"{type(options).__name__} are not the options of hrscene", hint="pass HRSceneOptions")
        if data is None:
            raise UsageError("hrscene needs data", hint="eyechart fetch hrscene, then --data hrscene")
        samples = read_samples(data, options.split, options.config, cache_folder())
        return HRSceneBenchmark(samples, options, data)


class _Reading:
    """One row, read: id, stem and options, the right letter, and what is odd about it."""

    def __init__(self, sample: Sample) -> None:
        values, place = sample.values, sample.place
        self.sample, self.place = sample, place
        self.id = _needed(values.get("id"), "id", place)
        self.raw = _needed(values.get("question"), "question", place)
        self.text: SplitText = split_options(self.raw)
        self.is_hidden = (
            str(values.get("answer") if values.get("answer") is not None else "").strip().lower() in _HIDDEN
        )
        self.answer = None if self.is_hidden else _letter(str(values["answer"]).strip(), self.text.choices)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of this question."""
        notes = []
        if not self.text.choices:
            notes.append("no options were found in the text")
        if not self.is_hidden and self.answer is None:
            notes.append(f"the answer {str(self.sample.values['answer'])!r} is no option")
        return tuple(notes)

    def question(self, dataset: str | None, split: Split) -> Question:
        """Return the question, with the category of its dataset."""
        source = None if dataset is None else set_named(dataset)
        extra = {
            name: cell for name, cell in self.sample.values.items() if name not in _OWN_COLUMNS and cell is not None
        }
        return Question(
            id=self.id,
            benchmark="hrscene",
            text=self.text.stem or self.raw,
            text_raw=self.raw,
            image=self.sample.image,
            image_group=self.sample.image.file_sha256 or self.id,
            choices=self.text.choices,
            answer=self.answer,
            task=None if source is None else source.category,
            source=None if source is None else source.name,
            notes=self.notes,
            extra={**extra, "split": split},
        )


def _letter(answer: str, choices: Sequence[str]) -> str | None:
    """Return the letter of the right option, given as letter or as the text of one option; None if it is neither."""
    letters = "ABCDEFGHIJ"[: len(choices)]
    match = _LETTER.fullmatch(answer.upper())
    if match is not None and match[1] in letters:
        return match[1]
    same = [letter for letter, choice in zip(letters, choices, strict=True) if choice == answer]
    return same[0] if len(same) == 1 else None


def _needed(value: object, column: str, place: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise BenchmarkError(f"{place}: no value in column {column!r}", hint="rows have id, image, question and answer")
    return str(value)


def _check_ids(read: Sequence[_Reading]) -> None:
    first: dict[str, str] = {}
    for one in read:
        if one.id in first:
            raise BenchmarkError(
                f"{one.place}: id {one.id!r} is also that of {first[one.id]}",
                hint="ids of single datasets repeat: choose one with --option config=NAME",
            )
        first[one.id] = one.place


def _datasets(read: Sequence[_Reading], options: HRSceneOptions) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the dataset of every sample, from the map or the rows, checked; or none, and why."""
    said = {one.id: one.sample.dataset for one in read if one.sample.dataset is not None}
    unknown = next((one for one in read if one.sample.dataset and set_named(one.sample.dataset) is None), None)
    if unknown is not None:
        raise BenchmarkError(
            f"{unknown.place}: HRScene has no dataset {unknown.sample.dataset!r}",
            hint="eyechart ls benchmarks hrscene lists the 25",
        )
    given = {} if options.datasets is None else read_dataset_map(Path(options.datasets))
    for sample_id, name in said.items():
        if given.get(sample_id, name) != name:
            raise BenchmarkError(
                f"the map calls {sample_id} {given[sample_id]}, its row {name}", hint="correct the map, or leave it out"
            )
    names = {**said, **given}
    if not names:
        return {}, (NO_MAP,)
    samples = [MappedSample(one.id, one.sample.image.size, len(one.text.choices)) for one in read]
    notes = check_dataset_map(names, samples, options.split)
    return {one.id: names[one.id] for one in read}, notes


def _counts(questions: Sequence[Question], split: Split) -> list[str]:
    notes = []
    if len(questions) != split_size(split):
        notes.append(f"{len(questions)} of the {split_size(split)} samples of split {split} are here")
    n_hidden = sum(question.answer is None for question in questions)
    if n_hidden:
        notes.append(
            f"the right answers of {n_hidden} of {len(questions)} questions are hidden or unreadable: no accuracy is "
            f"computed of them here"
        )
    return notes


def _oddities(read: Sequence[_Reading]) -> list[str]:
    """Return one sentence per kind of note, with the first ids."""
    by_note: dict[str, list[str]] = {}
    for one in read:
        for note in one.notes:
            by_note.setdefault("the answer is no option" if "is no option" in note else note, []).append(one.id)
    return [
        f"{len(ids)} questions: {note} ({', '.join(ids[:_N_SHOWN])}{', …' if len(ids) > _N_SHOWN else ''})"
        for note, ids in by_note.items()
    ]

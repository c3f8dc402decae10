"""The 25 datasets of HRScene: counts, resolutions, forms, origins and licences, as data with sources."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from eyechart.schema import Size

Split = Literal["validation", "testmini", "test"]
SPLITS: tuple[Split, ...] = ("validation", "testmini", "test")
# Order of the published table.
CATEGORIES = ("daily", "urban", "paper", "art", "remote", "sub-img", "medical", "research")


class SourceSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One dataset that HRScene draws from.

    Args:
        name: As in the ids of the project page.
        category: One of ``CATEGORIES``.
        explanation: What the pictures are, in the published words.
        capability: What is asked for, in the published words.
        form: How it is asked.
        n_samples: Samples over all splits.
        is_reannotated: Whether HRScene's authors annotated it anew.
        smallest: Size of the picture with the fewest pixels.
        largest: Size of the picture with the most.
        average: Mean width and height.
        n_options: Numbers of options seen in five public questions.
        splits: Samples in validation, testmini and test, where they are known.
        origin: Where it comes from.
        licence: What is known of its licence.
        notes: What a reader should know.
    """

    name: str
    category: str
    explanation: str
    capability: str
    form: str
    n_samples: int
    is_reannotated: bool
    smallest: Size
    largest: Size
    average: Size
    n_options: tuple[int, ...]
    origin: str
    licence: str
    splits: tuple[int, int, int] | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_of_one_size(self) -> bool:
        """Whether all its pictures have the same size."""
        return self.smallest == self.largest

    def n_in(self, split: Split) -> int | None:
        """Return the samples in a split, None where that is not known."""
        return None if self.splits is None else self.splits[SPLITS.index(split)]


class Totals(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Figures of the whole benchmark; where published ones disagree, ``notes`` say so."""

    samples: int
    samples_in_leaderboard: int
    reannotated: int
    annotated_from_scratch: int
    distinct_questions: int
    options: int
    annotators: int
    validation: int
    testmini: int
    test: int
    largest: Size
    notes: tuple[str, ...]


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All of them, with where each was found."""

    sources: dict[str, str]
    totals: Totals
    sets: tuple[SourceSet, ...]


@cache
def facts() -> Facts:
    """Return the facts about HRScene's real-world part.

    Example:
        >>> len(facts().sets), sum(one.n_samples for one in facts().sets)
        (25, 7073)
    """
    file = Path(__file__).with_name("sets.toml")
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Facts)


def set_named(name: str) -> SourceSet | None:
    """Return a dataset by its name, None if there is none.

    Example:
        >>> set_named("PANDA").category
        'urban'
    """
    return next((one for one in facts().sets if one.name == name), None)


def split_size(split: Split) -> int:
    """Return the number of samples in a split.

    Example:
        >>> [split_size(split) for split in SPLITS]
        [750, 1000, 5323]
    """
    totals = facts().totals
    return {"validation": totals.validation, "testmini": totals.testmini, "test": totals.test}[split]

"""What to cite: references of benchmarks, of the sources of their questions, and of ways of estimating, as BibTeX."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec

_ENTRY = re.compile(r"^@[a-z]+\{([a-z0-9]+),\n.*?^\}$", re.DOTALL | re.MULTILINE)
_REVISION = "@REVISION@"
_NOT_NAME = re.compile(r"[^a-z0-9]")
OWN = "eyechart"
"""Key of eyechart itself."""


class Cited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Keys by benchmark, by source of questions, and by a part of a method's name."""

    benchmarks: dict[str, tuple[str, ...]]
    sources: dict[str, tuple[str, ...]]
    methods: dict[str, tuple[str, ...]]


@cache
def references() -> dict[str, str]:
    """Return key → BibTeX entry, in the order of the file.

    Example:
        >>> references()["wu2024vstar"].splitlines()[0]
        '@inproceedings{wu2024vstar,'
    """
    text = (Path(__file__).parent / "references.bib").read_text(encoding="utf-8")
    return {match.group(1): match.group() for match in _ENTRY.finditer(text)}


@cache
def cited() -> Cited:
    """Return which references belong to what."""
    text = (Path(__file__).parent / "cited.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Cited)


def benchmark_keys(name: str) -> tuple[str, ...]:
    """Return what a benchmark asks to cite; empty for a collection of the user's own."""
    return cited().benchmarks.get(name, ())


def source_keys(name: str) -> tuple[str, ...]:
    """Return what to cite for a source of questions, however its name is spelled; empty for an unknown one.

    Example:
        >>> source_keys("VQA-RAD"), source_keys("my photographs")
        (('lau2018vqarad',), ())
    """
    return cited().sources.get(_NOT_NAME.sub("", name.casefold()), ())


def method_keys(methods: Iterable[str]) -> tuple[str, ...]:
    """Return what ways of estimating rest on, by the words in their names.

    Example:
        >>> method_keys(["Wilson on n_eff, t(G-1)", "holm"])
        ('wilson1927', 'korn1998', 'holm1979')
    """
    named = " ".join(methods).casefold()
    found = (keys for part, keys in cited().methods.items() if part.casefold() in named)
    return tuple(dict.fromkeys(key for keys in found for key in keys))


def bibtex(keys: Iterable[str], revision: str) -> str:
    """Return entries below each other, each key once.

    Args:
        keys: Keys of references; unknown ones are an error of ours.
        revision: Revision of the benchmark, for entries that name it.
    """
    entries = [references()[key].replace(_REVISION, revision) for key in dict.fromkeys(keys)]
    return "\n\n".join(entries)

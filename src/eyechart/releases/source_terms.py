"""What the public pages of known sources said about their terms, and what stays open; no legal advice."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from eyechart.schema import Question


class SourceTerms(NamedTuple):
    """Terms as read on a public page.

    Args:
        title: The source's own name.
        url: Its page.
        found: What the page said, and when it was read.
        is_settled: Whether a licence for data and pictures was stated.
    """

    title: str
    url: str
    found: str
    is_settled: bool


_READ = "read in November 2026"
_KNOWN = {
    **dict.fromkeys(
        ("vstar", "vstarbench", "vbench"),
        SourceTerms(
            "V*Bench",
            "https://github.com/penghao-wu/vstar",
            f"The code is under the MIT licence; the page of the data states no licence ({_READ}).",
            is_settled=False,
        ),
    ),
    "zoombench": SourceTerms(
        "ZoomBench",
        "https://huggingface.co/datasets/inclusionAI/ZoomBench",
        f"The page of the data states Apache-2.0 ({_READ}); rights in the pictures themselves are not discussed there.",
        is_settled=True,
    ),
    "hrbench": SourceTerms(
        "HR-Bench",
        "https://huggingface.co/datasets/DreamMr/HR-Bench",
        f"The page of the data states the licence 'other', and its LICENSE file is empty ({_READ}).",
        is_settled=False,
    ),
}


def known_terms(name: str) -> SourceTerms | None:
    """Return what is known about a source, however its name is spelled.

    Example:
        >>> known_terms("HR-Bench").title, known_terms("VStarBench").title, known_terms("my photographs")
        ('HR-Bench', 'V*Bench', None)
    """
    return _KNOWN.get(re.sub(r"[^a-z0-9]", "", name.casefold()))


def source_name(question: Question) -> str:
    """Return the name under which a question's source stands in notices and counts."""
    return question.source or question.benchmark


def is_settled(name: str, given: Mapping[str, str]) -> bool:
    """Return whether somebody stated terms for a source: the builder, or its own page."""
    terms = known_terms(name)
    return name in given or (terms is not None and terms.is_settled)

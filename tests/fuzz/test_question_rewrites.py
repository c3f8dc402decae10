"""Question files that mean the same, however they are written: read as meant, or refused with the reason."""

from collections import Counter

import pytest
from fuzz_cases import n_cases
from rewritten_questions import write_rewrite

from eyechart.errors import BenchmarkError
from eyechart.opening import open_benchmark

pytestmark = pytest.mark.fuzz


def test_rewrites_are_read_as_meant_or_refused_with_the_reason(tmp_path):
    """At least nine of ten are read, and none otherwise."""
    tally = Counter()
    for seed in range(n_cases()):
        rewrite = write_rewrite(seed, tmp_path / str(seed))
        try:
            questions = list(open_benchmark("folder", rewrite.path).questions())
        except BenchmarkError as error:
            tally["refused" if error.hint else f"refused without a hint: {error}"] += 1
            continue
        tally["read"] += 1
        read = [(one.text, one.choices, one.choices["ABCDEFGHIJ".index(one.answer)]) for one in questions]
        assert read == [(one.text, one.choices, one.gold_text) for one in rewrite.meant], rewrite.how
    assert set(tally) <= {"read", "refused"}
    assert tally["read"] >= 0.9 * tally.total(), tally

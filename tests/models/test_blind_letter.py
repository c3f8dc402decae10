"""The constant letter: the most frequent right one, or the one that was named."""

import asyncio

import pytest
from models.asks import ask

from eyechart.errors import UsageError
from eyechart.opening import open_model


def letter(name, gold):
    model = open_model(f"blind_letter/{name}")
    model.take_gold(gold)
    return asyncio.run(model.answer(ask())).text


def test_best_is_the_most_frequent_right_letter():
    assert letter("best", {"1": "B", "2": "C", "3": "C", "4": None}) == "C"
    assert letter("best", {"1": "C", "2": "B"}) == "B"
    assert letter("best", {}) == "A"


def test_a_named_letter_stays():
    assert letter("D", {"1": "B"}) == "D"


@pytest.mark.parametrize("name", ["b", "AB", "worst"])
def test_what_is_no_letter_is_refused(name):
    with pytest.raises(UsageError, match=f"blind_letter/{name} is not a letter"):
        open_model(f"blind_letter/{name}")

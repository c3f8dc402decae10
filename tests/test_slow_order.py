"""Slow tests are dealt to the processes that run them, the longest first."""

from pathlib import Path
from types import SimpleNamespace

import pytest


def item(name, *marks):
    """Stand for a test with marks, the nearest first."""
    return SimpleNamespace(
        name=name,
        get_closest_marker=lambda wanted: next((mark for mark in marks if mark.name == wanted), None),
        iter_markers=lambda wanted: (mark for mark in marks if mark.name == wanted),
    )


def slow(**seconds):
    return pytest.mark.slow(**seconds).mark


@pytest.fixture
def order(pytestconfig, monkeypatch):
    """A function that returns the names of tests in the order in which so many processes are given them."""
    here = str(Path(__file__).with_name("conftest.py"))
    (conftest,) = (one for one in pytestconfig.pluginmanager.get_plugins() if getattr(one, "__file__", None) == here)

    def ordered(items, n_processes):
        monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", str(n_processes))
        conftest.pytest_collection_modifyitems(items)
        return "".join(one.name for one in items)

    return ordered


@pytest.mark.parametrize(("n_processes", "expected"), [(1, "dbace"), (2, "bcdae"), (3, "abedc"), (9, "ecabd")])
def test_each_process_begins_with_the_longest_that_is_left(order, n_processes, expected):
    items = [
        item("a", slow(seconds=5), slow(seconds=99)),
        item("b", slow(), slow(seconds=7)),
        item("c", slow()),
        item("d", slow(seconds=20)),
        item("e", slow()),
    ]
    assert order(items, n_processes) == expected


def test_other_tests_keep_their_order(order):
    assert order([item(name, pytest.mark.browser.mark) for name in "bca"], 2) == "bca"

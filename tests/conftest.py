"""Settings for all tests: hypothesis without deadlines on shared machines, the same examples each time where asked.

Slow tests begin with the longest, dealt out to the processes that run them.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# There is a test process per CPU: more threads of OpenBLAS would wait for each other, in three times the CPU time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("eyechart", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", settings.get_profile("eyechart"), derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "eyechart"))

# The stage of its own installs playwright; without it these files cannot even be read.
collect_ignore = [] if importlib.util.find_spec("playwright") else ["browser"]


@pytest.hookimpl(trylast=True)  # after -m has chosen
def pytest_collection_modifyitems(items):
    """Deal slow tests to as many hands as there are processes, the longest first; xdist gives each process one hand.

    A mark ``slow(seconds=…)`` tells about how long a test takes beside the others.
    """
    if not any(item.get_closest_marker("slow") for item in items):
        return
    n_hands = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    falling = sorted(items, key=expected_seconds, reverse=True)
    # The smallest hands first, as xdist gives fewer tests to its first processes where they do not come out even.
    items[:] = [item for hand in reversed(range(n_hands)) for item in falling[hand::n_hands]]


def expected_seconds(item):
    """Return what the nearest mark says, 1 where none does."""
    return next((mark.kwargs["seconds"] for mark in item.iter_markers("slow") if "seconds" in mark.kwargs), 1)

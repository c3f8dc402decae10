"""Reference values from R, and the arrays they were computed on."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from eyechart.stats.clusters import Clusters, find_clusters


class Paired(NamedTuple):
    """60 questions on 44 images under the views A to D, in shuffled order."""

    values: np.ndarray
    present: np.ndarray
    clusters: Clusters
    images: list[str]
    views: list[str]
    chance: np.ndarray
    tasks: list[str]


@pytest.fixture(scope="session")
def reference() -> dict:
    path = Path(__file__).parent / "reference" / "reference.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def expected(reference) -> dict:
    return reference["expected"]


@pytest.fixture(scope="session")
def paired(reference) -> Paired:
    d1 = reference["inputs"]["d1"]
    values = np.array(d1["y"], dtype=np.float64)
    return Paired(
        values=values,
        present=np.full(values.shape, True),
        clusters=find_clusters(d1["image"]),
        images=d1["image"],
        views=d1["views"],
        chance=np.array(d1["chance"]),
        tasks=d1["task"],
    )

"""Simulate the gate: false passes at the margin, false fails of equal candidates, and the pass rate it promises.

    python benchmarks/simulate_gate.py [REPLICATES]

Prints one row per layout with its Monte-Carlo error and ends with 1 where a rate exceeds its bound beyond that error.
Seeds are in the script. Everything goes through ``eyechart.stats.gate``.
"""

import sys
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from eyechart.stats.arrays import Floats
from eyechart.stats.clusters import find_clusters
from eyechart.stats.gate import GateTable, foresee_gate, gate_gaps, judge_gate, verdict_of
from eyechart.stats.missing import ScoreBounds, bounds_from

MARGIN, VIEW_MARGIN = 0.02, 0.05
VIEWS = (1, 4, 8, 29)
MISSING = (0.0, 0.001, 0.01)
LAYOUTS = {"1 a picture": 1, "4 a picture": 4}
SHAPES = ("only losses", "losses and gains", "correlated in a picture")
BOUND = 0.05


class Layout(NamedTuple):
    """What is simulated: how many questions and views, questions a picture, share missing, and where runs differ."""

    n: int
    n_views: int
    size: int
    missing: float
    shape: str


def draw(rng: np.random.Generator, layout: Layout, loss: float) -> tuple[Floats, Floats]:
    """Return (n, n_views) scores of old and of new, whose mean difference is −loss under every view."""
    n, n_views, size, _, shape = layout
    pictures = -(-n // size)
    ease = np.repeat(rng.beta(4.0, 1.5, pictures), size)[:n, None]
    old = (rng.random((n, n_views)) < ease).astype(float)
    churn = 0.0 if shape == "only losses" else 0.06
    if shape == "correlated in a picture":
        chance = np.repeat(rng.random((pictures, 1)), size, axis=0)[:n]
    else:
        chance = rng.random((n, n_views))
    right = max(float(old.mean()), 1e-9)
    down = (loss + churn / 2) / right
    up = (churn / 2) / max(1.0 - right, 1e-9)
    new = np.where(old > 0.0, chance >= down, chance < up).astype(float)
    return old, new


def hidden(rng: np.random.Generator, scores: Floats, share: float) -> ScoreBounds:
    """Return bounds of scores of which a share is missing at random."""
    return bounds_from(scores, rng.random(scores.shape) >= share)


def stacked(pairs: Sequence[ScoreBounds]) -> ScoreBounds:
    """Return bounds of several replicates side by side: (n, n_replicates, n_views)."""
    return ScoreBounds(*(np.stack([getattr(one, name) for one in pairs], axis=1) for name in ScoreBounds._fields))


def rates(
    rng: np.random.Generator, n_replicates: int, layout: Layout, loss: float, margins: tuple[float, float]
) -> tuple[float, float]:
    """Return the shares of replicates that pass and that fail."""
    drawn = [draw(rng, layout, loss) for _ in range(n_replicates)]
    old = stacked([hidden(rng, one, layout.missing) for one, _ in drawn])
    new = stacked([hidden(rng, other, layout.missing) for _, other in drawn])
    gap = gate_gaps(new, old)
    limit = -np.array([margins[0], *([margins[1]] * layout.n_views if layout.n_views > 1 else [])])
    table = judge_gate(gap, find_clusters(np.arange(layout.n) // layout.size), limit)
    verdicts = [verdict_of(GateTable(*(field[at] for field in table)), 1.0)[0] for at in range(n_replicates)]
    return verdicts.count("pass") / n_replicates, verdicts.count("fail") / n_replicates


def error(share: float, n: int) -> float:
    """Return the Monte-Carlo error of a share that may be as large as the bound."""
    return float(np.sqrt(max(share * (1.0 - share), BOUND * (1.0 - BOUND)) / n))


def promised(rng: np.random.Generator, n_replicates: int) -> tuple[int | None, float]:
    """Return the n that is said to pass with 80 %, and the pass rate measured there."""
    layout = Layout(n=700, n_views=4, size=1, missing=0.0, shape="losses and gains")
    old, new = draw(rng, layout, 0.0)
    limit = -np.array([MARGIN, *[VIEW_MARGIN] * 4])
    gap = gate_gaps(bounds_from(new, new >= 0.0), bounds_from(old, old >= 0.0))
    n = foresee_gate(gap, find_clusters(np.arange(700)), limit).n_needed
    if n is None:
        return None, 0.0
    return n, rates(rng, n_replicates, layout._replace(n=n), 0.0, (MARGIN, VIEW_MARGIN))[0]


def main(n_replicates: int) -> int:
    """Print the table; return 1 where a rate lies beyond its bound."""
    bad = 0
    print("| views | missing, % | pictures | differences | n | false pass, % | false fail, % | at margin 0, % | ± |")
    print("|---|---|---|---|---|---|---|---|---|")
    for seed, (n_views, missing, (layout, size), shape) in enumerate(product(VIEWS, MISSING, LAYOUTS.items(), SHAPES)):
        rng = np.random.default_rng([14, seed])
        for n in (150, 700):
            drawn = Layout(n, n_views, size, missing, shape)
            passed, _ = rates(rng, n_replicates, drawn, MARGIN, (MARGIN, VIEW_MARGIN))
            _, failed = rates(rng, n_replicates, drawn, 0.0, (MARGIN, VIEW_MARGIN))
            _, at_zero = rates(rng, n_replicates, drawn, 0.0, (0.0, 0.0))
            worst = max(passed, failed, at_zero)
            bad += worst > BOUND + 2.6 * error(BOUND, n_replicates)
            print(
                f"| {n_views} | {100 * missing:g} | {layout} | {shape} | {n} | {100 * passed:.1f} | {100 * failed:.1f} "
                f"| {100 * at_zero:.1f} | {100 * error(worst, n_replicates):.1f} |", flush=True,
            )  # fmt: skip
    n, passed = promised(np.random.default_rng([14, 999]), n_replicates)
    print(f"\nPromised 80 % at n = {n}: measured {100 * passed:.1f} % of {n_replicates} replicates.")
    bad += passed < 0.78 - 2.3 * (0.16 / n_replicates) ** 0.5
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))

"""Simulate how often the intervals that eyechart prints hold what they say, and write the table of docs/validity.md.

python benchmarks/simulate_intervals.py                    # 400 replicates a cell, to the terminal
python benchmarks/simulate_intervals.py --replicates 4000 --write docs/validity.md

Every cell draws scores of questions that lie on pictures in one of 20 layouts, runs them through the code that reports
use, and counts how often the interval covers the truth. Two kinds of correlation: beta-binomial, and an own coin of
each picture that its questions follow with probability √ρ. A cell fails where its coverage lies significantly below
93 % (one-sided, 1 %). Layouts with fewer than 10 effective pictures get no interval; they are listed as abstentions.
"""

import argparse
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from eyechart.stats.clusters import find_clusters
from eyechart.stats.paired import estimate_differences
from eyechart.stats.proportion import estimate_proportions
from eyechart.stats.rank import rank_models

LAYOUTS = {
    "700 pictures, one question each": [1] * 700,
    "10 × 1": [1] * 10,
    "15 × 1": [1] * 15,
    "24 × 1": [1] * 24,
    "40 × 1": [1] * 40,
    "100 × 1": [1] * 100,
    "10 × 4": [4] * 10,
    "25 × 4": [4] * 25,
    "100 × 4": [4] * 100,
    "20 × 10": [10] * 20,
    "20 × 35": [35] * 20,
    "10 × 70": [70] * 10,
    "12 × 140": [140] * 12,
    "5 × 140": [140] * 5,
    "one of 101 holds 30 %": [43] + [1] * 100,
    "one of 101 holds 20 %": [25] + [1] * 100,
    "29, sizes fall by 15 % each": [max(1, round(100 * 0.85**k)) for k in range(29)],
    "60, sizes fall by 7 % each": [max(1, round(60 * 0.93**k)) for k in range(60)],
    "200, sizes 60/k": [max(1, round(60 / k)) for k in range(1, 201)],
    "60 × 1 and 12 × 30": [1] * 60 + [30] * 12,
}
CORRELATIONS = (0.0, 0.1, 0.3)
ACCURACIES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98)
# (gained, lost): discordances from .02 to .9, balanced and one-sided
CHANGES = ((0.01, 0.01), (0.1, 0.1), (0.2, 0.2), (0.02, 0.0), (0.05, 0.0), (0.1, 0.02), (0.3, 0.05), (0.9, 0.0))
KINDS = ("beta-binomial", "own coin")


class Cell(NamedTuple):
    setting: str
    coverage: float
    width: float
    has_interval: bool


def draw_categories(
    shares: Sequence[float],
    sizes: Sequence[int],
    correlation: float,
    kind: str,
    n_replicates: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the category of every question, shape (n_questions, n_replicates), correlated within pictures."""
    rates = np.asarray(shares, dtype=float)
    if correlation == 0.0:
        own = np.broadcast_to(rates, (len(sizes), n_replicates, len(rates)))
    elif kind == "beta-binomial":
        concentration = np.maximum(rates * (1.0 - correlation) / correlation, 1e-9)
        own = rng.gamma(np.broadcast_to(concentration, (len(sizes), n_replicates, len(rates)))) + 1e-300
        own = own / own.sum(axis=-1, keepdims=True)
    else:
        coin = rng.choice(len(rates), size=(len(sizes), n_replicates), p=rates)
        follows = np.sqrt(correlation)
        own = (1.0 - follows) * rates + follows * np.eye(len(rates))[coin]
    steps = np.cumsum(own, axis=-1)[..., :-1]
    labels = np.repeat(np.arange(len(sizes)), sizes)
    dice = rng.random((len(labels), n_replicates))
    return sum((dice >= steps[labels, :, step]).astype(np.int8) for step in range(len(rates) - 1))


def settings_of(sizes: Sequence[int]) -> list[tuple[float, str]]:
    """Return the correlations and kinds that differ for a layout; a picture of one question has none."""
    pairs = [(correlation, kind) for correlation in CORRELATIONS[1:] for kind in KINDS]
    return [(0.0, KINDS[0]), *(pairs if max(sizes) > 1 else ())]


def accuracy_cells(name: str, sizes: Sequence[int], n_replicates: int) -> Iterator[Cell]:
    clusters = find_clusters(list(np.repeat(np.arange(len(sizes)), sizes)))
    for correlation, kind in settings_of(sizes):
        for accuracy in ACCURACIES:
            rng = generator("accuracy", name, correlation, kind, accuracy)
            scores = draw_categories((1 - accuracy, accuracy), sizes, correlation, kind, n_replicates, rng)
            table = estimate_proportions(scores.astype(float), np.ones(scores.shape, dtype=bool), clusters)
            covers = (table.low <= accuracy + 1e-12) & (accuracy - 1e-12 <= table.high)
            yield Cell(
                f"{accuracy:g}, ρ {correlation:g}, {kind}",
                float(covers.mean()),
                float((table.high - table.low).mean()),
                bool(table.has_interval.all()),
            )


def difference_cells(name: str, sizes: Sequence[int], n_replicates: int) -> Iterator[Cell]:
    clusters = find_clusters(list(np.repeat(np.arange(len(sizes)), sizes)))
    for correlation, kind in settings_of(sizes):
        for gained, lost in CHANGES:
            rng = generator("difference", name, correlation, kind, gained, lost)
            shares = (lost, 1.0 - gained - lost, gained)
            changes = draw_categories(shares, sizes, correlation, kind, n_replicates, rng) - 1.0
            table = estimate_differences(changes, np.ones(changes.shape, dtype=bool), clusters)
            truth = gained - lost
            covers = (table.low <= truth + 1e-12) & (truth - 1e-12 <= table.high)
            yield Cell(
                f"+{gained:g} −{lost:g}, ρ {correlation:g}, {kind}",
                float(covers.mean()),
                float((table.high - table.low).mean()),
                bool(table.has_interval.all()),
            )


def rank_cells(name: str, sizes: Sequence[int], n_replicates: int) -> Iterator[Cell]:
    """Three equal models and a better one: does every model's set of places hold its true place?"""
    n_models, n_replicates = 4, max(50, n_replicates // 10)
    clusters = find_clusters(list(np.repeat(np.arange(len(sizes)), sizes)))
    for correlation, kind in settings_of(sizes):
        for accuracy, better in ((0.6, 0.6), (0.6, 0.8), (0.95, 0.95)):
            rng = generator("rank", name, correlation, kind, accuracy, better)
            held, widths = 0, 0.0
            rates = [accuracy] * (n_models - 1) + [better]
            drawn = [draw_categories((1 - rate, rate), sizes, correlation, kind, n_replicates, rng) for rate in rates]
            scores = np.stack(drawn, axis=-1).astype(float)
            true_best = [1 + sum(other > rate for other in rates) for rate in rates]
            true_worst = [n_models - sum(other < rate for other in rates) for rate in rates]
            for replicate in range(n_replicates):
                own = scores[:, replicate]
                sets = rank_models(own, own >= 0, clusters, n_flips=499)
                held += bool((sets.best <= true_best).all() and (sets.worst >= true_worst).all())
                widths += float((sets.worst - sets.best).mean())
            setting = f"{accuracy:g} and {better:g}, ρ {correlation:g}, {kind}"
            yield Cell(setting, held / n_replicates, widths / n_replicates, has_interval=True)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def generator(*setting: object) -> np.random.Generator:
    """Return the generator of one cell: its seed is made from the setting, so that every cell replays alone."""
    return np.random.default_rng([SEED, zlib.crc32(repr(setting).encode())])


def table_of(
    what: str, cells_of: Callable[[str, Sequence[int], int], Iterator[Cell]], n_replicates: int
) -> tuple[list[str], list[tuple[str, str, str, float]]]:
    """Return the Markdown table of one quantity, and its failing cells."""
    lines = [
        f"| {what}: layout of pictures | effective | lowest coverage | at | mean width | cells |",
        "|---|--:|--:|---|--:|--:|",
    ]
    failing = []
    for name, sizes in LAYOUTS.items():
        counts = np.array(sizes, dtype=float)
        effective = counts.sum() ** 2 / (counts**2).sum()
        if effective < 10.0 - 1e-9:
            lines.append(f"| {name} | {effective:.1f} | no interval | too few pictures | – | – |")
            continue
        cells = list(cells_of(name, sizes, n_replicates))
        worst = min(cells, key=lambda cell: cell.coverage)
        n_used = n_replicates if what != "place" else max(50, n_replicates // 10)
        floor = 0.93 - 2.326 * (0.93 * 0.07 / n_used) ** 0.5
        failing += [(what, name, cell.setting, cell.coverage) for cell in cells if cell.coverage < floor]
        width = sum(cell.width for cell in cells) / len(cells)
        lines.append(
            f"| {name} | {effective:.1f} | {percent(worst.coverage)} | {worst.setting} | {width:.3f} | {len(cells)} |"
        )
        print(lines[-1], flush=True)
    return lines, failing


SEED = 20261201

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", type=Path, help="Markdown file whose part between the markers is replaced")
    options = parser.parse_args()
    SEED = options.seed
    parts, all_failing = [], []
    for what, cells_of in (("accuracy", accuracy_cells), ("difference", difference_cells), ("place", rank_cells)):
        lines, failing = table_of(what, cells_of, options.replicates)
        parts.append("\n".join(lines))
        all_failing += failing
    error = 100 * (0.95 * 0.05 / options.replicates) ** 0.5
    head = (
        f"{options.replicates} replicates a cell (a tenth of it for places), Monte-Carlo error ±{error:.2f} points, "
        f"seed {SEED}. Cells significantly below 93 %: {len(all_failing)}."
    )
    for one in all_failing:
        print("below 93 %:", one)
    print(head)
    if options.write is not None:
        text = options.write.read_text(encoding="utf-8")
        start, end = "<!-- intervals: made by benchmarks/simulate_intervals.py -->", "<!-- end of intervals -->"
        before, after = text.split(start)[0], text.split(end)[1]
        body = "\n\n".join([head, *parts])
        options.write.write_text(f"{before}{start}\n\n{body}\n\n{end}{after}", encoding="utf-8")

"""Full statistics of 30 models × 29 views × 700 questions on 664 images: CPU seconds per part, total and peak memory.

Run: ``python benchmarks/bench_statistics.py``, 5 times for a median. Fails if the total exceeds 5 s or the memory 1 GB.
"""

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from eyechart.stats.agreement import estimate_robustness
from eyechart.stats.bootstrap import draw_weights, percentile_interval, resample_ratios
from eyechart.stats.clusters import cluster_sums, find_clusters
from eyechart.stats.corrections import adjust
from eyechart.stats.curve import measure_ace, summarise_curves
from eyechart.stats.omnibus import cochran_q
from eyechart.stats.paired import estimate_differences
from eyechart.stats.proportion import estimate_proportions
from eyechart.stats.psychometric import fit_psychometric
from eyechart.stats.rank import rank_models
from eyechart.stats.ratio import correct_for_chance
from eyechart.stats.sign_flip import sign_flip
from eyechart.stats.threshold import estimate_threshold

N_MODELS, N_VIEWS, N_QUESTIONS, N_IMAGES = 30, 29, 700, 664
SCALES = np.array([1, 0.9375, 0.875, 0.8125, 0.75, 0.6875, 0.625, 0.5, 0.375, 0.25, 0.125, 0.0625])
LIMIT_SECONDS, LIMIT_MB = 5.0, 1000.0

seconds: dict[str, float] = {}


@contextmanager
def timed(name: str) -> Iterator[None]:
    start = time.process_time()
    yield
    seconds[name] = time.process_time() - start


def simulate(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, list[int], np.ndarray]:
    """Scores whose difficulty is shared between models and views; the last 12 views are a falling curve."""
    difficulty = rng.normal(size=(N_QUESTIONS, 1, 1))
    skill = np.linspace(0.3, 1.6, N_MODELS)[:, None]
    effect = np.concatenate([np.linspace(-0.2, 0.4, N_VIEWS - SCALES.size), 0.5 * np.log2(SCALES)])
    logit = skill + effect - 1.2 * difficulty
    values = (rng.random((N_QUESTIONS, N_MODELS, N_VIEWS)) < 1 / (1 + np.exp(-logit))).astype(np.float64)
    present = rng.random(values.shape) > 0.002
    images = [min(index, N_IMAGES - 1) if index < N_IMAGES else index - N_IMAGES for index in range(N_QUESTIONS)]
    chance = np.where(np.arange(N_QUESTIONS) < 21, 0.5, 0.25)
    return values, present, images, chance


def analyse(rng: np.random.Generator) -> None:
    values, present, images, chance = simulate(rng)
    clusters = find_clusters(images)
    groups = rng.integers(0, 10, N_QUESTIONS)
    with timed("accuracies, 870, and chance-corrected"):
        estimate_proportions(values, present, clusters)
        correct_for_chance(values, present, chance, clusters)
    with timed("accuracies in 10 groups, 8,700"):
        for group in range(10):
            rows = groups == group
            estimate_proportions(values[rows], present[rows], find_clusters(np.asarray(images)[rows]))
    with timed("view contrasts, 1,290: interval, exact p, Holm"):
        first = np.r_[np.arange(1, N_VIEWS), np.arange(1, 16)]
        second = np.r_[np.zeros(N_VIEWS - 1, dtype=int), np.arange(2, 17)]
        both = present[..., first] & present[..., second]
        change = np.where(both, values[..., first] - values[..., second], 0.0)
        estimate_differences(change, both, clusters)
        p = sign_flip(cluster_sums(change, clusters)).mid
        for model in range(N_MODELS):
            adjust(p[model], "holm")
        adjust(p.ravel(), "benjamini-hochberg")
    with timed("model pairs, 12,615: interval, exact p"):
        one, other = np.triu_indices(N_MODELS, k=1)
        for view in range(N_VIEWS):
            both = present[:, one, view] & present[:, other, view]
            change = np.where(both, values[:, one, view] - values[:, other, view], 0.0)
            estimate_differences(change, both, clusters)
            sign_flip(cluster_sums(change, clusters))
    with timed("Cochran Q, robustness, 30"):
        for model in range(N_MODELS):
            cochran_q(values[:, model], present[:, model])
            estimate_robustness(values[:, model], present[:, model], clusters)
    with timed("bootstrap of 870 means, B = 2000"):
        scores = np.where(present, values, 0.0)
        weights = draw_weights(clusters.n_clusters, rng)
        draws = resample_ratios(cluster_sums(scores, clusters), cluster_sums(present, clusters), weights)
        percentile_interval(draws)
    with timed("ranks of 30 models, 29 views"):
        for view in range(N_VIEWS):
            rank_models(values[..., view], present[..., view], clusters)
    curve = slice(N_VIEWS - SCALES.size, N_VIEWS)
    with timed("thresholds, 30, B = 2000"):
        estimate_threshold(values[..., curve], present[..., curve], chance, clusters, np.log2(SCALES), weights=weights)
    with timed("ACE, RCE, Spearman, 30, B = 2000"):
        percentile_interval(measure_ace(draws[..., curve], SCALES))
        summarise_curves(values[..., curve].mean(axis=0), SCALES)
    with timed("smooth curves, 30"):
        for model in range(N_MODELS):
            fit_psychometric(values[:, model, curve], present[:, model, curve], chance, clusters, np.log2(SCALES))


def main() -> int:
    started = time.perf_counter()
    analyse(np.random.default_rng(20261130))
    wall = time.perf_counter() - started
    total = sum(seconds.values())
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / (1024 if sys.platform == "darwin" else 1)
    for name, spent in seconds.items():
        print(f"{spent:7.2f} s  {name}")
    print(f"{total:7.2f} s  total CPU (limit {LIMIT_SECONDS:g}); {wall:.2f} s wall with the simulation")
    print(f"{peak_mb:7.0f} MB peak memory (limit {LIMIT_MB:g})")
    return int(total > LIMIT_SECONDS or peak_mb > LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())

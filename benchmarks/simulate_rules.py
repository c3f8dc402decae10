"""Simulate how often the validity rules about counts fire, and write the table of docs/validity.md.

python benchmarks/simulate_rules.py                    # 200 reports a cell, to the terminal
python benchmarks/simulate_rules.py --replicates 2000 --write docs/validity.md

Null reports: a model with an accuracy of .7 under every view, random right letters, 1 % of the answers missing and 2 %
unreadable at random, four options. A second row of each layout puts four questions on a picture, which fail together.
Then every rule's own fault, 25 points at 300 questions and 8 views. All through the functions that reports use.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np

from eyechart.stats.below_chance import compare_with_chance
from eyechart.stats.clusters import find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.conditions import ScoreTable, accuracy_by_condition, contrasts_between
from eyechart.stats.letters import estimate_evenness, estimate_letter_bias
from eyechart.stats.score_rules import (
    CLEAR_P,
    check_blind,
    check_groups,
    check_letters,
    check_missing,
    check_range,
    check_unparsed,
    is_often,
    rule_confidence,
)

SEED = 20261202
N_OPTIONS = 4
LAYOUTS = ((29, 700, 1), (29, 700, 4), (8, 300, 1), (8, 300, 4), (2, 40, 1), (2, 40, 4))
RULES = (
    "MISSING_BY_VIEW", "UNREADABLE_BY_VIEW", "LETTER_BIAS", "OPTION_MIX", "NEAR_LIMIT", "BLIND", "BELOW_CHANCE",
    "VIEW_REJECTED", "AA_NOISE",
)  # fmt: skip
FAULTS = {
    "MISSING_BY_VIEW": {"missing": 0.25},
    "UNREADABLE_BY_VIEW": {"unread": 0.25},
    "LETTER_BIAS": {"letter": 0.25},
    "OPTION_MIX": {"mixed": 1.0},
    "NEAR_LIMIT": {"accuracy": 0.995},
    "BLIND": {"blind": 0.5},
    "BELOW_CHANCE": {"accuracy": 0.0},
    "VIEW_REJECTED": {"refused": 0.25},
    "AA_NOISE": {"kept": 0.45 / 0.7},
}


def together(rate: float, shape: tuple[int, int], labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return what befalls whole pictures with a rate, (n_questions, n_views)."""
    return (rng.random((labels.max() + 1, shape[1])) < rate)[labels]


def rules_about_scores(table: ScoreTable, blind_rate: float, rng: np.random.Generator) -> list[str]:
    """Return the codes that fire about a table of scores, and about its questions under two views without a picture."""
    fired, names = [], table.conditions
    if any(map(check_range, accuracy_by_condition(table, confidence=rule_confidence(len(names))))):
        fired.append("NEAR_LIMIT")
    # Every two views that follow each other are said to show the same pictures.
    repeats = list(zip(names[::2], names[1::2], strict=False))
    if any(Code.AA_NOISE in one.warnings for one in contrasts_between(table, repeats, negative_controls=repeats)):
        fired.append("AA_NOISE")
    guessed = (rng.random((table.n_questions, 2)) < blind_rate).astype(float)
    blind = ScoreTable(guessed, guessed >= 0, table.image_groups, ("no_image", "blank"), chance=table.chance)
    if any(map(check_blind, accuracy_by_condition(blind, confidence=rule_confidence(2)))):
        fired.append("BLIND")
    return fired


def report(
    n_views: int, n_questions: int, n_each: int, rng: np.random.Generator, fault: dict[str, float] | None = None
) -> list[str]:
    """Return the codes of the rules that fire in one report."""
    fault = fault or {}
    labels = np.arange(n_questions) // n_each
    clusters, images = find_clusters(labels), [f"i{label}" for label in labels]
    names = tuple(f"v{index}" for index in range(n_views))
    shape = (n_questions, n_views)
    gold = rng.integers(0, N_OPTIONS, n_questions)
    hit = rng.random(shape) < fault.get("accuracy", 0.7)
    hit[:, -1] &= rng.random(n_questions) < fault.get("kept", 1.0)
    given = np.where(hit, gold[:, None], (gold[:, None] + rng.integers(1, N_OPTIONS, shape)) % N_OPTIONS)
    given = np.where(rng.random(shape) < fault.get("letter", 0.0), 1, given)
    refused = together(0.01, shape, labels, rng)
    missing, unread = refused.copy(), together(0.02, shape, labels, rng)
    missing[:, -1] |= rng.random(n_questions) < fault.get("missing", 0.0)
    unread[:, -1] |= rng.random(n_questions) < fault.get("unread", 0.0)
    refused[:, -1] |= together(fault.get("refused", 0.0), (n_questions, 1), labels, rng)[:, 0]
    unread &= ~missing
    right = (given == gold[:, None]) & ~unread
    chance = np.full(n_questions, 1.0 / N_OPTIONS)
    fired = []
    if check_missing(~missing, clusters, names):
        fired.append("MISSING_BY_VIEW")
    if check_unparsed(unread, ~missing, clusters, names):
        fired.append("UNREADABLE_BY_VIEW")
    read = ~missing[:, 0] & ~unread[:, 0]
    bias = estimate_letter_bias(given[read, 0], gold[read], find_clusters(labels[read]), N_OPTIONS)
    if check_letters(bias, estimate_evenness(gold, clusters, N_OPTIONS)):
        fired.append("LETTER_BIAS")
    groups = rng.integers(0, 5, n_questions)
    options = np.where(groups < 2, 2, 4) if fault.get("mixed") else rng.choice([2, 4], n_questions)
    by_group = {f"g{group}": 1.0 / options[groups == group] for group in np.unique(groups)}
    places = {f"g{group}": [images[at] for at in np.flatnonzero(groups == group)] for group in np.unique(groups)}
    if check_groups(by_group, places, n_groupings=3):
        fired.append("OPTION_MIX")
    table = ScoreTable(right.astype(float), ~missing, images, names, chance=chance)
    fired += rules_about_scores(table, fault.get("blind", 0.25), rng)
    for view in range(n_views):
        kept = ~missing[:, view] & ~unread[:, view]
        own, k = find_clusters(labels[kept]), np.full(int(kept.sum()), N_OPTIONS)
        if compare_with_chance(given[kept, view], gold[kept], k, own, alpha=CLEAR_P / n_views).is_below:
            fired.append("BELOW_CHANCE")
            break
    pictures = [len(set(labels[refused[:, view]].tolist())) for view in range(n_views)]
    if any(is_often(hits, labels.max() + 1, n_conditions=n_views, n_each=n_each) for hits in pictures):
        fired.append("VIEW_REJECTED")
    return fired


def tables(n_replicates: int, seed: int = SEED) -> tuple[list[str], list[str]]:
    """Return the Markdown lines, and the cells that break a promise."""
    lines = ["| reports without a fault | " + " | ".join(RULES) + " | any |", "|---|" + "--:|" * (len(RULES) + 1)]
    broken = []
    # Significantly above the promise: one-sided 1 %.
    most = {limit: limit + 2.326 * (limit * (1 - limit) / n_replicates) ** 0.5 for limit in (0.01, 0.05)}
    settings = [(*layout, accuracy) for layout in LAYOUTS for accuracy in (0.7, 0.25)]
    for number, (n_views, n_questions, n_each, accuracy) in enumerate(settings):
        rng = np.random.default_rng([seed, number])
        fired = [report(n_views, n_questions, n_each, rng, {"accuracy": accuracy}) for _ in range(n_replicates)]
        if accuracy == 1.0 / N_OPTIONS:  # near chance NEAR_LIMIT is right to fire
            fired = [[code for code in own if code != "NEAR_LIMIT"] for own in fired]
        counts = Counter(code for own in fired for code in own)
        n_any = sum(map(bool, fired))
        name = f"{n_views} × {n_questions}, {n_each} a picture, accuracy {accuracy:g}"
        cells = [f"{100 * counts[rule] / n_replicates:.2f} %" for rule in RULES]
        lines.append(f"| {name} | {' | '.join(cells)} | {100 * n_any / n_replicates:.2f} % |")
        broken += [(name, rule) for rule in RULES if counts[rule] / n_replicates > most[0.01]]
        broken += [(name, "any")] * (n_any / n_replicates > most[0.05])
        print(lines[-1], flush=True)
    lines += ["", "| a fault of 25 points, 8 × 300 | found |", "|---|--:|"]
    for number, (rule, fault) in enumerate(FAULTS.items()):
        rng = np.random.default_rng([seed, 100 + number])
        n_used = max(20, n_replicates // 10)
        share = sum(rule in report(8, 300, 1, rng, fault) for _ in range(n_used)) / n_used
        lines.append(f"| {rule} | {100 * share:.1f} % of {n_used} |")
        broken += [("fault", rule)] * (share < 0.9)
        print(lines[-1], flush=True)
    return lines, broken


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", type=Path, help="Markdown file whose part between the markers is replaced")
    options = parser.parse_args()
    lines, broken = tables(options.replicates, options.seed)
    error = 100 * (0.01 * 0.99 / options.replicates) ** 0.5
    head = (
        f"{options.replicates} reports a cell, Monte-Carlo error at 1 % ±{error:.2f} points, seed {options.seed}. "
        f"Cells significantly above 1 % (any rule: 5 %), or faults found in less than 90 %: {len(broken)}. "
        "At an accuracy of chance NEAR_LIMIT is right to fire and is not counted."
    )
    print(head, broken, sep="\n")
    if options.write is not None:
        text = options.write.read_text(encoding="utf-8")
        start, end = "<!-- rules: made by benchmarks/simulate_rules.py -->", "<!-- end of rules -->"
        before, after = text.split(start)[0], text.split(end)[1]
        body = "\n".join([head, "", *lines])
        options.write.write_text(f"{before}{start}\n\n{body}\n\n{end}{after}", encoding="utf-8")
    raise SystemExit(bool(broken))

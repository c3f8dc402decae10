"""Simulate runs that are looked at before they end, and write the table of docs/validity.md.

python benchmarks/simulate_looks.py                    # 500 runs a cell, to the terminal
python benchmarks/simulate_looks.py --replicates 2000 --write docs/validity.md

Two hypotheses share a baseline. Where nothing is true, the views have the same accuracy in every question, or the first
view is 15 points better in the first half of the file and as much worse in its second half. Pictures come in the order
of a plan; every look is taken at a random moment between its fraction and the next, or after every picture where the
plan allows any time. A run counts as a false alarm if any look claims anything. All through the functions that tables
use: order, looks, contrasts, correction, decision.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from eyechart.runs.registration import picture_order
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.betting import with_bet
from eyechart.stats.claims import adjust_family, decide
from eyechart.stats.conditions import ScoreTable, contrasts_between
from eyechart.stats.looks import over_looks, plan_looks

SEED = 20261214
ALPHA, POWER_Z = 0.05, 2.2414 + 0.8416  # 1.25 % a side, of two hypotheses, and 80 %
N_LOOKS, N_QUESTIONS = (2, 5, 14, 18), (80, 200, 700)
CHURN, DRIFT, BATCH = 0.3, 0.15, 100
START, END = "<!-- looks: made by benchmarks/simulate_looks.py -->", "<!-- end of looks -->"


class Setting(NamedTuple):
    """What is simulated: how many questions, how many a picture, how the first view differs, in which order."""

    n: int
    size: int = 1
    drift: float = 0.0
    effect: float = 0.0
    is_file_order: bool = False


def draw(setting: Setting, rng: np.random.Generator, n_runs: int) -> Floats:
    """Return (n_questions, n_runs, 3) scores in the order of asking: the baseline and two views.

    Questions about one picture share how hard it is and half of what chance does to them.
    """
    n_pictures = setting.n // setting.size
    shape = (n_pictures, setting.size, n_runs)
    ease = np.clip(rng.beta(4.0, 2.0, (n_pictures, 1, n_runs)), 0.2, 0.8)
    luck = np.where(rng.random(shape) < 0.5, rng.random((n_pictures, 1, n_runs)), rng.random(shape))
    views = [luck < ease]
    for gain in (setting.effect, 0.0):
        again = np.where(rng.random(shape) < 0.5, rng.random((n_pictures, 1, n_runs)), rng.random(shape))
        differs = (rng.random((n_pictures, 1, n_runs)) if setting.size > 1 else rng.random(shape)) < CHURN
        own = np.where(differs, again, luck)
        early = np.arange(n_pictures)[:, None, None] < n_pictures // 2
        change = gain + np.where(early, setting.drift, -setting.drift)
        views.append(own < ease + change)
    scores = np.stack(views, axis=-1).astype(np.float64)
    if not setting.is_file_order:
        names = [f"picture {at}" for at in range(n_pictures)]
        place = {name: at for at, name in enumerate(names)}
        for run, seed in enumerate(rng.integers(0, 2**31, n_runs).tolist()):
            order = [place[name] for name in picture_order(names, seed)]
            scores[:, :, run] = scores[order][:, :, run]
    return scores.reshape(setting.n, n_runs, 3)


def claims(scores: Floats, setting: Setting, n_pictures: int, look: tuple[int, int, float] | None) -> Bools:
    """Return (n_runs, 2), whether a table of the first pictures claims each hypothesis.

    Args:
        scores: (n_questions, n_runs, 3) scores in the order of asking.
        setting: What is simulated.
        n_pictures: Pictures of the table.
        look: Number of the look, number of looks, error rate of this one; None where one may look at any time.
    """
    n, n_runs = n_pictures * setting.size, scores.shape[1]
    columns = scores[:n].reshape(n, -1)
    pictures = [str(at // setting.size) for at in range(n)]
    names = tuple(f"{run} {view}" for run in range(n_runs) for view in range(3))
    table = ScoreTable(columns, columns >= 0.0, pictures, names)
    pairs = [(f"{run} {view}", f"{run} 0") for run in range(n_runs) for view in (1, 2)]
    found = contrasts_between(table, pairs, confidence=round(1.0 - (ALPHA if look is None else look[2]), 10))
    if look is None:
        place = {str(at): at for at in range(n_pictures)}
        found = tuple(with_bet(one, table, place, most=setting.size) for one in found)
    verdicts = []
    for first, second in zip(found[::2], found[1::2], strict=True):
        family = adjust_family((first, second), "holm", "2 hypotheses of the plan").contrasts
        held = family if look is None else (over_looks(one, *look, of=ALPHA) for one in family)
        verdicts.append([decide(one, "confirmatory").claimed for one in held])
    return np.array(verdicts)


class Looked(NamedTuple):
    """What became of simulated runs.

    Args:
        claimed: (n_runs, 2) whether any look claims each hypothesis.
        at_end: (n_runs, 2) whether one look at the end, with the whole error rate, claims it.
        asked: (n_runs,) share of the pictures asked when the first hypothesis was claimed, 1 where it never was.
    """

    claimed: Bools
    at_end: Bools
    asked: Floats


def simulate(setting: Setting, n_looks: int, n_runs: int, rng: np.random.Generator, *, is_best: bool = False) -> Looked:
    """Look at runs; with ``is_best`` at the best of many moments before the next look, as if all was watched."""
    n_pictures = setting.n // setting.size
    looks = plan_looks([setting.size] * n_pictures, n_looks, ALPHA)
    ends = [*(look.n_pictures for look in looks[1:]), n_pictures + 1]
    found = []
    for _ in range(-(-n_runs // BATCH)):
        scores = draw(setting, rng, BATCH)
        claimed, asked = np.zeros((BATCH, 2), dtype=np.bool_), np.ones(BATCH)
        for number, (look, end) in enumerate(zip(looks, ends, strict=True), 1):
            moments = range(look.n_pictures, end, 2) if is_best else [int(rng.integers(look.n_pictures, end))]
            for at in moments if look.alpha else ():
                now = claims(scores, setting, at, (number, n_looks, look.alpha))
                asked[now[:, 0] & ~claimed[:, 0]] = at / n_pictures
                claimed |= now
        found.append(Looked(claimed, claims(scores, setting, n_pictures, (1, 1, ALPHA)), asked))
    return Looked(*map(np.concatenate, zip(*found, strict=True)))


def simulate_any_time(setting: Setting, n_runs: int, rng: np.random.Generator) -> Looked:
    """Look at runs after every picture: the bounds are running, so that the end claims what any moment claimed."""
    found = []
    for _ in range(-(-n_runs // BATCH)):
        scores, n_pictures = draw(setting, rng, BATCH), setting.n // setting.size
        at_end = claims(scores, setting, n_pictures, (1, 1, ALPHA))
        found.append(Looked(claims(scores, setting, n_pictures, None), at_end, np.ones(BATCH)))
    return Looked(*map(np.concatenate, zip(*found, strict=True)))


def percent(share: float) -> str:
    """Say a share in percent."""
    return f"{100 * share:.1f} %"


def main() -> int:
    """Print the table, write it if wanted; return 1 where false alarms are significantly above 5 %."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=500)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    lines, n_broken = tables(options.replicates, options.seed)
    n_runs = options.replicates
    errors = f"±{100 * (ALPHA * (1 - ALPHA) / n_runs) ** 0.5:.1f} points and of a power ±{100 * 0.4 / n_runs**0.5:.1f}"
    head = (
        f"{n_runs} runs a cell (a quarter of them for any time), seed {options.seed}, Monte-Carlo error of an alarm "
        f"{errors}. Cells significantly above 5 % (one-sided, 1 %): {n_broken}."
    )
    print(head)
    if options.write:
        text = options.write.read_text(encoding="utf-8")
        before, after = text.split(START)[0], text.split(END)[1]
        body = "\n".join([head, "", *lines])
        options.write.write_text(f"{before}{START}\n\n{body}\n\n{END}{after}", encoding="utf-8")
    return int(n_broken > 0)


def tables(n_runs: int, seed: int) -> tuple[list[str], int]:
    """Return the Markdown lines, and the number of cells with too many false alarms."""
    most = ALPHA + 2.326 * (ALPHA * (1 - ALPHA) / n_runs) ** 0.5
    columns = (
        "questions", "looks", "false alarms: no difference", "drifts over the file", "drifts, 4 questions a picture",
        "finds the effect: one look", "these looks", "lost, points", "pictures asked by the first claim",
    )  # fmt: skip
    lines = [f"| {' | '.join(columns)} |", "|--:" * len(columns) + "|"]
    print(*lines, sep="\n", flush=True)
    n_broken = 0
    for (place, n), n_looks in product(enumerate(N_QUESTIONS), (*N_LOOKS, None)):
        rng = np.random.default_rng([seed, place, n_looks or 0])
        effect = Setting(n, effect=POWER_Z * (0.5 * CHURN / n) ** 0.5)
        settings = (Setting(n), Setting(n, drift=DRIFT), Setting(n, size=4, drift=DRIFT), effect)
        *nothing, found = (
            simulate_any_time(one, max(BATCH, n_runs // 4), rng)
            if n_looks is None
            else simulate(one, n_looks, n_runs, rng)
            for one in settings
        )
        alarms = [alarm_of(one) for one in nothing]
        n_broken += sum(alarm > most for alarm in alarms)
        power, at_end = float(found.claimed[:, 0].mean()), float(found.at_end[:, 0].mean())
        shown = [*map(percent, alarms), percent(at_end), percent(power), f"{100 * (at_end - power):.1f}"]
        asked = "–" if n_looks is None else percent(float(found.asked.mean()))
        lines.append(f"| {n} | {n_looks or 'any time'} | {' | '.join(shown)} | {asked} |")
        print(lines[-1], flush=True)
    rng = np.random.default_rng([seed, 99])
    in_file = alarm_of(simulate(Setting(200, drift=DRIFT, is_file_order=True), 5, n_runs, rng))
    best = alarm_of(simulate(Setting(200), 5, n_runs, rng, is_best=True))
    n_broken += best > most
    watched = "someone who watches all answers and takes every look at the best moment before the next one is due"
    lines += [
        "",
        f"200 questions and 5 looks in the order of the file, whose effects drift: {percent(in_file)} false alarms.",
        f"In the order of a plan, by {watched}: {percent(best)}.",
    ]
    print(*lines[-2:], sep="\n", flush=True)
    return lines, n_broken


def alarm_of(found: Looked) -> float:
    """Return the share of runs in which any look claims anything."""
    return float(found.claimed.any(axis=1).mean())


if __name__ == "__main__":
    raise SystemExit(main())

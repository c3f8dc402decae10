"""Summaries of runs that never happened, for tests of figures and reports: seeded scores, real statistics."""

import msgspec
import numpy as np

from eyechart.runs.acuity import as_acuities
from eyechart.runs.findings import find
from eyechart.runs.patterns import count_patterns
from eyechart.schema import (
    AcuityBand,
    BenchmarkIdentity,
    CloseViews,
    ConditionSummary,
    DecodePolicy,
    Estimate,
    Failure,
    Finding,
    HalfAccuracySize,
    ModelIdentity,
    Run,
    Sampling,
    Size,
    SizeBand,
    Summary,
    Usage,
)
from eyechart.stats.claims import decide_all
from eyechart.stats.conditions import ScoreTable, accuracy_by_condition, contrasts_against
from eyechart.views import IDENTICAL_VIEWS, PRESETS, format_view, parse_view

DEMO_VIEWS = (
    "original",
    "crop_1x",
    "crop_6x",
    "whiteground_6x",
    "downsample_0_5",
    "downsample_0_25",
    "downsample_0_0625",
    "target_only_original",
)
SUM_VIEWS = tuple(format_view(view) for view in PRESETS["sum29-candidate-a"])
SCORER = "option_letter.strict@1"
_SIDE = 2000


def make_run(views, *, n_questions=40, model=None, benchmark=None, **changes) -> Run:
    """Settings of a run of these views."""
    run = Run(
        id="2026-11-30-demo-rapidocr-7f3a",
        plan_id="b1946ac92492d2347c6235b4d2611184b1946ac92492d2347c6235b4d2611184",
        created_at="2026-11-30T09:12:44Z",
        benchmark=benchmark or BenchmarkIdentity("demo", "3f786850e387", {"seed": 7}),
        views=tuple(views),
        view_preset=None,
        model=model or ModelIdentity("ocr", "rapidocr", fingerprint="pp-ocrv6:9e107d9d"),
        sampling=Sampling(),
        prompt_id="letter_normalized@1",
        decode=DecodePolicy(),
        resampler="pillow-lanczos@1",
        transport="native@1",
        geometry_policy={"rounding": "outward", "border": "clip"},
        seeds={"limit": 0, "order": 0},
        versions={"eyechart": "0.1.0", "python": "3.11.9", "pillow": "12.0.0"},
        n_questions=n_questions,
        command=("eyechart", "demo", "--views", "original,crop_6x"),
    )
    return msgspec.structs.replace(run, **changes)


def true_accuracy(view_id: str) -> float:
    """What the pretended model can do under a view: it fails on small targets and is helped by crops."""
    view = parse_view(view_id)
    if view.family == "downsample":
        return float(np.interp(np.log2(view.linear_scale), [-4, -3, -1.5, 0], [0.04, 0.3, 0.72, 0.66]))
    if view.family in {"crop", "original_plus_crop"}:
        return float(np.interp(np.log2(view.area_ratio), [0, 1, 4.2], [0.7, 0.88, 0.8]))
    if view.family == "whiteground":
        return float(np.interp(np.log2(view.area_ratio), [0, 1, 4.2], [0.55, 0.7, 0.68]))
    if view.family in {"blank", "no_image"}:
        return 0.02
    return 0.66 if view.family == "original" else 0.58


def make_summary(views=DEMO_VIEWS, *, n_questions=40, n_images=20, seed=0, missing=None, **changes) -> Summary:
    """A whole summary; ``missing`` gives for a view how many of its first questions have no score."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 0.15, n_questions)[:, None]
    truth = np.array([true_accuracy(view) for view in views])
    values = (rng.random((n_questions, len(views))) < np.clip(truth + ease, 0, 1)).astype(np.float64)
    present = np.full(values.shape, True)
    for view, count in (missing or {}).items():
        present[:count, views.index(view)] = False
    table = ScoreTable(
        values,
        present,
        [f"im{index % n_images}" for index in range(n_questions)],
        tuple(views),
        chance=np.full(n_questions, 0.25),
        scorer=SCORER,
    )
    estimates = accuracy_by_condition(table)
    contrasts = contrasts_against(table, "original", negative_controls=IDENTICAL_VIEWS) if "original" in views else ()
    contrasts = decide_all(contrasts, "exploratory")
    conditions = tuple(_condition(view, index, values, present) for index, view in enumerate(views))
    half_sizes = _half_sizes(n_questions, min(n_images, n_questions)) if estimates else ()
    summary = Summary(
        run=make_run(views, n_questions=n_questions),
        scorer=SCORER,
        conditions=conditions,
        estimates=estimates,
        contrasts=contrasts,
        size_bands=_bands(estimates) if estimates else (),
        failures=_failures(missing or {}),
        findings=find(contrasts, conditions),
        warnings=("2 of 40 pictures carry an EXIF orientation that was not applied",),
        chance=0.25,
        n_questions=n_questions,
        n_clusters=min(n_images, n_questions),
        usage=Usage(input_tokens=123456, output_tokens=789),
        acuities=as_acuities(half_sizes),
        half_accuracy_sizes=half_sizes,
        close_views=_close(views, contrasts, n_questions),
        pattern_conditions=table.conditions,
        patterns=count_patterns(table.values, table.present, table.image_groups),
    )
    return msgspec.structs.replace(summary, **changes)


def _condition(view_id: str, index: int, values, present) -> ConditionSummary:
    view = parse_view(view_id)
    area_ratio = getattr(view, "area_ratio", None)
    scale = getattr(view, "linear_scale", None)
    side = int(_SIDE * scale) if scale else _SIDE
    if view.family == "crop":
        side = int(32 * area_ratio**0.5)
    here = present[:, index]
    n_correct = float(values[here, index].sum())
    n_wrong = int(here.sum() - n_correct)
    return ConditionSummary(
        condition=view_id,
        view=view_id,
        family=view.family,
        area_ratio=area_ratio,
        linear_scale=scale,
        n_asked=len(here),
        n_answered=int(here.sum()),
        n_scored=int(here.sum()),
        n_missing=int((~here).sum()),
        n_correct=n_correct,
        accuracy_sum=n_correct / len(here),
        median_sent_size=Size(side, side),
        median_sent_px=float(side * side),
        median_area_multiplier=None if area_ratio is None else area_ratio * 0.97,
        target_px_sent=32.0 * (scale or 1.0),
        target_px_seen=32.0 * (scale or 1.0) * min(1.0, 1500 / side) if view.family != "blank" else None,
        seen_evidence="executed",
        n_saturated=3 if area_ratio and area_ratio >= 12 else 0,
        states={"answered": int(here.sum()), **({"refused_input": int((~here).sum())} if (~here).any() else {})},
        reasons={"cannot_tell": n_wrong // 2, "no_option_letter": n_wrong // 5} if n_wrong else {},
    )


def _bands(estimates: tuple[Estimate, ...]) -> tuple[SizeBand, ...]:
    edges = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
    values = (0.05, 0.31, 0.62, 0.83, 0.9)
    return tuple(
        SizeBand(
            low,
            high,
            msgspec.structs.replace(
                estimates[0],
                value=value,
                low=max(0.0, value - 0.11),
                high=min(1.0, value + 0.09),
                n_questions=30 + 7 * k,
            ),
        )
        for k, (low, high, value) in enumerate(zip(edges, edges[1:], values, strict=False))
    )


def _half_sizes(n_questions: int, n_clusters: int) -> tuple[HalfAccuracySize, ...]:
    """What a model has that reads half of its targets at 9 px, over all tasks, and two tasks that say less."""
    sizes, shares = (90.0, 40.0, 30.0, 20.0, 14.0, 10.0, 7.0, 5.0), (0.9, 0.91, 0.88, 0.8, 0.7, 0.5, 0.2, -0.05)
    bands = tuple(
        AcuityBand(size, share, share - 0.1, min(1.0, share + 0.1), max(0.0, share), n_questions, chance=0.25)
        for size, share in zip(sizes, shares, strict=True)
    )
    known = {"evidence": "documented", "n_questions": n_questions, "n_clusters": n_clusters}
    return (
        HalfAccuracySize(
            None, "estimated", px=9.3, low=8.1, high=11.7, slope=0.21, slope_p=1e-9, bands=bands, has_curve=True,
            **known,
        ),
        HalfAccuracySize("Color", "not reached", "more than half is left at the smallest targets", **known),
        HalfAccuracySize("OCR", "estimated", px=12.0, low=None, high=14.0, **known),
    )  # fmt: skip


def _close(views, contrasts, n_questions: int) -> tuple[CloseViews, ...]:
    """Original and half are one picture, a quarter is close to the original."""
    found = {contrast.condition: contrast for contrast in contrasts}
    pairs = [("downsample_0_5", 1.0, n_questions), ("downsample_0_25", 1.15, 3)]
    return tuple(
        CloseViews(view, "original", ratio, n_same, n_questions, found.get(view) if n_same == n_questions else None)
        for view, ratio, n_same in pairs
        if "original" in views and view in views
    )


def _failures(missing: dict[str, int]) -> tuple[Failure, ...]:
    return tuple(
        Failure("refused_input", "picture has more pixels than the provider takes", count, {view: count}, "demo/0001")
        for view, count in missing.items()
    )


def demo_summary() -> Summary:
    """What ``eyechart demo`` gives: 40 questions about 20 pictures under 8 views."""
    return make_summary()


def sum_summary() -> Summary:
    """A run of the 29 views of SUM, with refused pictures, omissions and a view without any score."""
    return make_summary(
        SUM_VIEWS,
        n_questions=700,
        n_images=664,
        missing={"whiteground_18x": 212, "crop_1_5x": 1, "downsample_0_75": 1, "downsample_0_0625": 700},
        run=make_run(
            SUM_VIEWS,
            n_questions=700,
            view_preset="sum29-candidate-a",
            model=ModelIdentity("openai", "gpt-4o-2024-11-20"),
            benchmark=BenchmarkIdentity("sum", "89e6c98d92887913cadf06b2adb97f26cde4849b"),
            command=("eyechart", "run", "sum", "--model", "openai/gpt-4o-2024-11-20", "--views", "sum29"),
        ),
    )


def single_question_summary() -> Summary:
    """One question about one picture: no p-value, an interval from 0 to 1."""
    return make_summary(n_questions=1, n_images=1)


def unanimous_summary() -> Summary:
    """Every answer right under every view: zero discordance."""
    views = ("original", "crop_6x", "downsample_0_5")
    table = ScoreTable(np.ones((40, 3)), np.full((40, 3), True), [f"im{i % 20}" for i in range(40)], views)
    return make_summary(
        views,
        estimates=accuracy_by_condition(table),
        contrasts=contrasts_against(table, "original"),
        findings=find(contrasts_against(table, "original"), ()),
        chance=None,
        failures=(),
    )


def matched_summary() -> Summary:
    """A matched design: original, crop and whiteground at two sizes of the target."""
    levels = {8: 0.0, 32: 0.2}
    parts = {level: make_summary(("original", "crop_3x", "whiteground_3x"), seed=level) for level in levels}

    def name(level, condition):
        return f"match_px_{level}" if condition == "original" else f"match_px_{level}_{condition}"

    conditions = tuple(
        msgspec.structs.replace(one, condition=name(level, one.condition))
        for level, part in parts.items()
        for one in part.conditions
    )
    estimates = tuple(
        msgspec.structs.replace(one, condition=name(level, one.condition))
        for level, part in parts.items()
        for one in part.estimates
    )
    return msgspec.structs.replace(
        parts[8], conditions=conditions, estimates=estimates, contrasts=(), findings=(), close_views=(),
        pattern_conditions=(), patterns=(),
    )  # fmt: skip


def unanswered_summary() -> Summary:
    """A run in which no request was answered."""
    return make_summary(
        missing=dict.fromkeys(DEMO_VIEWS, 40), size_bands=(), findings=(), estimates=(), contrasts=(), warnings=()
    )


HOSTILE = "<script>alert('x')</script> & \"q\" $x_1$ \\input{y} `a|b` 字\u202e\u0000{{7*7}}"


def hostile_summary() -> Summary:
    """Every free text holds markup of HTML, LaTeX, Markdown and Jinja, other scripts and control characters."""
    summary = make_summary()
    run = make_run(
        DEMO_VIEWS,
        model=ModelIdentity("openai", HOSTILE, revision=HOSTILE, settings={HOSTILE: HOSTILE}),
        benchmark=BenchmarkIdentity(HOSTILE, HOSTILE, {HOSTILE: [HOSTILE]}),
        command=("eyechart", HOSTILE),
        versions={HOSTILE: HOSTILE},
    )
    conditions = tuple(
        msgspec.structs.replace(condition, condition=HOSTILE) if index == 1 else condition
        for index, condition in enumerate(summary.conditions)
    )
    hostile = {"crop_1x": HOSTILE}
    return msgspec.structs.replace(
        summary,
        run=run,
        scorer=HOSTILE,
        conditions=conditions,
        estimates=tuple(
            msgspec.structs.replace(e, condition=hostile.get(e.condition, e.condition)) for e in summary.estimates
        ),
        contrasts=tuple(
            msgspec.structs.replace(c, condition=hostile.get(c.condition, c.condition), warnings=(HOSTILE,))
            for c in summary.contrasts
        ),
        failures=(Failure(HOSTILE, HOSTILE, 3, {HOSTILE: 3}, HOSTILE),),
        findings=(Finding(HOSTILE, HOSTILE, (HOSTILE, "original")),),
        warnings=(HOSTILE,),
    )


CASES = {
    "demo": demo_summary,
    "sum": sum_summary,
    "single_question": single_question_summary,
    "unanimous": unanimous_summary,
    "unanswered": unanswered_summary,
    "hostile": hostile_summary,
}

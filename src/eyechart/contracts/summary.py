"""A made-up summary with what real ones hold: intervals, a missing answer, a contrast without p, odd characters."""

from eyechart.schema import (
    BenchmarkIdentity,
    ConditionSummary,
    Contrast,
    DecodePolicy,
    Estimate,
    Failure,
    Finding,
    ModelIdentity,
    Run,
    Sampling,
    Size,
    Summary,
)

_SCORER = "option_letter.strict@1"


def made_summary() -> Summary:
    """Return a small summary of two conditions, for the checks of figures and reports."""
    return Summary(
        run=_run(),
        scorer=_SCORER,
        conditions=(
            _condition("original", 0.75),
            _condition("downsample_0_25", 0.5, linear_scale=0.25, n_missing=1),
        ),
        estimates=(_estimate("original", 0.75), _estimate("downsample_0_25", 0.5, n_missing=1)),
        contrasts=(_contrast(),),
        failures=(Failure(state="transient", cause="HTTP 503 <busy>", n=1, conditions={"downsample_0_25": 1}),),
        findings=(Finding(code="CANNOT_TELL", text="made up", contrast=("downsample_0_25", "original")),),
        warnings=("a warning with <b>markup</b> & percent %",),
        chance=0.25,
        n_questions=40,
        n_clusters=36,
    )


def _run() -> Run:
    return Run(
        id="made-run",
        plan_id="0" * 64,
        created_at="2026-01-01T00:00:00Z",
        benchmark=BenchmarkIdentity("made_up", "1" * 64),
        views=("original", "downsample_0_25"),
        view_preset=None,
        model=ModelIdentity("openai", "model_with_underscores"),
        sampling=Sampling(),
        prompt_id="letter_normalized@1",
        decode=DecodePolicy(),
        resampler="pillow-lanczos@1",
        transport="native@1",
        geometry_policy={"border": "clip"},
        seeds={"limit": 0},
        versions={"eyechart": "0"},
        n_questions=40,
    )


def _condition(
    view: str, accuracy: float, *, linear_scale: float | None = None, n_missing: int = 0
) -> ConditionSummary:
    n_scored = 40 - n_missing
    return ConditionSummary(
        condition=view,
        view=view,
        family=view.partition("_")[0],
        linear_scale=linear_scale,
        n_asked=40,
        n_answered=n_scored,
        n_scored=n_scored,
        n_missing=n_missing,
        n_correct=round(accuracy * n_scored),
        accuracy_sum=round(accuracy * n_scored) / 40,
        median_sent_size=Size(800, 600),
        median_sent_px=480_000,
        reasons={"cannot_tell": 2},
    )


def _estimate(condition: str, value: float, *, n_missing: int = 0) -> Estimate:
    return Estimate(
        name="accuracy",
        condition=condition,
        value=value,
        low=value - 0.15,
        high=value + 0.15,
        n_questions=40 - n_missing,
        n_clusters=36,
        method="made up",
        n_missing=n_missing,
        chance=0.25,
        scorer=_SCORER,
    )


def _contrast() -> Contrast:
    return Contrast(
        name="paired difference",
        condition="downsample_0_25",
        baseline="original",
        value=-0.25,
        low=-0.45,
        high=-0.05,
        n_questions=39,
        n_clusters=36,
        gained=2,
        lost=12,
        method="made up",
        n_missing=1,
        scorer=_SCORER,
    )

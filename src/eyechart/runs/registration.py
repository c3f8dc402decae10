"""Plans written before anything is asked: hypotheses, family, margins and n, under a hash that shows later changes."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from eyechart.errors import UsageError
from eyechart.runs.baselines import level_of
from eyechart.runs.cells import asked_question, hash_contents
from eyechart.runs.files import write_whole
from eyechart.runs.plan_options import DEFAULT_TRANSPORT
from eyechart.schema import (
    BenchmarkIdentity,
    Question,
    content_sha256,
)
from eyechart.settings import read_settings, read_toml
from eyechart.stats.corrections import Correction
from eyechart.stats.estimands import NEGATIVE_CONTROL, name_pairs
from eyechart.stats.looks import Look, plan_looks
from eyechart.views import parse_view

REGISTRATION_FILE = "registration.toml"
"""Name of the copy that a run keeps of the plan it was started with."""
# Named first because each answers one question; the rest of a family would only cost power.
_PRIMARY = (
    ("distraction effect", "whiteground_3x"),
    ("canvas effect", "crop_3x"),
    ("in-crop context at original canvas", "whiteground_3x"),
    ("resolution loss", "downsample_0_5"),
    ("resolution loss", "downsample_0_25"),
)
_MOST_HYPOTHESES = 8
_HEADER = """\
# A plan, written by eyechart before anything is asked. `eyechart run --plan` and `eyechart report --plan` read it.
# Results of these hypotheses are confirmatory if the run keeps to every line, and exploratory if it departs from one.
# sha256 covers every value: a later change shows.
"""


class Hypothesis(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One difference to be tested: condition − baseline, two-sided.

    Args:
        condition: Condition.
        baseline: What is subtracted.
        name: What the difference measures.
        margin: Largest difference that does not matter; tests equivalence as well.
        discordance: Share of questions expected to change their score.
        detectable: Smallest difference that n questions then detect.
    """

    condition: str
    baseline: str
    name: str = "paired difference"
    margin: float | None = None
    discordance: float | None = None
    detectable: float | None = None


class StudyPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plan as it stands in the file.

    Args:
        written_at: ISO time.
        benchmark: Name of the benchmark.
        revision: Its content hash.
        questions_sha256: Hash of the question ids.
        n_questions: Their number.
        n_pictures: Pictures they are about.
        views: Conditions to ask.
        prompt: Id of the prompt.
        scorer: Id of the scorer.
        alpha: Error rate of the family.
        power: Chance to detect the detectable differences.
        correction: Correction over the hypotheses.
        hypothesis: The family.
        models: Who is asked, as provider/name; empty where the plan holds for any one model.
        contents_sha256: Hash of what is asked: texts, options, right answers, pictures, targets, clusters.
        limit: Number of questions drawn; None asks all.
        seed: Seed of that draw; None in plans written before it was recorded.
        repeats: How often each request is asked; 0 in plans written before it was recorded.
        transport: How pictures are sent; empty in plans written before it was recorded.
        ask_again: States of final errors that may be asked again without making the results exploratory.
        may_grow: Whether questions may be mended, added or removed while the run goes on.
        looks: So many times the results may be looked at, the last time at the end; 0 only at the end. Pictures are
            then asked in an order that ``seed`` draws.
        anytime: Whether the results may be looked at at any time; pictures are asked in that order too.
        sha256: Hash of all of the above.
    """

    written_at: str
    benchmark: str
    revision: str
    questions_sha256: str
    n_questions: int
    n_pictures: int
    views: tuple[str, ...]
    prompt: str
    scorer: str
    alpha: float = 0.05
    power: float = 0.8
    correction: Correction = "holm"
    hypothesis: tuple[Hypothesis, ...]
    models: tuple[str, ...] = ()
    contents_sha256: str = ""
    limit: int | None = None
    seed: int | None = None
    repeats: int = 0
    transport: str = ""
    ask_again: tuple[str, ...] = ()
    may_grow: bool = False
    looks: int = 0
    anytime: bool = False
    sha256: str = ""

    @property
    def content_sha256(self) -> str:
        """Hash of everything but ``sha256`` itself."""
        return content_sha256(msgspec.structs.replace(self, sha256=""))

    @property
    def is_changed(self) -> bool:
        """Whether a value was changed after the plan was written."""
        return self.sha256 != self.content_sha256

    @property
    def allows_looking(self) -> bool:
        """Whether results may be looked at before the end, so that pictures are asked in a random order."""
        return self.looks != 0 or self.anytime


def primary_hypotheses(views: Sequence[str]) -> tuple[Hypothesis, ...]:
    """Return the family to test by default: distraction, canvas and in-crop context at 3×, resolution at ½ and ¼.

    Where few views are asked, each that stands in none of these is compared with the original, or the first view; so
    are all where there is none of these. At most eight. Negative controls are alarms and never hypotheses.

    Example:
        >>> [(h.name, h.condition, h.baseline) for h in primary_hypotheses(["original", "whiteground_3x"])]
        [('distraction effect', 'whiteground_3x', 'original')]
    """
    named = name_pairs({view: parse_view(view) for view in views})
    found = [
        Hypothesis(name=pair.name, condition=pair.condition, baseline=pair.baseline)
        for name, condition in _PRIMARY
        for pair in named
        if (pair.name, pair.condition) == (name, condition)
    ]
    if views and (not found or len(views) - 1 <= _MOST_HYPOTHESES):
        baseline = "original" if "original" in views else views[0]
        controls = {frozenset(pair.pair) for pair in named if pair.name == NEGATIVE_CONTROL}
        covered = {view for one in found for view in (one.condition, one.baseline)} | {baseline}
        found += [
            Hypothesis(condition=view, baseline=baseline)
            for view in views
            if view not in covered and frozenset((view, baseline)) not in controls
        ]
    return tuple(found[:_MOST_HYPOTHESES])


def matched_hypotheses(view_of: Mapping[str, str]) -> tuple[Hypothesis, ...]:
    """Return the family to test by default in a matched design: the primary one of plain views, within every level.

    The levels share the eight hypotheses; a view that shows no target stands in none.

    Args:
        view_of: Condition → view id, in the order of the run.

    Example:
        >>> found = matched_hypotheses({"match_px_8": "original", "match_px_8_crop_3x": "crop_3x",
        ...                             "match_px_32": "original", "match_px_32_crop_3x": "crop_3x"})
        >>> [(h.condition, h.baseline) for h in found]
        [('match_px_8_crop_3x', 'match_px_8'), ('match_px_32_crop_3x', 'match_px_32')]
    """
    levels: dict[str, dict[str, str]] = {}
    for condition, view in view_of.items():
        if level := level_of(condition, view):
            levels.setdefault(level, {})[view] = condition
    most = max(1, _MOST_HYPOTHESES // max(1, len(levels)))
    found = [
        msgspec.structs.replace(one, condition=names[one.condition], baseline=names[one.baseline])
        for names in levels.values()
        for one in primary_hypotheses(tuple(names))[:most]
    ]
    return tuple(found[:_MOST_HYPOTHESES])


class PlanTerms(msgspec.Struct, frozen=True, kw_only=True):
    """How the hypotheses of a plan are to be tested; see ``StudyPlan``."""

    prompt: str
    scorer: str
    alpha: float = 0.05
    power: float = 0.8
    correction: Correction = "holm"
    models: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    repeats: int = 1
    transport: str = DEFAULT_TRANSPORT
    ask_again: tuple[str, ...] = ()
    may_grow: bool = False
    looks: int = 0
    anytime: bool = False


def make_plan(
    identity: BenchmarkIdentity,
    questions: Sequence[Question],
    views: Sequence[str],
    hypotheses: Sequence[Hypothesis],
    *,
    terms: PlanTerms,
    now: datetime,
) -> StudyPlan:
    """Return a plan with its hash.

    Args:
        identity: The benchmark.
        questions: The questions to ask.
        views: Conditions to ask them under.
        hypotheses: The family.
        terms: How it is tested.
        now: The present, with a time zone.

    Raises:
        UsageError: If there is no hypothesis, one stands twice, names a view not asked, or has an impossible margin;
            or if the plan allows looks and something that does not go with them.
        StatisticsError: If there cannot be so many looks.
    """
    pairs = [frozenset((one.condition, one.baseline)) for one in hypotheses]
    if not pairs or len(set(pairs)) < len(pairs):
        raise UsageError("a plan needs hypotheses, each once", hint="name two views, for example crop_3x,original")
    unknown = sorted({name for pair in pairs for name in pair} - set(views))
    if unknown:
        raise UsageError(f"not among the views to ask: {', '.join(unknown)}", hint=f"views: {', '.join(views)}")
    _check_margins(hypotheses)
    plan = StudyPlan(
        written_at=now.isoformat(timespec="seconds"),
        benchmark=identity.name,
        revision=identity.revision,
        questions_sha256=hash_ids([question.id for question in questions]),
        n_questions=len(questions),
        n_pictures=len({question.image_group for question in questions}),
        views=tuple(views),
        prompt=terms.prompt,
        scorer=terms.scorer,
        alpha=terms.alpha,
        power=terms.power,
        correction=terms.correction,
        hypothesis=tuple(hypotheses),
        models=terms.models,
        contents_sha256=hash_contents(map(asked_question, questions)),
        limit=terms.limit,
        seed=terms.seed,
        repeats=terms.repeats,
        transport=terms.transport,
        ask_again=terms.ask_again,
        may_grow=terms.may_grow,
        looks=terms.looks,
        anytime=terms.anytime,
    )
    _check_looks(plan)
    if plan.looks:
        looks_of(plan, [question.image_group for question in questions])
    return msgspec.structs.replace(plan, sha256=plan.content_sha256)


def _check_looks(plan: StudyPlan) -> None:
    if plan.allows_looking and plan.may_grow:
        raise UsageError("looks lie at fixed parts of questions that may change", hint="leave out --may-grow")
    if plan.looks and plan.anytime:
        raise UsageError("a plan has looks, or may be looked at at any time", hint="leave out --looks or --anytime")
    if plan.anytime and any(one.margin is not None for one in plan.hypothesis):
        raise UsageError(
            "there is no test of equivalence that holds at any time", hint="leave out --margin, or plan --looks"
        )


def picture_order(pictures: Iterable[str], seed: int) -> tuple[str, ...]:
    """Return distinct pictures in a random order that follows from the seed alone.

    The order of a file often goes with tasks or difficulty; in that order a look at its beginning would be one at other
    questions.

    Example:
        >>> picture_order(["b", "a", "c", "a"], 1) == picture_order(["c", "b", "a"], 1)
        True
    """
    return tuple(sorted(set(pictures), key=lambda picture: hashlib.sha256(f"{seed} {picture}".encode()).digest()))


def looks_of(plan: StudyPlan, pictures: Sequence[str]) -> tuple[Look, ...]:
    """Return the looks of a plan that has any.

    Args:
        plan: The plan.
        pictures: (n_questions,) the picture, or group of pictures, of each question.

    Raises:
        StatisticsError: If there cannot be so many.
    """
    sizes = Counter(pictures)
    return plan_looks([sizes[name] for name in picture_order(pictures, plan.seed or 0)], plan.looks, plan.alpha)


def hash_ids(ids: Sequence[str]) -> str:
    """Return the hash of question ids, whatever their order."""
    return content_sha256(sorted(ids))


def write_plan(plan: StudyPlan, path: Path) -> None:
    """Write a plan as TOML; an existing file is never replaced, since a plan is written once.

    Raises:
        UsageError: If the file exists.
        StoreError: If it cannot be written.
    """
    if path.exists():
        raise UsageError(f"{path} exists", hint="a plan is written once: name another file")
    fields = msgspec.to_builtins(plan)
    hypotheses = fields.pop("hypothesis")
    lines = [_HEADER, *_toml_lines(fields)]
    for hypothesis in hypotheses:
        lines += ["", "[[hypothesis]]", *_toml_lines(hypothesis)]
    write_whole(path, ["\n".join(lines).encode() + b"\n"])


def read_plan(path: Path) -> StudyPlan:
    """Read a plan, changed or not.

    Raises:
        UsageError: If it cannot be read, is not a plan, names no hypothesis, or holds a margin that is none.
    """
    content = read_toml(path)
    if not content.get("hypothesis"):
        raise UsageError(
            f"plan {path.name} names no hypothesis, so there is nothing that it could confirm",
            hint="write it by eyechart check … --write-plan FILE --hypothesis crop_3x,original",
        )
    plan = read_settings(StudyPlan, content, f"plan {path.name}")
    _check_margins(plan.hypothesis)
    return plan


def _check_margins(hypotheses: Sequence[Hypothesis]) -> None:
    for one in hypotheses:
        if one.margin is not None and not 0.0 < one.margin < 1.0:
            what = f"margin {one.margin:g} of {one.condition} − {one.baseline}"
            raise UsageError(f"{what} does not lie between 0 and 1", hint="two points are a margin of 0.02")


def keep_copy(plan: StudyPlan, folder: Path) -> None:
    """Keep the plan in a run folder; the first one stands. It counts only if ``run.json`` holds its hash.

    Raises:
        StoreError: If it cannot be written.
    """
    if not (folder / REGISTRATION_FILE).exists():
        write_plan(plan, folder / REGISTRATION_FILE)


def kept_copy(folder: Path) -> StudyPlan | None:
    """Return the plan that a run was started with, None if it was started without.

    Raises:
        UsageError: If the copy is damaged.
    """
    path = folder / REGISTRATION_FILE
    return read_plan(path) if path.is_file() else None


def _toml_lines(fields: Mapping[str, object]) -> list[str]:
    return [f"{name} = {_toml_value(value)}" for name, value in fields.items() if value is not None]


def _toml_value(value: object) -> str:
    """Write a text, number or list of texts; JSON's escapes are TOML's too."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml_value(entry) for entry in value)}]"
    return json.dumps(value)

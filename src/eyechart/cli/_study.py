"""The flags of ``check`` that plan a study: what it can detect, what it needs, and a plan under a hash."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from eyechart.cli._output import print_json, print_table, say
from eyechart.errors import UsageError
from eyechart.stats.corrections import Correction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eyechart.kinds import Benchmark
    from eyechart.runs.cells import RunTable
    from eyechart.runs.options import RunOptions
    from eyechart.runs.registration import Hypothesis, PlanTerms, StudyPlan
    from eyechart.runs.study import StudyPower
    from eyechart.schema import View
    from eyechart.stats.looks import Look

_Study = Group("Study", sort_key=4)
_PAIR = 2


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class StudyFlags:
    """What is to be tested, and how well."""

    write_plan: Annotated[
        Path | None,
        Parameter(group=_Study, help="Write hypotheses, family, margins and n under a hash, before asking."),
    ] = None
    hypothesis: Annotated[
        tuple[str, ...],
        Parameter(
            group=_Study,
            negative="",
            show_default=False,
            help="Two views, condition,baseline; repeat it. A primary family of the views if left out.",
        ),
    ] = ()
    effect: Annotated[float | None, Parameter(group=_Study, help="Difference to detect: 0.05 is five points.")] = None
    margin: Annotated[
        float | None, Parameter(group=_Study, help="Largest difference that does not matter; tests equivalence.")
    ] = None
    discordance: Annotated[
        float | None, Parameter(group=_Study, help="Share of questions expected to change their score.")
    ] = None
    pilot: Annotated[
        Path | None, Parameter(group=_Study, help="Run folder that discordance and clustering are read from.")
    ] = None
    alpha: Annotated[float, Parameter(group=_Study, help="Error rate of the family.")] = 0.05
    power: Annotated[float, Parameter(group=_Study, help="Chance to detect the effect.")] = 0.8
    study_correction: Annotated[Correction, Parameter(group=_Study, help="Correction over the hypotheses.")] = "holm"
    study_prompt: Annotated[
        str | None, Parameter(group=_Study, help="Prompt of the plan; that of --prompt if left out.")
    ] = None
    study_scorer: Annotated[
        str | None, Parameter(group=_Study, help="Scorer of the plan; that of --scorer if left out.")
    ] = None
    repeats: Annotated[int | None, Parameter(group=_Study, help="Another name of --repeat.")] = None
    looks: Annotated[
        int,
        Parameter(
            group=_Study,
            show_default=False,
            help="With --write-plan: the results may be looked at so many times, the last time at the end. Pictures "
            "are then asked in a random order, and the error rate is shared out over the looks.",
        ),
    ] = 0
    anytime: Annotated[
        bool,
        Parameter(
            group=_Study,
            negative="",
            show_default=False,
            help="With --write-plan: the results may be looked at at any time. It finds less than --looks.",
        ),
    ] = False
    may_grow: Annotated[
        bool,
        Parameter(
            group=_Study,
            negative="",
            show_default=False,
            help="The plan allows questions to be mended, added or removed while the run goes on.",
        ),
    ] = False
    grid: Annotated[
        int | None, Parameter(group=_Study, help="Cells a side of a needle grid: how many base samples it needs.")
    ] = None

    @property
    def is_used(self) -> bool:
        """Whether a study is asked about."""
        asked = (self.write_plan, self.effect, self.margin, self.discordance, self.pilot, self.grid)
        return bool(self.hypothesis) or self.looks != 0 or self.anytime or any(value is not None for value in asked)

    def show(
        self,
        benchmark: "Benchmark",
        views: "Sequence[View]",
        prompt: str,
        options: "RunOptions",
        *,
        models: tuple[str, ...],
        json: bool,
    ) -> int:
        """Print what the study can detect, and write its plan if a file is named; no model is asked.

        Args:
            benchmark: Where the questions come from.
            views: How each picture is shown.
            prompt: Id of the wording, which is the plan's unless another is named; as is the options' scorer.
            options: How a run would ask; its states to ask again are those that the plan allows.
            models: Who would be asked, as provider/name; none where the plan is to hold for any one model.
            json: Whether to print JSON.

        In a matched design the questions that some view cannot show at every level are not asked. Which these are says
        the model's grid, so that n is the most that there can be.
        """
        import datetime

        import msgspec

        from eyechart.opening import DEFAULT_SCORER
        from eyechart.runs.options import with_scorer
        from eyechart.runs.plan import choose_questions
        from eyechart.runs.registration import looks_of, make_plan
        from eyechart.runs.study import StudyOptions, study_power

        if (self.looks or self.anytime) and self.write_plan is None:
            raise UsageError("looks belong to a plan", hint="add --write-plan FILE, or leave --looks and --anytime out")
        from eyechart.views import format_view

        match = options.plan.match
        if match is None:
            view_of = {format_view(view): format_view(view) for view in views}
        else:
            from eyechart.runs.matching import parse_match

            view_of = parse_match(match).conditions(views)
            say(f"--match {match}: questions that cannot be matched are not asked, so that n may be smaller")
        names = list(view_of)
        questions = choose_questions(tuple(benchmark.questions()), options.plan.limit, options.plan.seed)
        hypotheses = self._hypotheses(view_of)
        wanted = StudyOptions(
            alpha=self.alpha,
            power=self.power,
            discordance=self.discordance,
            effect=self.effect,
            n_views=len(names),
            n_repeats=options.plan.repeats,
            grid=self.grid,
        )
        pairs = [(one.condition, one.baseline) for one in hypotheses]
        scorer = self.study_scorer or with_scorer(options, benchmark).scorer or DEFAULT_SCORER
        study = study_power(questions, pairs, wanted, self._pilot(scorer))
        if json:
            print_json(study)
        else:
            _show_power(study, self.effect)
        if self.write_plan is not None:
            terms = self._terms(self.study_prompt or prompt, scorer, options, models)
            planned = [
                msgspec.structs.replace(
                    one, margin=self.margin, discordance=power.discordance, detectable=power.detectable
                )
                for one, power in zip(hypotheses, study.pairs, strict=True)
            ]
            now = datetime.datetime.now(tz=datetime.UTC)
            plan = make_plan(benchmark.identity, questions, names, planned, terms=terms, now=now)
            _write(plan, self.write_plan)
            if plan.looks:
                _tell_looks(looks_of(plan, [question.image_group for question in questions]))
        return 0

    def _terms(self, prompt: str, scorer: str, options: "RunOptions", models: tuple[str, ...]) -> "PlanTerms":
        from eyechart.opening import open_prompt, open_scorer
        from eyechart.runs.registration import PlanTerms
        from eyechart.runs.score import scorer_id_of

        opened = open_prompt(prompt)
        return PlanTerms(
            prompt=f"{opened.name}@{opened.version}",
            scorer=scorer_id_of(*open_scorer(scorer)),
            alpha=self.alpha,
            power=self.power,
            correction=self.study_correction,
            models=models,
            limit=options.plan.limit,
            seed=options.plan.seed,
            repeats=options.plan.repeats,
            transport=options.plan.transport,
            ask_again=tuple(state.value for state in options.ask_again),
            may_grow=self.may_grow,
            looks=self.looks,
            anytime=self.anytime,
        )

    def _hypotheses(self, view_of: "Mapping[str, str]") -> "tuple[Hypothesis, ...]":
        from eyechart.runs.registration import Hypothesis, matched_hypotheses, primary_hypotheses
        from eyechart.stats.estimands import name_pairs
        from eyechart.views import parse_view

        if not self.hypothesis:
            is_matched = any(condition != view for condition, view in view_of.items())
            return matched_hypotheses(view_of) if is_matched else primary_hypotheses(tuple(view_of))
        plain = {name: parse_view(view) for name, view in view_of.items() if name == view}
        names = {pair.pair: pair.name for pair in name_pairs(plain)}
        found = []
        for text in self.hypothesis:
            pair = tuple(part.strip() for part in text.split(","))
            if len(pair) != _PAIR:
                raise UsageError(f"hypothesis {text!r} names no two views", hint="for example crop_3x,original")
            name = names.get((pair[0], pair[1]), "paired difference")
            found.append(Hypothesis(condition=pair[0], baseline=pair[1], name=name))
        return tuple(found)

    def _pilot(self, scorer_name: str) -> "RunTable | None":
        if self.pilot is None:
            return None
        from eyechart.opening import open_scorer
        from eyechart.runs.cells import read_table
        from eyechart.runs.score import judge, scorer_id_of
        from eyechart.runs.store import RunStore

        scorer, mode = open_scorer(scorer_name)
        store = RunStore(self.pilot)
        return read_table(store, scorer_id_of(scorer, mode), judge(store, scorer, mode))


def _write(plan: "StudyPlan", path: Path) -> None:
    from eyechart.runs.registration import write_plan

    write_plan(plan, path)
    counted = "1 hypothesis" if len(plan.hypothesis) == 1 else f"{len(plan.hypothesis)} hypotheses"
    say(f"plan: {path}, {counted}, sha256 {plan.sha256[:12]}…; ask with run … --plan")
    if not plan.models:
        say("the plan names no model, so it holds for whichever is asked; name it with --model")


def _tell_looks(looks: "Sequence[Look]") -> None:
    """Say at how many pictures looks are due, and which of them would see too little for a test."""
    early = [look.n_pictures for look in looks if not look.alpha]
    due = ", ".join(str(look.n_pictures) for look in looks)
    say(
        f"looks: as soon as {due} pictures are finished, in a random order; the last one may spend "
        f"{100 * looks[-1].alpha:.2g} % of error rate, and what earlier ones leave"
    )
    if early:
        say(f"nothing can be claimed at {', '.join(map(str, early))} pictures, so there is no look there")


def _show_power(study: "StudyPower", effect: float | None) -> None:
    """Print one row per comparison and task."""
    rows = []
    for pair in study.pairs:
        name = f"{pair.condition} − {pair.baseline}"
        needed = "–" if effect is None else "impossible" if pair.n_needed is None else str(pair.n_needed)
        rows.append(
            [
                name,
                "all",
                str(study.n_questions),
                f"{100 * pair.discordance:.1f} % {pair.source}",
                f"{pair.variance_inflation:.2f}",
                _points(pair.detectable),
                needed,
            ]
        )
        rows += [[name, one.group, str(one.n_questions), "", "", _points(one.detectable), ""] for one in pair.groups]
    columns = ["comparison", "task", ">n", ">flips", ">inflation", ">detectable, points", ">n needed"]
    print_table(columns, rows)
    say(
        f"detectable with a power of {100 * study.power:g} % at {study.alpha:g} over {study.n_comparisons} comparisons "
        f"(first step of Holm); {study.n_requests} requests"
    )
    if study.useful_views is not None:
        say(f"averaging over more than about {study.useful_views:.1f} views per question is wasted")
    if study.useful_repeats is not None:
        say(f"more than about {study.useful_repeats:.1f} repeats are wasted: the noise between questions stays")
    if study.bases_needed is not None:
        say(f"a regional gap of 5 points needs {study.bases_needed} base samples to stand twice above its noise")


def _points(share: float | None) -> str:
    return "nothing" if share is None else f"{100 * share:.1f}"

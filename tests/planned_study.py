"""A plan of 80 questions and the runs that keep or break it: for laws of plans and of looks."""

from datetime import UTC, datetime, timedelta

import msgspec
from runs_made import SCORER, right_at

from eyechart.runs.folders import Destination
from eyechart.runs.plan import PlanOptions, choose_questions
from eyechart.runs.registration import Hypothesis, PlanTerms, make_plan
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.schema import ModelIdentity
from eyechart.views import resolve_views

VIEWS = "original,crop_3x,whiteground_3x"
N = 80
HYPOTHESES = (
    Hypothesis(condition="crop_3x", baseline="original"),
    Hypothesis(condition="whiteground_3x", baseline="original"),
)
TERMS = PlanTerms(prompt="plain@1", scorer=SCORER, models=("scripted/tiny",))
SCRIPT = right_at({"crop_3x": 0.8, "original": 0.4}, default=0.4)


class Study:
    """A plan of 80 questions and what is done with it."""

    def __init__(self, make, home):
        self.make, self.folder = make, home / "run"

    def benchmark(self, n=N, first=0):
        return self.make.benchmark(self.make.question(index) for index in range(first, first + n))

    def plan(self, *, hypotheses=HYPOTHESES, ago=timedelta(hours=1), views=VIEWS, benchmark=None, **terms):
        benchmark = benchmark or self.benchmark()
        terms = msgspec.structs.replace(TERMS, **terms)
        questions = choose_questions(tuple(benchmark.questions()), terms.limit, terms.seed)
        now = datetime.now(tz=UTC) - ago
        return make_plan(benchmark.identity, questions, views.split(","), hypotheses, terms=terms, now=now)

    def run(self, plan, *, benchmark=None, views=VIEWS, script=SCRIPT, name="tiny", asked=None, **options):
        options.setdefault("scorer", "tiny_letter")
        options.setdefault("where", Destination(out=self.folder))
        return run_benchmark(
            benchmark or self.benchmark(),
            self.make.model(script, identity=ModelIdentity("scripted", name, fingerprint="f")),
            resolve_views(views)[0],
            self.make.prompt(),
            options=RunOptions(registration=plan, plan=asked or PlanOptions(), **options),
        ).summary

"""The settings of a run."""

import datetime

from eyechart.schema._answers import ModelIdentity, Sampling
from eyechart.schema._base import JsonObject, Record, Value
from eyechart.schema._pictures import DecodePolicy


class TokenPrice(Value, frozen=True):
    """What a provider asks for tokens, in US dollars per million, and when and where that was read."""

    input_per_million: float
    output_per_million: float
    date: datetime.date
    source: str


class BenchmarkIdentity(Value, frozen=True):
    """Which questions were asked: name, revision (a content hash), and the options that made them."""

    name: str
    revision: str
    options: JsonObject = {}


class MatchedCondition(Value, frozen=True):
    """What one condition of a matched design reaches over its questions: pixels or tokens of target.

    ``largest_error`` is the largest |reached ÷ wanted − 1|.
    """

    condition: str
    n_questions: int
    smallest: float
    median: float
    largest: float
    largest_error: float


class Unmatched(Value, frozen=True):
    """A question that a matched design leaves out, with the view that could not be matched."""

    question_id: str
    view: str
    reason: str


class Matching(Value, frozen=True):
    """What proves a matched design: what every condition reaches, and which questions could not be matched.

    ``tolerance`` is the largest |ln| of reached over wanted.
    """

    design: str
    conditions: tuple[MatchedCondition, ...]
    unmatched: tuple[Unmatched, ...]
    tolerance: float


class LaterPlan(Record, frozen=True, kw_only=True):
    """A plan that replaces an earlier one of the same run, because its questions changed; written once.

    Args:
        number: 2 for the first that follows ``run.json``.
        previous_sha256: SHA-256 of the file of the plan before it: ``run.json`` or ``plans/NNNN.json``.
        plan_id: SHA-256 of its sorted request ids.
        benchmark: Which questions are asked now.
        n_questions: How many.
        n_rotations: Orders of the choices in which they are asked.
        estimated_dollars: What the whole plan is expected to cost, None where no price is known.
        matching: What proves a matched design, None where there is none.
        files: SHA-256 of each planned file by its name; it lies beside, under the first letters of its hash.
    """

    number: int
    previous_sha256: str
    plan_id: str
    benchmark: BenchmarkIdentity
    n_questions: int
    n_rotations: int = 1
    estimated_dollars: float | None = None
    matching: Matching | None = None
    files: dict[str, str]


class GivenUp(Record, frozen=True, kw_only=True):
    """A request without an answer that a start which reached its end does not ask again.

    Starts that were ended before (by a bound, a signal, equal errors, a server that is gone) give nothing up.
    """

    request_id: str


class LookTaken(Record, frozen=True, kw_only=True):
    """A look at a run that was not finished, written when the first table after its fraction was made.

    A plan that allows looking at any time has no numbered looks; none is written, since none spends anything.

    Args:
        number: Which look, from 1; 0 for any time.
        n_looks: Looks of the plan; 0 for any time.
        n_pictures: It shows so many pictures, from the first in the order of asking.
        n_pictures_planned: Pictures of the whole run.
        alpha: Error rate that it spends on the family of the plan.
        taken_at: ISO time.
        plan_sha256: Hash of the plan.
        most_questions: Most questions about one picture of the whole run.
        unanswered: Question, condition and slot of what had no answer; a later answer changes nothing in this look.
    """

    number: int
    n_looks: int
    n_pictures: int
    n_pictures_planned: int
    alpha: float
    taken_at: str
    plan_sha256: str
    most_questions: int
    unanswered: tuple[tuple[str, str, int], ...] = ()


class Run(Record, frozen=True, kw_only=True):
    """The settings of one run, written once. Counts are derived from the other files, never stored here.

    ``plan_id`` is that of the first plan. Where the questions were changed later, ``n_plans`` counts the plans, and
    benchmark, number of questions and orders, matching and expected cost are those of the newest. ``plan_sha256`` is
    the hash of the plan by ``check --write-plan`` that the run was begun with, None where there was none.
    """

    id: str
    plan_id: str
    created_at: str
    benchmark: BenchmarkIdentity
    views: tuple[str, ...]
    view_preset: str | None
    model: ModelIdentity
    sampling: Sampling
    prompt_id: str
    decode: DecodePolicy
    resampler: str
    transport: str
    geometry_policy: JsonObject
    seeds: dict[str, int]
    versions: dict[str, str]
    limit: int | None = None
    n_questions: int
    n_repeats: int = 1
    n_rotations: int = 1
    choices_taken: dict[str, str] = {}
    command: tuple[str, ...] = ()
    price: TokenPrice | None = None
    estimated_dollars: float | None = None
    matching: Matching | None = None
    scorer: str | None = None
    allowed_faults: tuple[str, ...] = ()
    protocol: str | None = None
    n_plans: int = 1
    plan_sha256: str | None = None

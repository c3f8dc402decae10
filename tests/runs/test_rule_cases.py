"""Every validity rule has a run in which it must fire, and one that misses it by little.

A rule that is added without a row of ``CASES`` fails the first test. A row whose two runs are judged alike fails too.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import msgspec
import pytest
from runs_made import SCORER, draw, make_run

from eyechart.errors import RefusedInputError
from eyechart.runs.cells import RunTable, Sight, read_table
from eyechart.runs.compare import DiffOptions, compare_runs
from eyechart.runs.pairing import Side
from eyechart.runs.plan import PlanOptions
from eyechart.runs.summarise import estimate
from eyechart.runs.validity import check_contrasts
from eyechart.schema import Contrast, Size, Usage
from eyechart.stats.codes import Code
from eyechart.stats.option_order import OrderPair

N = 80
LARGE = Size(2400, 1600)
BLIND = "original,crop_3x,no_image"
NOW = datetime.now(tz=UTC)


class Setup(NamedTuple):
    """A run: how it is asked and answered, and what is changed in it afterwards."""

    edit: Callable[[RunTable], RunTable] = lambda table: table
    script: Callable | None = None
    views: str = "original,crop_3x"
    n: int = N
    question: Callable[[int], dict] = lambda _: {}
    plan: PlanOptions = PlanOptions()


class Case(NamedTuple):
    """A level of a rule, a run that has it and one that narrowly has not."""

    level: str
    fires: Setup
    misses: Setup


def number(ask):
    return int(ask.identity.question_id[1:])


def answering(default=0.7, *, said="", spoilt=0, view="crop_3x", **rates):
    """A script: right with a rate by view; in ``view`` the first ``spoilt`` of the questions say something else."""

    def script(ask):
        asked, index = ask.identity, number(ask)
        if index < spoilt and view in {asked.condition, ""}:
            return RefusedInputError("too large") if said == "refused" else said
        rate = rates.get(asked.condition, 0.25 if asked.condition == "no_image" else default)
        is_right = draw(asked.question_id, asked.condition, asked.repeat) < rate
        return "ABCD"[(index + (0 if is_right else 1 + index // 4 % 3)) % 4]

    return script


def cells(change, *conditions):
    """An edit of the cells of these conditions, all if none is named."""

    def edit(table):
        own = {table.conditions.index(name) for name in conditions or table.conditions}
        changed = {key: change(key, cell) if key[1] in own else cell for key, cell in table.cells.items()}
        return msgspec.structs.replace(table, cells={key: cell for key, cell in changed.items() if cell is not None})

    return edit


def setting(*conditions, **fields):
    return cells(lambda _, cell: msgspec.structs.replace(cell, **fields), *conditions)


def within(part, *conditions, **fields):
    """An edit of fields of the ending or the verdict."""

    def change(_, cell):
        return msgspec.structs.replace(cell, **{part: msgspec.structs.replace(getattr(cell, part), **fields)})

    return cells(change, *conditions)


def without_first(n, *conditions):
    return cells(lambda key, cell: None if key[0] < n else cell, *conditions)


def seen_at(**scales):
    """An edit: the scales at which the model saw the whole of every picture."""

    def edit(table):
        for name, scale in scales.items():
            table = setting(name, sight=Sight("executed", Size(100, 75), None, (scale, scale)), cut="x")(table)
        return table

    return edit


def priced(tokens_of):
    """An edit: the input tokens of every reply, from the condition's index."""

    def change(key, cell):
        usage = Usage(input_tokens=tokens_of(key[1]))
        return msgspec.structs.replace(cell, ending=msgspec.structs.replace(cell.ending, usage=usage))

    return cells(change)


def naming(n_turned):
    """An edit: answers of elsewhere that copy a text, the first under the letter of another option."""

    def edit(table):
        model = msgspec.structs.replace(table.run.model, provider="replay")
        table = msgspec.structs.replace(table, run=msgspec.structs.replace(table.run, model=model))
        return cells(
            lambda key, cell: msgspec.structs.replace(
                cell, pair=OrderPair(key[0] % 4, (key[0] + (key[0] < n_turned)) % 4, n_options=4)
            )
        )(table)

    return edit


def contradicted(n):
    return lambda table: msgspec.structs.replace(table, n_contradicted={"crop_3x": n})


def asked_of(*faults):
    return lambda table: msgspec.structs.replace(
        table, run=msgspec.structs.replace(table.run, allowed_faults=tuple(faults))
    )


def options_by(period):
    """Tasks in turns, and more options in turns of a period: with 1 they go together, with 2 they do not."""

    def fields(index):
        more = {"choices": ("yes", "no", "x", "y", "z")} if index // period % 2 else {}
        return {"task": "two" if index % 2 else "four", **more}

    return fields


CASES = {
    Code.DIFFERENT_PROMPTS: Case(
        "error", Setup(setting("crop_3x", prompt_sha256="other")), Setup(setting(prompt_sha256="other"))
    ),
    Code.SUBSET_MISMATCH: Case(
        "warning", Setup(without_first(1, "crop_3x")), Setup(without_first(1, "original", "crop_3x"))
    ),
    Code.MISSING_BY_VIEW: Case(
        "warning",
        Setup(script=answering(said="refused", spoilt=16)),
        Setup(script=answering(said="refused", spoilt=5)),
    ),
    Code.UNREADABLE_BY_VIEW: Case(
        "warning",
        Setup(script=answering(said="I cannot say", spoilt=16)),
        Setup(script=answering(said="I cannot say", spoilt=5)),
    ),
    Code.RANDOM_FILL: Case(
        "error",
        Setup(within("ending", "crop_3x", is_random_fill=True)),
        Setup(script=answering(said="I cannot say", spoilt=9, view="")),
    ),
    Code.LENIENT_MATCH: Case(
        "warning",
        Setup(within("verdict", judge="option_letter.lenient@2")),
        Setup(within("verdict", judge="lenient.strict@1")),
    ),
    Code.LETTER_BIAS: Case(
        "warning",
        Setup(script=answering(said="A", spoilt=30, view="")),
        Setup(script=answering(said="A", spoilt=6, view="")),
    ),
    Code.SHUFFLE: Case("info", Setup(plan=PlanOptions(rotations=2)), Setup(plan=PlanOptions(repeats=2))),
    Code.BLIND: Case(
        "warning",
        Setup(script=answering(no_image=0.6), views=BLIND),
        Setup(script=answering(no_image=0.3), views=BLIND),
    ),
    Code.NEAR_LIMIT: Case("warning", Setup(script=answering(1.0)), Setup(script=answering(0.9))),
    Code.EPOCHS: Case("info", Setup(plan=PlanOptions(repeats=2)), Setup(plan=PlanOptions(rotations=2))),
    Code.AA_NOISE: Case(
        "warning",
        Setup(script=answering(crop_1x=0.7, target_only_1x=0.3), views="crop_1x,target_only_1x"),
        Setup(script=answering(crop_1x=0.7, target_only_1x=0.6), views="crop_1x,target_only_1x"),
    ),
    Code.SAME_INPUT: Case(
        "warning",
        Setup(setting(sight=Sight("executed", Size(9, 9))), views="crop_1x,target_only_1x"),
        Setup(setting(sight=Sight("executed", Size(9, 9))), views="crop_1x,crop_1_5x"),
    ),
    Code.JUDGE_DRIFT: Case(
        "warning",
        Setup(within("verdict", "crop_3x", judge="judge: other")),
        Setup(within("verdict", judge="judge: other")),
    ),
    Code.SHARED_IMAGE: Case(
        "info",
        Setup(question=lambda index: {"picture": f"p{max(index, 1)}"}),
        Setup(question=lambda index: {"picture": f"p{index}"}),
    ),
    Code.TINY_GROUP: Case("warning", Setup(n=29), Setup(n=30)),
    Code.OPTION_MIX: Case("warning", Setup(question=options_by(1)), Setup(question=options_by(2))),
    Code.ITEM_ERRATA: Case(
        "info",
        Setup(question=lambda index: {"notes": ("errata: red",)} if index == 3 else {}),
        Setup(question=lambda index: {"notes": ("read twice",)} if index == 3 else {}),
    ),
    Code.DUP_ROWS: Case("error", Setup(contradicted(16)), Setup(contradicted(1))),
    Code.DRIFT: Case(
        "warning",
        Setup(within("ending", "crop_3x", finished_at=(NOW + timedelta(hours=25)).isoformat())),
        Setup(within("ending", "crop_3x", finished_at=(NOW + timedelta(hours=23)).isoformat())),
    ),
    Code.HETEROGENEOUS_SETTINGS: Case(
        "error", Setup(setting("crop_3x", settings="temperature 1.0")), Setup(setting(settings="temperature 1.0"))
    ),
    Code.SAME_PICTURE: Case(
        "warning",
        Setup(seen_at(original=0.25, downsample_0_5=0.21), views="original,downsample_0_5"),
        Setup(seen_at(original=0.25, downsample_0_5=0.19), views="original,downsample_0_5"),
    ),
    Code.VIEW_REJECTED: Case(
        "warning",
        Setup(script=answering(said="refused", spoilt=16)),
        Setup(script=answering(said="refused", spoilt=2)),
    ),
    Code.ALLOWED_FAULTS: Case("warning", Setup(asked_of("1 × wrong_size (q001)")), Setup(asked_of())),
    Code.OPTION_ORDER: Case("error", Setup(naming(40)), Setup(naming(4))),
    Code.NO_PICTURE: Case(
        "error",
        Setup(priced(lambda condition: 30), views=BLIND),
        Setup(priced(lambda condition: 30 + (condition < 2)), views=BLIND),
    ),
    Code.FLAT_PICTURE_PRICE: Case(
        "info",
        Setup(priced(lambda condition: 115), question=lambda _: {"size": LARGE}),
        Setup(priced(lambda condition: 115 - condition), question=lambda _: {"size": LARGE}),
    ),
    Code.BELOW_CHANCE: Case("error", Setup(script=answering(0.05)), Setup(script=answering(0.2))),
}  # fmt: skip
OF_CONTRASTS = {Code.MANY_TESTS}
"""Rules about a list of contrasts, tested below."""


@pytest.fixture
def table_of(make, tmp_path):
    """A function that asks a run's questions and returns the gathered table, edited."""

    def build(setup):
        fields = [{"answer": "ABCD"[index % 4]} | setup.question(index) for index in range(setup.n)]
        questions = [make.question(index, **own) for index, own in enumerate(fields)]
        script = setup.script or answering()
        store = make_run(make, tmp_path / "run", script, questions=questions, views=setup.views, plan=setup.plan)
        return setup.edit(read_table(store, SCORER))

    return build


def levels(code, table):
    """The levels at which a rule fires in a run; faults that were allowed are said where runs are compared."""
    if code is Code.ALLOWED_FAULTS:
        found = compare_runs([Side("a", table), Side("b", table)], SCORER, DiffOptions()).rules
    else:
        found = estimate(table, SCORER, ()).rules
    return {rule.level for rule in found if rule.code == code}


def test_every_rule_has_a_case():
    assert set(CASES) | OF_CONTRASTS == set(Code)


@pytest.mark.parametrize("code", CASES)
def test_rule_fires_where_it_must(code, table_of):
    assert CASES[code].level in levels(code, table_of(CASES[code].fires))


@pytest.mark.parametrize("code", CASES)
def test_rule_is_silent_where_it_misses_by_little(code, table_of):
    assert CASES[code].level not in levels(code, table_of(CASES[code].misses))


def test_many_p_values_without_correction_are_more_than_20():
    one = Contrast(
        name="x", condition="a", baseline="b", value=0.1, low=0.0, high=0.2, n_questions=99, n_clusters=99, gained=9,
        lost=1, method="", p=0.02,
    )  # fmt: skip
    assert [rule.code for rule in check_contrasts([one] * 21)] == [Code.MANY_TESTS]
    assert check_contrasts([one] * 20) == ()

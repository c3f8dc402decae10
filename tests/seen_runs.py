"""Runs whose answers depend on the pixels a hosted model saw of the target, for laws of size and of collapse."""

import math

import msgspec
from runs_made import SCORER, draw, make_run

from eyechart.runs.cells import read_sights, read_table
from eyechart.runs.plan import PlanOptions, plan_run
from eyechart.schema import Box, ModelIdentity, Size
from eyechart.seen.ledger import planned_ledger
from eyechart.seen.rules import look_up
from eyechart.views import resolve_views

CLAUDE = ModelIdentity("anthropic", "claude-sonnet-4-5")
VIEWS = "original,downsample_0_5,downsample_0_25,downsample_0_125,downsample_0_0625,crop_4x,blank"


EIGHT_K = Size(7680, 4320)


def questions_of(make, n, size=EIGHT_K, widths=(60, 420), tasks=("OCR", "Color")):
    """Questions about large pictures whose targets differ in size by more than two octaves."""
    found = []
    for index in range(n):
        side = widths[0] * (widths[1] / widths[0]) ** draw("side", index)
        question = make.question(index)
        target = Box(100, 100, 100 + 3 * side, 100 + side)
        found.append(
            msgspec.structs.replace(
                question,
                image=msgspec.structs.replace(question.image, size=size),
                targets=(target,),
                targets_clipped=(target,),
                task=tasks[index % len(tasks)],
            )
        )
    return found


def seen_table(
    make,
    folder,
    *,
    acuity_px=12.0,
    n=200,
    views=VIEWS,
    identity=CLAUDE,
    plateau=0.9,
    slope=3.0,
    ignores_pixels=False,
    **changes,
):
    """The table of a run of a model that reads a target by the pixels it saw of it; ``acuity_px`` is the truth."""
    questions = questions_of(make, n, **changes)
    sides = {question.id: question.targets[0].y1 - question.targets[0].y0 for question in questions}
    benchmark = make.benchmark(questions)
    lookup = look_up(identity)
    scripted = ModelIdentity("scripted", "tiny", fingerprint="tiny")
    plan = plan_run(benchmark, resolve_views(views)[0], make.prompt(), model=scripted, options=PlanOptions())
    ledger = {row.request_id: row for row in planned_ledger(plan.requests, lookup)}

    def script(ask):
        asked = ask.identity
        target = ledger[asked.request_id].target_px
        reads = plateau / (1 + math.exp(-slope * math.log2(min(target) / acuity_px))) if target else 0.0
        if ignores_pixels:  # 90 % are right where targets are large, and none is read where they are small
            reads = plateau if sides[asked.question_id] > 160 else 0.0
        is_read = draw("read", asked.question_id, asked.view) < reads
        return "A" if is_read else "ABCD"[int(4 * draw("guess", asked.question_id, asked.view))]

    store = make_run(make, folder, script, benchmark=benchmark, questions=questions, views=views)
    table, sights = read_table(store, SCORER), read_sights(ledger.values())
    keys = {}
    for request in store.requests():
        question = [one.id for one in table.questions].index(request.question_id)
        keys[question, table.conditions.index(request.condition), 0] = sights[request.id]
    cells = {key: msgspec.structs.replace(cell, sight=keys[key]) for key, cell in table.cells.items()}
    return msgspec.structs.replace(table, cells=cells)

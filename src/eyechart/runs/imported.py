"""Answers that were given elsewhere as a run folder: no picture and no prompt is known, and none is asked."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from eyechart.errors import UsageError
from eyechart.runs.cells import NOT_RECORDED
from eyechart.runs.folders import Destination, Origin, find_or_create
from eyechart.runs.plan import Plan, PlanOptions, plan_id_of
from eyechart.runs.store import RunStore
from eyechart.schema import (
    BenchmarkIdentity,
    ModelIdentity,
    Question,
    Request,
    Response,
    ResponseState,
    Sampling,
    request_id,
)

PROVIDER = "imported"
_VIEW = "original"


def write_imported(
    identity: BenchmarkIdentity,
    questions: Sequence[Question],
    answers: Sequence[str | None],
    model: ModelIdentity,
    out: Path,
    origin: Origin,
    *,
    orders: Mapping[str, tuple[int, ...]] = MappingProxyType({}),
) -> RunStore:
    """Write a run folder of answers on whole pictures; where an answer is None, none came back and it is missing.

    The requests name no picture and an empty prompt, since neither was recorded; sampling parameters count as not sent.

    Args:
        identity: The benchmark.
        questions: The questions asked.
        answers: (n_questions,) texts in their order.
        model: Who answered; its fingerprint should be the hash of the file.
        out: A new folder.
        origin: Recorded in ``run.json``.
        orders: Question → for each letter shown the index of its option, where that is not the question's own order.

    Raises:
        UsageError: If the numbers differ, or the folder holds a run already.
        StoreError: If it cannot be written.
    """
    if len(answers) != len(questions):
        raise UsageError(f"{len(answers)} answers to {len(questions)} questions", hint="give one answer per question")
    sampling = Sampling(temperature=None, max_tokens=None)
    requests = tuple(
        _request(identity, question, model, sampling, orders.get(question.id, tuple(range(len(question.choices)))))
        for question in questions
    )
    plan = Plan(
        plan_id=plan_id_of(request.id for request in requests),
        benchmark=identity,
        views=(_VIEW,),
        model=model,
        sampling=sampling,
        prompt_id=NOT_RECORDED,
        options=PlanOptions(),
        questions=tuple(questions),
        view_images=(),
        requests=requests,
    )
    store, was_there = find_or_create(plan, Destination(out=out), origin)
    if was_there:
        raise UsageError(f"{out} holds these answers already", hint="give --out a new folder")
    writer = store.open_writer("imported")
    for request, text in zip(requests, answers, strict=True):
        if text is not None:
            writer.append(Response(request_id=request.id, state=ResponseState.ANSWERED, text=text))
    writer.close()
    return store


def _request(
    identity: BenchmarkIdentity, question: Question, model: ModelIdentity, sampling: Sampling, order: tuple[int, ...]
) -> Request:
    request = Request(
        id="",
        benchmark=identity.name,
        question_id=question.id,
        view=_VIEW,
        condition=_VIEW,
        pictures=(),
        prompt="",
        prompt_id=NOT_RECORDED,
        prompt_sha256=hashlib.sha256(b"").hexdigest(),
        choices=tuple(question.choices[index] for index in order),
        choice_order=order,
        model=model,
        sampling=sampling,
    )
    return msgspec.structs.replace(request, id=request_id(request))

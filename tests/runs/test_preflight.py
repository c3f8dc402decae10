"""The first answers: two questions under four views, and a run that stops when most of them are useless."""

import msgspec
import pytest

from eyechart.runs.preflight import check_first, choose_first, stop_after
from eyechart.schema import Response, ResponseState, Score

VIEWS = "original,crop_1x,crop_3x,downsample_0_5,downsample_0_25,whiteground_3x,target_only_3x"


def test_two_questions_on_two_pictures_under_views_of_four_families(make):
    questions = [make.question(index, picture=f"p{index // 3}") for index in range(9)]
    first = choose_first(make.plan(benchmark=make.benchmark(questions), views=VIEWS).requests)
    assert len(first) == 8
    assert len({request.pictures[0].image.file_sha256 for request in first}) == 2
    by_question = {}
    for request in first:
        by_question.setdefault(request.question_id, set()).add(request.view.partition("_")[0])
    assert all(len(families) == 4 for families in by_question.values())


def test_one_picture_one_question_or_few_views_still_give_something_to_check(make):
    together = make.benchmark([make.question(index, picture="p") for index in range(3)])
    assert len({request.question_id for request in choose_first(make.plan(benchmark=together).requests)}) == 2
    assert len(choose_first(make.plan(1, "original").requests)) == 1
    assert len(choose_first(make.plan(3, "crop_1x,crop_1_5x,crop_3x,crop_6x,crop_12x").requests)) == 8
    assert choose_first(()) == ()


def answer_of(request, text="B", state=ResponseState.ANSWERED):
    return Response(request_id=request.id, state=state, text=None if state.is_error else text)


def score_of(request, answer="B", reason=None):
    return Score(request_id=request.id, scorer="s.m@1", value=0.0, answer=answer, reason=reason)


@pytest.mark.parametrize(
    ("state", "text", "letter", "reason", "is_bad"),
    [
        (ResponseState.ANSWERED, "B", "B", None, False),
        (ResponseState.ANSWERED, "cannot tell", None, "cannot_tell", False),
        (ResponseState.ANSWERED, "", None, "empty", True),
        (ResponseState.ANSWERED, "The bird is red", None, "no_option_letter", True),
        (ResponseState.TRUNCATED, "", None, "truncated", True),
        (ResponseState.REFUSAL, "I cannot help", None, "refusal", True),
        (ResponseState.REFUSED_INPUT, None, None, "refused_input", True),
    ],
)
def test_only_readable_answers_are_good(make, state, text, letter, reason, is_bad):
    request = make.plan(1, "original").requests[0]
    answers = check_first(
        [request], {request.id: answer_of(request, text, state)}, {request.id: score_of(request, letter, reason)}, {}
    )
    assert [answer.is_bad for answer in answers] == [is_bad]


def test_no_answer_is_bad_and_a_free_form_answer_is_good(make):
    request = msgspec.structs.replace(make.plan(1, "original").requests[0], choices=(), choice_order=())
    assert check_first([request], {}, {}, {})[0].is_bad
    assert not check_first([request], {request.id: answer_of(request, "in 1848")}, {}, {})[0].is_bad


@pytest.mark.parametrize(("n_bad", "stops"), [(0, False), (4, False), (5, True), (8, True)])
def test_more_than_half_bad_stops(make, n_bad, stops):
    requests = choose_first(make.plan(4, VIEWS).requests)
    responses = {request.id: answer_of(request) for request in requests[n_bad:]}
    scores = {request.id: score_of(request) for request in requests}
    stop = stop_after(check_first(requests, responses, scores, {}))
    assert (stop is not None) is stops
    if stop:
        assert f"{n_bad} of the first 8 answers" in stop.reason
        assert "--no-preflight" in stop.hint

"""The first answers, looked at before the rest is paid for: two questions under four views each."""

from collections.abc import Iterable, Mapping, Sequence

from eyechart.runs.listening import CheckedAnswer
from eyechart.runs.retrying import Stop
from eyechart.runs.sights import Sight
from eyechart.schema import Request, Response, ResponseState, Score
from eyechart.views import parse_view

N_QUESTIONS = 2
N_VIEWS = 4
# An answer that says it cannot be given is an answer in the expected form.
_GOOD_REASONS = frozenset({"cannot_tell"})


def choose_first(requests: Iterable[Request]) -> tuple[Request, ...]:
    """Return the requests to ask first: two questions, on different pictures where there are, four views each.

    Views of different families are preferred, the first planned of each. Repeats are left for later.

    Args:
        requests: All requests in the order of asking.
    """
    by_question: dict[str, list[Request]] = {}
    for request in requests:
        if request.repeat == 0:
            by_question.setdefault(request.question_id, []).append(request)
    groups = list(by_question.values())
    others = [group for group in groups[1:] if _picture(group) != _picture(groups[0])]
    chosen = [*groups[:1], *(others or groups[1:])][:N_QUESTIONS]
    return tuple(request for group in chosen for request in _four_views(group))


def check_first(
    requests: Sequence[Request],
    responses: Mapping[str, Response],
    scores: Mapping[str, Score],
    sights: Mapping[str, Sight],
) -> tuple[CheckedAnswer, ...]:
    """Put the first answers beside what was read from them.

    An answer is bad if there is none, the model refused it, or no letter was read from it although there are options.

    Args:
        requests: What was asked first.
        responses: By request id; a request without one got no answer.
        scores: By request id.
        sights: What is known of what the model saw, by request id: told by the reply, or else planned.
    """
    checked = []
    for request in requests:
        response, score = responses.get(request.id), scores.get(request.id)
        sight = sights.get(request.id)
        checked.append(
            CheckedAnswer(
                request=request,
                response=response,
                score=score,
                seen_size=sight.seen_size if sight else None,
                is_planned_size=sight is not None and sight.evidence not in {"executed", "reported"},
                is_bad=_is_bad(request, response, score),
            )
        )
    return tuple(checked)


def stop_after(checked: Sequence[CheckedAnswer]) -> Stop | None:
    """Return why the run should not go on, None if at least half of the first answers are good."""
    n_bad = sum(answer.is_bad for answer in checked)
    if n_bad * 2 <= len(checked):
        return None
    return Stop(
        f"{n_bad} of the first {len(checked)} answers are empty, cut off, refused or without a letter",
        "look at them above; change the prompt or the token limit, or go on with --no-preflight",
        leaves_open=True,
    )


def _is_bad(request: Request, response: Response | None, score: Score | None) -> bool:
    if response is not None and response.state is ResponseState.UNREADABLE_IMAGE:
        return False  # nothing was asked
    if response is None or response.state.is_error or not (response.text or "").strip():
        return True
    if not request.choices or score is None:
        return False
    return score.answer is None and score.reason not in _GOOD_REASONS


def _picture(requests: Sequence[Request]) -> str | None:
    """Return which picture a question is about, None if none of its views shows one."""
    return next((picture.image.file_sha256 for request in requests for picture in request.pictures), None)


def _four_views(requests: Sequence[Request]) -> list[Request]:
    """Return up to four requests of one question, one of each family of views first."""
    chosen: list[Request] = []
    families: set[str] = set()
    for request in requests:
        family = parse_view(request.view).family
        if family not in families:
            families.add(family)
            chosen.append(request)
    chosen.extend(request for request in requests if request not in chosen)
    return chosen[:N_VIEWS]

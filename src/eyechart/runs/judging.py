"""Ask a judge model about stored answers. Its replies are stored as a run of their own, inside the run they judge."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase

import msgspec

from eyechart.errors import BenchmarkError, StoreError, UsageError
from eyechart.kinds import Model
from eyechart.opening import open_scorer
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.gold import right_answer
from eyechart.runs.listening import Listener
from eyechart.runs.options import RunOptions
from eyechart.runs.outcome import Outcome
from eyechart.runs.protocols import JudgeMode, JudgeRule, find_protocol
from eyechart.runs.session import run_benchmark
from eyechart.runs.store import RunStore
from eyechart.schema import (
    BenchmarkIdentity,
    ImageRef,
    NoImage,
    Question,
    Request,
    Response,
    Sampling,
    Score,
    Size,
    content_sha256,
)
from eyechart.scorers.judge import JUDGEMENT

JUDGES = "judges"
"""Folder inside a run folder: one run per judge model and wording."""

_YES_NO = """\
{asked}

The right answer is: {right}

This is the answer to judge:
<<<
{said}
>>>

Does it give the right answer? Reply with Yes or No alone."""
_LETTER = """\
{asked}

This is somebody's answer:
<<<
{said}
>>>

Which of the options does it choose? Reply with its letter alone, or with Z if it chooses none of them."""
_WORDINGS: Mapping[JudgeMode, str] = {"yes_no": _YES_NO, "letter": _LETTER}
"""Our own wordings, version 1; the judges' own texts of these sources are not public."""


class JudgedAnswers:
    """The answers of a run that a judge has to read, as a benchmark of texts without pictures."""

    def __init__(self, store: RunStore, rule: JudgeRule, scorer: str) -> None:
        self._questions = tuple(_open_answers(store, rule, scorer))
        identity = [(question.id, question.text) for question in self._questions]
        self.identity = BenchmarkIdentity(
            name="judge",
            revision=content_sha256(identity),
            options={"mode": rule.mode, "judged": rule.judged, "rules": scorer},
        )

    def questions(self) -> Iterator[Question]:
        """Yield one text to judge per answer; its id is that of the request."""
        return iter(self._questions)

    def image_path(self, image: ImageRef) -> Path:
        """Return nothing: a judge sees no picture.

        Raises:
            BenchmarkError: Always.
        """
        raise BenchmarkError(f"a judge is shown no picture ({image.file_sha256[:12]}…)", hint="report this fault")

    def released_views(self) -> tuple[str, ...]:
        """Return no view."""
        return ()

    def released_image(self, question: Question, view_id: str) -> None:
        """Return None: there are no pictures."""


class _Verbatim:
    """The judging text as it stands in the question."""

    version = 1

    def __init__(self, mode: JudgeMode) -> None:
        self.name = f"judge_{mode}"

    def render(self, question: Question, choices: Sequence[str]) -> str:  # noqa: ARG002 -- they are in the text
        """Return the text."""
        return question.text


def rule_of(store: RunStore) -> tuple[JudgeRule, str]:
    """Return what a judge is asked of a run, and the scorer whose verdicts it completes: those of its protocol.

    Raises:
        UsageError: If the run follows no protocol, or one without a judge.
    """
    name = store.run.protocol
    protocol = find_protocol(name) if name else None
    if protocol is None or protocol.judge is None:
        what = f"protocol {name}, which needs no judge" if name else "no protocol"
        raise UsageError(f"{store.folder} follows {what}", hint="name what to ask with --mode and --judged")
    return protocol.judge, protocol.scorer


def ask_judge(
    store: RunStore,
    model: Model,
    rule: JudgeRule,
    scorer: str,
    *,
    sampling: Sampling | None = None,
    loop: LoopSettings | None = None,
    listener: Listener | None = None,
) -> Outcome | None:
    """Ask a judge about the answers that are its to judge; what it answered before is not asked again.

    Args:
        store: The run.
        model: The judge.
        rule: What it is asked, and of which answers.
        scorer: Scorer id of the rules.
        sampling: Temperature 0 if None.
        loop: Concurrency and patience.
        listener: Is told how it goes.

    Returns:
        How the asking ended; None if there was nothing to judge.

    Raises:
        EyechartError: If something concerns all requests; replies that came are kept.
    """
    answers = JudgedAnswers(store, rule, scorer)
    if not tuple(answers.questions()):
        return None
    folder = store.folder / JUDGES / _folder_name(rule.mode, model.identity.spec)
    options = RunOptions(
        sampling=sampling or Sampling(),
        loop=loop or LoopSettings(),
        where=Destination(out=folder),
        scorer="vqa_soft",
        has_preflight=False,
    )
    return run_benchmark(answers, model, (NoImage(),), _Verbatim(rule.mode), options=options, listener=listener)


def judged_scores(store: RunStore, mode: str) -> tuple[Score, ...]:
    """Return the scores of a run with a judge's verdicts, in the order of the requests; no model is asked.

    What the rules of the run's protocol settled stays theirs; a judge that was not asked or did not reply leaves the
    score missing. Of several judges of one wording the one that replied last counts.

    Raises:
        StoreError: If no judge was asked.
    """
    folders = sorted((store.folder / JUDGES).glob(f"{mode}-*"), key=lambda folder: folder.stat().st_mtime_ns)
    if not folders:
        raise StoreError(f"no judge was asked about {store.folder}", hint=f"eyechart judge {store.folder} --model …")
    asked = RunStore(folders[-1])
    replies = {reply.request_id: reply for reply in asked.responses()}
    reply_to = {request.question_id: replies.get(request.id) for request in asked.requests()}
    spec = asked.run.model.spec
    rules = {score.request_id: score for score in _scores_by_rules(store, _rules_asked_by(asked))}
    scorer, chosen = open_scorer(f"judge.{mode}@1")
    questions = {question.id: question for question in store.questions()}
    responses = {response.request_id: response for response in store.responses()}
    scores = []
    for request in store.requests():
        response = responses.get(request.id)
        if response is None:
            continue
        if request.id not in reply_to:  # the rules settled it
            scores.append(msgspec.structs.replace(rules[request.id], scorer=f"judge.{mode}@1"))
            continue
        question = questions[request.question_id]
        gold = right_answer(question, request.view, request.choice_order)
        judged = _with_reply(response, reply_to[request.id], spec)
        scores.append(scorer.score(judged, question, request.choices, gold, chosen))
    return tuple(scores)


def _rules_asked_by(asked: RunStore) -> str:
    """Return the scorer that left answers to a judge; a name without a version was written when there was only one."""
    rules = str(asked.run.benchmark.options["rules"])
    if "@" in rules:
        return rules
    scorer, mode = open_scorer(rules)
    return f"{scorer.name}.{mode}@1"


def _open_answers(store: RunStore, rule: JudgeRule, scorer: str) -> Iterator[Question]:
    """Yield one text to judge for every answer that the rules leave to a judge."""
    questions = {question.id: question for question in store.questions()}
    requests = {request.id: request for request in store.requests()}
    responses = {response.request_id: response for response in store.responses()}
    for score in _scores_by_rules(store, scorer):
        response, request = responses[score.request_id], requests[score.request_id]
        if response.state.is_error or not (response.text or "").strip() or not _is_open(score, rule):
            continue
        question = questions[request.question_id]
        yield Question(
            id=request.id,
            benchmark="judge",
            text=_judging_text(question, request, response, rule.mode),
            image=ImageRef("", Size(1, 1), "image/png"),
            image_group=question.image_group,
            source=question.source,
        )


def _scores_by_rules(store: RunStore, scorer_id: str) -> tuple[Score, ...]:
    from eyechart.runs.score import judge  # it calls this module for the judgements that are stored

    scorer, mode = open_scorer(scorer_id)
    return judge(store, scorer, mode)


def _is_open(score: Score, rule: JudgeRule) -> bool:
    """Return whether an answer is the judge's to judge."""
    if rule.judged == "all":
        return True
    return score.answer is None if rule.judged == "unread" else score.value != 1.0


def _judging_text(question: Question, request: Request, response: Response, mode: JudgeMode) -> str:
    listed = [f"{letter}. {choice}" for letter, choice in zip(ascii_uppercase, request.choices, strict=False)]
    gold = right_answer(question, request.view, request.choice_order)
    right = "; or: ".join(question.answers) or "unknown"
    if gold is not None and request.choices:
        right = f"{gold}. {request.choices[ascii_uppercase.index(gold)]}"
    # One pass, so that braces in a question or an answer stay what they are.
    return _WORDINGS[mode].format(
        asked="\n".join([f"Question: {question.text}", *listed]), right=right, said=(response.text or "").strip()
    )


def _with_reply(response: Response, reply: Response | None, model: str) -> Response:
    text = None if reply is None or reply.state.is_error else reply.text
    return msgspec.structs.replace(response, extra={**response.extra, JUDGEMENT: {"text": text, "model": model}})


def _folder_name(mode: JudgeMode, spec: str) -> str:
    return f"{mode}-{re.sub(r'[^A-Za-z0-9.]+', '-', spec).strip('-')[:60]}"

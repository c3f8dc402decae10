"""A run's answers as the file that a benchmark's server scores: one letter per id, and nothing else."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from eyechart.errors import UsageError
from eyechart.kinds import Scorer
from eyechart.runs.files import write_whole
from eyechart.runs.score import judge
from eyechart.runs.store import RunStore
from eyechart.schema import NOT_JSON, Request, Run

RAW = "raw"
"""Choice of ``unparsed`` that writes the response as it came, as the published code does."""
_MOST_NAMES = 5
# How many questions each split of a benchmark has, so that a partial copy is noticed.
_SPLIT_SIZES: Mapping[tuple[str, str], int] = {
    ("hrscene", "validation"): 750,
    ("hrscene", "testmini"): 1000,
    ("hrscene", "test"): 5323,
}


class Submission(NamedTuple):
    """What is written: answer by id in the order of the split, and the ids whose answer could not be read."""

    answers: dict[str, str]
    unparsed: tuple[str, ...]


def read_submission(
    store: RunStore, scorer: Scorer, mode: str, *, unparsed: str | None = None, ids: Sequence[str] | None = None
) -> Submission:
    """Gather the letters of a run for exactly the ids of its split.

    Args:
        store: The run.
        scorer: Who reads the letters.
        mode: One of the scorer's modes.
        unparsed: What to write where no letter could be read: any text, or ``raw`` for the response itself. None
            refuses such a run.
        ids: The ids of the split; those of the run's questions if left out, which must then be a whole split.

    Raises:
        UsageError: If an answer is missing, an id is missing, extra or twice, a question was asked with its options in
            another order, or an answer is unreadable and nothing was chosen for it.
    """
    run = store.run
    asked = _asked(store)
    expected = tuple(question.id for question in store.questions()) if ids is None else tuple(ids)
    if ids is None:
        _check_whole(run, len(expected))
    check_ids(expected, tuple(asked))
    texts = {row.request_id: row.text or "" for row in store.responses() if not row.state.is_error}
    letters = {score.request_id: score.answer for score in judge(store, scorer, mode)}
    _check_answered(run, {name: request for name, request in asked.items() if request.id not in texts})
    unread = tuple(name for name in expected if not _is_letter(letters.get(asked[name].id), asked[name]))
    if unread and unparsed is None:
        raise UsageError(
            f"no letter could be read from {len(unread)} of {len(expected)} answers ({_some(unread)})",
            hint="--unparsed TEXT writes that text for them, --unparsed raw the response itself",
        )
    answers = {}
    for name in expected:
        request = asked[name]
        written = letters[request.id] if name not in unread else texts[request.id] if unparsed == RAW else unparsed
        answers[name] = written or ""
    return Submission(answers, unread)


def check_ids(expected: Sequence[str], given: Collection[str]) -> None:
    """Refuse answers whose ids are not exactly those of the split.

    Raises:
        UsageError: If an id is expected twice, not answered, or not expected.

    Example:
        >>> check_ids(["0", "1"], ["1", "0"])
    """
    twice = [name for name, n in Counter(expected).items() if n > 1]
    given_twice = [name for name, n in Counter(given).items() if n > 1]
    known, answered = set(expected), set(given)
    missing = [name for name in expected if name not in answered]
    extra = [name for name in given if name not in known]
    problems = (
        (twice, "ids stand twice in the split"),
        (given_twice, "ids are answered twice"),
        (missing, "ids of the split are not in the run"),
        (extra, "ids of the run are not in the split"),
    )
    for names, what in problems:
        if names:
            raise UsageError(f"{len(names)} {what}: {_some(names)}", hint="a submission holds every id exactly once")


def write_submission(submission: Submission, path: Path) -> None:
    """Write one JSON object, id → answer, in the order of the split; the same answers give the same bytes.

    Raises:
        StoreError: If the file cannot be written.
    """
    write_whole(path, [msgspec.json.encode(submission.answers), b"\n"])


def read_ids(path: Path) -> tuple[str, ...]:
    """Read the ids of a split: one per line, or a JSON list.

    Raises:
        UsageError: If the file cannot be read or holds no id.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read ids from {path}: {error}", hint="one id per line, or a JSON list") from error
    if text.lstrip().startswith("["):
        try:
            found = tuple(str(name) for name in msgspec.json.decode(text, type=list[str | int]))
        except NOT_JSON as error:
            raise UsageError(f"{path} is not a JSON list of ids: {error}", hint="one id per line works too") from error
    else:
        found = tuple(line.strip() for line in text.splitlines() if line.strip())
    if not found:
        raise UsageError(f"{path} holds no id", hint="one id per line, or a JSON list")
    return found


def _asked(store: RunStore) -> dict[str, Request]:
    """Return the one request whose answer counts for each question: the whole picture, options as given."""
    found: dict[str, Request] = {}
    views = store.run.views
    if "original" not in views and len(views) != 1:
        raise UsageError(
            f"{store.folder} has no view original among {', '.join(views[:_MOST_NAMES])}",
            hint="a submission holds one answer per question: run it with --views original",
        )
    wanted = "original" if "original" in views else views[0]
    for request in store.requests():
        is_plain = request.choice_order == tuple(range(len(request.choice_order)))
        if request.condition == wanted and request.repeat == 0 and is_plain:
            found[request.question_id] = request
    return found


def _check_whole(run: Run, n: int) -> None:
    """Refuse a part of a split."""
    if run.limit is not None and run.limit <= n:
        raise UsageError(
            f"run {run.id} asked {n} questions chosen by --limit {run.limit}",
            hint="run the whole split, without --limit",
        )
    split = str(run.benchmark.options.get("split") or "")
    whole = _SPLIT_SIZES.get((run.benchmark.name, split))
    if whole is not None and n != whole:
        raise UsageError(
            f"run {run.id} asked {n} questions, split {split} of {run.benchmark.name} has {whole}",
            hint="run the whole split; --ids FILE names the ids of another one",
        )


def _check_answered(run: Run, open_requests: Mapping[str, Request]) -> None:
    if open_requests:
        raise UsageError(
            f"{len(open_requests)} questions of run {run.id} have no answer: {_some(tuple(open_requests))}",
            hint="run the same command again to ask them",
        )


def _is_letter(letter: str | None, request: Request) -> bool:
    """Whether an answer is one of the letters offered."""
    n_options = len(request.choices)
    return letter is not None and len(letter) == 1 and 0 <= ord(letter) - ord("A") < (n_options or 26)


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _MOST_NAMES} more" if len(listed) > _MOST_NAMES else ""
    return ", ".join(listed[:_MOST_NAMES]) + more

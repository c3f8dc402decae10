"""Whoever fails, the run says so and stores nothing as final that is not the request's own fault; then it goes on."""

import hashlib
import json
import re

import pytest
from fuzz_cases import n_cases, random_of
from PIL import Image
from provider_failures import DIALECTS, Failure, drawn
from servers.batches import BatchDesk
from servers.chat_server import ChatServer
from servers.dialects import Answer, write_answer

from eyechart.errors import ModelError
from eyechart.images.probe import probe_image
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.runs.batches import BatchSettings
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.patience import Patience
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.runs.store import RunStore
from eyechart.schema import BenchmarkIdentity, Box, Question
from eyechart.views import resolve_views

pytestmark = pytest.mark.fuzz

# Each failure is two runs, so that there are fewer than of other random cases: 300 in .ci/full.
FAILURE_SHARE, FEWEST_FAILURES = 0.03, 40

KEY = "sk-planted-0123456789"
N_QUESTIONS = 4
LETTERS = "ABCD"
KINDS = {
    "chat": ("openai/m", {}, "/v1"),
    "responses": ("openai/m", {"interface": "responses"}, "/v1"),
    "messages": ("anthropic/m", {}, ""),
    "generate": ("google/m", {}, ""),
}
# No wait is allowed that a person would wait for, so that none is slept.
PATIENCE = Patience(first_wait_seconds=0.001, longest_wait_seconds=0.002, max_attempts=3, max_wait_seconds=0.05)
FINAL_OF = {"question": {"bad_request", "refused_input"}, "filter": {"content_filter"}}
ANSWERS = {"answered", "truncated", "refusal"}


def n_failures(share):
    """Return how many failures a test tries; ``share`` is its part of all."""
    return max(n_cases(FAILURE_SHARE * share), round(FEWEST_FAILURES * share))


class Questions:
    """Four questions about four small pictures."""

    def __init__(self, folder):
        self.identity = BenchmarkIdentity("signs", "r1")
        self._paths, self._questions = {}, []
        for index in range(N_QUESTIONS):
            path = folder / f"{index}.png"
            Image.new("RGB", (64 + index, 48), (40 * index, 90, 90)).save(path)
            self._paths[hashlib.sha256(path.read_bytes()).hexdigest()] = path
            box = (Box(4, 4, 20, 20),)
            self._questions.append(
                Question(
                    id=f"q{index}",
                    benchmark="signs",
                    text=f"Which letter is on sign {index}?",
                    image=probe_image(path),
                    image_group=f"g{index}",
                    choices=("A", "B", "C", "D"),
                    answer=LETTERS[index],
                    targets=box,
                    targets_clipped=box,
                )
            )

    def questions(self):
        return iter(self._questions)

    def image_path(self, image):
        return self._paths[image.file_sha256]

    def released_views(self):
        return ()

    def released_image(self, question, view_id):
        return None


class Plain:
    """The question alone."""

    name, version = "plain", 1

    def render(self, question, choices):
        return question.text


def sign_of(received):
    return int(re.search(r"on sign (\d)", received.prompt)[1])


def letter_of(received):
    return Answer(text=LETTERS[sign_of(received)])


class Server:
    """What the server in this process says: the letter of each sign, unless a failure strikes."""

    def __init__(self):
        self.failure, self.strikes, self.n = None, lambda n, received: False, 0

    def __call__(self, received):
        self.n += 1
        if self.failure is not None and self.strikes(self.n, received):
            one = self.failure
            return one.status, one.payload, one.content_type, one.headers
        return 200, write_answer(received.dialect, letter_of(received), "m", self.n)


@pytest.fixture
def asks(monkeypatch, tmp_path):
    """A function that asks all questions in a dialect, and the server that answers."""
    for provider in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{provider}_API_KEY", KEY)
    questions = Questions(tmp_path)

    def ask(server, dialect, name, **changes):
        spec, given, path = KINDS[dialect]
        model = open_model(spec, ModelOptions(base_url=server.url + path, settings=given))
        options = RunOptions(
            scorer="option_letter",
            where=Destination(out=tmp_path / name),
            loop=LoopSettings(concurrency=1, patience=PATIENCE),
            has_preflight=False,
            is_same_weights=True,
            **changes,
        )
        return run_benchmark(questions, model, resolve_views("original")[0], Plain(), options=options)

    ask.folder = tmp_path
    return ask


def table(store):
    return {row.request_id: (row.state.value, row.text) for row in store.responses()}


def struck(ask, *arguments, **changes):
    """Ask while failures strike; return what is stored, and the error that ended the run, if one did."""
    try:
        outcome = ask(*arguments, **changes)
    except ModelError as error:
        return table(RunStore(ask.folder / arguments[-1])), error
    rows = {one.request_id: one for one in outcome.store.responses()}
    assert len({condition.condition for condition in outcome.summary.conditions}) == 1
    n_open = sum(row.state.value == "transient" for row in rows.values()) + N_QUESTIONS - len(rows)
    assert outcome.n_missing >= n_open
    return table(outcome.store), outcome.stop


def check(one: Failure, undisturbed, stored, stop, second, *, ends_run=False):
    """Hold what was stored against whose failure it is, and the next start against an undisturbed run."""
    differs = {key: row for key, row in stored.items() if row != undisturbed[key]}
    if one.owner in {"account", "server", "setting"}:
        assert {state for state, _ in differs.values()} <= {"transient"}
        assert stop is not None or not ends_run, "the run went on"
        assert second == undisturbed
    elif one.owner in FINAL_OF:
        assert len(stored) == N_QUESTIONS
        assert {state for state, _ in differs.values()} <= FINAL_OF[one.owner], differs
        assert len(differs) == 1, differs
        assert stop is None
        assert second == stored
    else:
        assert {state for state, _ in stored.values()} <= ANSWERS, stored
        assert second == stored


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_failure_is_stored_as_what_it_is_not_and_a_mended_server_is_asked_on(asks, dialect):
    says = Server()
    wrong = []
    with ChatServer(say=says) as server:
        undisturbed = table(asks(server, dialect, "undisturbed").store)
        for number in range(n_failures(2 / 3 / len(DIALECTS))):
            rng = random_of("provider failure", dialect, number)
            one, after = drawn(rng, dialect), rng.randrange(N_QUESTIONS)
            if one.owner in {"account", "server", "setting"}:
                says.strikes = lambda n, received, after=after: n > after
            else:
                says.strikes = lambda n, received, after=after: sign_of(received) == after
            says.failure, says.n = one, 0
            try:
                stored, stop = struck(asks, server, dialect, f"{number}")
                assert one.owner != "account" or says.n == after + 1, f"asked {says.n - after} times"
                says.failure = None
                ends_run = one.owner in {"account", "setting"}
                second = table(asks(server, dialect, f"{number}").store)
                check(one, undisturbed, stored, stop, second, ends_run=ends_run)
            except AssertionError as error:
                wrong.append(told(dialect, number, one, error))
    assert not wrong, "\n\n".join([f"{len(wrong)} are wrong", *wrong])


@pytest.mark.parametrize("dialect", ["chat", "responses", "messages"])
def test_no_failure_in_a_line_of_a_batch_is_stored_as_what_it_is_not(asks, dialect):
    batches = BatchSettings(poll_seconds=0.001, wait_seconds=20)
    with ChatServer(desk=BatchDesk(letter_of, n_polls=0)) as server:
        undisturbed = table(asks(server, dialect, "undisturbed", batches=batches).store)
    wrong = []
    for number in range(n_failures(1 / 3 / 3)):
        rng = random_of("provider failure in a batch", dialect, number)
        one, struck_one = drawn(rng, dialect), rng.randrange(N_QUESTIONS)
        if not isinstance(one.body, dict) or (dialect == "messages" and one.status != 200 and "error" not in one.body):
            continue
        name = f"batch {number}"
        is_all = one.owner in {"account", "server", "setting"} and rng.random() < 0.5
        fate = dict.fromkeys(range(N_QUESTIONS) if is_all else [struck_one], (one.status, one.body))
        if dialect == "messages" and one.status == 200 and "error" in one.body:
            continue  # an Anthropic line is a message or an error, never an error inside a message
        try:
            with ChatServer(desk=BatchDesk(letter_of, n_polls=0, fate=fate)) as server:
                stored, stop = struck(asks, server, dialect, name, batches=batches)
            with ChatServer(desk=BatchDesk(letter_of, n_polls=0)) as server:
                check(one, undisturbed, stored, stop, table(asks(server, dialect, name, batches=batches).store))
        except AssertionError as error:
            wrong.append(told(dialect, number, one, error))
    assert not wrong, "\n\n".join([f"{len(wrong)} are wrong", *wrong])


def told(dialect, number, one, error):
    text = one.body if isinstance(one.body, str) else json.dumps(one.body, ensure_ascii=False)
    return f"{dialect} {number}: {one.owner} {one.status} {text[:300]}\n{str(error)[:400]}"

"""Models whose accuracy is known, for checks and tests: ``simulated/oracle``, ``…/chance``, ``…/vlm``."""

import asyncio
import math
import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from eyechart.errors import BadRequestError, RefusedInputError, TransientModelError, UsageError
from eyechart.kinds import Ask, AskedIdentity, Gold, Model, ModelOptions, ObservedPicture, Reply
from eyechart.models._chat_settings import recorded_settings
from eyechart.models._draws import normal_quantile, normal_share, pick, uniform
from eyechart.registry import unknown_name
from eyechart.schema import JsonObject, ModelIdentity, Size, Usage
from eyechart.settings import read_settings

__all__ = ["SimulatedKind"]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CANNOT_TELL = "I cannot tell from this picture."
WRONG_TEXT = "something else entirely"
"""What is answered to a free question instead of the right text."""
_CELL = re.compile(r"row: (\d+), col: (\d+)")

# Made up, but in the order that SUM-like studies find: context helps, resolution lost hurts.
_VLM_ACCURACY = (
    "original=0.72,crop=0.86,crop_1x=0.8,crop_18x=0.82,whiteground=0.74,whiteground_1x=0.68,target_only=0.7,"
    "downsample=0.7,downsample_0_375=0.66,downsample_0_25=0.6,downsample_0_1875=0.54,downsample_0_125=0.47,"
    "downsample_0_0625=0.36,no_image=0.3,blank=0.27"
)

PRESETS: dict[str, JsonObject] = {
    "oracle": {},
    "chance": {"guess_rate": 1.0},
    "vlm": {
        "accuracy": 0.7,
        "accuracy_by_view": _VLM_ACCURACY,
        "question_correlation": 0.4,
        "image_correlation": 0.1,
        "format_failure_rate": 0.01,
        "noise": 0.05,
    },
}


class SimulatedSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known about a simulated model. Rates are probabilities in [0, 1].

    A question is answered by a blind guess with ``guess_rate``, else right with the accuracy of its view; a wrong
    answer is any other option. So the accuracy to be found is ``expected_accuracy``.

    Args:
        seed: Another seed answers other questions right.
        accuracy: Where ``accuracy_by_view`` says nothing.
        accuracy_by_view: ``original=0.8,crop=0.9``: by view id, else by family (the id before its first number).
        threshold_px: Target size, as seen, that half of the questions need; replaces the accuracy by a curve that
            rises from chance to ``accuracy``. Such a model sees every picture as it was sent.
        slope: Steepness of that curve at the threshold, per doubling of the size.
        guess_rate: Share of questions answered without looking.
        noise: Share of answers that are drawn anew in each repeat and condition.
        question_correlation: Correlation of the views of one question.
        image_correlation: Correlation of the questions on one picture (their ``image_group``).
        format_failure_rate: Share of answers that name no option.
        refusal_rate: Share of refusals.
        truncation_rate: Share of answers cut off while thinking.
        transient_rate: Share of requests whose first ``failing_attempts`` attempts fail.
        failing_attempts: How many attempts fail then; -1 for all.
        refused_input_rate: Share of requests whose picture is refused.
        seconds: Time that an answer takes.
    """

    seed: int = 0
    accuracy: float = 1.0
    accuracy_by_view: str | None = None
    threshold_px: float | None = None
    slope: float = 2.0
    guess_rate: float = 0.0
    noise: float = 0.0
    question_correlation: float = 0.0
    image_correlation: float = 0.0
    format_failure_rate: float = 0.0
    refusal_rate: float = 0.0
    truncation_rate: float = 0.0
    transient_rate: float = 0.0
    failing_attempts: int = 1
    refused_input_rate: float = 0.0
    seconds: float = 0.0


class SimulatedKind:
    """Models that know the right answers and give them as often as they are told to."""

    settings = SimulatedSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model.

        Raises:
            UsageError: If the name is none of ``PRESETS``, or a setting is wrong.
        """
        if name not in PRESETS:
            raise unknown_name("simulated model", name, tuple(PRESETS))
        if options.extra_body:
            raise UsageError("a simulated model takes no --extra-body", hint="leave it out")
        settings = read_settings(SimulatedSettings, {**PRESETS[name], **options.settings}, f"simulated/{name}")
        kind = SimulatedModel if settings.threshold_px is None else SightedModel
        return kind(name, settings, options.revision)


class SimulatedModel:
    """A model with a known truth. Equal settings give equal answers to a request, in any order and process."""

    reads: Literal["pixels", "identity"] = "identity"
    max_concurrency: int | None = None

    def __init__(self, name: str, settings: SimulatedSettings, revision: str | None = None) -> None:
        self._settings = settings
        self._by_view = _read_rates(settings.accuracy_by_view or "")
        _check_rates(settings)
        self._gold: Gold = {}
        self._groups: Mapping[str, str] = {}
        self._target_px: Mapping[str, float] = {}
        self._attempts: dict[str, int] = {}
        self.identity = ModelIdentity(
            provider="simulated", name=name, revision=revision, settings=recorded_settings(settings, {})
        )

    def take_gold(self, gold: Gold) -> None:
        """Receive the right letter of every request id, or the right text of a free question."""
        self._gold = gold

    def take_image_groups(self, groups: Mapping[str, str]) -> None:
        """Receive the image group of every question id; without it each question is its own group."""
        self._groups = groups

    def take_target_px(self, target_px: Mapping[str, float]) -> None:
        """Receive the target's shorter side, in pixels as seen, of every request id; 0 where none is shown."""
        self._target_px = target_px

    def expected_accuracy(self, view: str, n_options: int, target_px: float | None = None) -> float:
        """Return the share of right answers to be found in a view, unreadable answers counted as wrong.

        Args:
            view: View id.
            n_options: Options of each question, 0 for free ones, which no guess hits.
            target_px: Target's size as seen, where the model has a threshold.
        """
        settings = self._settings
        knowing = (1 - settings.guess_rate) * self._accuracy(view, n_options, target_px)
        readable = (1 - settings.refusal_rate) * (1 - settings.truncation_rate) * (1 - settings.format_failure_rate)
        return readable * (knowing + (settings.guess_rate / n_options if n_options else 0.0))

    async def answer(self, ask: Ask) -> Reply:
        """Answer as the settings say.

        Raises:
            TransientModelError: In the share ``transient_rate``, for a number of attempts.
            RefusedInputError: In the share ``refused_input_rate``.
            BadRequestError: If the model was not told what is asked, or the target's size where it needs it.
        """
        if ask.identity is None:
            raise BadRequestError("a simulated model was not told which question is asked", hint="use eyechart run")
        if self._settings.seconds:
            await asyncio.sleep(self._settings.seconds)
        self._fail(ask.identity)
        return self._reply(ask.identity, len(ask.choices))

    async def close(self) -> None:
        """Nothing is held open."""

    def _fail(self, asked: AskedIdentity) -> None:
        settings, attempt = self._settings, self._attempts.get(asked.request_id, 0)
        self._attempts[asked.request_id] = attempt + 1
        if self._draw("refused_input", asked.request_id) < settings.refused_input_rate:
            raise RefusedInputError("a simulated refusal of the picture")
        is_failing = settings.failing_attempts < 0 or attempt < settings.failing_attempts
        if is_failing and self._draw("transient", asked.request_id) < settings.transient_rate:
            raise TransientModelError(f"a simulated failure of attempt {attempt + 1}")

    def _reply(self, asked: AskedIdentity, n_options: int) -> Reply:
        settings = self._settings
        usage = Usage(input_tokens=100, output_tokens=1)
        if self._draw("refusal", asked.request_id) < settings.refusal_rate:
            return Reply(text="I cannot help with that.", finish="stop", is_refusal=True, usage=usage)
        if self._draw("truncation", asked.request_id) < settings.truncation_rate:
            return Reply(text="", reasoning="Let me look at the", finish="length", usage=usage)
        gold = self._gold.get(asked.request_id)
        if gold is None or self._draw("format", asked.request_id) < settings.format_failure_rate:
            return Reply(text=CANNOT_TELL, finish="stop", usage=usage)
        return Reply(text=self._answer(asked, gold, LETTERS[:n_options]), finish="stop", usage=usage)

    def _answer(self, asked: AskedIdentity, gold: str, letters: str) -> str:
        """Return the right letter or another; of a free question the right text or one that is wrong for certain."""
        # What a question gets is drawn by question and condition, so that repeats agree but for the noise.
        cell = f"{asked.question_id} {asked.condition}"
        if self._draw("noise", f"{cell} {asked.repeat}") < self._settings.noise:
            cell = f"{cell} {asked.repeat}"
        if self._draw("guess", cell) < self._settings.guess_rate:
            return pick(letters, self._draw("guessed letter", cell)) if letters else _wrong_text(gold)
        target_px = self._target_px.get(asked.request_id)
        if self._ability(asked.question_id, cell) < self._accuracy(asked.view, len(letters), target_px):
            return gold
        if not letters:
            return _wrong_text(gold)
        others = letters.replace(gold, "")
        return pick(others, self._draw("wrong letter", cell)) if others else gold

    def _ability(self, question_id: str, cell: str) -> float:
        """Return a draw that is uniform in (0, 1) and correlated within question and image (Gaussian copula)."""
        question, image = self._settings.question_correlation, self._settings.image_correlation
        if not (question or image):
            return self._draw("ability", cell)
        group = self._groups.get(question_id, question_id)
        return normal_share(
            math.sqrt(question) * normal_quantile(self._draw("question", question_id))
            + math.sqrt(image) * normal_quantile(self._draw("image", group))
            + math.sqrt(1 - question - image) * normal_quantile(self._draw("ability", cell))
        )

    def _accuracy(self, view: str, n_options: int, target_px: float | None) -> float:
        """Return how often a question is answered right when the model looks."""
        by_view = self._by_view
        accuracy = next((by_view[name] for name in _names(view) if name in by_view), self._settings.accuracy)
        threshold_px = self._settings.threshold_px
        if threshold_px is None:
            return accuracy
        if target_px is None:
            raise BadRequestError(
                "a simulated model with threshold_px needs the target's size",
                hint="its questions need boxes, see --boxes",
            )
        chance = min(accuracy, 1 / n_options) if n_options else 0.0
        rise = 1 / (1 + math.exp(-self._settings.slope * math.log2(max(target_px, 1e-9) / threshold_px)))
        return chance + (accuracy - chance) * rise

    def _draw(self, purpose: str, key: str) -> float:
        return uniform(self._settings.seed, purpose, key)


class SightedModel(SimulatedModel):
    """A model with ``threshold_px``: the size of a target decides, and every picture is seen as it was sent."""

    def predict_seen(self, sent: Size) -> ObservedPicture | None:
        """Return the picture as it is sent."""
        return ObservedPicture(sent, "executed")


def _wrong_text(gold: str) -> str:
    """Return a text that is wrong for certain: another cell where a cell is right."""
    cell = _CELL.fullmatch(gold)
    if cell is None:
        return WRONG_TEXT
    return f"row: {2 if cell[1] == '1' else 1}, col: {cell[2]}"


def _names(view: str) -> tuple[str, ...]:
    """Return the names under which an accuracy may be given, the nearest first: the id, its family."""
    parts = view.split("_")
    heads = ["_".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return tuple(heads)


def _read_rates(text: str) -> dict[str, float]:
    rates: dict[str, float] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = pair.partition("=")
        try:
            rates[name.strip()] = float(value)
        except ValueError as error:
            raise UsageError(
                f"accuracy_by_view: {pair!r} is not of the form view=rate", hint="for example original=0.8,crop=0.9"
            ) from error
    return rates


def _check_rates(settings: SimulatedSettings) -> None:
    rates = {
        name: value
        for name, value in msgspec.to_builtins(settings).items()
        if name.endswith(("rate", "correlation")) or name in {"accuracy", "noise"}
    }
    rates |= {f"accuracy of {view}": rate for view, rate in _read_rates(settings.accuracy_by_view or "").items()}
    for name, rate in rates.items():
        if not 0 <= rate <= 1:
            raise UsageError(f"{name} {rate} is outside [0, 1]", hint="a rate is a probability")
    if settings.question_correlation + settings.image_correlation > 1:
        raise UsageError("the correlations within question and image exceed 1 together", hint="lower one of them")

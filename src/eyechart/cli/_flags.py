"""Flags that several commands share, and what they open."""

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from eyechart.cli._command import recorded_command
from eyechart.cli._durations import read_seconds
from eyechart.cli._picture_flags import PictureFlags
from eyechart.errors import UsageError
from eyechart.registry import load_plugin, names
from eyechart.schema import NOT_JSON, ScoreMode
from eyechart.settings import parse_pairs, read_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclopts import Token

    from eyechart.kinds import Benchmark, ModelOptions
    from eyechart.runs.batches import BatchSettings
    from eyechart.runs.options import RunOptions
    from eyechart.runs.ray_engine import RayWork
    from eyechart.runs.view_store import ViewStore
    from eyechart.schema import Sampling

NOT_SENT = "not-sent"
# A question is asked in as many orders as it has choices; there are 26 letters.
ALL_ROTATIONS = 26

_Asking = Group("Asking", sort_key=2)
_Model = Group("Model", sort_key=1)

Plugin = Annotated[
    tuple[Path, ...],
    Parameter(
        name="--plugin", negative="", show_default=False, help="Python file that adds extensions; may be repeated."
    ),
]
Data = Annotated[Path | None, Parameter(name="--data", help="File or folder that the benchmark reads.")]
Option = Annotated[
    tuple[str, ...],
    Parameter(
        name="--option", negative="", show_default=False, help="Option of the benchmark as key=value; may be repeated."
    ),
]

OptionsAs = Annotated[
    Path | None,
    Parameter(
        name="--options-as",
        help="File of ids and choices (JSONL, JSON, CSV): the options of each question in the order they were shown, "
        "where that is not the benchmark's own.",
    ),
]
Boxes = Annotated[
    Path | None,
    Parameter(name="--boxes", help="File with a target box per question id, for a benchmark that publishes none."),
]


AllowHidden = Annotated[
    bool,
    Parameter(
        name="--allow-hidden",
        negative="",
        show_default=False,
        help="Ask questions of a question file that have no right answer; they are not scored.",
    ),
]


def read_number_or_not_sent(_type: object, tokens: "Sequence[Token]") -> float | None:
    """Convert a number, or ``not-sent`` to None; the converter that cyclopts calls."""
    text = tokens[0].value
    if text == NOT_SENT:
        return None
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a number", hint=f"write a number, or {NOT_SENT}") from None


def read_rotations(_type: object, tokens: "Sequence[Token]") -> int:
    """Convert a number of orders, or ``all``; the converter that cyclopts calls."""
    text = tokens[0].value
    if text == "all":
        return ALL_ROTATIONS
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(
            f"--rotate-choices {text!r} is not a number of orders", hint="write a whole number from 1, or all"
        )
    return int(text)


Sent = Annotated[float | None, Parameter(converter=read_number_or_not_sent, n_tokens=1)]
Seconds = Annotated[float, Parameter(converter=read_seconds, n_tokens=1)]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ModelFlags:
    """How to reach a model and what it is sent."""

    base_url: Annotated[
        tuple[str, ...],
        Parameter(
            group=_Model,
            negative="",
            show_default=False,
            help="Address of the server; repeat it to balance requests over several that serve the same model.",
        ),
    ] = ()
    model_revision: Annotated[
        str | None, Parameter(group=_Model, help="Version of the weights; part of the model's identity.")
    ] = None
    model_config: Annotated[Path | None, Parameter(group=_Model, help="TOML file of model settings.")] = None
    set: Annotated[
        tuple[str, ...],
        Parameter(group=_Model, negative="", show_default=False, help="Model setting as key=value; may be repeated."),
    ] = ()
    extra_body: Annotated[
        Path | None, Parameter(group=_Model, help="JSON file sent along with every request; hashed into the identity.")
    ] = None
    trust_remote_code: Annotated[
        bool,
        Parameter(
            group=_Model,
            negative="",
            show_default=False,
            help="Run Python code from the repository of an hf/ model; recorded in the run.",
        ),
    ] = False
    score_mode: Annotated[
        ScoreMode,
        Parameter(group=_Model, help="Let the model write, or read the likeliest letter off its first token."),
    ] = "text"
    temperature: Annotated[Sent, Parameter(group=_Model, help="Sampling temperature, or not-sent.")] = 0.0
    top_p: Annotated[Sent, Parameter(group=_Model, help="Nucleus sampling, or not-sent.")] = None
    sampling_seed: Annotated[Sent, Parameter(group=_Model, help="Seed sent to the model, or not-sent.")] = None
    max_tokens: Annotated[Sent, Parameter(group=_Model, help="Longest answer in tokens, or not-sent.")] = 1024

    def options(self, timeout_seconds: float = 300.0) -> "ModelOptions":
        """Return what opens the model.

        Args:
            timeout_seconds: Longest wait for one answer, which the SDK must not cut short.

        Raises:
            UsageError: If a file or pair cannot be read.
        """
        from eyechart.kinds import ModelOptions

        settings = read_toml(self.model_config) if self.model_config else {}
        return ModelOptions(
            base_url=self.base_url[0] if self.base_url else None,
            timeout_seconds=timeout_seconds,
            revision=self.model_revision,
            settings={
                **settings,
                **parse_pairs(self.set, "--set"),
                **({"trust_remote_code": True} if self.trust_remote_code else {}),
            },
            extra_body=_read_json_object(self.extra_body) if self.extra_body else {},
        )

    def sampling(self) -> "Sampling":
        """Return the sampling parameters."""
        from eyechart.schema import Sampling

        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            seed=_whole(self.sampling_seed, "--sampling-seed"),
            max_tokens=_whole(self.max_tokens, "--max-tokens"),
            score_mode=self.score_mode,
        )


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AskFlags:
    """How a run asks, and where it keeps its answers."""

    limit: Annotated[int | None, Parameter(group=_Asking, help="Ask so many whole questions, under all views.")] = None
    seed: Annotated[int | None, Parameter(group=_Asking, help="Seed of the choice under --limit; 0 if left out.")] = (
        None
    )
    repeat: Annotated[int, Parameter(group=_Asking, help="Ask everything so many times; averaged per question.")] = 1
    blind: Annotated[
        bool,
        Parameter(
            group=_Asking,
            negative="",
            show_default=False,
            help="Ask also without the picture (no_image) and with a white one (blank): what can be guessed.",
        ),
    ] = False
    rotate_choices: Annotated[
        int,
        Parameter(
            group=_Asking,
            converter=read_rotations,
            n_tokens=1,
            help="Show the choices in so many orders, or all; averaged per question.",
        ),
    ] = 1
    options_as: OptionsAs = None
    concurrency: Annotated[
        int, Parameter(group=_Asking, help="Most requests in flight; fewer while the server has too much.")
    ] = 8
    rpm: Annotated[float | None, Parameter(group=_Asking, help="Most requests a minute.")] = None
    tpm: Annotated[float | None, Parameter(group=_Asking, help="Most tokens a minute, in and out.")] = None
    max_requests: Annotated[
        int | None, Parameter(group=_Asking, help="Send so many requests in this start, then stop cleanly.")
    ] = None
    max_cost: Annotated[
        float | None, Parameter(group=_Asking, help="Stop cleanly before the run has cost so many dollars.")
    ] = None
    price: Annotated[str | None, Parameter(group=_Asking, help="Your own price: $ per million tokens, IN,OUT.")] = None
    timeout: Annotated[Seconds, Parameter(group=_Asking, help="Longest wait for one answer, such as 5m.")] = 300.0
    max_wait: Annotated[
        Seconds, Parameter(group=_Asking, help="Longest wait that a server may ask for before the run ends.")
    ] = 600.0
    wait_for_server: Annotated[
        Seconds, Parameter(group=_Asking, help="Wait so long for a server that does not answer yet.")
    ] = 0.0
    preflight: Annotated[
        bool,
        Parameter(group=_Asking, negative="--no-preflight", help="Show the first 8 answers, stop if most are bad."),
    ] = True
    same_weights: Annotated[
        bool,
        Parameter(
            group=_Asking,
            negative="",
            show_default=False,
            help="Reuse answers older than 24 h of a served model without revision.",
        ),
    ] = False
    ask_again: Annotated[
        str | None,
        Parameter(
            group=_Asking,
            help="Ask stored final errors again, by their states with commas: bad_request, empty_reply, filtered, "
            "refused_input, unreadable_image.",
        ),
    ] = None
    out: Annotated[Path | None, Parameter(group=_Asking, help="Run folder; else one is found or made in runs/.")] = None
    new: Annotated[bool, Parameter(group=_Asking, negative="", show_default=False, help="Start a new run folder.")] = (
        False
    )
    engine: Annotated[
        Literal["local", "ray"],
        Parameter(group=_Asking, help="Ask from this process, or over a Ray cluster (RAY_ADDRESS), folders shared."),
    ] = "local"
    view_store: Annotated[
        Path | None, Parameter(group=_Asking, help="Folder of drawn views that runs share, kept within a bound.")
    ] = None
    view_store_gb: Annotated[float, Parameter(group=_Asking, help="Bound of --view-store in GB.")] = 20.0
    batch: Annotated[
        bool,
        Parameter(
            group=_Asking,
            negative="",
            show_default=False,
            help="Ask through the provider's batches (openai, anthropic): half the price, within a day; resumable.",
        ),
    ] = False
    batch_wait: Annotated[
        Seconds, Parameter(group=_Asking, help="Longest wait for batches in this start; 0 hands over and leaves.")
    ] = 90_000.0
    batch_poll: Annotated[Seconds, Parameter(group=_Asking, help="How often to ask how far the batches are.")] = 30.0
    shard: Annotated[
        str | None, Parameter(group=_Asking, help="Ask part i of n, written i/n, for job arrays; needs --out.")
    ] = None
    report: Annotated[
        bool, Parameter(group=_Asking, negative="--no-report", help="Write report.html, figures and tables at the end.")
    ] = True
    scorer: Annotated[
        str | None,
        Parameter(group=_Asking, help="Scorer, such as option_letter.lenient; the benchmark's own if left out."),
    ] = None
    prompt: Annotated[
        str | None,
        Parameter(
            group=_Asking,
            help="Wording: letter_legacy@1, hrscene_exact:FILE, a file such as mine.txt with {question} and {options}, "
            "or release:NAME; the benchmark's own if left out.",
        ),
    ] = None
    protocol: Annotated[
        str | None,
        Parameter(
            group=_Asking,
            help="Evaluate as others do: hrbench@official, zoombench@official, vstar@shuffled or vstar@vlmevalkit fix "
            "prompt, order of the options, extraction and judge.",
        ),
    ] = None
    trust: Annotated[
        bool,
        Parameter(
            group=_Asking,
            negative="",
            show_default=False,
            help="Let the release's own scripts/prompts.py run, for --prompt release:NAME.",
        ),
    ] = False

    allow_faults: Annotated[
        bool,
        Parameter(
            group=_Asking,
            negative="",
            show_default=False,
            help="Ask a collection that has errors; they are printed in every report.",
        ),
    ] = False
    plan: Annotated[
        Path | None,
        Parameter(
            group=_Asking,
            help="Plan written by check --write-plan: views, prompt, scorer, --limit and --seed come from it. Results "
            "are confirmatory if the run keeps to it.",
        ),
    ] = None

    def run_options(
        self, model: ModelFlags, pictures: PictureFlags, preset: str | None, work: "RayWork | None" = None
    ) -> "RunOptions":
        """Return the options of the run."""
        from eyechart.runs.asking_again import read_states
        from eyechart.runs.execute import LoopSettings
        from eyechart.runs.folders import Destination
        from eyechart.runs.options import RunOptions
        from eyechart.runs.patience import Patience
        from eyechart.runs.plan import PlanOptions
        from eyechart.runs.rate import RateLimits
        from eyechart.runs.registration import read_plan
        from eyechart.runs.shard import read_shard
        from eyechart.runs.spending import SpendingLimits
        from eyechart.schema import DecodePolicy
        from eyechart.seen.costs import read_price
        from eyechart.seen.transport import parse_transport

        return RunOptions(
            sampling=model.sampling(),
            plan=PlanOptions(
                decode=DecodePolicy(exif=pictures.exif),
                geometry_policy=pictures.geometry_policy(),
                resampler=pictures.resampler,
                transport=parse_transport(pictures.transport).id,
                match=pictures.match_id(),
                limit=self.limit,
                seed=self.seed or 0,
                repeats=self.repeat,
                rotations=self.rotate_choices,
                view_preset=preset,
            ),
            loop=LoopSettings(
                concurrency=self.concurrency,
                patience=Patience(
                    attempt_seconds=self.timeout,
                    max_wait_seconds=self.max_wait,
                    wait_for_server_seconds=self.wait_for_server,
                ),
                rates=RateLimits(requests=self.rpm, tokens=self.tpm),
                spending=SpendingLimits(max_requests=self.max_requests, max_dollars=self.max_cost),
            ),
            batches=self._batches(),
            view_store=self._view_store(),
            ray=work,
            shard=None if self.shard is None else read_shard(self.shard),
            price=None if self.price is None else read_price(self.price, datetime.datetime.now(tz=datetime.UTC).date()),
            where=Destination(out=self.out, is_new=self.new),
            scorer=self.scorer,
            has_preflight=self.preflight,
            is_same_weights=self.same_weights,
            allows_faults=self.allow_faults,
            protocol=self.protocol,
            command=recorded_command(),
            registration=None if self.plan is None else read_plan(self.plan),
            rules=pictures.own_rules(),
            ask_again=() if self.ask_again is None else read_states(self.ask_again),
        )

    def _view_store(self) -> "ViewStore | None":
        from eyechart.runs.view_store import ViewStore

        return None if self.view_store is None else ViewStore(self.view_store, int(self.view_store_gb * 10**9))

    def _batches(self) -> "BatchSettings | None":
        from eyechart.runs.batches import BatchSettings

        return BatchSettings(poll_seconds=self.batch_poll, wait_seconds=self.batch_wait) if self.batch else None


def load_plugins(paths: tuple[Path, ...]) -> None:
    """Load every plug-in file."""
    for path in paths:
        load_plugin(path)


def open_named_benchmark(
    name: str, data: Path | None, option: tuple[str, ...], boxes: Path | None = None
) -> "Benchmark":
    """Open a benchmark by its flags, and say what its data warns of."""
    from eyechart.opening import open_benchmark

    options = parse_pairs(option, "--option")
    if name not in names("benchmark") and Path(name).exists():
        raise UsageError(
            f"{name!r} is a file or folder, and not the name of a benchmark",
            hint=f"for questions of your own: folder --data {name}",
        )
    if boxes is not None:
        options["boxes"] = str(boxes)
    benchmark = open_benchmark(name, data, options)
    tell_reading(benchmark)
    return benchmark


def tell_reading(benchmark: "Benchmark") -> None:
    """Say once what was chosen in reading a benchmark's data, and what the data warns of."""
    from eyechart.cli._output import say

    readings: tuple[str, ...] = getattr(benchmark, "readings", ())
    if readings:
        say(f"read: {'; '.join(readings)}")
    for warning in getattr(benchmark, "warnings", ()):
        say(f"warning: {warning}")


def with_hidden(option: tuple[str, ...], benchmark: str | None, *, allow_hidden: bool) -> tuple[str, ...]:
    """Return the options with what ``--allow-hidden`` means for a benchmark that reads question files."""
    from eyechart.opening import benchmark_options

    is_asked = allow_hidden and benchmark is not None and "allow_hidden" in benchmark_options(benchmark)
    return (*option, "allow_hidden=true") if is_asked else option


def read_codes(codes: "Sequence[str]") -> tuple[str, ...]:
    """Return the names that validity rules have now, from those or former ones.

    Raises:
        UsageError: If no rule is or was called so.
    """
    from eyechart.stats.codes import Code, current_code

    named = tuple(current_code(code) for code in codes)
    unknown = [code for code in named if code not in set(Code)]
    if unknown:
        raise UsageError(f"no validity rule is called {', '.join(unknown)}", hint=f"rules: {', '.join(Code)}")
    return named


def read_order(options_as: Path | None, benchmark: "Benchmark | None") -> dict[str, tuple[int, ...]]:
    """Return the order of the options that ``--options-as`` gives, empty without it.

    Raises:
        UsageError: If there is no benchmark whose options they are.
    """
    if options_as is None:
        return {}
    if benchmark is None:
        raise UsageError("--options-as needs the questions", hint="give the benchmark with --data or --benchmark")
    from eyechart.benchmarks._shown_options import read_orders

    return read_orders(options_as, tuple(benchmark.questions()))


def with_order(options: "RunOptions", options_as: Path | None, benchmark: "Benchmark") -> "RunOptions":
    """Return the options of a run with the order of the choices that ``--options-as`` gives."""
    if options_as is None:
        return options
    import msgspec

    orders = read_order(options_as, benchmark)
    return msgspec.structs.replace(options, plan=msgspec.structs.replace(options.plan, orders=orders))


def _whole(number: float | None, flag: str) -> int | None:
    if number is not None and int(number) != number:
        raise UsageError(f"{flag} {number:g} is not a whole number", hint=f"write a whole number, or {NOT_SENT}")
    return None if number is None else int(number)


def _read_json_object(path: Path) -> dict[str, object]:
    import msgspec

    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})", hint="check the path") from error
    except NOT_JSON as error:
        raise UsageError(f"{path} is not a JSON object ({error})", hint='write {"key": value}') from error

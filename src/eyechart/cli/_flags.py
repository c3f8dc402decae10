"""Flags that several commands share, and what they open."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from eyechart.cli._durations import read_seconds
from eyechart.errors import UsageError
from eyechart.registry import load_plugin
from eyechart.settings import parse_pairs, read_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclopts import Token

    from eyechart.kinds import Benchmark, ModelOptions
    from eyechart.runs.session import RunOptions
    from eyechart.schema import Sampling, View

NOT_SENT = "not-sent"
_N_SHOWN = 3
# A question is asked in as many orders as it has choices; there are 26 letters.
ALL_ROTATIONS = 26

_Asking = Group("Asking", sort_key=2)
_Model = Group("Model", sort_key=1)
_Views = Group("Pictures", sort_key=3)

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

Boxes = Annotated[
    Path | None,
    Parameter(name="--boxes", help="File with a target box per question id, for a benchmark that publishes none."),
]


def read_number_or_not_sent(_type: object, tokens: "Sequence[Token]") -> float | None:
    """Convert a number, or ``not-sent`` to None; the converter that cyclopts calls."""
    text = tokens[0].value
    if text == NOT_SENT:
        return None
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{text!r} is no number", hint=f"write a number, or {NOT_SENT}") from None


def read_rotations(_type: object, tokens: "Sequence[Token]") -> int:
    """Convert a number of orders, or ``all``; the converter that cyclopts calls."""
    text = tokens[0].value
    if text == "all":
        return ALL_ROTATIONS
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(
            f"--rotate-choices {text!r} is no number of orders", hint="write a whole number from 1, or all"
        )
    return int(text)


Sent = Annotated[float | None, Parameter(converter=read_number_or_not_sent, n_tokens=1)]
Seconds = Annotated[float, Parameter(converter=read_seconds, n_tokens=1)]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ModelFlags:
    """How to reach a model and what it is sent."""

    base_url: Annotated[str | None, Parameter(group=_Model, help="Address of an OpenAI-compatible server.")] = None
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
    temperature: Annotated[Sent, Parameter(group=_Model, help="Sampling temperature, or not-sent.")] = 0.0
    top_p: Annotated[Sent, Parameter(group=_Model, help="Nucleus sampling, or not-sent.")] = None
    sampling_seed: Annotated[Sent, Parameter(group=_Model, help="Seed sent to the model, or not-sent.")] = None
    max_tokens: Annotated[Sent, Parameter(group=_Model, help="Longest answer in tokens, or not-sent.")] = 1024

    def options(self) -> "ModelOptions":
        """Return what opens the model.

        Raises:
            UsageError: If a file or pair cannot be read.
        """
        from eyechart.kinds import ModelOptions

        settings = read_toml(self.model_config) if self.model_config else {}
        return ModelOptions(
            base_url=self.base_url,
            revision=self.model_revision,
            settings={**settings, **parse_pairs(self.set, "--set")},
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
        )


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AskFlags:
    """How a run asks, and where it keeps its answers."""

    limit: Annotated[int | None, Parameter(group=_Asking, help="Ask so many whole questions, under all views.")] = None
    seed: Annotated[int, Parameter(group=_Asking, help="Seed of the choice under --limit.")] = 0
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
    concurrency: Annotated[int, Parameter(group=_Asking, help="Requests in flight.")] = 8
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
    out: Annotated[Path | None, Parameter(group=_Asking, help="Run folder; else one is found or made in runs/.")] = None
    new: Annotated[bool, Parameter(group=_Asking, negative="", show_default=False, help="Start a new run folder.")] = (
        False
    )
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
        Path | None, Parameter(group=_Asking, help="Plan written by check --write-plan; its results are confirmatory.")
    ] = None

    def run_options(self, model: ModelFlags, pictures: "PictureFlags", preset: str | None) -> "RunOptions":
        """Return the options of the run."""
        from eyechart.runs.execute import LoopSettings
        from eyechart.runs.folders import Destination
        from eyechart.runs.patience import Patience
        from eyechart.runs.plan import PlanOptions
        from eyechart.runs.registration import read_plan
        from eyechart.runs.session import RunOptions
        from eyechart.schema import DecodePolicy
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
                seed=self.seed,
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
            ),
            where=Destination(out=self.out, is_new=self.new),
            scorer=self.scorer,
            has_preflight=self.preflight,
            is_same_weights=self.same_weights,
            allows_faults=self.allow_faults,
            protocol=self.protocol,
            command=("eyechart", *sys.argv[1:]),
            registration=None if self.plan is None else read_plan(self.plan),
            rules=pictures.own_rules(),
        )


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class PictureFlags:
    """Choices that no document settles; the defaults are recorded like any other."""

    border: Annotated[
        Literal["clip", "shift"], Parameter(group=_Views, help="A crop over the border is cut, or moved inside.")
    ] = "clip"
    box_rounding: Annotated[
        Literal["outward", "nearest", "trunc"], Parameter(group=_Views, help="How box edges become integers.")
    ] = "outward"
    size_rounding: Annotated[
        Literal["half_up", "trunc", "half_even"], Parameter(group=_Views, help="How downsampled sides become integers.")
    ] = "half_up"
    target_basis: Annotated[
        Literal["clipped", "source"], Parameter(group=_Views, help="Crops grow from the clipped box, or as given.")
    ] = "clipped"
    exif: Annotated[
        Literal["ignore", "apply"], Parameter(group=_Views, help="Keep stored pixels, or turn picture and boxes.")
    ] = "ignore"
    resampler: Annotated[
        str, Parameter(group=_Views, help="Resampler; cykooz-lanczos3@1 is faster and draws other pixels.")
    ] = "pillow-lanczos@1"
    transport: Annotated[
        str,
        Parameter(
            group=_Views,
            help="native sends views as they are; fit resizes them to the model's grid, so that sent = seen; "
            "budget(MIN,MAX) bounds their pixels. With +jpeg95 all leave as JPEG; +jpeg75 is HRScene's.",
        ),
    ] = "native"
    match: Annotated[
        str | None,
        Parameter(
            group=_Views,
            help="Keep target-px or tokens on the target the same under all views, at levels if given: "
            "target-px=8,32. One view and several levels vary the pixels alone.",
        ),
    ] = None
    rules: Annotated[
        Path | None, Parameter(group=_Views, help="TOML file of your own rules of what models see; they come first.")
    ] = None

    def match_id(self) -> str | None:
        """Return the id of the matched design.

        Raises:
            UsageError: If it is none.
        """
        from eyechart.runs.matching import parse_match

        return None if self.match is None else parse_match(self.match).id

    def own_rules(self) -> "tuple[Rule, ...]":
        """Return the user's rules.

        Raises:
            UsageError: If the file cannot be read.
        """
        from eyechart.seen.rules import read_rule_file

        return read_rule_file(self.rules) if self.rules else ()

    def geometry_policy(self) -> "GeometryPolicy":
        """Return the geometry policy."""
        from eyechart.geometry import GeometryPolicy

        return GeometryPolicy(
            border=self.border,
            box_rounding=self.box_rounding,
            size_rounding=self.size_rounding,
            target_basis=self.target_basis,
        )


if TYPE_CHECKING:
    from eyechart.geometry import GeometryPolicy
    from eyechart.seen.rules import Rule


def load_plugins(paths: tuple[Path, ...]) -> None:
    """Load every plug-in file."""
    for path in paths:
        load_plugin(path)


def open_named_benchmark(
    name: str, data: Path | None, option: tuple[str, ...], boxes: Path | None = None
) -> "Benchmark":
    """Open a benchmark by its flags, and say what its data warns of."""
    from eyechart.cli._output import say
    from eyechart.opening import open_benchmark

    options = parse_pairs(option, "--option")
    if boxes is not None:
        options["boxes"] = str(boxes)
    benchmark = open_benchmark(name, data, options)
    for warning in getattr(benchmark, "warnings", ()):
        say(f"warning: {warning}")
    return benchmark


def check_targets(benchmark: "Benchmark", views: "Sequence[View]") -> None:
    """Refuse views that need a target box where no question has one.

    Raises:
        UsageError: If so; the message counts them, and the hint names those that are possible.
    """
    from eyechart.views import format_view, needs_target

    released = set(benchmark.released_views())
    impossible = [view for view in views if format_view(view) not in released and needs_target(view)]
    if not impossible or any(question.targets for question in benchmark.questions()):
        return
    possible = [format_view(view) for view in views if view not in impossible]
    names = ", ".join(format_view(view) for view in impossible[:_N_SHOWN])
    raise UsageError(
        f"{len(impossible)} of {len(views)} views need a target box ({names}{', …' if impossible[_N_SHOWN:] else ''}), "
        f"and no question of {benchmark.identity.name} has one",
        hint=f"give --boxes FILE{', or --views ' + ','.join(possible) if possible else ''}",
    )


def _whole(number: float | None, flag: str) -> int | None:
    if number is not None and int(number) != number:
        raise UsageError(f"{flag} {number:g} is no whole number", hint=f"write a whole number, or {NOT_SENT}")
    return None if number is None else int(number)


def _read_json_object(path: Path) -> dict[str, object]:
    import msgspec

    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})", hint="check the path") from error
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path} is no JSON object ({error})", hint='write {"key": value}') from error

"""Names on a command line or in a script to opened benchmarks, models, prompts and scorers."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from eyechart.errors import UsageError
from eyechart.kinds import Benchmark, BenchmarkKind, Model, ModelKind, ModelOptions, Prompt, Scorer
from eyechart.registry import load, names, unknown_name
from eyechart.settings import read_settings

DEFAULT_PROMPT = "letter_normalized"
DEFAULT_SCORER = "option_letter"


def open_benchmark(name: str, data: Path | None = None, options: Mapping[str, object] | None = None) -> Benchmark:
    """Return a benchmark by name.

    Args:
        name: Registered name, for example ``folder``.
        data: File or folder it reads, where it needs one.
        options: Its options by name, as text or values.

    Raises:
        UsageError: If the name or an option is unknown.
        BenchmarkError: If the data breaks the benchmark's contract.
    """
    kind = cast("type[BenchmarkKind]", load("benchmark", name))()
    return kind.open(data, read_settings(kind.options, options or {}, f"benchmark {name}"))


def open_model(spec: str, options: ModelOptions | None = None) -> Model:
    """Return a model by ``provider/name``, without contacting it.

    Raises:
        UsageError: If the provider is unknown or no name follows it.
        MissingDependencyError: If the provider's extra is not installed.

    Example:
        >>> open_model("simulated/chance").identity.spec
        'simulated/chance'
    """
    provider, separator, name = spec.partition("/")
    if provider not in names("model"):
        error = unknown_name("model provider", provider, names("model"))
        more = "" if separator else "; a model is written provider/name, for example openai/gpt-4o"
        raise UsageError(error.message, hint=error.hint + more)
    if not separator or not name:
        raise UsageError(f"model {spec!r} names no model", hint=f"write {provider}/NAME")
    kind = cast("type[ModelKind]", load("model", provider))()
    return kind.open(name, options or ModelOptions())


def open_prompt(prompt_id: str = DEFAULT_PROMPT) -> Prompt:
    """Return a prompt by name, or by ``name@version``.

    Raises:
        UsageError: If there is no such prompt or version.

    Example:
        >>> open_prompt("letter_normalized@1").version
        1
    """
    name, _, version = prompt_id.partition("@")
    prompt = cast("type[Prompt]", load("prompt", name))()
    if version and version != str(prompt.version):
        raise UsageError(
            f"prompt {prompt_id!r}: this eyechart has version {prompt.version}", hint=f"use {name}@{prompt.version}"
        )
    return prompt


def open_scorer(scorer_id: str = DEFAULT_SCORER) -> tuple[Scorer, str]:
    """Return a scorer and its mode by ``name``, ``name.mode`` or ``name.mode@version``.

    A bare name means the default mode and the newest version.

    Raises:
        UsageError: If there is no such scorer, mode or version.

    Example:
        >>> open_scorer("option_letter.lenient@1")[1]
        'lenient'
    """
    stem, _, version = scorer_id.partition("@")
    name, _, mode = stem.partition(".")
    scorer = cast("type[Scorer]", load("scorer", name))()
    mode = mode or scorer.modes[0]
    if mode not in scorer.modes:
        raise unknown_name(f"mode of scorer {name}", mode, tuple(scorer.modes))
    if version and version != str(scorer.version):
        raise UsageError(
            f"scorer {scorer_id!r}: this eyechart has version {scorer.version}",
            hint=f"use {name}.{mode}@{scorer.version}",
        )
    return scorer, mode

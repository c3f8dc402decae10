"""Names on a command line or in a script to opened benchmarks, models, prompts and scorers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import msgspec

from eyechart.errors import UsageError
from eyechart.kinds import Benchmark, BenchmarkKind, Model, ModelKind, ModelOptions, Prompt, ReadFromFile, Scorer
from eyechart.registry import load, names, unknown_name
from eyechart.settings import read_settings
from eyechart.wording import FilePrompt, is_prompt_file

DEFAULT_PROMPT = "letter_normalized"
DEFAULT_SCORER = "option_letter"
# Names of models and products by which some call the provider.
_OFTEN_CALLED = {
    "alibaba": "dashscope",
    "chatgpt": "openai",
    "claude": "anthropic",
    "gemini": "google",
    "gpt": "openai",
    "huggingface": "hf",
    "qwen": "dashscope",
    "transformers": "hf",
    "vertex": "google",
}


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


def benchmark_options(name: str) -> tuple[str, ...]:
    """Return the names of a benchmark's options.

    Raises:
        UsageError: If there is no such benchmark.

    Example:
        >>> "grid" in benchmark_options("whitebackground")
        True
    """
    kind = cast("type[BenchmarkKind]", load("benchmark", name))
    return tuple(field.encode_name for field in msgspec.structs.fields(kind.options))


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
        if provider.lower() in _OFTEN_CALLED:
            error = UsageError(error.message, hint=f"did you mean {_OFTEN_CALLED[provider.lower()]}?")
        more = "" if separator else "; a model is written provider/name, for example openai/gpt-4o"
        raise UsageError(error.message, hint=error.hint + more)
    if not separator or not name:
        raise UsageError(f"model {spec!r} names no model", hint=f"write {provider}/NAME")
    kind = cast("type[ModelKind]", load("model", provider))()
    return kind.open(name, options or ModelOptions())


def open_prompt(prompt_id: str = DEFAULT_PROMPT) -> Prompt:
    """Return a prompt by name, ``name@version``, ``name:FILE`` for one read from a file, or a file (``mine.txt``).

    Raises:
        UsageError: If there is no such prompt or version, or its file is not given or does not hold it.

    Example:
        >>> open_prompt("letter_normalized@1").version
        1
    """
    stem, _, file = prompt_id.partition(":")
    name, _, version = stem.partition("@")
    if is_prompt_file(prompt_id) and name not in names("prompt"):
        return FilePrompt(Path(prompt_id))
    member = load("prompt", name)
    if isinstance(member, ReadFromFile):
        if not file:
            raise UsageError(f"prompt {name} is read from a file", hint=f"write {name}:FILE")
        prompt = member.from_file(Path(file))
    elif file:
        raise UsageError(f"prompt {name} takes no file", hint=f"write {name}")
    else:
        prompt = cast("type[Prompt]", member)()
    if version and version != str(prompt.version):
        raise UsageError(
            f"prompt {prompt_id!r}: this eyechart has version {prompt.version}", hint=f"use {name}@{prompt.version}"
        )
    return prompt


def open_scorer(scorer_id: str = DEFAULT_SCORER) -> tuple[Scorer, str]:
    """Return a scorer and its mode by ``name``, ``name.mode`` or ``name.mode@version``.

    A bare name means the default mode and the newest version; earlier versions are there by name.

    Raises:
        UsageError: If there is no such scorer, mode or version.

    Example:
        >>> open_scorer("option_letter.lenient@1")[1]
        'lenient'
        >>> [open_scorer(name)[0].version for name in ("option_letter", "option_letter.strict@1")]
        [2, 1]
    """
    stem, _, version = scorer_id.partition("@")
    name, _, mode = stem.partition(".")
    kind = cast("type[Scorer]", load("scorer", name))
    scorer = kind()
    mode = mode or scorer.modes[0]
    if mode not in scorer.modes:
        raise unknown_name(f"mode of scorer {name}", mode, tuple(scorer.modes))
    if not version or version == str(scorer.version):
        return scorer, mode
    versions = versions_of(scorer)
    if version not in map(str, versions):
        known = f"version {versions[0]}" if len(versions) == 1 else f"versions {', '.join(map(str, versions))}"
        raise UsageError(f"scorer {scorer_id!r}: this eyechart has {known}", hint=f"use {name}.{mode}@{scorer.version}")
    make = cast("Callable[[int], Scorer]", kind)
    return make(int(version)), mode


def versions_of(scorer: Scorer) -> tuple[int, ...]:
    """Return the versions in which a scorer can be opened, the newest last.

    Example:
        >>> versions_of(open_scorer("option_letter")[0])
        (1, 2)
    """
    versions: tuple[int, ...] = getattr(scorer, "versions", (scorer.version,))
    return versions

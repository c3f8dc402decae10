"""Models that run here, through transformers: ``hf/Org/Name``, or ``hf//path/of/a/folder`` (extra ``[hf]``)."""

import asyncio
import datetime
import importlib.util
from pathlib import Path
from typing import Literal

import msgspec

from eyechart.errors import BadRequestError, MissingDependencyError, UsageError
from eyechart.kinds import Ask, Model, ModelOptions, Reply
from eyechart.models._batching import Batches
from eyechart.models._chat_settings import read_sent_settings, recorded_settings
from eyechart.models._local_weights import folder_fingerprint
from eyechart.models._transformers import LocalModel, LocalSettings
from eyechart.schema import NOT_JSON, ModelIdentity
from eyechart.seen.local.loading import processor_rule
from eyechart.seen.rules import Rule

__all__ = ["HfKind"]

_EXTRA_SECTIONS = ("chat_template_kwargs", "generation_kwargs", "processor_kwargs")
_WAITING_BATCHES = 4


class HfKind:
    """Image-text-to-text models of the Hugging Face hub, or of a folder, with their own processors."""

    settings = LocalSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model; of a folder the weights are read in part for its fingerprint, nothing is loaded.

        Raises:
            UsageError: If a setting is wrong, or ``--base-url`` is given.
            MissingDependencyError: If torch, torchvision or transformers is not installed.
        """
        for library in ("torch", "torchvision", "transformers"):
            if importlib.util.find_spec(library) is None:
                raise MissingDependencyError(library, "hf")
        if options.base_url is not None:
            raise UsageError("hf/… runs here and has no address", hint="for a server: vllm/NAME --base-url URL")
        settings = read_sent_settings(LocalSettings, _with_objects(options), f"hf/{name}")
        _check(settings, options)
        return HfModel(name, settings.folded(), options)


class HfModel:
    """A model of transformers, loaded at the first question and asked in batches of similar sizes.

    The thread that answers is the only one that touches torch.
    """

    reads: Literal["pixels", "identity"] = "pixels"

    def __init__(self, name: str, settings: LocalSettings, options: ModelOptions) -> None:
        folder = Path(name)
        is_folder = folder.is_dir()
        self.identity = ModelIdentity(
            provider="hf",
            name=folder.resolve().name if is_folder else name,
            revision=options.revision,
            fingerprint=folder_fingerprint(folder) if is_folder else None,
            settings=recorded_settings(settings, options.extra_body),
        )
        self.max_concurrency: int | None = settings.batch_size * _WAITING_BATCHES
        self._is_folder = is_folder
        self._name, self._settings = name, settings
        self._local = LocalModel(name, settings, options)
        self._batches = Batches(self._local.answer_batch, settings.batch_size)

    @property
    def reads_letters(self) -> bool:
        """Whether it tells the probabilities of an answer's first token."""
        return True

    async def seen_rule(self, today: datetime.date) -> Rule | None:
        """Return what the model's own processor does to pictures; the weights are not loaded for it.

        None where code of the model's repository is allowed, since that code need not work on shapes.

        Raises:
            BadRequestError: If the processor cannot be loaded.
        """
        if self._settings.trust_remote_code:
            return None
        return processor_rule(await asyncio.to_thread(self._local.sight), self.identity, today)

    async def answer(self, ask: Ask) -> Reply:
        """Answer one request.

        Raises:
            RefusedInputError: If the processor takes no picture like this.
            OutOfMemoryError: If the picture does not fit beside the weights.
            BadRequestError: If the model cannot be loaded.
        """
        return await self._batches.answer(ask)

    async def fingerprint(self) -> str | None:
        """Return the commit of the weights on the hub, None where it is not known.

        Raises:
            BadRequestError: If the model does not exist, or needs code of its own that was not allowed.
        """
        return self.identity.fingerprint if self._is_folder else self._local.commit()

    async def close(self) -> None:
        """Release the weights."""
        await self._batches.close()
        self._local.release()


def _with_objects(options: ModelOptions) -> ModelOptions:
    """Return the options with ``--set processor={…}`` read as JSON.

    Raises:
        UsageError: If it is none.
    """
    text = options.settings.get("processor")
    if not isinstance(text, str):
        return options
    try:
        arguments = msgspec.json.decode(text)
    except NOT_JSON as error:
        raise UsageError(
            f"--set processor={text} is not a JSON object ({error})",
            hint="""for example --set 'processor={"size": {}}'""",
        ) from error
    return msgspec.structs.replace(options, settings={**options.settings, "processor": arguments})


def _check(settings: LocalSettings, options: ModelOptions) -> None:
    unknown = sorted(set(options.extra_body) - set(_EXTRA_SECTIONS))
    if unknown:
        raise UsageError(
            f"--extra-body of a local model holds {unknown[0]!r}", hint=f"its sections are {', '.join(_EXTRA_SECTIONS)}"
        )
    if any(not isinstance(section, dict) for section in options.extra_body.values()):
        raise UsageError(
            "a section of --extra-body is not an object", hint='write {"processor_kwargs": {"key": value}}'
        )
    if settings.batch_size < 1:
        raise BadRequestError(
            f"batch_size {settings.batch_size} asks nothing", hint="write a number from 1", parameter="batch_size"
        )

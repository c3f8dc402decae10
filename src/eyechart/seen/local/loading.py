"""Load a model's processor from a folder or the local cache of a hub, as the rule of what that model sees."""

import datetime
from importlib.util import find_spec

from eyechart.errors import MissingDependencyError, UsageError
from eyechart.schema import JsonObject, ModelIdentity
from eyechart.seen.local.processor import LocalProcessor
from eyechart.seen.rules import LiveRule

PROCESSOR_ARGUMENTS = "processor"
"""Setting of ``hf/…`` that holds what the processor is called with besides text and pictures."""


def load_processor(name: str, revision: str | None = None, arguments: JsonObject | None = None) -> LocalProcessor:
    """Load the processor of a model.

    Args:
        name: A folder, or ``Org/Name`` of a hub; no code of the model's repository is run.
        revision: Branch, tag or commit.
        arguments: What the inference passes to it besides text and pictures.

    Raises:
        MissingDependencyError: If torch, torchvision or transformers is not installed.
        UsageError: If there is no processor.
    """
    for library in ("torch", "torchvision", "transformers"):
        if find_spec(library) is None:
            raise MissingDependencyError(library, "hf")
    from transformers import AutoProcessor  # deferred: takes seconds, and is an extra

    try:
        processor = AutoProcessor.from_pretrained(name, revision=revision or "main", trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).partition("\n")[0]
        raise UsageError(
            f"{name} has no processor that transformers can load ({reason})",
            hint="give the folder of a model, or Org/Name; processors whose code lies in the model's repository need"
            " a rule file",
        ) from error
    return LocalProcessor(processor, arguments)


def processor_rule(processor: LocalProcessor, model: ModelIdentity, today: datetime.date) -> LiveRule:
    """Return what a processor does as the rule of a model.

    Args:
        processor: The model's processor, with the arguments of the inference.
        model: The model.
        today: The day on which it is run.
    """
    return LiveRule(
        id=processor.name,
        models=(model.name,),
        source=model.spec,
        date=today,
        confidence="A",
        obtained="executed",
        provider=model.provider,
        resizer=processor,
    )

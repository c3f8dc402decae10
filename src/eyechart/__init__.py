"""eyechart: an eye test for vision-language models.

Ask the same question about the same picture under controlled views, record what the model really saw, and estimate
what each change costs::

    import eyechart

    bench = eyechart.benchmark("folder", data="questions.jsonl", box_format="xyxy")
    run = eyechart.run(bench, model="openai/gpt-4o", views="original,crop_3x,downsample_0_25", limit=50)
    run.report("report.html")

Importing this package loads nothing else; each name is imported when it is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eyechart.api import RunResult, benchmark, load_run, model, plugin, run
    from eyechart.errors import EyechartError
    from eyechart.schema import Box, Question, Size

__version__ = "0.1.0"
__all__ = [
    "Box",
    "EyechartError",
    "Question",
    "RunResult",
    "Size",
    "benchmark",
    "load_run",
    "model",
    "plugin",
    "run",
]

_HOMES = {
    "Box": "eyechart.schema",
    "EyechartError": "eyechart.errors",
    "Question": "eyechart.schema",
    "Size": "eyechart.schema",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'eyechart' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES.get(name, "eyechart.api")), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

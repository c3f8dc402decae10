"""Try eyechart: an offline eye test of a small OCR model, or of your own endpoint."""

import datetime
from typing import Annotated

from cyclopts import Parameter

from eyechart.cli._flags import AskFlags, Data, ModelFlags, open_named_benchmark
from eyechart.cli._output import Json, say
from eyechart.cli._picture_flags import PictureFlags
from eyechart.cli.run import ask, show_outcome

_MODEL = ModelFlags()
_ASK = AskFlags()
_PICTURES = PictureFlags()


def demo(
    *,
    model: Annotated[str, Parameter(help="provider/name of a model of yours.")] = "ocr/rapidocr",
    data: Data = None,
    model_flags: ModelFlags = _MODEL,
    ask_flags: AskFlags = _ASK,
    json: Json = False,
) -> int:
    """Ask forty questions about twenty pictures under eight views, offline, with an OCR model (not a VLM)."""
    from eyechart.cli._seen_table import show_seen
    from eyechart.runs.checking import check_benchmark
    from eyechart.runs.choosing import choose_views
    from eyechart.seen.check import FOUR_FAMILIES

    opened = open_named_benchmark("demo", data, ())
    outcome = ask(opened, model, None, model_flags=model_flags, ask_flags=ask_flags, picture_flags=_PICTURES)
    code = show_outcome(outcome, json=json, has_report=ask_flags.report)
    if not json:
        say("what four hosted families would see of the same pictures (geometry only, by documented rules):")
        today = datetime.datetime.now(tz=datetime.UTC).date()
        show_seen(check_benchmark(opened, choose_views(opened, None).views, FOUR_FAMILIES, today=today))
    say("compare views of your own pictures: eyechart run folder --data questions.jsonl --model …")
    say("ask your own model the same: eyechart demo --model openai/NAME --base-url URL")
    return code

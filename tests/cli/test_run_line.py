"""The line that ``check`` proposes to ask what it looked at."""

from eyechart.cli._flags import AskFlags, ModelFlags
from eyechart.cli._picture_flags import PictureFlags
from eyechart.cli._run_line import RunLine
from eyechart.seen.check import ModelCheck


def test_a_model_in_a_folder_is_asked_by_the_name_it_was_given():
    checked = ModelCheck(
        model="hf/qwen",
        settings={},
        rule_id=None,
        rule_date=None,
        source=None,
        evidence="unknown",
        reason="",
        views=(),
        groups=(),
        warnings=(),
    )
    models = ("openai/gpt-4o", "hf//models/qwen")
    line = RunLine(
        benchmark="demo", models=models, model_flags=ModelFlags(), ask_flags=AskFlags(), pictures=PictureFlags()
    )
    assert line.text(1, checked, "native") == "eyechart run demo --model hf//models/qwen --transport native"

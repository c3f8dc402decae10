"""Every registered model keeps the contract of its kind."""

import pytest

from eyechart.contracts import check_model
from eyechart.errors import MissingDependencyError
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.registry import names

APART = {"ocr", "replay", "human", "hf", "vllm_engine"}
NAMES = {"simulated": "vlm", "blind_letter": "best"}


@pytest.mark.parametrize("provider", [name for name in names("model") if name not in APART])
def test_model_keeps_the_contract(provider):
    options = ModelOptions(timeout_seconds=5.0)
    if provider not in NAMES:
        # A closed port, so that nothing outside is contacted even where a key is set.
        options = ModelOptions(base_url="http://127.0.0.1:9/v1", timeout_seconds=5.0)
    try:
        model = open_model(f"{provider}/{NAMES.get(provider, 'm')}", options)
    except MissingDependencyError as error:
        pytest.skip(error.message)
    check_model(model)


def test_replay_keeps_the_contract(tmp_path):
    file = tmp_path / "answers.jsonl"
    file.write_text('{"id": "q", "view": "original", "response": "A"}\n', encoding="utf-8")
    check_model(open_model(f"replay/{file}"))

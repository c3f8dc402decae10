"""The interfaces besides chat completions, opened on the local server."""

import asyncio
import importlib.util
from dataclasses import dataclass, field

import pytest

from eyechart.errors import ModelError
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model


@dataclass(frozen=True)
class Interface:
    """One way to ask: which model name, below which address."""

    provider: str
    path: str
    settings: dict = field(default_factory=dict)

    def open(self, server, timeout_seconds=20.0, extra_body=None, **settings):
        options = ModelOptions(
            base_url=server.url + self.path,
            timeout_seconds=timeout_seconds,
            settings={**self.settings, **settings},
            extra_body=extra_body or {},
        )
        return open_model(f"{self.provider}/local-vlm", options)


def needs(library):
    found = importlib.util.find_spec(library.partition(".")[0]) and importlib.util.find_spec(library)
    return pytest.mark.skipif(not found, reason=f"the SDK {library} is not installed")


RESPONSES = pytest.param(Interface("openai", "/v1", {"interface": "responses"}), id="responses")
ANTHROPIC = pytest.param(Interface("anthropic", ""), id="anthropic", marks=needs("anthropic"))
GOOGLE = pytest.param(Interface("google", ""), id="google", marks=needs("google.genai"))
every_interface = pytest.mark.parametrize("interface", [RESPONSES, ANTHROPIC, GOOGLE])
anthropic_only = pytest.mark.parametrize("interface", [ANTHROPIC])
google_only = pytest.mark.parametrize("interface", [GOOGLE])
responses_only = pytest.mark.parametrize("interface", [RESPONSES])


def answers(model, *questions):
    """Ask one question after the other; return each reply, or the error in its place."""

    async def run():
        outcomes = []
        for question in questions:
            try:
                outcomes.append(await model.answer(question))
            except ModelError as error:
                outcomes.append(error)
        await model.close()
        return outcomes

    return asyncio.run(run())

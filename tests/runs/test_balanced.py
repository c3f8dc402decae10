"""Several servers of one model: requests are spread evenly, one that is down rests, different weights are refused."""

import asyncio
import contextlib
from collections import Counter

import pytest
from servers.chat_server import ChatServer
from servers.faults import Script

from eyechart.errors import BadRequestError, TransientModelError
from eyechart.kinds import Ask, ModelOptions
from eyechart.runs.balanced import BalancedModel, open_balanced
from eyechart.schema import Sampling

ASK = Ask(prompt="Which?", pictures=(), choices=("x", "y"), sampling=Sampling())


@contextlib.contextmanager
def servers(*roots, **settings):
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                ChatServer(models=({"id": "local-vlm", "root": root},), latency_seconds=0.02, **settings)
            )
            for root in roots
        ]


def opened(*urls):
    return open_balanced("vllm/local-vlm", ModelOptions(), urls)


def asked(model, n):
    async def run():
        outcomes = await asyncio.gather(*(model.answer(ASK) for _ in range(n)), return_exceptions=True)
        await model.close()
        return outcomes

    return asyncio.run(run())


def test_requests_are_spread_evenly():
    with servers("w", "w", "w") as three:
        asked(opened(*(one.base_url for one in three)), 30)
        assert [len(one.received) for one in three] == [10, 10, 10]


def test_a_server_that_is_down_rests_and_the_others_answer():
    with servers("w", "w") as (first, second):
        down = second.base_url.replace(str(second.port), "9")
        model = opened(first.base_url, down)

        async def run():
            outcomes = []
            for _ in range(8):
                try:
                    outcomes.append((await model.answer(ASK)).text)
                except TransientModelError as error:
                    outcomes.append(f"connection {error.is_connection}")
            await model.close()
            return Counter(outcomes)

        assert asyncio.run(run()) == {"A": 7, "connection False": 1}


def test_where_every_server_is_down_it_is_a_connection_error():
    model = opened("http://127.0.0.1:9/v1", "http://127.0.0.1:10/v1")

    async def run():
        for _ in range(2):
            with pytest.raises(TransientModelError) as caught:
                await model.answer(ASK)
        await model.close()
        return caught.value.is_connection

    assert asyncio.run(run())


def test_the_identity_is_that_of_one_server():
    assert opened("http://a:1/v1", "http://b:2/v1").identity == opened("http://a:1/v1").identity


@pytest.mark.parametrize(("roots", "known"), [(("w", "w"), True), (("w", None), False)])
def test_the_fingerprint_is_what_all_servers_say(roots, known):
    with servers(*roots) as both:
        found = asyncio.run(opened(*(one.base_url for one in both)).fingerprint())
    assert (found is not None) == known


def test_different_weights_are_refused():
    with servers("w", "other") as both, pytest.raises(BadRequestError, match="2 servers serve 2 different weights"):
        asyncio.run(opened(*(one.base_url for one in both)).fingerprint())


def test_an_address_given_twice_is_one_server():
    with servers("w", script=Script()) as (one,):
        assert not isinstance(opened(one.base_url, one.base_url), BalancedModel)

"""Who may look: nobody under another name, and from elsewhere only who holds the address that was printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from eyechart.explorer.gatekeeper import Gatekeeper, host_name, new_token

TOKEN = new_token()


def visitor(token="", host="127.0.0.1", base="http://127.0.0.1:8765"):
    def page(request):
        return PlainTextResponse(f"seen {request.url.query}")

    routes = [Route("/", page), Route("/run", page)]
    application = Starlette(routes=routes, middleware=[Middleware(Gatekeeper, token=token, host=host)])
    return TestClient(application, base_url=base)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST:8765", "[::1]:8765"])
def test_this_machine_looks_without_a_token(name):
    assert visitor().get("/", headers={"host": name}).status_code == 200


@pytest.mark.parametrize(
    "name", ["evil.example", "127.0.0.1.evil.example", "10.0.0.5", "[::2]", "", "localhost.evil", "["]
)
def test_a_page_that_binds_another_name_to_this_machine_reads_nothing(name):
    reply = visitor().get("/", headers={"host": name})
    assert (reply.status_code, "seen" in reply.text) == (400, False)


def test_beyond_loopback_nobody_looks_without_the_token():
    client = visitor(TOKEN, "10.0.0.5", "http://10.0.0.5:8765")
    for path in ("/", "/run?run=0", "/?token=", "/?token=" + TOKEN[:-1], "/?token=%ff", f"/?TOKEN={TOKEN}"):
        reply = client.get(path)
        assert (reply.status_code, "seen" in reply.text) == (403, False), path
    assert client.get("/", headers={"cookie": "eyechart_token=x"}).status_code == 403
    assert client.get(f"/?token={TOKEN}", headers={"host": "evil.example"}).status_code == 400


def test_the_token_opens_every_page_and_leaves_the_address():
    client = visitor(TOKEN, "10.0.0.5", "http://10.0.0.5:8765")
    first = client.get(f"/run?run=1&token={TOKEN}", follow_redirects=False)
    assert (first.status_code, first.headers["location"]) == (303, "/run?run=1")
    assert "HttpOnly" in first.headers["set-cookie"]
    assert client.get("/run?run=1").text == "seen run=1"
    assert client.get("/").status_code == 200


def test_the_way_on_stays_on_this_server():
    client = visitor(TOKEN, "10.0.0.5", "http://10.0.0.5:8765")
    reply = client.get(f"http://10.0.0.5:8765//evil.example/?token={TOKEN}", follow_redirects=False)
    assert reply.headers.get("location", "/") == "/evil.example/"


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=60))
def test_no_made_up_token_opens_a_page(made_up):
    client = visitor(TOKEN, "10.0.0.5", "http://10.0.0.5:8765")
    if made_up != TOKEN:
        assert client.get("/", params={"token": made_up}).status_code == 403


def test_every_start_has_a_token_of_its_own():
    assert len({new_token() for _ in range(100)}) == 100


def test_names_are_compared_without_port_and_case():
    assert host_name("Own-Name:1234") == "own-name"
    assert visitor(TOKEN, "own-name", "http://own-name:8765").get(f"/?token={TOKEN}").status_code == 200

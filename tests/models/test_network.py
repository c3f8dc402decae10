"""Certificates and proxies: what is wrong is said with the variable that mends it, and no password is shown."""

import ast
import asyncio
import datetime
import importlib.util
import socket
import socketserver
import ssl
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.asks import KEY, ask, picture
from models.interfaces import ANTHROPIC, GOOGLE, RESPONSES, Interface
from servers.certificates import make_certificate
from servers.chat_server import ChatServer
from servers.waypoints import Waypoint

import eyechart
from eyechart.errors import BadRequestError, TransientModelError, UsageError
from eyechart.kinds import ModelOptions
from eyechart.models._endpoint import check_base_url, shown_url
from eyechart.models._network import find_proxy, read_proxy, trusted
from eyechart.opening import open_model

CHAT = pytest.param(Interface("openai", "/v1"), id="chat")
every_provider = pytest.mark.parametrize("interface", [CHAT, RESPONSES, ANTHROPIC, GOOGLE])
FAR = "http://model.example"
FAR_TLS = "https://model.example"
SECRET = "s3cret-pass"  # noqa: S105 -- planted


def outcome_at(interface, url):
    """Ask one question at an address and return the reply, or the error in its place."""
    options = ModelOptions(base_url=url + interface.path, timeout_seconds=10, settings=interface.settings)
    model = open_model(f"{interface.provider}/m", options)

    async def run():
        try:
            return await model.answer(ask(picture()))
        except (BadRequestError, TransientModelError, UsageError) as error:
            return error
        finally:
            await model.close()

    return asyncio.run(run())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def dead_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        yield free.getsockname()[1]


@pytest.fixture(scope="module")
def plain_port():
    """The port of a server that refuses what is no HTTP at once, as most do."""

    class Refuse(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(4096)
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refuse) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


class TestCertificates:
    """One context for all clients, from the variables that people set."""

    @every_provider
    def test_an_untrusted_certificate_is_named_with_the_variables_and_asked_once(self, interface, certificate):
        with ChatServer(tls=certificate.tls) as server:
            error = outcome_at(interface, server.url)
        assert isinstance(error, BadRequestError)
        assert error.parameter == "base_url"  # it ends the run: another attempt would end alike
        assert "the certificate of https://127.0.0.1" in error.message
        assert all(name in error.hint for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"))
        assert server.received == []

    @every_provider
    @pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
    def test_every_variable_that_is_named_works(self, interface, certificate, monkeypatch, variable):
        monkeypatch.setenv(variable, str(certificate.file))
        with ChatServer(tls=certificate.tls) as server:
            assert outcome_at(interface, server.url).text == "A"

    @pytest.mark.parametrize("variable", ["SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
    def test_a_folder_of_certificates_works_too(self, certificate, monkeypatch, variable):
        monkeypatch.setenv(variable, str(certificate.folder))
        with ChatServer(tls=certificate.tls) as server:
            assert outcome_at(Interface("vllm", "/v1"), server.url).text == "A"

    def test_the_first_variable_counts_and_the_hint_says_which_are_set(self, certificate, tmp_path, monkeypatch):
        other = make_certificate(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(other.file))
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate.file))
        with ChatServer(tls=certificate.tls) as server:
            error = outcome_at(Interface("vllm", "/v1"), server.url)
        assert "(set now: SSL_CERT_FILE, REQUESTS_CA_BUNDLE)" in error.hint

    @pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
    @pytest.mark.parametrize("content", [None, "no certificate"])
    @every_provider
    def test_a_variable_without_certificates_is_named(self, interface, variable, content, tmp_path, monkeypatch):
        file = tmp_path / "bundle.pem"
        if content is not None:
            file.write_text(content)
        monkeypatch.setenv(variable, str(file))
        error = outcome_at(interface, FAR_TLS)
        assert isinstance(error, UsageError)
        assert error.message.startswith(f"{variable} names {file}, from which no certificates can be read")

    def test_certificates_are_not_read_where_nothing_is_encrypted(self, monkeypatch, tmp_path):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
        with ChatServer() as server:
            assert outcome_at(Interface("google", ""), server.url).text == "A"

    @pytest.mark.parametrize(
        ("changes", "hint"),
        [({"days": (-9, -2)}, "must be renewed"), ({"address": "127.0.0.9"}, "the name that the certificate is made")],
    )
    def test_an_expired_certificate_and_one_of_another_host_say_so(self, tmp_path, monkeypatch, changes, hint):
        made = make_certificate(tmp_path, **changes)
        monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
        with ChatServer(tls=made.tls) as server:
            error = outcome_at(Interface("vllm", "/v1"), server.url)
        assert "the certificate of" in error.message
        assert hint in error.hint

    @every_provider
    def test_a_server_without_tls_is_said_to_have_none(self, interface, plain_port):
        error = outcome_at(interface, f"https://127.0.0.1:{plain_port}")
        assert isinstance(error, BadRequestError)
        assert "does not speak TLS" in error.message
        assert "http:// instead of https://" in error.hint

    def test_a_picture_size_probe_names_the_certificate_too(self, certificate):
        with ChatServer(tls=certificate.tls) as server:
            model = open_model("vllm/m", ModelOptions(base_url=server.base_url))
            with pytest.raises(BadRequestError, match="certificate"):
                asyncio.run(model.seen_rule(datetime.date(2026, 12, 1)))

    def test_all_clients_of_a_process_share_one_context(self, monkeypatch):
        made = []
        load = ssl.SSLContext.load_verify_locations

        def counted(self, *arguments, **named):
            made.append(self)
            load(self, *arguments, **named)

        monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", counted)
        assert trusted() is trusted()
        n_before = len(made)
        for interface in (Interface("openai", "/v1"), Interface("anthropic", ""), Interface("google", "")):
            outcome_at(interface, "https://127.0.0.1:9")
        assert len(made) == n_before


PROXIES = [
    ("http://model.example/v1", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
    ("http://model.example/v1", {"http_proxy": "http://p:1", "HTTP_PROXY": "http://q:2"}, "http://p:1"),
    ("https://model.example/v1", {"HTTP_PROXY": "http://p:1"}, None),
    ("https://model.example/v1", {"HTTPS_PROXY": "p:1"}, "http://p:1"),
    ("https://model.example/v1", {"ALL_PROXY": "https://p:1/"}, "https://p:1"),
    ("https://model.example/v1", {"ALL_PROXY": "http://q:2", "HTTPS_PROXY": "http://p:1"}, "http://p:1"),
    ("http://model.example/v1", {"HTTP_PROXY": "http://user:s3cret-pass@p:1"}, "http://p:1"),
    ("http://model.example/v1", {"HTTP_PROXY": "http://[::1]:3128"}, "http://[::1]:3128"),
    ("http://model.example/v1", {"HTTP_PROXY": ""}, None),
    ("http://model.example/v1", {"ALL_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
    ("http://model.example/v1", {"ALL_PROXY": "http://p:1", "NO_PROXY": "other, model.example"}, None),
    ("http://a.model.example/v1", {"ALL_PROXY": "http://p:1", "NO_PROXY": ".model.example"}, None),
    ("http://a.model.example/v1", {"ALL_PROXY": "http://p:1", "NO_PROXY": "*.model.example"}, None),
    ("http://amodel.example/v1", {"ALL_PROXY": "http://p:1", "NO_PROXY": "model.example"}, "http://p:1"),
    ("http://model.example:81/v1", {"ALL_PROXY": "http://p:1", "NO_PROXY": "model.example:81"}, None),
    ("http://model.example:82/v1", {"ALL_PROXY": "http://p:1", "NO_PROXY": "model.example:81"}, "http://p:1"),
    ("http://10.1.2.3:8000/v1", {"ALL_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, None),
    ("http://11.1.2.3:8000/v1", {"ALL_PROXY": "http://p:1", "no_proxy": "10.0.0.0/8"}, "http://p:1"),
    ("http://[fd00::7]:8000/v1", {"ALL_PROXY": "http://p:1", "NO_PROXY": "fd00::/8"}, None),
    ("http://[fd00::7]:8000/v1", {"ALL_PROXY": "http://p:1", "NO_PROXY": "[fd00::7]"}, None),
    *(
        (f"http://{host}:8000/v1", {"ALL_PROXY": "http://p:1", "HTTP_PROXY": "socks9://x"}, None)
        for host in (
            *("127.0.0.1", "127.8.9.10", "localhost", "a.localhost", "[::1]", "[::ffff:127.0.0.1]"),
            "0.0.0.0",  # noqa: S104 -- asked, not bound
        )
    ),
]


class TestProxies:
    """Which proxy, and what is said where it cannot be used."""

    @pytest.mark.parametrize(("url", "variables", "place"), PROXIES)
    def test_the_proxy_is_the_one_that_the_variables_name(self, monkeypatch, url, variables, place):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        found = find_proxy(url)
        assert (None if found is None else found.place) == place

    @every_provider
    def test_a_proxy_is_used_and_gets_its_password(self, interface, monkeypatch):
        with Waypoint() as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://user:{SECRET}@127.0.0.1:{proxy.port}")
            assert outcome_at(interface, FAR).text == "A"
        assert proxy.visits[0].path.startswith(FAR)
        assert "proxy-authorization" in proxy.visits[0].headers

    @every_provider
    @pytest.mark.parametrize(
        "value", ["socks5://127.0.0.1:9", "socks://x", "http://127.0.0.1:9", "http://user:p/x@y:1"]
    )
    def test_this_machine_is_asked_directly_whatever_the_variables_say(self, interface, value, monkeypatch):
        for variable in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(variable, value)
        with ChatServer() as server:
            assert outcome_at(interface, server.url).text == "A"

    @every_provider
    @pytest.mark.parametrize(("url", "variable"), [(FAR, "HTTP_PROXY"), (FAR_TLS, "HTTPS_PROXY"), (FAR, "all_proxy")])
    def test_a_dead_proxy_is_named_with_its_variable(self, interface, url, variable, monkeypatch, dead_port):
        monkeypatch.setenv(variable, f"http://user:{SECRET}@127.0.0.1:{dead_port}")
        error = outcome_at(interface, url)
        assert isinstance(error, TransientModelError)
        assert error.is_connection
        assert f"no proxy answered at http://127.0.0.1:{dead_port}, which {variable} names" in error.message
        assert f"unset {variable}, or add model.example to NO_PROXY" in error.hint
        assert SECRET not in error.message + error.hint

    @every_provider
    @pytest.mark.parametrize(
        ("value", "message"),
        [
            ("socks5://127.0.0.1:9", "names a SOCKS proxy, for which the package socksio is not installed"),
            ("socks5h://user:s3cret-pass@127.0.0.1:9", "names a SOCKS proxy"),
            ("socks://127.0.0.1:9", "names a proxy of the unknown kind socks://"),
            ("socks4://127.0.0.1:9", "names a proxy of the unknown kind socks4://"),
            ("ftp://user:s3cret-pass@127.0.0.1:9", "names a proxy of the unknown kind ftp://"),
            ("http://", "holds no address of a proxy"),
            ("http://127.0.0.1:99999", "holds no address of a proxy"),
            ("http://[::1", "holds no address of a proxy"),
            ("http://user:s3cret-pass#@127.0.0.1:9", "holds no address of a proxy"),
            ("http://user:12/s3cret-pass@127.0.0.1:9", "holds no address of a proxy"),
            ("user:s3cret-pass?@127.0.0.1:9", "holds no address of a proxy"),
            ("http://127.0.0.1:9 ", "holds no address of a proxy"),
        ],
    )
    def test_a_proxy_that_cannot_be_used_is_a_usage_error(self, interface, value, message, monkeypatch):
        if "SOCKS" in message and importlib.util.find_spec("socksio"):
            pytest.skip("socksio is installed")
        monkeypatch.setenv("ALL_PROXY", value)
        error = outcome_at(interface, FAR_TLS)
        assert isinstance(error, UsageError)
        assert error.message.startswith("ALL_PROXY ")
        assert message in error.message
        assert "NO_PROXY" in error.hint
        assert SECRET not in error.message + error.hint

    @every_provider
    def test_a_proxy_that_wants_a_password_ends_the_run(self, interface, monkeypatch):
        with Waypoint(status=407, connect=(407, "Proxy Authentication Required")) as proxy:
            for scheme, url in (("HTTP", FAR), ("HTTPS", FAR_TLS)):
                monkeypatch.setenv(f"{scheme}_PROXY", proxy.url)
                error = outcome_at(interface, url)
                assert isinstance(error, BadRequestError)
                assert error.parameter == "proxy"
                assert f"the proxy {proxy.url} of {scheme}_PROXY asks for a user and a password" in error.message

    @every_provider
    def test_a_proxy_that_does_not_reach_the_provider_is_named(self, interface, monkeypatch):
        with Waypoint(connect=(502, "Bad Gateway")) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://user:{SECRET}@127.0.0.1:{proxy.port}")
            error = outcome_at(interface, FAR_TLS)
        assert isinstance(error, TransientModelError)
        assert error.is_connection
        assert f"the proxy {proxy.url} of HTTPS_PROXY did not reach {FAR_TLS}" in error.message
        assert SECRET not in error.message + error.hint + repr(error)
        assert KEY not in str(proxy.visits)

    @settings(max_examples=150)
    @given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12), st.data())
    def test_no_value_of_a_variable_is_a_traceback_or_shows_its_password(self, noise, data):
        scheme = data.draw(st.sampled_from(["", "http://", "https://", "socks5://", "http:/", "//", "x://", "://"]))
        value = data.draw(st.sampled_from([f"{scheme}user:{SECRET}{noise}@host:1", f"{scheme}{noise}{SECRET}", noise]))
        try:
            told = read_proxy(value, "ALL_PROXY").place
        except UsageError as error:
            told = error.message + error.hint
        if "@" in value and noise.isalnum():
            assert SECRET not in told


def test_no_client_of_an_sdk_is_made_without_ours_underneath():
    """An SDK's own client would follow redirects and read proxies from the environment."""
    given = {"OpenAI": "http_client", "AsyncOpenAI": "http_client", "AsyncAnthropic": "http_client"}
    given |= {"Anthropic": "http_client", "Client": "http_options", "AsyncClient": "never", "urlopen": "never"}
    found, bare = set(), []
    for path in Path(eyechart.__file__).parent.rglob("*.py"):
        for call in (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)):
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if name in given:
                found.add(name)
                if given[name] not in {keyword.arg for keyword in call.keywords}:
                    bare.append(f"{path.name}:{call.lineno} {name}")
    assert bare == []
    assert {"OpenAI", "AsyncOpenAI", "AsyncAnthropic", "Client"} <= found


@pytest.mark.parametrize("url", ["http://host:99999/v1", "http://host:x/v1", "http://[::1/v1", "http://:80/v1", "host"])
def test_an_address_that_no_client_could_use_is_refused_at_once(url):
    with pytest.raises(UsageError, match="is not a web address"):
        check_base_url(url, "--base-url")


def test_a_refused_address_does_not_show_its_password():
    with pytest.raises(UsageError) as caught:
        check_base_url(f"http://user:{SECRET}@host:port/v1", "--base-url")
    assert SECRET not in caught.value.message


def test_an_ipv6_address_is_shown_as_it_is_written():
    assert shown_url("http://[::1]:8000/v1") == "http://[::1]:8000/v1"

"""Where keys come from: the environment first, the system keyring next, and nowhere else."""

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from eyechart.errors import AuthenticationError
from eyechart.models._endpoint import NO_KEY, Provider, find_key

OWN = "https://api.example.com/v1"
PROVIDER = Provider("example", "EXAMPLE_API_KEY", OWN, other_key_variable="OTHER_API_KEY")


class Stored(KeyringBackend):
    """A keyring of this test, or a locked one."""

    priority = 1

    def __init__(self, entries=None):
        super().__init__()
        self.entries, self.asked = entries, []

    def get_password(self, service, username):
        self.asked.append((service, username))
        if self.entries is None:
            raise KeyringLocked("locked")
        return self.entries.get((service, username))

    def set_password(self, service, username, password):
        raise NotImplementedError

    def delete_password(self, service, username):
        raise NotImplementedError


@pytest.fixture
def stored():
    before = keyring.get_keyring()

    def use(entries=None):
        backend = Stored(entries)
        keyring.set_keyring(backend)
        return backend

    yield use
    keyring.set_keyring(before)


def test_the_environment_comes_before_the_keyring(stored):
    backend = stored({("eyechart", "EXAMPLE_API_KEY"): "sk-ring"})
    assert find_key(PROVIDER, OWN, {"EXAMPLE_API_KEY": "sk-env"}) == "sk-env"
    assert backend.asked == []


@pytest.mark.parametrize("variable", ["EXAMPLE_API_KEY", "OTHER_API_KEY"])
def test_a_key_of_the_keyring_is_found_under_its_variable(stored, variable):
    stored({("eyechart", variable): "sk-ring\n"})
    assert find_key(PROVIDER, OWN, {}) == "sk-ring"


def test_a_key_of_the_keyring_never_goes_to_another_server(stored):
    backend = stored({("eyechart", "EXAMPLE_API_KEY"): "sk-ring"})
    assert find_key(PROVIDER, "http://localhost:8000/v1", {}) == NO_KEY
    assert backend.asked == []


@pytest.mark.parametrize("entries", [None, {}])
def test_a_locked_or_empty_keyring_names_the_variable(stored, entries):
    stored(entries)
    with pytest.raises(AuthenticationError, match="EXAMPLE_API_KEY is not set") as caught:
        find_key(PROVIDER, OWN, {})
    assert "keyring set eyechart EXAMPLE_API_KEY" in caught.value.hint


def test_a_damaged_key_of_the_keyring_is_refused_unread(stored):
    stored({("eyechart", "EXAMPLE_API_KEY"): "sk-plänted"})
    with pytest.raises(AuthenticationError, match="in the system keyring holds characters") as caught:
        find_key(PROVIDER, OWN, {})
    assert "sk-" not in caught.value.message

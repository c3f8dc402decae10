"""Laws of typed settings."""

from typing import Annotated, Literal

import msgspec
import pytest

from eyechart.errors import UsageError
from eyechart.settings import parse_pairs, read_settings, read_toml


class Detail(msgspec.Struct, frozen=True):
    detail: str = "high"
    n_tiles: int = 1
    is_strict: bool = False


def test_text_becomes_the_declared_type():
    assert read_settings(Detail, {"n_tiles": "4", "is_strict": "true"}, "it") == Detail(n_tiles=4, is_strict=True)


def test_unknown_key_suggests_the_nearest():
    with pytest.raises(UsageError, match="setting of openai/gpt named 'detial'") as caught:
        read_settings(Detail, {"detial": "low"}, "openai/gpt")
    assert caught.value.hint == "did you mean detail?"


def test_value_that_is_no_choice_is_told_the_choices():
    class Choosy(msgspec.Struct):
        n_tiles: int = 1
        detail: Literal["low", "high"] | None = None

    with pytest.raises(UsageError, match="detail=hihg is not known") as caught:
        read_settings(Choosy, {"detail": "hihg"}, "it")
    assert caught.value.hint == "detail is one of: low, high"


@pytest.mark.parametrize("key", ["temperature", "temprature"])
def test_setting_that_has_its_own_flag_names_it(key):
    with pytest.raises(UsageError, match=key) as caught:
        read_settings(Detail, {key: "1"}, "it", {"temperature": "--temperature"})
    assert caught.value.hint == "temperature is set by --temperature"


def test_wrong_type_names_the_key():
    with pytest.raises(UsageError, match="n_tiles"):
        read_settings(Detail, {"n_tiles": "many"}, "it")


def test_pair_without_equals_sign_is_refused():
    with pytest.raises(UsageError, match="not key=value"):
        parse_pairs(["detail"], "--set")


def test_value_may_hold_an_equals_sign():
    assert parse_pairs(["url=a=b"], "--set") == {"url": "a=b"}


def test_toml_is_read_and_its_faults_are_named(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text('detail = "low"\n')
    assert read_toml(path) == {"detail": "low"}
    path.write_text("detail = \n")
    with pytest.raises(UsageError, match="is not a TOML file"):
        read_toml(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_toml(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"n_tiles": "four"}, "n_tiles=four is not a whole number"),
        ({"detail": 3}, "detail=3 is not a text"),
        ({"parts": "a"}, "parts=a is not a list"),
        ({"parts": [1, "b"]}, "parts=[1, 'b'] at [1] is not a whole number"),
        ({"share": "half"}, "share=half is not a number"),
        ({"share": 2.0}, "share=2.0 is not a number <= 1.0"),
    ],
)
def test_value_of_another_kind_is_told_in_everyday_words(given, told):
    class Settings(msgspec.Struct):
        n_tiles: int = 1
        detail: Literal["low", "high"] = "low"
        parts: tuple[int, ...] = ()
        share: Annotated[float, msgspec.Meta(le=1.0)] = 0.5

    with pytest.raises(UsageError) as caught:
        read_settings(Settings, given, "it")
    assert caught.value.message == f"setting of it: {told}"

"""Laws of the records: round trips, versions, and keys that depend on what decides the answer and nothing else."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import question_about

from eyechart.errors import SchemaError
from eyechart.schema import (
    SCHEMA_VERSION,
    Box,
    Composition,
    DecodePolicy,
    ImageRef,
    ModelIdentity,
    Picture,
    Question,
    Recipe,
    Request,
    ResponseState,
    Sampling,
    Score,
    Size,
    canonical_json,
    content_sha256,
    decode_record,
    encode_record,
    recipe_key,
    request_id,
)


def made_request(**changes: object) -> Request:
    recipe = Recipe(geometry=Composition(canvas=Size(4, 3), kept=Box(0, 0, 4, 3)))
    image = ImageRef("a" * 64, Size(4, 3), "image/png")
    request = Request(
        id="",
        benchmark="made",
        question_id="1",
        view="original",
        condition="original",
        pictures=(Picture(image, recipe, recipe_key(image.file_sha256, recipe), Size(4, 3)),),
        prompt="What?",
        prompt_id="letter_normalized@1",
        prompt_sha256="b" * 64,
        choices=("x", "y"),
        choice_order=(0, 1),
        model=ModelIdentity("openai", "gpt"),
        sampling=Sampling(),
    )
    return msgspec.structs.replace(request, **changes)


DECIDING = {
    "benchmark": "other",
    "question_id": "2",
    "condition": "match_px_32",
    "pictures": (),
    "prompt": "Which?",
    "prompt_id": "letter_legacy@1",
    "choices": ("y", "x"),
    "choice_order": (1, 0),
    "model": ModelIdentity("openai", "gpt", settings={"detail": "low"}),
    "sampling": Sampling(seed=1),
    "repeat": 1,
}


@pytest.mark.parametrize("field", DECIDING)
def test_request_id_changes_with_everything_that_decides_the_answer(field):
    assert request_id(made_request(**{field: DECIDING[field]})) != request_id(made_request())


@pytest.mark.parametrize("field", ["id", "view", "prompt_sha256", "schema_version"])
def test_request_id_ignores_what_does_not_decide_the_answer(field):
    value = 7 if field == "schema_version" else "another"
    assert request_id(made_request(**{field: value})) == request_id(made_request())


def test_every_field_of_a_request_is_known_to_decide_or_not():
    fields = {field.name for field in msgspec.structs.fields(Request)}
    assert fields == {*DECIDING, "id", "view", "prompt_sha256", "schema_version"}


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(geometry=Composition(canvas=Size(4, 3), kept=Box(0, 0, 2, 3))),
        Recipe(geometry=Composition(canvas=Size(4, 3), kept=Box(0, 0, 4, 3)), decode=DecodePolicy(exif="apply")),
        Recipe(geometry=Composition(canvas=Size(4, 3), kept=Box(0, 0, 4, 3)), transport="jpeg95@1"),
        Recipe(geometry=Composition(canvas=Size(4, 3), kept=Box(0, 0, 4, 3)), resampler="pillow-box@1"),
    ],
)
def test_recipe_key_changes_with_geometry_policy_transport_and_resampler(recipe):
    plain = Recipe(geometry=Composition(canvas=Size(4, 3), kept=Box(0, 0, 4, 3)))
    assert recipe_key("f", recipe) != recipe_key("f", plain)
    assert recipe_key("f", plain) != recipe_key("g", plain)


def test_recipe_key_is_stable_across_versions():
    # A golden value: if it moves, every stored answer is asked again. Only a new policy version may move it.
    recipe = Recipe(geometry=Composition(canvas=Size(4, 3), kept=Box(0, 0, 4, 3), resized=Size(2, 2)), resampler="r@1")
    assert canonical_json(recipe) == (
        b'{"geometry":{"canvas":[4,3],"kept":[0,0,4,3],"resized":[2,2],"type":"composition"},"resampler":"r@1"}'
    )


def test_whole_floats_and_integers_have_one_canonical_form():
    assert content_sha256(Sampling(temperature=1)) == content_sha256(Sampling(temperature=1.0))
    assert content_sha256(Sampling(temperature=0)) == content_sha256(Sampling())
    assert content_sha256(Sampling(temperature=None)) != content_sha256(Sampling())


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON_VALUES), st.text())
def test_record_is_read_back_as_written_with_foreign_fields(extra, text):
    question = question_about(Size(9, 7), Box(0, 0.5, 3, 4), text=text, extra=extra)
    assert decode_record(encode_record(question), Question, "here") == question


def test_newer_file_names_both_versions():
    line = encode_record(Score(request_id="r", scorer="s", value=None, schema_version=SCHEMA_VERSION + 1))
    with pytest.raises(SchemaError, match=f"scores.jsonl:3: written with schema version {SCHEMA_VERSION + 1}.*up to 1"):
        decode_record(line, Score, "scores.jsonl:3")


def test_newer_file_is_named_before_its_unknown_fields():
    with pytest.raises(SchemaError, match="version 2"):
        decode_record('{"schema_version": 2, "new_field": 1}', Score, "x:1")


def test_unknown_field_of_this_version_is_refused():
    with pytest.raises(SchemaError, match="no valid Score"):
        decode_record('{"schema_version":1,"request_id":"r","scorer":"s","value":1,"colour":2}', Score, "x:1")


def test_damaged_line_names_its_place():
    with pytest.raises(SchemaError, match=r"x:1: not a JSON object"):
        decode_record('{"schema_ver', Score, "x:1")


def test_only_transient_errors_are_asked_again():
    assert [state for state in ResponseState if not state.is_final] == [ResponseState.TRANSIENT]


def test_errors_are_the_states_without_a_score():
    errors = {state.value for state in ResponseState if state.is_error}
    assert errors == {"empty_reply", "refused_input", "unreadable_image", "bad_request", "transient"}

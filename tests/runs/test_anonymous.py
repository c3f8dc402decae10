"""Planted names disappear from a summary wherever they stand, and nothing else changes."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from summaries import CASES, demo_summary, make_run

from eyechart.runs.anonymous import anonymise
from eyechart.schema import BenchmarkIdentity, Failure, ModelIdentity, encode_record

SECRETS = {
    "user in a home folder": ("cannot read /home/alicexyz/holidays/one.png", ["alicexyz", "holidays"]),
    "user on macOS": ("cannot read '/Users/bobby tables/My Data/x.jpg'", ["bobby", "My Data"]),
    "user on Windows": (r"cannot read C:\Users\carolxyz\x.png", ["carolxyz"]),
    "network share": (r"cannot read \\fileserver7\share\x.png", ["fileserver7", "share"]),
    "tilde path": ("cannot read ~/thesis/x.png", ["thesis"]),
    "relative file": ("cannot read secretproj/data/x.jsonl line 3", ["secretproj"]),
    "endpoint": ("POST https://llm.acmecorp.example:8443/v1/chat failed", ["acmecorp", "8443", "/v1"]),
    "endpoint with login": ("http://dave:hunter2@gpu17.acme.example/v1", ["dave", "hunter2", "gpu17"]),
    "address": ("connection to 10.11.12.13:8000 refused", ["10.11.12.13", "8000"]),
    "address of version 6": ("connection to [fe80::1ff:fe23:4567:890a]:8000 refused", ["fe80", "890a"]),
    "local host": ("connection to gpu17.lab9.internal refused", ["gpu17", "lab9"]),
    "host with port": ("connection to gpu17.lab9.org:8000 refused", ["gpu17", "lab9"]),
    "mail": ("contact erin@acmecorp.example", ["erin", "acmecorp"]),
    "account": ("rate limit for organization org-Ab12Cd34Ef56", ["Ab12Cd34Ef56"]),
    "given name, percent-encoded": ("cannot read %2Fhome%2Ffrankxyz%2Fx and %#Fhome%#Ffrankxyz%#F", ["frankxyz"]),
    "given name after an escape": (r"it said:\nfrankxyz is gone\u0020frankxyz", ["frankxyz"]),
    "given name by its numbers": (
        r"user \u0066\u0072\u0061\u006e\u006b\u0078\u0079\u007a &#102;rankxyz",
        ["0066", "&#102;"],
    ),
    "given name in Base64": ("Authorization: Basic ZnJhbmt4eXo6aHVudGVyMg==", ["ZnJhbmt4eXo6"]),
    "path in Base64": ("token L2hvbWUvZnJhbmsvdGhlc2lz sent", ["L2hvbWUv"]),
    "given name with other signs": ("asked by frank-xyz and FRANK_XYZ", ["frank", "FRANK"]),
    "given name": ("asked on frankxyz-laptop by FRANKXYZ", ["frankxyz", "FRANKXYZ"]),
}


def bytes_of(summary) -> str:
    return encode_record(summary).decode()


@pytest.mark.parametrize("case", SECRETS)
@pytest.mark.parametrize("field", ["warnings", "cause", "example", "finding"])
def test_planted_name_disappears_from_any_text(case, field):
    text, secrets = SECRETS[case]
    summary = demo_summary()
    if field == "warnings":
        summary = msgspec.structs.replace(summary, warnings=(text,))
    elif field == "finding":
        finding = msgspec.structs.replace(summary.findings[0], text=text)
        summary = msgspec.structs.replace(summary, findings=(finding,))
    else:
        failure = Failure("transient", **{"cause": "x", "n": 1, "example": "y", field: text})
        summary = msgspec.structs.replace(summary, failures=(failure,))
    shown = bytes_of(anonymise(summary, names=("frankxyz", "frank xyz")))
    assert not [secret for secret in secrets if secret in shown]


RUN = make_run(
    ("original", "crop_1x"),
    id="2026-11-30-photos-gracexyz-3f",
    model=ModelIdentity(
        "hf",
        "acme-labs/internal-7b",
        revision="/home/gracexyz/weights",
        settings={"base_url": "http://gpu17:8000/v1", "organization": "acme-labs", "temperature": 0.5},
    ),
    benchmark=BenchmarkIdentity("folder", "abc", {"data": "heidis pictures", "nested": {"file": "a.csv"}}),
    versions={"eyechart": "0.1.0", "hostname": "gpu17"},
    command=(
        "eyechart", "run", "folder", "--data", "pics/heidis", "--model", "hf/acme-labs/internal-7b",
        "--base-url=http://gpu17:8000/v1", "--out=runs/ivan", "--views", "original,crop_1x",
    ),
)  # fmt: skip


def test_private_settings_command_and_model_organisation_disappear():
    shown = bytes_of(anonymise(msgspec.structs.replace(demo_summary(), run=RUN)))
    for secret in ("gracexyz", "gpu17", "acme", "heidis", "ivan", "a.csv", "8000"):
        assert secret not in shown, secret


def test_command_keeps_its_shape():
    command = anonymise(msgspec.structs.replace(demo_summary(), run=RUN)).run.command
    assert command == (
        "eyechart", "run", "folder", "--data", "[path]", "--model", "hf/internal-7b",
        "--base-url=[endpoint]", "--out=[path]", "--views", "original,crop_1x",
    )  # fmt: skip


def test_organisation_of_a_fine_tuned_model_disappears():
    model = ModelIdentity("openai", "ft:gpt-4o-mini:acmecorp:suffix:Ab12")
    summary = msgspec.structs.replace(demo_summary(), run=make_run(("original",), model=model))
    assert "acmecorp" not in bytes_of(anonymise(summary))


@pytest.mark.parametrize("name", CASES)
def test_every_number_and_every_name_of_a_view_stays(name):
    summary = CASES[name]()
    shown = anonymise(summary, names=("alicexyz",))
    for field in ("conditions", "estimates", "contrasts", "size_bands"):
        for before, after in zip(getattr(summary, field), getattr(shown, field), strict=True):
            assert msgspec.structs.replace(after, **{"scorer": before.scorer} if hasattr(before, "scorer") else {}) == (
                before
            )


@pytest.mark.parametrize("name", ["demo", "sum", "single_question", "unanimous", "unanswered"])
def test_summary_without_private_text_stays_as_it_is(name):
    assert anonymise(CASES[name]()) == CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_anonymising_twice_changes_nothing_more(name):
    once = anonymise(CASES[name]())
    assert anonymise(once) == once


@given(st.text(max_size=60))
def test_any_warning_can_be_cleaned(text):
    summary = msgspec.structs.replace(demo_summary(), warnings=(text,))
    assert len(anonymise(summary).warnings) == 1


@pytest.mark.parametrize("words", ["and/or", "n/a", "shown area ÷ target's", "text/html", "1 / 2", "hf/model-v1.10"])
def test_ordinary_words_with_slashes_stay(words):
    summary = msgspec.structs.replace(demo_summary(), warnings=(words,))
    assert anonymise(summary).warnings == (words,)


def test_short_names_are_not_looked_for_inside_words():
    summary = msgspec.structs.replace(demo_summary(), warnings=("a cat sat",))
    assert anonymise(summary, names=("a", "at")).warnings == ("a cat sat",)

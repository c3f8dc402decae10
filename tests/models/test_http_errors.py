"""Every failed call ends in the state that its message deserves."""

import email.utils
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import AuthenticationError, BadRequestError, RefusedInputError, TransientModelError
from eyechart.models._http_errors import (
    MAX_MESSAGE_CHARACTERS,
    Failure,
    is_content_filter,
    model_error,
    retry_after_seconds,
)

# Messages of real providers, shortened; the last column is the parameter that stops a run.
CASES = [
    (408, "Request timeout", None, None, TransientModelError, None),
    (409, "Conflict", None, None, TransientModelError, None),
    (429, "Rate limit reached for requests", None, "rate_limit_exceeded", TransientModelError, None),
    (500, "The server had an error", None, None, TransientModelError, None),
    (503, "That model is currently overloaded", None, None, TransientModelError, None),
    (529, "Overloaded", None, "overloaded_error", TransientModelError, None),
    (401, "Incorrect API key provided", None, "invalid_api_key", AuthenticationError, None),
    (403, "Country not supported", None, None, AuthenticationError, None),
    (402, "Insufficient credits", None, None, AuthenticationError, None),
    (429, "You exceeded your current quota", None, "insufficient_quota", AuthenticationError, None),
    (404, "The model `gpt-9` does not exist", None, "model_not_found", BadRequestError, "model"),
    (405, "Method Not Allowed", None, None, BadRequestError, "model"),
    (413, "Payload Too Large", None, None, RefusedInputError, None),
    (400, "You uploaded an unsupported image. Please make sure your image is below 20 MB.", None, None,
     RefusedInputError, None),
    (400, "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 7 bytes", None, None,
     RefusedInputError, None),
    (400, "At least one of the image dimensions exceed max allowed size: 8000 pixels", None, None,
     RefusedInputError, None),
    (400, "Could not process image", None, None, RefusedInputError, None),
    (400, "Unable to process input image. Please retry or report.", None, None, RefusedInputError, None),
    (400, "Invalid 'messages[0].content[0].image_url.url'. Expected a base64-encoded data URL.",
     "messages[0].content[0].image_url.url", "invalid_value", RefusedInputError, None),
    (400, "absolute aspect ratio must be smaller than 200, image got 250", None, None, RefusedInputError, None),
    (400, "This model's maximum context length is 8192 tokens.", "max_tokens", None, RefusedInputError, None),
    (400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192.", None, None,
     RefusedInputError, None),
    (400, "At most 1 image(s) may be provided in one request.", None, None, RefusedInputError, None),
    (400, "prompt is too long: 250000 tokens > 200000 maximum", None, None, RefusedInputError, None),
    (422, "unsupported media type image/tiff", None, None, RefusedInputError, None),
    (400, "Unsupported parameter: 'max_tokens' is not supported with this model.", None, None,
     BadRequestError, "max_tokens"),
    (400, "no", "temperature", "unsupported_value", BadRequestError, "temperature"),
    (400, "Unrecognized request argument supplied: top_k", None, None, BadRequestError, "top_k"),
    (400, "Invalid value: 'original'. Supported values are: 'low', 'high'",
     "messages[0].content[0].image_url.detail", None, BadRequestError, "detail"),
    (400, "[{'type': 'extra_forbidden', 'loc': ('body', 'verbosity'), 'msg': 'Extra inputs'}]", None, None,
     BadRequestError, "verbosity"),
    (400, 'Invalid JSON payload received. Unknown name "seeds": Cannot find field.', None, None,
     BadRequestError, "seeds"),
    (400, "no", "generation_config.temperature", None, BadRequestError, "temperature"),
    (400, "`temperature` is deprecated for this model.", None, None, BadRequestError, "temperature"),
    (400, "temperature: Extra inputs are not permitted", None, None, BadRequestError, "temperature"),
    (400, "Invalid content type. image_url is only supported by certain models.", None, None,
     BadRequestError, "model"),
    (404, "No endpoints found that support image input", None, None, BadRequestError, "model"),
    (400, "unknown variant `image_url`, expected `text`", None, None, BadRequestError, "model"),
    (400, "At most 0 image(s) may be provided in one request.", None, None, BadRequestError, "model"),
    (400, "Something about this request is wrong", "messages", None, BadRequestError, None),
    (422, "unprocessable", None, None, BadRequestError, None),
]  # fmt: skip


@pytest.mark.parametrize(("status", "message", "parameter", "code", "kind", "stops"), CASES)
def test_a_failed_call_ends_in_the_state_its_message_deserves(status, message, parameter, code, kind, stops):
    error = model_error(Failure(status, message, code, parameter), "set the key", "check the name")
    assert type(error) is kind
    assert str(status) in error.message
    assert getattr(error, "parameter", None) == stops


def test_a_named_parameter_comes_with_the_setting_that_leaves_it_out():
    error = model_error(Failure(400, "no", parameter="top_p"), "", "")
    assert error.hint == "change it or leave it out: --top-p, or --top-p not-sent"
    error = model_error(Failure(400, "no", parameter="verbosity"), "", "")
    assert "--set verbosity=not-sent" in error.hint
    error = model_error(Failure(400, "no", parameter="max_tokens"), "", "")
    assert "--set length_parameter=max_completion_tokens" in error.hint


def test_a_rejected_key_and_a_wrong_name_come_with_the_callers_hint():
    assert model_error(Failure(401, "no"), "set the key", "check the name").hint == "set the key"
    assert model_error(Failure(404, "no"), "set the key", "check the name").hint == "check the name"


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation", "data_inspection_failed"])
def test_a_content_filter_is_told_apart_from_a_fault(code):
    assert is_content_filter(Failure(400, "no", code))
    assert not is_content_filter(Failure(400, "no"))


def test_retry_after_is_read_as_seconds_milliseconds_or_date():
    assert retry_after_seconds({"retry-after": "3600"}) == 3600
    assert retry_after_seconds({"retry-after": "9", "retry-after-ms": "1500"}) == 1.5
    in_a_minute = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert 58 <= retry_after_seconds({"retry-after": in_a_minute}) <= 60
    assert retry_after_seconds({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0


@given(st.text())
def test_any_retry_after_gives_a_wait_or_none(text):
    wait = retry_after_seconds({"retry-after": text})
    assert wait is None or 0 <= wait < float("inf")


@given(st.integers(400, 599), st.text(), st.none() | st.text(), st.none() | st.text())
def test_any_failure_gives_a_short_model_error(status, message, code, parameter):
    error = model_error(Failure(status, message, code, parameter), "key", "url")
    assert len(error.message) <= MAX_MESSAGE_CHARACTERS + 20

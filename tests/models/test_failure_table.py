"""Whose failure it is: what the table says of a row is what becomes of it, in every dialect, single and batched."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.asks import ask, picture
from models.interfaces import ANTHROPIC, GOOGLE, RESPONSES, Interface, answers
from servers.chat_server import ChatServer

from eyechart.errors import AuthenticationError, BadRequestError, ModelError
from eyechart.models._anthropic_batches import batch_body
from eyechart.models._failure_table import ENDS_RUN, FAILURES, NAMED_PARAMETERS, UNKNOWN, UNKNOWN_4XX, Owner
from eyechart.models._http_errors import Failure, failure_row, model_error
from eyechart.models._openai_batches import batch_entries
from eyechart.runs.replies import Asking, error_row, reply_row
from eyechart.schema import ResponseState

ASKING = Asking(request_id="r", seconds=1.0, finished_at="2026-12-01T00:00:00+00:00")
STATES = {
    Owner.PICTURE: ResponseState.REFUSED_INPUT,
    Owner.FILTER: ResponseState.FILTERED,
    Owner.QUESTION: ResponseState.BAD_REQUEST,
    Owner.SERVER: ResponseState.TRANSIENT,
}
CHAT = pytest.param(Interface("openai", "/v1"), id="chat")
DIALECTS = {"chat": CHAT, "responses": RESPONSES, "messages": ANTHROPIC, "generate": GOOGLE}
every_dialect = pytest.mark.parametrize(
    ("dialect", "interface"),
    [pytest.param(name, param.values[0], id=name, marks=param.marks) for name, param in DIALECTS.items()],
)


def status_of(row):
    return min(row.statuses) if row.statuses else 400


def body_of(row, dialect):
    """An error of this row as a provider of this dialect writes it."""
    code = min(row.codes) if row.codes else None
    if dialect == "messages":
        return {"type": "error", "error": {"type": code or "odd_error", "message": row.example}}
    if dialect == "generate":
        details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": code}] if code else []
        return {"error": {"message": row.example, "status": "ODD", "details": details}}
    return {"error": {"message": row.example, "code": code, "type": "odd_error", "param": None}}


def rows_of(dialect):
    return [row for row in FAILURES if dialect in row.dialects]


def check(row, outcome):
    """What became of a request is what the table says; what ends a run is never a row, and so never final or scored."""
    if row.owner in ENDS_RUN:
        assert isinstance(outcome, AuthenticationError if row.owner is Owner.ACCOUNT else BadRequestError), row
        assert row.owner is Owner.ACCOUNT or outcome.parameter, row
        return
    stored = error_row(outcome, ASKING) if isinstance(outcome, ModelError) else reply_row(outcome, ASKING)
    assert stored.state is STATES[row.owner], (row, outcome)
    assert not isinstance(outcome, BadRequestError) or outcome.parameter is None


@every_dialect
def test_every_row_becomes_what_the_table_says(dialect, interface):
    rows = [row for row in rows_of(dialect) if status_of(row) >= 400]
    told = iter(rows)

    def say(received):
        if received.path.endswith("/models"):
            return 404, {}
        row = next(told)
        return status_of(row), body_of(row, dialect)

    with ChatServer(say=say) as server:
        outcomes = answers(interface.open(server), *[ask(picture())] * len(rows))
    for row, outcome in zip(rows, outcomes, strict=True):
        check(row, outcome)


@every_dialect
def test_every_row_becomes_the_same_inside_a_reply_of_status_200(dialect, interface):
    rows = [row for row in rows_of(dialect) if row.codes or row.text]
    told = iter(rows)
    with ChatServer(say=lambda received: (200, body_of(next(told), dialect))) as server:
        outcomes = answers(interface.open(server), *[ask(picture())] * len(rows))
    for row, outcome in zip(rows, outcomes, strict=True):
        check(row, outcome)


@pytest.mark.parametrize("dialect", ["chat", "responses", "messages"])
def test_every_row_becomes_the_same_in_a_batch(dialect):
    rows = [row for row in rows_of(dialect) if row.statuses is None or dialect != "messages"]
    for row in rows:
        body = body_of(row, dialect)
        if dialect == "messages":
            failure = batch_body({"result": {"type": "errored", "error": body}})
        else:
            line = {"custom_id": "r", "response": {"status_code": status_of(row), "body": body}}
            ((_, failure),) = batch_entries(json.dumps(line).encode())
        found = failure_row(failure, dialect)
        assert found.owner is row.owner, (row, found)
        if row.owner is not Owner.FILTER:
            check(row, model_error(failure, "key", "name", dialect))


def test_no_row_stops_a_run_without_a_source():
    for row in FAILURES:
        assert row.source.startswith(("https://", "RFC ")), row
        assert row.codes or row.text or row.statuses, row
    assert all(source.startswith("https://") for source in NAMED_PARAMETERS)


@pytest.mark.parametrize(
    ("status", "message", "code", "owner"),
    [
        (400, "Insufficient funds in the question", None, Owner.QUESTION),
        (400, "the credits are not enough", None, Owner.QUESTION),
        (429, "insufficient quota", None, Owner.SERVER),
        (400, "no", "organization_disabled", Owner.QUESTION),
        (400, "no", "AllocationQuota", Owner.QUESTION),
        (429, "no", "ServiceOverdue", Owner.SERVER),
    ],
)
def test_words_that_no_page_was_found_for_stop_no_run(status, message, code, owner):
    """Each stopped a run, though no public page was found in which a provider says it."""
    assert failure_row(Failure(status, message, code)).owner is owner


def test_an_example_falls_under_its_row():
    for row in FAILURES:
        if row.text is not None:
            assert row.text.search(row.example), row


@settings(max_examples=60)
@given(st.integers(200, 699), st.text(max_size=40), st.none() | st.text(max_size=20))
def test_what_no_row_knows_never_stops_a_run_and_is_final_only_as_a_4xx(status, message, code):
    failure = Failure(status, message, code)
    row = failure_row(failure)
    if row in {UNKNOWN, UNKNOWN_4XX}:
        error = model_error(failure, "", "")
        state = error_row(error, ASKING).state
        assert state is (ResponseState.BAD_REQUEST if 400 <= status < 500 else ResponseState.TRANSIENT)
        assert not isinstance(error, AuthenticationError)


@pytest.mark.parametrize("status", [402, 418, 421, 422, 423, 424, 426, 428, 431, 451, 498, 499])
def test_an_unknown_4xx_is_final_and_names_no_setting(status):
    error = model_error(Failure(status, "something about this"), "", "")
    if status == 402:
        assert isinstance(error, AuthenticationError)
    else:
        assert (type(error), error.parameter) == (BadRequestError, None)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 511, 520, 529, 599, 600, 218])
def test_other_statuses_pass(status):
    assert error_row(model_error(Failure(status, "odd"), "", ""), ASKING).state is ResponseState.TRANSIENT


CREDIT = {"error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the API."}}
# Bodies as gateways pass them on, each with whose failure it is.
WRAPPED = [
    (400, {"error": {"message": "litellm.BadRequestError: AnthropicException - b'" + json.dumps(CREDIT) + "'",
                     "type": None, "param": None, "code": "400"}}, Owner.ACCOUNT),
    (400, {"error": {"message": "DashscopeException - {\"code\":\"Arrearage\",\"message\":\"Access denied\"}",
                     "code": "400"}}, Owner.ACCOUNT),
    (500, {"error": {"message": "litellm.RateLimitError: slow down", "code": "429"}}, Owner.SERVER),
    (200, {"error": {"code": 402, "message": "Insufficient credits"}}, Owner.ACCOUNT),
    (403, {"code": "The caller does not have permission to execute the specified operation",
           "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}, Owner.FILTER),
    (412, {"error": {"message": "Account x is suspended, possibly due to reaching the monthly spending limit",
                     "code": "PRECONDITION_FAILED"}}, Owner.ACCOUNT),
    (429, {"error": {"code": "1113", "message": "您的账户已欠费，请充值后重试。"}}, Owner.ACCOUNT),
    (400, {"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}}, Owner.FILTER),
    (400, {"error": {"code": "1301", "message": "a gateway's own code"}}, Owner.QUESTION),
    (400, {"error": {"code": "InputImageSensitiveContentDetected.PrivacyInformation", "message": "may contain real "
                     "person", "type": "BadRequest"}}, Owner.FILTER),
    (403, {"error": {"code": "AccountOverdueError", "message": "overdue balance", "type": "Forbidden"}}, Owner.ACCOUNT),
    (429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded", "details": [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [
            {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "20"}]}]}}, Owner.ACCOUNT),
    (429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded", "details": [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [
            {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "26s"}]}}, Owner.SERVER),
    (400, [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "no", "details": [
        {"reason": "API_KEY_INVALID"}]}}], Owner.ACCOUNT),
    (424, {"error": "Request failed during generation: out of memory", "error_type": "generation"}, Owner.SERVER),
    (424, {"error": "odd"}, Owner.QUESTION),
    (429, {"__type": "com.amazon.coral.service#ThrottlingException", "message": "Too many tokens, please wait"},
     Owner.SERVER),
    (400, {"error": "The model has crashed without additional information. (Exit code: 6)"}, Owner.SERVER),
    (500, {"error": {"code": 500, "message": "image input is not supported - hint: …", "type": "server_error"}},
     Owner.SETTING),
    (200, {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, Owner.ACCOUNT),
    (500, {"type": "error", "error": {"type": "api_error", "message": "insufficient balance (1008)"}}, Owner.ACCOUNT),
    (200, {"base_resp": {"status_code": 2049, "status_msg": "invalid api key"}}, Owner.ACCOUNT),
    (429, {"error": {"code": "insufficient_quota", "type": "insufficient_quota", "message": "You exceeded your current "
                     "quota, please check your plan and billing details. For details, see: "
                     "https://help.aliyun.com/zh/model-studio/error-code#token-limit"}}, Owner.SERVER),
    (429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota."}}, Owner.ACCOUNT),
    (400, {"error": "this model does not support image input"}, Owner.SETTING),
    (400, {"error": "unsupported content part type \"image_url\": this server accepts text parts only"}, Owner.SETTING),
    (200, {"error": {"message": "Could not process image"}}, Owner.PICTURE),
    (200, {"error": {"message": "odd"}}, Owner.SERVER),
    (200, {"error": {"message": "no", "param": "top_k"}}, Owner.QUESTION),
    (500, {"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}, Owner.FILTER),
    (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
           "error_type": "validation"}, Owner.PICTURE),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "owner"), WRAPPED)
def test_errors_of_gateways_belong_to_whom_they_belong(status, body, owner):
    from eyechart.models._chat_reply import body_failure, failure_of

    failure = body_failure(body) if status == 200 else failure_of(status, body, {})
    assert failure_row(failure).owner is owner


@pytest.mark.parametrize(
    ("status", "body", "flag"),
    [
        (422, {"detail": [{"loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted"}]},
         "--set length_parameter=max_tokens"),
        (422, {"error": "Input validation error: `temperature` must be strictly positive", "error_type": "validation"},
         "--temperature"),
        (422, {"status": 422, "message": "Invalid params: temperature must be in range (0, +inf)"}, "--temperature"),
        (400, {"error": {"message": "The thinking_budget parameter must be a positive integer"}},
         "--set thinking_budget"),
        (400, {"error": {"message": "parameter.enable_thinking must be set to false for non-streaming calls"}},
         "without"),
        (400, {"detail": "`top_p` must be > 0.0 and < 1.0"}, "--top-p"),
    ],
)  # fmt: skip
def test_a_refused_setting_names_our_flag_and_ends_the_run(status, body, flag):
    """FastAPI's and TGI's complaints gave no hint, and every request ended as bad_request."""
    from eyechart.models._chat_reply import failure_of

    error = model_error(failure_of(status, body, {}), "", "")
    assert isinstance(error, BadRequestError)
    assert error.parameter
    assert flag in error.hint or flag == "without"


def test_a_complaint_about_the_question_itself_names_no_setting():
    from eyechart.models._chat_reply import failure_of

    for loc in (["body", "messages", 0, "content"], ["body"], ["query", "x"]):
        error = model_error(failure_of(422, {"detail": [{"loc": loc, "msg": "Field required"}]}, {}), "", "")
        assert (type(error), error.parameter) == (BadRequestError, None)


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Your quota is exhausted and will reset at 2099-01-01 00:00:00", 2.2e9),
        ("quota exhausted, it will reset at 2099", 2.2e9),
        ("You have exhausted your capacity on this model. Your quota will reset after 161h39m41s.", 581_981),
        ("Rate limit reached on requests per day (RPD). Please try again in 6m0s.", 360),
        ("Please retry in 25.5s.", 25.5),
    ],
)
def test_a_wait_in_words_is_a_wait(message, seconds):
    """A quota that returns in 2099 was waited for eight times, for every request."""
    error = model_error(Failure(429, message, headers={"retry-after": "1"}), "", "")
    assert error.retry_after_seconds >= seconds


def test_a_quota_that_returns_at_a_time_nobody_can_read_ends_the_run():
    assert isinstance(model_error(Failure(429, "usage limit, resets at midnight"), "", ""), AuthenticationError)
    assert not isinstance(model_error(Failure(429, "too many, please try again later"), "", ""), AuthenticationError)


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_a_redirect_is_a_fault_of_the_base_url_and_names_the_host_alone(status):
    headers = {"location": "https://user:pw@other.example:8443/v1/chat?key=secret"}
    error = model_error(Failure(status, "moved", headers=headers), "", "")
    assert (type(error), error.parameter) == (BadRequestError, "base_url")
    assert "https://other.example:8443)" in error.message
    assert not any(word in error.message for word in ("secret", "pw", "/v1"))

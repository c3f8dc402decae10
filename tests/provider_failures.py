"""Failures of providers as people report them, and whose failure each is, judged by reading and not by our table.

A ``Failure`` says how one request comes back. ``owner`` is one of these: ``account`` (a key, credit, a quota that does
not return soon), ``server`` (it or the connection; may pass), ``setting`` (an option, an address, a model that sees no
pictures), ``question`` (this picture or this text was not taken), ``filter`` (a filter struck) and ``answer`` (all is
well, whatever the answer looks like). ``drawn`` returns a failure with numbers and names of its own.

Sources are issue threads and error pages of the providers that are named beside each group; the texts are shortened or
put into other words where they are long, and keep the words that tell what is meant.
"""

import json
from dataclasses import dataclass, field, replace
from random import Random

DIALECTS = ("chat", "responses", "messages", "generate")


@dataclass(frozen=True)
class Failure:
    """How one request comes back, and whose failure that is."""

    owner: str
    status: int
    body: object
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"

    @property
    def payload(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


def _error(owner, status, message, *, kind=None, code=None, param=None, **headers):
    """Return an error in the form of OpenAI."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return Failure(owner, status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def _bare(owner, status, /, **body):
    return Failure(owner, status, body)


def _vllm(owner, status, message, kind="BadRequestError"):
    return Failure(owner, status, {"object": "error", "message": message, "type": kind, "param": None, "code": status})


def _page(owner, status, title):
    text = f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>"
    return Failure(owner, status, text, content_type="text/html")


def _choice(owner, finish, content, **changes):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}, **changes}
    return Failure(owner, 200, {"id": "chat-#", "object": "chat.completion", "model": "m", "choices": [choice]})


# OpenAI's own interfaces; both chat completions and responses (platform.openai.com error codes, simonw/llm #494).
OPENAI = [
    _error(
        "account",
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        kind="insufficient_quota",
        code="insufficient_quota",
    ),
    _error("account", 401, "Incorrect API key provided: sk-#.", kind="invalid_request_error", code="invalid_api_key"),
    _error(
        "account",
        429,
        "Your account is not active, please check your billing details on our website.",
        kind="billing_not_active",
        code="billing_not_active",
    ),
    _error("account", 400, "Billing hard limit has been reached", kind="x", code="billing_hard_limit_reached"),
    _error(
        "account",
        403,
        "Country, region, or territory not supported",
        kind="request_forbidden",
        code="unsupported_country_region_territory",
    ),
    _error("account", 401, "You must be a member of an organization to use the API", kind="invalid_request_error"),
    _error(
        "account", 401, "The account associated with this API key has been deactivated.", code="account_deactivated"
    ),
    _error(
        "account", 403, "You have insufficient permissions for this operation. Missing scopes: model.request", kind="x"
    ),
    _error("setting", 403, "Project `proj_#` does not have access to model `m`", code="model_not_found"),
    _error("setting", 404, "The model `m` does not exist or you do not have access to it.", code="model_not_found"),
    _error(
        "server", 500, "The server had an error while processing your request. Sorry about that!", kind="server_error"
    ),
    _error("server", 503, "That model is currently overloaded with other requests.", kind="server_error"),
    _error(
        "server", 503, "The engine is currently overloaded, please try again later", kind="service_unavailable_error"
    ),
    _error(
        "server",
        429,
        "Rate limit reached for m in organization org-# on tokens per min (TPM): Limit 30000, Used 29#, Requested 1600."
        " Please try again in 4ms.",
        kind="tokens",
        code="rate_limit_exceeded",
    ),
    _error(
        "server",
        429,
        "Rate limit reached for m on requests per day (RPD): Limit 200, Used 200. Please try again in 7m12s.",
        kind="requests",
        code="rate_limit_exceeded",
    ),
    _error("server", 429, "Too Many Requests", retry_after="0.01"),
    _error("server", 429, "Too Many Requests", retry_after="86400"),
    _error("server", 408, "Request timed out", kind="timeout"),
    _error("server", 409, "The request conflicts with another one"),
    _error("server", 425, "Too early"),
    _page("server", 502, "502 Bad Gateway"),
    _page("server", 504, "504 Gateway Time-out"),
    _page("server", 520, "Web server is returning an unknown error"),
    _page("server", 524, "A timeout occurred"),
    _page("server", 503, "Service Temporarily Unavailable"),
    _page("server", 200, "Sign in to your network"),
    Failure("server", 200, ""),
    Failure("server", 200, "null"),
    Failure("server", 200, "upstream connect error or disconnect/reset before headers", content_type="text/plain"),
    Failure("server", 503, "upstream connect error or disconnect/reset before headers", content_type="text/plain"),
    _error("server", 200, "The server had an error processing your request", kind="server_error"),
    _error("server", 200, "Rate limit reached for requests", kind="rate_limit_error", code="rate_limit_exceeded"),
    _error("account", 200, "You exceeded your current quota.", kind="insufficient_quota", code="insufficient_quota"),
    _page("setting", 404, "404 Not Found"),
    _page("setting", 405, "405 Not Allowed"),
    _error(
        "setting",
        400,
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        kind="invalid_request_error",
        param="temperature",
        code="unsupported_value",
    ),
    _error("setting", 400, "Unknown parameter: 'mm_processor_kwargs'.", code="unknown_parameter"),
    _error("setting", 400, "Unsupported parameter: 'top_p' is not supported with this model.", param="top_p"),
    _error(
        "question",
        400,
        "You uploaded an unsupported image. Please make sure your image is valid.",
        kind="invalid_request_error",
        code="invalid_image_format",
    ),
    _error(
        "question",
        400,
        "You uploaded an image named quota_exceeded_sign_#.png that could not be parsed.",
        code="image_parse_error",
    ),
    _error(
        "question",
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9# tokens.",
        param="messages",
        code="context_length_exceeded",
    ),
    _error("question", 413, "Request too large"),
    _error(
        "filter",
        400,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        param="prompt",
        code="content_filter",
    ),
    _error(
        "filter", 400, "Your request was rejected as a result of our safety system.", code="content_policy_violation"
    ),
]

GATEWAYS = [
    # DeepSeek (continuedev/continue #9942, Aider-AI/aider #4851: also with status 400 behind a gateway)
    _error("account", 402, "Insufficient Balance", kind="unknown_error", code="invalid_request_error"),
    _error("account", 400, "Insufficient Balance", kind="unknown_error", code="invalid_request_error"),
    _error("account", 401, "Authentication Fails, Your api key: ****# is invalid", kind="authentication_error"),
    _choice("server", "insufficient_system_resource", ""),
    _error(
        "setting",
        400,
        "Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, "
        "expected `text` at line 1 column #",
        kind="invalid_request_error",
    ),
    # OpenRouter (opencode #12219, Roo-Code #515, can1357/oh-my-pi #9569, openrouter.ai error page)
    _bare(
        "account",
        402,
        error={
            "message": "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but "
            "can only afford #. To increase, visit https://openrouter.ai/settings/credits",
            "code": 402,
        },
    ),
    _bare("account", 402, error={"message": "Insufficient credits. Add more and try again", "code": 402}),
    _bare(
        "account", 403, error={"message": "Key limit exceeded (total limit). Manage it in the settings", "code": 403}
    ),
    _bare("account", 401, error={"message": "User not found.", "code": 401}),
    _bare("account", 401, error={"message": "No auth credentials found", "code": 401}),
    _bare(
        "account",
        200,
        error={"message": "Insufficient credits. This account never purchased credits.", "code": 402},
    ),
    _bare(
        "account",
        429,
        error={
            "message": "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per"
            " day",
            "code": 429,
            "metadata": {"headers": {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "0"}},
        },
    ),
    _bare(
        "server",
        200,
        error={
            "message": "Provider returned error",
            "code": 502,
            "metadata": {"raw": "status 502", "provider_name": "P#"},
        },
    ),
    _bare(
        "server",
        429,
        error={
            "message": "Provider returned error",
            "code": 429,
            "metadata": {
                "raw": "org/m is temporarily rate-limited upstream. Please retry shortly, or add your own key"
            },
        },
    ),
    _bare("server", 503, error={"message": "No instances available", "code": 503}),
    _bare("setting", 404, error={"message": "No endpoints found that support image input", "code": 404}),
    _bare("setting", 404, error={"message": "No allowed providers are available for the selected model.", "code": 404}),
    _bare(
        "filter",
        403,
        error={
            "message": 'm requires moderation on P. Your input was flagged for "violence". No credits were charged.',
            "code": 403,
            "metadata": {"reasons": ["violence"], "flagged_input": "…", "provider_name": "P", "model_slug": "org/m"},
        },
    ),
    _choice("server", "error", "", error={"code": 502, "message": "Upstream error from P#"}),
    _choice("server", "error", "The answer is A because", error={"code": 502, "message": "Upstream error from P#"}),
    # DashScope (help.aliyun.com error codes, QwenLM/qwen-code #7841)
    _error(
        "account",
        400,
        "Access denied, please make sure your account is in good standing.",
        kind="Arrearage",
        code="Arrearage",
    ),
    _error(
        "account",
        403,
        "The free tier of the model has been exhausted. To go on, disable the 'use free tier only' mode.",
        kind="AllocationQuota.FreeTierOnly",
        code="AllocationQuota.FreeTierOnly",
    ),
    _bare("account", 401, code="InvalidApiKey", message="Invalid API-key provided.", request_id="#"),
    # Bare, it is taken for a quota that is used up, as qwen-code does (issue 7841) ...
    _error(
        "account", 429, "Allocated quota exceeded, please increase your quota limit.", code="Throttling.AllocationQuota"
    ),
    # ... with this link it is the limit of tokens a minute, which passes (can1357/oh-my-pi PR 8476).
    _error(
        "server",
        429,
        "You exceeded your current quota, please check your plan and billing details. For details, see: "
        "https://help.aliyun.com/zh/model-studio/error-code#token-limit",
        kind="insufficient_quota",
        code="insufficient_quota",
    ),
    _error("account", 403, "Access to model denied. Please make sure you are eligible.", code="Model.AccessDenied"),
    _error(
        "server", 429, "You have exceeded your current request limit.", kind="limit_requests", code="limit_requests"
    ),
    _error("server", 429, "Request rate increased too quickly.", kind="limit_burst_rate", code="limit_burst_rate"),
    _error("server", 429, "Requests rate limit exceeded, please try again later.", code="Throttling.RateQuota"),
    _bare("server", 500, code="InternalError.Algo", message="An internal error has occured", request_id="#"),
    _error("setting", 400, "Range of max_tokens should be [1, 8192]", code="invalid_parameter_error"),
    _error("filter", 400, "Input data may contain inappropriate content.", code="DataInspectionFailed"),
    _error("filter", 400, "Output data may contain inappropriate content.", code="data_inspection_failed"),
    # Volcengine Ark (coze-studio #2195, its page of error codes)
    _error(
        "account",
        403,
        "The request failed because your account has an overdue balance. Request id: #",
        kind="Forbidden",
        code="AccountOverdueError",
    ),
    _error(
        "account",
        429,
        "Your account # has reached the set inference limit for the m model, and the model service has been paused.",
        kind="TooManyRequests",
        code="SetLimitExceeded",
    ),
    _error("setting", 404, "Your account # has not activated the model m.", kind="NotFound", code="ModelNotOpen"),
    _error(
        "server",
        429,
        "The service is currently unable to process additional requests due to server overload.",
        kind="TooManyRequests",
        code="ServerOverloaded",
    ),
    _error(
        "filter",
        400,
        "The request failed because the input image may contain sensitive information.",
        code="InputImageSensitiveContentDetected",
    ),
    # Zhipu, Z.ai
    _bare("account", 429, error={"code": "1113", "message": "余额不足或无可用资源包,请充值。"}),
    _bare(
        "account",
        429,
        error={"code": "1113", "message": "Insufficient balance or no resource package. Please recharge."},
    ),
    _bare("account", 401, error={"code": "1000", "message": "身份验证失败。"}),
    _bare("server", 429, error={"code": "1302", "message": "您的账户已达到速率限制,请您控制请求频率"}),
    _bare("server", 429, error={"code": "1305", "message": "该模型当前访问量过大,请您稍后再试"}),
    _bare("server", 500, error={"code": "1234", "message": "网络错误,错误id:#,请联系客服。"}),
    _bare("filter", 400, error={"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}),
    _choice("server", "network_error", ""),
    _choice("filter", "sensitive", ""),
    # SiliconFlow, Moonshot, MiniMax, Novita
    _bare("account", 403, code=30001, message="Sorry, your account balance is insufficient", data=None),
    _bare("account", 401, code=20001, message="Api key is invalid", data=None),
    _bare("server", 503, code=50505, message="Model service overloaded. Please try again later.", data=None),
    _bare("server", 429, message="Request was rejected due to rate limiting. Details: TPM limit reached.", data=None),
    _error(
        "account",
        429,
        "Your account org-# is suspended, please check your plan and billing details",
        kind="exceeded_current_quota_error",
    ),
    _error("account", 401, "Invalid Authentication", kind="invalid_authentication_error"),
    _error("server", 429, "The engine is currently overloaded, please try again later", kind="engine_overloaded_error"),
    _error(
        "server",
        429,
        "Your account reached max organization concurrency: 3, please try again after 0.01 seconds",
        kind="rate_limit_reached_error",
    ),
    _bare("account", 200, choices=None, base_resp={"status_code": 1008, "status_msg": "insufficient balance"}),
    # An empty account, though the status is the server's (MiniMax-M2 issue 62).
    _error("account", 500, "insufficient balance (1008)", kind="api_error"),
    _bare("account", 200, choices=None, base_resp={"status_code": 1004, "status_msg": "login fail: carry the API key"}),
    _bare("server", 200, choices=None, base_resp={"status_code": 1002, "status_msg": "rate limit exceeded(RPM)"}),
    _bare("server", 200, choices=None, base_resp={"status_code": 1013, "status_msg": "internal error"}),
    _bare("filter", 200, choices=None, base_resp={"status_code": 1026, "status_msg": "input new_sensitive"}),
    _bare("account", 403, code=403, reason="NOT_ENOUGH_BALANCE", message="not enough balance", metadata={}),
    # one-api, new-api, AiHubMix (666ghj/BettaFish #414)
    _error("account", 403, "用户额度不足, 剩余额度: ¥0.00", kind="new_api_error", code="insufficient_user_quota"),
    _error("account", 401, "该令牌额度已用尽 !token.UnlimitedQuota && token.RemainQuota = -#", kind="new_api_error"),
    _error("account", 401, "无效的令牌 (request id: #)", kind="new_api_error"),
    _error(
        "account",
        403,
        "Your account balance is insufficient. Please recharge. (tid: #)",
        kind="Aihubmix_api_error",
        code="insufficient_user_quota",
    ),
    _error("server", 429, "当前分组上游负载已饱和,请稍后再试 (request id: #)", kind="upstream_error"),
    _error(
        "server",
        503,
        "当前分组 default 下对于模型 m 无可用渠道 (request id: #)",
        kind="new_api_error",
        code="model_not_found",
    ),
    _error(
        "server", 502, "openai_error", kind="bad_response_status_code", param="502", code="bad_response_status_code"
    ),
    _error("server", 500, "do request failed", kind="one_api_error", code="do_request_failed"),
    # LiteLLM (BerriAI/litellm #20615, #22726, PR 37000)
    _error(
        "account",
        400,
        "Budget has been exceeded! Current cost: 26.#, Max budget: 0.25",
        kind="budget_exceeded",
        code="400",
    ),
    _error(
        "account",
        429,
        "Budget has been exceeded! Current cost: 26.#, Max budget: 0.25",
        kind="budget_exceeded",
        code="429",
    ),
    _error(
        "account",
        400,
        "ExceededBudget: End User=u# over budget. Spend=0.0009, Budget=0.0001",
        kind="auth_error",
        param="None",
        code="400",
    ),
    _error(
        "account",
        401,
        "Authentication Error, Invalid proxy server token passed. Received API Key = sk-...#",
        kind="auth_error",
        param="None",
        code="401",
    ),
    _error(
        "server",
        429,
        "No deployments available for selected model, Try again in 60 seconds. Passed model=m.",
        kind="None",
        param="None",
        code="429",
    ),
    _error("server", 500, "litellm.APIConnectionError: Cannot connect to host 10.0.0.#:8000", param="None", code="500"),
    _error("server", 503, "litellm.ServiceUnavailableError: Server is down", param="None", code="503"),
    # Hugging Face, Together, Groq, xAI, Fireworks, Mistral, NVIDIA, Vercel, GitHub, Cerebras, Perplexity, Poe
    _bare("account", 402, error="You have exceeded your monthly included credits for Inference Providers."),
    _bare("account", 401, error="Invalid username or password."),
    _bare("server", 503, error="Model org/m is currently loading", estimated_time=20.0),
    _error("account", 402, "Credit limit exceeded, please navigate to the billing settings", kind="credit_limit"),
    _error("server", 503, "The server is overloaded or not ready yet.", kind="service_unavailable"),
    _error(
        "account", 400, "Organization has been restricted. Please reach out to support.", code="organization_restricted"
    ),
    # Groq's own status: its page says to try again later (console.groq.com/docs/flex-processing).
    _error("server", 498, "Flex tier capacity exceeded", code="capacity_exceeded"),
    _error(
        "server",
        429,
        "Rate limit reached for m on tokens per day (TPD): Limit 100000, Used 998#. Please try again in 18m43.2s.",
        kind="tokens",
        code="rate_limit_exceeded",
    ),
    _bare(
        "account",
        400,
        code="Client specified an invalid argument",
        error="Incorrect API key provided: xa***#. You can obtain an API key from https://console.x.ai.",
    ),
    _bare(
        "account",
        403,
        code="The caller does not have permission to execute the specified operation",
        error="Your newly created team doesn't have any credits or licenses yet.",
    ),
    _bare(
        "account",
        429,
        code="Some resource has been exhausted",
        error="Your team # has either used all available credits or reached its monthly spending limit.",
    ),
    _bare(
        "filter",
        403,
        code="The caller does not have permission to execute the specified operation",
        error="Content violates usage guidelines. Team: #. Failed check: SAFETY_CHECK_TYPE_CSAM",
    ),
    _error(
        "account",
        412,
        "Account # is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.",
        kind="error",
    ),
    _bare("account", 401, message="Unauthorized", request_id="#"),
    _bare(
        "server",
        429,
        object="error",
        message="Service tier capacity exceeded for this model.",
        type="service_tier_capacity_exceeded",
        param=None,
        code="3505",
    ),
    _bare("server", 429, message="Requests rate limit exceeded"),
    _bare("account", 402, status=402, title="Payment Required", detail="Account '#': Cloud credits expired"),
    _bare("account", 403, status=403, title="Forbidden", detail="Authorization failed"),
    _error(
        "account", 402, "Insufficient funds. Please add credits to your account to continue.", kind="insufficient_funds"
    ),
    _error(
        "account",
        403,
        "AI Gateway requires a valid credit card on file to service requests.",
        kind="customer_verification_required",
    ),
    _bare(
        "server",
        429,
        error={
            "code": "RateLimitReached",
            "message": "Rate limit of 150 per 86400s exceeded for UserByModelByDay. Please wait 8# seconds.",
        },
    ),
    _bare(
        "account",
        402,
        message="Payment required to access this resource",
        type="payment_required_error",
        code="payment_required",
    ),
    _error(
        "account",
        401,
        "You exceeded your current quota, please check your plan and billing details",
        kind="insufficient_quota",
        code=401,
    ),
    _error("account", 402, "Insufficient points", kind="insufficient_credits", code=402),
    _bare("account", 401, success=False, errors=[{"code": 10000, "message": "Authentication error"}], result=None),
    _bare(
        "account", 429, errors={"message": "You have exceeded today's quota for model m, please try again tomorrow."}
    ),
    # Azure
    _bare(
        "account",
        401,
        error={"code": "401", "message": "Access denied due to invalid subscription key or wrong API endpoint."},
    ),
    _bare("account", 403, error={"code": "403", "message": "Access denied due to Virtual Network/Firewall rules."}),
    _bare(
        "setting",
        404,
        error={"code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist."},
    ),
    _bare(
        "server",
        429,
        error={
            "code": "429",
            "message": "Requests have exceeded call rate limit of your current tier. Please retry after 0.01 seconds.",
        },
    ),
    # local servers: vLLM, SGLang, TGI, llama.cpp, Ollama, LM Studio
    _vllm(
        "server",
        500,
        "EngineCore encountered an issue. See stack trace (above) for the root cause.",
        "InternalServerError",
    ),
    _vllm("server", 400, "Background loop has errored already."),
    _vllm("server", 400, "CUDA out of memory. Tried to allocate 2.#0 GiB. GPU 0 has a total capacity of 23.68 GiB"),
    _vllm("server", 500, "CUDA error: an illegal memory access was encountered", "InternalServerError"),
    _vllm("setting", 404, "The model `m` does not exist.", "NotFoundError"),
    _vllm("setting", 400, "m is not a multimodal model"),
    _vllm("setting", 400, "At most 0 image(s) may be provided in one prompt."),
    _vllm("setting", 400, "max_tokens must be at least 1, got 0."),
    _vllm("setting", 400, "top_p must be in (0, 1], got 0.0."),
    _vllm(
        "question",
        400,
        "The decoder prompt (length 9#) is longer than the maximum model length of 8192. Make sure that "
        "`max_model_len` is no smaller than the number of text tokens plus multimodal tokens.",
    ),
    _choice("server", "abort", "The sign"),
    _bare("server", 429, error="Model is overloaded", error_type="overloaded"),
    _bare(
        "setting", 422, error="Input validation error: `temperature` must be strictly positive", error_type="validation"
    ),
    _bare(
        "setting",
        422,
        detail=[{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}],
    ),
    _bare(
        "setting", 422, detail=[{"type": "missing", "loc": ["body", "max_completion_tokens"], "msg": "Field required"}]
    ),
    _bare("server", 503, error={"code": 503, "message": "Loading model", "type": "unavailable_error"}),
    _error(
        "server",
        500,
        "model runner has unexpectedly stopped, this may be due to resource limitations",
        kind="api_error",
    ),
    _error("server", 503, "server busy, please try again.  maximum pending requests exceeded", kind="api_error"),
    _error("setting", 404, 'model "m" not found, try pulling it first', kind="api_error"),
    _bare("server", 400, error="The model has crashed without additional information. (Exit code: 1844#)"),
    _bare("server", 400, error="Model unloaded."),
    _error("server", 404, "No models loaded. Please load a model in the developer page.", code="model_not_found"),
    _choice("server", "load", ""),
    _choice("server", "never_heard_of_#", "A"),
    Failure("server", 200, {"id": "chat-#", "object": "chat.completion", "model": "m", "choices": []}),
    Failure("server", 200, {"id": "chat-#", "object": "chat.completion", "model": "m", "choices": None}),
    Failure("server", 200, {"detail": "Internal Server Error"}),
    # between us and the server: a proxy, a firewall, a shield
    _page("account", 407, "Proxy Authentication Required"),
    _page("server", 403, "Attention Required! | Cloudflare"),
    _page("server", 403, "Just a moment..."),
    # A network that wants a login: no server was reached, no setting of ours is wrong, and it passes with the login.
    _page("server", 511, "Network Authentication Required"),
    Failure(
        "server", 403, "<html><head><title>403 Forbidden</title></head><center>nginx</center></html>", {}, "text/html"
    ),
    # good answers that talk about money, limits and errors
    _choice("answer", "stop", "A"),
    _choice("answer", "stop", "The sign says: rate limit exceeded, insufficient balance, error 429. A"),
    _choice("answer", "eos", "A"),
    _choice("answer", "length", "The letter on the"),
]

RESPONSES = [
    Failure(
        "server",
        200,
        {
            "id": "r-#",
            "status": "failed",
            "output": [],
            "error": {"code": "server_error", "message": "An error occurred"},
        },
    ),
    Failure(
        "server",
        200,
        {
            "id": "r-#",
            "status": "failed",
            "output": [],
            "error": {"code": "rate_limit_exceeded", "message": "Rate limit reached"},
        },
    ),
    Failure(
        "account",
        200,
        {
            "id": "r-#",
            "status": "failed",
            "output": [],
            "error": {"code": "insufficient_quota", "message": "You exceeded your current quota"},
        },
    ),
    Failure(
        "question",
        200,
        {
            "id": "r-#",
            "status": "failed",
            "output": [],
            "error": {"code": "invalid_image_format", "message": "The image is no picture"},
        },
    ),
    Failure(
        "filter",
        200,
        {
            "id": "r-#",
            "status": "failed",
            "output": [],
            "error": {"code": "image_content_policy_violation", "message": "The image breaks our policy"},
        },
    ),
    Failure("server", 200, {"id": "r-#", "status": "cancelled", "output": [], "error": None}),
    Failure("server", 200, {"id": "r-#", "status": "queued", "output": [], "error": None}),
    Failure(
        "server",
        200,
        {
            "id": "r-#",
            "status": "in_progress",
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A"}]}],
            "error": None,
        },
    ),
]


def _anthropic(owner, status, kind, message, **headers):
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_#"}
    return Failure(owner, status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def _message(owner, stop, content):
    body = {
        "id": "msg_#",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": stop,
    }
    return Failure(owner, 200, {**body, "usage": {"input_tokens": 100, "output_tokens": 3}})


# Anthropic (claude-code #4684, claude-code-action #876, docs of errors and stop reasons)
ANTHROPIC = [
    _anthropic("account", 400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    _anthropic("account", 401, "authentication_error", "invalid x-api-key"),
    _anthropic(
        "account", 403, "permission_error", "Your API key does not have permission to use the specified resource."
    ),
    _anthropic("account", 402, "billing_error", "There is an issue with your billing or payment information."),
    _anthropic(
        "account",
        400,
        "invalid_request_error",
        "You have reached your specified API usage limits. You will regain access on 2099-07-01 at 00:00 UTC.",
    ),
    _anthropic(
        "account",
        400,
        "invalid_request_error",
        "You have reached your specified workspace API usage limits. You will regain access on 2099-07-01.",
    ),
    _anthropic("account", 400, "invalid_request_error", "This organization has been disabled."),
    _anthropic(
        "account", 403, "permission_error", "OAuth authentication is currently not allowed for this organization."
    ),
    _anthropic(
        "account",
        429,
        "rate_limit_error",
        "This account has used up its monthly quota; it will reset at 2099-01-01 00:00:00",
    ),
    _anthropic(
        "server",
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
    ),
    _anthropic(
        "server",
        429,
        "rate_limit_error",
        "Number of concurrent connections has exceeded your rate limit.",
        retry_after="0.01",
    ),
    _anthropic("server", 429, "rate_limit_error", "This request would exceed your rate limit.", retry_after="7200"),
    _anthropic("server", 529, "overloaded_error", "Overloaded"),
    _anthropic("server", 500, "api_error", "Internal server error"),
    _anthropic("server", 504, "timeout_error", "The request timed out while processing"),
    _anthropic("server", 200, "overloaded_error", "Overloaded"),
    _anthropic("server", 200, "api_error", "Internal server error"),
    _anthropic("account", 200, "authentication_error", "invalid x-api-key"),
    _anthropic("setting", 404, "not_found_error", "model: claude-m"),
    _anthropic(
        "setting",
        400,
        "invalid_request_error",
        "max_tokens: 100# > 64000, which is the maximum allowed number of output tokens for m",
    ),
    _anthropic("setting", 400, "invalid_request_error", "temperature: range: 0..1"),
    _anthropic(
        "setting",
        400,
        "invalid_request_error",
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    ),
    _anthropic(
        "question",
        400,
        "invalid_request_error",
        "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6# bytes > 5242880 bytes",
    ),
    _anthropic(
        "question",
        400,
        "invalid_request_error",
        "messages.0.content.0.image.source.base64.data: One of the image dimensions exceeds 8000 pixels",
    ),
    _anthropic("question", 400, "invalid_request_error", "Could not process image"),
    _anthropic("question", 400, "invalid_request_error", "prompt is too long: 208# tokens > 200000 maximum"),
    _anthropic("question", 413, "request_too_large", "Request exceeds the maximum size"),
    _anthropic("filter", 400, "invalid_request_error", "Output blocked by content filtering policy"),
    _message("server", "pause_turn", []),
    _message("server", "never_heard_of_#", [{"type": "text", "text": "A"}]),
    _message("server", None, [{"type": "text", "text": "The ans"}]),
    _message("answer", "end_turn", [{"type": "text", "text": "A"}]),
    _message("answer", "stop_sequence", [{"type": "text", "text": "A"}]),
    _message("answer", "max_tokens", [{"type": "text", "text": "The letter on the"}]),
    _message("answer", "model_context_window_exceeded", [{"type": "text", "text": "The letter on the"}]),
    # Anthropic's safety classifiers end a reply so (docs.claude.com, "Handle streaming refusals").
    _message("filter", "refusal", []),
    _page("server", 502, "502 Bad Gateway"),
    _page("server", 403, "Attention Required! | Cloudflare"),
    Failure("server", 200, ""),
]


def _google(owner, status, kind, message, *details, **headers):
    body = {"error": {"code": status, "message": message, "status": kind, "details": list(details)}}
    return Failure(owner, status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def _reason(reason):
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}


def _quota(quota_id, value="20"):
    violation = {"quotaMetric": "generate_content_free_tier_requests", "quotaId": quota_id, "quotaValue": value}
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}


def _delay(seconds):
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds}s"}


def _candidate(owner, finish, parts):
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
    return Failure(owner, 200, {"candidates": [candidate], "modelVersion": "m", "responseId": "g-#"})


# Gemini (gemini-cli #1848, python-genai #2065, quick-search #37, ai.google.dev troubleshooting, forum threads)
GOOGLE = [
    _google(
        "account",
        400,
        "INVALID_ARGUMENT",
        "API key not valid. Please pass a valid API key.",
        _reason("API_KEY_INVALID"),
    ),
    _google(
        "account", 400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", _reason("API_KEY_INVALID")
    ),
    _google("account", 403, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key."),
    _google("account", 403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers."),
    _google(
        "account",
        403,
        "PERMISSION_DENIED",
        "Generative Language API has not been used in project # before or it is disabled.",
        _reason("SERVICE_DISABLED"),
    ),
    _google(
        "account",
        403,
        "PERMISSION_DENIED",
        "Permission denied: Consumer 'api_key:#' has been suspended.",
        _reason("CONSUMER_SUSPENDED"),
    ),
    _google(
        "account",
        403,
        "PERMISSION_DENIED",
        "This API method requires billing to be enabled.",
        _reason("BILLING_DISABLED"),
    ),
    _google("account", 400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
    _google(
        "account",
        400,
        "FAILED_PRECONDITION",
        "The free tier is not available in your country. Please enable billing on your project.",
    ),
    _google(
        "account",
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota. * Quota exceeded for metric: generate_requests, limit: 0, model: m",
        _quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "0"),
    ),
    _google(
        "account",
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
        _quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
        _delay("0.01"),
    ),
    _google(
        "account",
        429,
        "RESOURCE_EXHAUSTED",
        "Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.",
    ),
    _google(
        "account",
        429,
        "RESOURCE_EXHAUSTED",
        "Your project has exceeded its monthly spending cap. Please go to AI Studio to manage it.",
    ),
    _google(
        "account",
        401,
        "UNAUTHENTICATED",
        "Request had invalid authentication credentials.",
        _reason("ACCESS_TOKEN_EXPIRED"),
    ),
    _google("server", 429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    _google(
        "server",
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota. Please retry in 0.01s.",
        _quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"),
        _delay("0.01"),
    ),
    _google("server", 503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    _google("server", 500, "INTERNAL", "An internal error has occurred. Please retry or report."),
    _google("server", 504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
    # Google's status for a call that somebody ended, not a fault of the question (google.rpc.Code, CANCELLED).
    _google("server", 499, "CANCELLED", "The operation was cancelled."),
    _google("server", 200, "UNAVAILABLE", "The model is overloaded."),
    _google(
        "setting",
        404,
        "NOT_FOUND",
        "models/m is not found for API version v1beta, or is not supported for generateContent.",
    ),
    _google(
        "setting",
        400,
        "INVALID_ARGUMENT",
        "Invalid JSON payload received. Unknown name \"topX\" at 'generation_config': Cannot find field.",
    ),
    _google(
        "setting",
        400,
        "INVALID_ARGUMENT",
        "Unable to submit request because it has a temperature value of 3 but the supported range is from 0 to 2.0001.",
    ),
    _google("question", 400, "INVALID_ARGUMENT", "Unable to process input image. Please retry or report."),
    _google("question", 400, "INVALID_ARGUMENT", "Provided image is not valid."),
    _google(
        "question",
        400,
        "INVALID_ARGUMENT",
        "The input token count (12#) exceeds the maximum number of tokens allowed (1048576).",
    ),
    Failure(
        "filter",
        200,
        {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "m", "responseId": "g-#"},
    ),
    Failure("filter", 200, {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "m", "responseId": "g-#"}),
    _candidate("filter", "SAFETY", []),
    _candidate("filter", "PROHIBITED_CONTENT", []),
    _candidate("server", "OTHER", []),
    _candidate("server", "OTHER", [{"text": "A"}]),
    _candidate("server", "MALFORMED_FUNCTION_CALL", []),
    _candidate("server", "NEVER_HEARD_OF_#", [{"text": "A"}]),
    Failure("server", 200, {"modelVersion": "m", "responseId": "g-#"}),
    Failure("server", 200, {"candidates": [], "responseId": "g-#"}),
    _candidate("answer", "STOP", [{"text": "A"}]),
    _candidate("answer", "MAX_TOKENS", [{"text": "The letter on the"}]),
    _page("server", 502, "Error 502 (Server Error)!!1"),
    _page("server", 403, "Attention Required! | Cloudflare"),
    _page("setting", 404, "Error 404 (Not Found)!!1"),
    Failure("server", 200, ""),
]

FAILURES = {
    "chat": [*OPENAI, *GATEWAYS],
    "responses": [*OPENAI, *RESPONSES],
    "messages": ANTHROPIC,
    "generate": GOOGLE,
}


def drawn(rng: Random, dialect: str) -> Failure:
    """Return a failure of a dialect: each ``#`` in it is a number, and a gateway may have passed it on."""
    one = rng.choice(FAILURES[dialect])
    number = str(rng.randrange(100, 1000))
    body = json.loads(json.dumps(one.body).replace("#", number))
    if dialect in {"chat", "responses"} and isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = _passed_on(rng, one, body)
    return replace(one, body=body)


def _passed_on(rng: Random, one: Failure, body: dict) -> dict:
    """Return an error as some gateways pass it on: without what they do not know, or with more around it."""
    error = {name: value for name, value in body["error"].items() if value is not None or rng.random() < 0.5}
    if rng.random() < 0.3:
        error["request_id"] = f"req-{rng.randrange(10**9)}"
    if rng.random() < 0.2 and isinstance(error.get("message"), str):
        error["message"] = f"Error code: {one.status} - {error['message']}"
    return (
        {**body, "error": error}
        if rng.random() < 0.8
        else {"id": f"gen-{rng.randrange(10**6)}", **body, "error": error}
    )

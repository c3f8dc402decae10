"""Whose failure a failed call is: one table of what providers say, each row with the public page it was read from.

A row says that a failure belongs to the picture, to a content filter, to a setting, to the account or to the server.
Statuses that no row names are settled by ``UNKNOWN_4XX`` and ``UNKNOWN``. Another gateway's code is another row. A row
that stops a run (setting, account) must name where its code was read, so that no guess ever stops one.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, NamedTuple

Dialect = Literal["chat", "responses", "messages", "generate"]
"""Chat completions, OpenAI's responses, Anthropic's messages, Google's generateContent; batches speak the same."""


class Owner(StrEnum):
    """Whose failure it is, and so what becomes of the request.

    ``PICTURE``: final, ``refused_input``. ``FILTER``: an answer that scores 0. ``QUESTION``: final, ``bad_request``.
    ``SETTING`` and ``ACCOUNT`` stop the run and store nothing. ``SERVER`` is asked again.
    """

    PICTURE = "picture"
    FILTER = "filter"
    QUESTION = "question"
    SETTING = "setting"
    ACCOUNT = "account"
    SERVER = "server"


class FailureRow(NamedTuple):
    """One thing that providers say; a row fits where all that it names fits.

    Args:
        owner: Whose failure it is.
        source: Where it was read.
        codes: Codes, types or reasons in lower case; a code with dots fits by its beginning, too.
        text: A family of messages.
        statuses: HTTP statuses; None for any status of an error.
        example: A message of this family, as providers write it.
        parameter: What to change, where it is a setting.
        hint: What the reader can do; empty where it follows from the owner.
        dialects: Where it is said; gateways pass on the errors of others, so that most rows hold everywhere.
    """

    owner: Owner
    source: str
    codes: frozenset[str] = frozenset()
    text: re.Pattern[str] | None = None
    statuses: frozenset[int] | None = None
    example: str = "no"
    parameter: str | None = None
    hint: str = ""
    dialects: frozenset[Dialect] = frozenset({"chat", "responses", "messages", "generate"})


def _codes(*names: str) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _text(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


_CREDIT = "the account has no credit left: check its plan and billing"
_QUOTA = "the quota does not return soon: check the plan, or run the same command again when it has"
_LOCKED = "the provider has closed this account or project: check it in the provider's console"
_BLIND = "choose a model that reads pictures"
_OPENAI_ERRORS = "https://platform.openai.com/docs/guides/error-codes"
_OPENAI_QUOTA = "https://learn.microsoft.com/microsoft-cloud/dev/dev-proxy/concepts/openai-insufficient-quota"
_DASHSCOPE = "https://help.aliyun.com/en/model-studio/error-code"
_ZAI = "https://docs.z.ai/api-reference/api-code and https://docs.bigmodel.cn/cn/api/api-code"
_VOLCENGINE = "https://www.volcengine.com/docs/82379/1099476"
_ANTHROPIC = "https://docs.claude.com/en/api/errors"
_GEMINI = "https://ai.google.dev/gemini-api/docs/troubleshooting"
_LITELLM = "https://docs.litellm.ai/docs/exception_mapping"
_BEDROCK = "https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html"
_TGI = "https://huggingface.github.io/text-generation-inference/"
_GEMINI_ERRORS = "https://ai.google.dev/gemini-api/docs/api-errors"
_LMSTUDIO = "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1057"
_RFC = "RFC 9110, section 15"
_CLIENT = frozenset(range(400, 500))
_SERVER_SIDE = frozenset(range(500, 600))

FILTERS = (
    FailureRow(
        Owner.FILTER,
        _OPENAI_ERRORS,
        _codes(
            *("content_filter", "content_policy_violation", "moderation_blocked", "image_content_policy_violation"),
            *("bio_policy", "misalignment_policy_violation"),
        ),
    ),
    FailureRow(
        Owner.FILTER,
        "https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter",
        _codes("ResponsibleAIPolicyViolation"),
    ),
    FailureRow(
        Owner.FILTER,
        "https://platform.openai.com/docs/guides/reasoning",
        _codes("invalid_prompt"),
        _text("flagged", "usage polic"),
        example="Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
    ),
    FailureRow(
        Owner.FILTER,
        "https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter",
        text=_text(r"filtered due to .{0,60}content management policy", "rejected as a result of our safety system"),
        statuses=_CLIENT,
        example="The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    ),
    FailureRow(
        Owner.FILTER,
        "https://github.com/anthropics/claude-code/issues/6195",
        text=_text("blocked by content filtering policy"),
        example="Output blocked by content filtering policy",
    ),
    FailureRow(Owner.FILTER, _DASHSCOPE, _codes("data_inspection_failed", "DataInspectionFailed")),
    FailureRow(
        Owner.FILTER,
        _ZAI,
        _codes("1301"),
        _text("sensitive", "unsafe", "polic", "filter", "inspect", "敏感", "不安全"),
        example="System detected potentially unsafe or sensitive content in input or generation.",
    ),
    FailureRow(
        Owner.FILTER,
        _VOLCENGINE,
        _codes(
            "SensitiveContentDetected",
            *(f"{side}{kind}SensitiveContentDetected" for side in ("Input", "Output") for kind in ("Text", "Image")),
            *(f"{side}{kind}RiskDetection" for side in ("Input", "Output") for kind in ("Text", "Image")),
        ),
        example="The request failed because the input image may contain sensitive information.",
    ),
    FailureRow(
        Owner.FILTER,
        "https://github.com/MiniMax-AI/MiniMax-M3/issues/11",
        text=_text("(in|out)put (new_)?sensitive", "image is sensitive"),
        example="input new_sensitive, messages[1]'s content[1] image is sensitive, please check your input (1026)",
    ),
    FailureRow(
        Owner.FILTER,
        "https://platform.kimi.com/docs/api/errors",
        text=_text("rejected because it was considered high risk"),
        example="The request was rejected because it was considered high risk",
    ),
    FailureRow(
        Owner.FILTER,
        "https://github.com/UKGovernmentBEIS/inspect_ai/pull/2267",
        text=_text("content violates usage guidelines"),
        statuses=_CLIENT,
        example="Content violates usage guidelines. Model: grok-4-0709, Failed check: SAFETY_CHECK_TYPE_BIO",
    ),
    FailureRow(Owner.FILTER, "https://docs.zenmux.ai/guide/advanced/error-codes.html", _codes("safety_check_failed")),
    FailureRow(
        Owner.FILTER,
        "https://github.com/QuantumNous/new-api/blob/main/types/error.go",
        _codes("sensitive_words_detected", "prompt_blocked"),
    ),
    FailureRow(Owner.FILTER, "https://openrouter.ai/docs/api/reference/errors-and-debugging", _codes("flagged_input")),
    FailureRow(
        Owner.FILTER,
        _LITELLM,
        text=_text(r"litellm\.ContentPolicyViolationError"),
        example="litellm.ContentPolicyViolationError: AzureException - no",
    ),
)

QUESTIONS = (
    FailureRow(
        Owner.QUESTION,
        "https://platform.openai.com/docs/api-reference/responses/object",
        _codes("invalid_prompt"),
        dialects=frozenset({"chat", "responses"}),
    ),
)

THROTTLES = (
    # Its limit of tokens a minute has the words and the code of OpenAI's empty account; the link tells them apart.
    FailureRow(
        Owner.SERVER,
        "https://github.com/can1357/oh-my-pi/pull/8476 and https://github.com/QwenLM/Qwen/issues/2254",
        text=_text("error-code#token-limit"),
        example="You exceeded your current quota. See https://help.aliyun.com/zh/model-studio/error-code#token-limit",
    ),
)

ACCOUNTS = (
    # MiniMax says it with status 500, too.
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/MiniMax-AI/MiniMax-M2/issues/62 and https://github.com/modelscope/modelscope/issues/1691",
        text=_text(r"insufficient balance \(1008\)"),
        example="insufficient balance (1008)",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/MiniMax-AI/MiniMax-01/issues/37",
        text=_text("^invalid api key"),
        statuses=_CLIENT,
        example="invalid api key",
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://openrouter.ai/docs/api/reference/errors-and-debugging",
        statuses=frozenset({402}),
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        _OPENAI_QUOTA,
        _codes(
            *("insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded"),
            *("project_spend_limit_exceeded", "organization_usage_limit_exceeded"),
        ),
        example="You exceeded your current quota, please check your plan and billing details.",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/BerriAI/litellm/issues/2743 and https://github.com/dfinke/PowerShellAI/issues/127",
        _codes("billing_not_active", "billing_hard_limit_reached"),
        example="Your account is not active, please check your billing details on our website.",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/anthropics/claude-code/issues/4684",
        text=_text("credit balance is too low"),
        example="Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/anthropics/claude-code/issues/2127",
        text=_text("reached your specified API usage limits", "you will regain access on"),
        example="You have reached your specified API usage limits. You will regain access on 2099-07-01 at 00:00 UTC.",
        hint=_QUOTA,
    ),
    FailureRow(Owner.ACCOUNT, "https://platform.claude.com/docs/id/api/$shared", _codes("billing_error"), hint=_CREDIT),
    FailureRow(
        Owner.ACCOUNT,
        _DASHSCOPE,
        _codes("Arrearage", "PrepaidBillOverdue", "PostpaidBillOverdue", "CommodityNotPurchased"),
        example="Access denied, please make sure your account is in good standing.",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/QwenLM/qwen-code/pull/7842",
        _codes("Throttling.AllocationQuota"),
        example="Allocated quota exceeded, please increase your quota limit.",
        hint=_QUOTA,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/QwenLM/qwen-code/issues/1742, https://github.com/axoviq-ai/synthadoc/issues/215 and "
        "https://github.com/APIParkLab/APIPark/issues/394",
        text=_text("free (allocated )?quota (is |has been )?(exceeded|exhausted)", "free tier of the model"),
        example="Free allocated quota exceeded.",
        hint=_QUOTA,
    ),
    FailureRow(
        Owner.ACCOUNT,
        _ZAI,
        _codes("1110", "1111", "1112", "1113", "1121", "1304", "1309"),
        _text(
            "account", "arrears", "recharge", "balance", "locked", "limit", "expired", "账户", "账号", "欠费", "余额"
        ),
        example="Your account is in arrears, please recharge and try again",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://www.volcengine.com/docs/82379/1299023",
        _codes("AccountOverdueError"),
        example="The request failed because your account has an overdue balance.",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/volcengine/MineContext/issues/328",
        text=_text("has reached the set inference limit"),
        example="Your account has reached the set inference limit for the model, and the service has been paused.",
        hint=_QUOTA,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://forum.moonshot.ai/t/429-insufficient-balance/244",
        _codes("exceeded_current_quota_error"),
        example="You exceeded your current quota, please check your plan and billing details",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/UKGovernmentBEIS/inspect_ai/pull/3215 and "
        "https://github.com/google-gemini/gemini-cli/issues/21180",
        text=_text(r"\blimit: 0(?![\d.])", "PerDay"),
        statuses=frozenset({403, 429}),
        example="* Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: gemini-3.1-pro",
        hint=_QUOTA,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://cloud.google.com/dotnet/docs/reference/Google.Api.CommonProtos/latest/Google.Api.ErrorReason",
        _codes("BILLING_DISABLED", "CONSUMER_SUSPENDED", "SERVICE_DISABLED"),
        hint=_LOCKED,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/ChatGPTNextWeb/NextChat/issues/5255 and https://github.com/google-gemini/cookbook/issues/135",
        text=_text(r"please enable billing", r"user location is not supported"),
        statuses=_CLIENT,
        example="User location is not supported for the API use.",
        hint=_LOCKED,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/continuedev/continue/issues/11336 and https://github.com/Wei-Shaw/sub2api/issues/1709",
        text=_text("API.key not (valid|found)", "API key expired", "API_KEY_INVALID"),
        statuses=_CLIENT,
        example="API key not valid. Please pass a valid API key.",
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/continuedev/continue/issues/10778",
        text=_text("incorrect api.key provided"),
        statuses=_CLIENT,
        example="Incorrect API key provided: na***ys. You can obtain an API key from https://console.x.ai.",
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/MiniMax-AI/Mini-Agent/pull/29",
        text=_text("^login fail"),
        example="login fail: Please carry the API secret key in the 'Authorization' field of the request header",
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/NVIDIA-NeMo/Guardrails/issues/563",
        _codes("organization_restricted"),
        example="Organization has been restricted. Please reach out to support if you believe this was in error.",
        hint=_LOCKED,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/anthropics/claude-code/issues/72457 and https://github.com/NVIDIA-NeMo/Guardrails/issues/563",
        text=_text("organization has been (disabled|restricted)"),
        statuses=_CLIENT,
        example="This organization has been disabled.",
        hint=_LOCKED,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/dyad-sh/dyad/issues/3626",
        text=_text("credits (are|have been) depleted"),
        statuses=_CLIENT,
        example="Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/cline/cline/issues/5301",
        text=_text("free-models-per-day"),
        example="Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day",
        hint=_QUOTA,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/diegosouzapw/OmniRoute/pull/1620",
        text=_text("exceeded today's quota"),
        statuses=frozenset({403, 429}),
        example="You have exceeded today's quota for model m, please try again tomorrow.",
        hint=_QUOTA,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/continuedev/continue/issues/10373",
        text=_text("used all available credits", "reached its monthly spending limit"),
        example="Your team has either used all available credits or reached its monthly spending limit.",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/pollinations/pollinations/issues/12136",
        text=_text(r"account .{0,80}is suspended", "reaching the monthly spending limit"),
        example="Account own-name is suspended, possibly due to reaching the monthly spending limit",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/BerriAI/litellm/pull/37000",
        _codes("budget_exceeded"),
        example="LiteLLM User: engineer-1, exceeded budget for model=claude-opus-4-8",
        hint="the gateway's budget is used up: raise it, or run the same command again when it returns",
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/BerriAI/litellm/issues/14144 and https://github.com/OWASP/OpenCRE/pull/1102",
        text=_text("budget has been exceeded", "ExceededBudget:", "crossed budget:"),
        example="litellm.BadRequestError: OpenAIException - Budget has been exceeded! Current cost: 14.2, Max: 10",
        hint="the gateway's budget is used up: raise it, or run the same command again when it returns",
    ),
    FailureRow(
        Owner.ACCOUNT,
        _LITELLM,
        text=_text(r"litellm\.(AuthenticationError|PermissionDeniedError)"),
        example="litellm.AuthenticationError: OpenAIException - Incorrect API key provided",
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/huggingface/agents-course/issues/386",
        text=_text(r"exceeded your monthly (included )?credits"),
        example="You have exceeded your monthly included credits for Inference Providers.",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/co-cddo/ndx-try-aws-scp/blob/main/docs/bedrock-quota-investigation.md",
        text=_text("too many tokens per day"),
        example="Too many tokens per day, please wait before trying again.",
        hint=_QUOTA,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/zai-org/GLM-5/issues/148, https://github.com/Wei-Shaw/sub2api/issues/890 and "
        "https://github.com/continuedev/continue/issues/11823",
        text=_text("insufficient (account )?balance", "余额不足"),
        statuses=frozenset({400, 401, 403, 429}),
        example="Insufficient balance or no resource package. Please recharge.",
        hint=_CREDIT,
    ),
    FailureRow(
        Owner.ACCOUNT,
        "https://github.com/QuantumNous/new-api/blob/main/types/error.go",
        _codes("insufficient_user_quota", "pre_consume_token_quota_failed"),
        hint=_CREDIT,
    ),
)

SERVERS = (
    FailureRow(
        Owner.SERVER,
        _LITELLM,
        text=_text(
            r"litellm\.(RateLimitError|Timeout|ServiceUnavailableError|InternalServerError|APIConnectionError|APIError)"
        ),
        example="litellm.Timeout: Connection timed out after 600 seconds",
    ),
    FailureRow(
        Owner.SERVER,
        _LMSTUDIO,
        text=_text("the model has crashed", "model (is |was )?unloaded", "failed to load model"),
        example="The model has crashed without additional information. (Exit code: 1)",
    ),
    FailureRow(
        Owner.SERVER,
        "https://github.com/vllm-project/vllm/issues/5060",
        text=_text("background loop (has errored|is stopped)", "CUDA out of memory", "CUDA error:", "EngineDeadError"),
        example="Background loop has errored already.",
    ),
    FailureRow(
        Owner.SERVER, "https://console.groq.com/docs/flex-processing", _codes("capacity_exceeded"), statuses=_CLIENT
    ),
    FailureRow(
        Owner.SERVER,
        _GEMINI_ERRORS,
        _codes("cancelled"),
        dialects=frozenset({"generate"}),
    ),
    FailureRow(Owner.SERVER, _TGI, _codes("generation", "incomplete_generation", "overloaded", "healthcheck")),
    FailureRow(
        Owner.SERVER,
        _BEDROCK,
        _codes("ModelErrorException", "ModelNotReadyException", "ModelTimeoutException", "ThrottlingException"),
    ),
    FailureRow(
        Owner.SERVER,
        _OPENAI_ERRORS,
        _codes("server_error", "rate_limit_exceeded", "slow_down", "vector_store_timeout"),
    ),
    FailureRow(
        Owner.SERVER,
        "https://platform.openai.com/docs/guides/batch",
        _codes("batch_expired", "batch_cancelled"),
        dialects=frozenset({"chat", "responses"}),
    ),
    FailureRow(
        Owner.SERVER,
        "https://docs.claude.com/en/docs/build-with-claude/batch-processing",
        _codes("expired", "canceled"),
        dialects=frozenset({"messages"}),
    ),
    FailureRow(
        Owner.SERVER,
        _ANTHROPIC,
        _codes("api_error", "timeout_error", "rate_limit_error", "overloaded_error"),
        dialects=frozenset({"messages"}),
    ),
    FailureRow(Owner.SERVER, _RFC, statuses=frozenset({408, 409, 425, 429})),
)

BLIND_MODELS = (
    FailureRow(
        Owner.SETTING,
        "https://github.com/ggml-org/llama.cpp/issues/15377, https://github.com/browser-use/web-ui/issues/274, "
        "https://github.com/vllm-project/vllm/issues/23402, https://github.com/vllm-project/vllm/issues/13513, "
        "https://github.com/rikkahub/rikkahub/issues/1433, https://github.com/OpenCoworkAI/open-cowork/issues/251, "
        "https://github.com/leonickson1/Swiftlet/pull/38 and "
        "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/473",
        text=_text(
            *("image_url is only supported", "not a multimodal model", "support image input"),
            *("does not support images", "image input is not supported", "unknown variant `?image_url"),
            *("at most 0 image", 'unsupported content part type:? "image_url"'),
        ),
        example="image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        parameter="model",
        hint=_BLIND,
    ),
)

SETTINGS = (
    FailureRow(
        Owner.SETTING,
        f"{_RFC}.4",
        statuses=frozenset(range(300, 400)),
        parameter="base_url",
        hint="give --base-url the address that answers itself, without a redirect",
    ),
    FailureRow(Owner.SETTING, f"{_RFC}.5.5", statuses=frozenset({404, 405, 410}), parameter="model"),
    FailureRow(
        Owner.SETTING,
        f"{_RFC}.5.8",
        statuses=frozenset({407}),
        parameter="base_url",
        hint="the proxy wants a password: look at HTTPS_PROXY, HTTP_PROXY and ALL_PROXY",
    ),
    FailureRow(
        Owner.SETTING,
        _LITELLM,
        text=_text(r"litellm\.NotFoundError"),
        example="litellm.NotFoundError: AnthropicException - model: claude-9",
        parameter="model",
    ),
    FailureRow(
        Owner.SETTING,
        _DASHSCOPE,
        text=_text("only supports? stream", "does not support http call", "non-streaming calls"),
        statuses=_CLIENT,
        example="This model only support stream mode, please enable the stream parameter to access the model.",
        parameter="model",
        hint="eyechart asks for whole replies: choose a model that gives them, or switch its thinking off",
    ),
)

KEYS = (FailureRow(Owner.ACCOUNT, f"{_RFC}.5.2 and .5.4, {_OPENAI_ERRORS}", statuses=frozenset({401, 403})),)

PICTURES = (
    FailureRow(Owner.PICTURE, f"{_RFC}.5.14", statuses=frozenset({413})),
    FailureRow(
        Owner.PICTURE,
        _OPENAI_ERRORS,
        _codes(
            *("context_length_exceeded", "image_too_large", "image_too_small", "image_parse_error"),
            *("invalid_base64_image", "invalid_image", "invalid_image_format", "unsupported_image_media_type"),
            *("string_above_max_length", "image_file_too_large", "invalid_image_mode", "empty_image_file"),
        ),
    ),
    FailureRow(
        Owner.PICTURE,
        "https://github.com/Mai-with-u/MaiBot/issues/242",
        _codes("InvalidParameter.UnsupportedImageFormat", "OversizeImage", "InvalidParameter.OversizeImage"),
    ),
    FailureRow(
        Owner.PICTURE,
        "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
        _codes("exceed_context_size_error"),
    ),
    # Prompts are short, so a context that overflows is filled by a picture's tokens.
    FailureRow(
        Owner.PICTURE,
        "https://github.com/vllm-project/vllm, sgl-project/sglang and huggingface/text-generation-inference",
        text=_text(
            *("maximum context length", "longer than the maximum model length", "prompt is too long"),
            *(r"input token count[^.]*exceeds", "longer than the model's context length", "available context size"),
            *("exceeds the maximum allowed length", "exceeded model token limit", "range of input length"),
            *("input is too long for", r"`inputs`( tokens)?.{0,40}must (be|have)", "ContextWindowExceededError"),
        ),
        statuses=_CLIENT,
        example="This model's maximum context length is 8192 tokens.",
    ),
)

# Real messages of OpenAI, Anthropic, Google, vLLM, SGLang and OpenRouter; see the table in the test.
PICTURE_FAULT = FailureRow(
    Owner.PICTURE,
    "https://docs.claude.com/en/docs/build-with-claude/vision and https://platform.openai.com/docs/guides/images",
    text=_text(
        r"(image|picture|pixel|patches|base64|media.?type|dimension).{0,80}"
        r"(too (large|small|many|big)|exceed|at most|maximum|at least|below|limit|unsupported|not supported|invalid"
        r"|corrupt|could not|cannot|unable|fail|smaller|larger|not valid|aspect)",
        r"(unsupported|invalid|corrupt|could not|cannot|unable to|failed to).{0,80}(image|picture|base64|media.?type)",
        r"aspect ratio must be|at most [1-9]\d* image|(request|payload|body).{0,40}too large",
    ),
    statuses=_CLIENT,
    example="Could not process image",
)
"""The widest family of messages, which holds only where no parameter is named."""

ENDS_RUN = frozenset({Owner.SETTING, Owner.ACCOUNT})
"""Whose failures would strike every further request, so that they end the run and nothing is stored."""

FAILURES: tuple[FailureRow, ...] = (
    *FILTERS,
    *QUESTIONS,
    *THROTTLES,
    *ACCOUNTS,
    *BLIND_MODELS,
    *SERVERS,
    *KEYS,
    *SETTINGS,
    *PICTURES,
    PICTURE_FAULT,
)
"""All rows in the order in which they are tried; the first that fits decides."""

STATUS_OF_TYPE: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
    "invalid_argument": 400,
    "failed_precondition": 400,
    "unauthenticated": 401,
    "permission_denied": 403,
    "not_found": 404,
    "resource_exhausted": 429,
    "unavailable": 503,
    "deadline_exceeded": 504,
    "cancelled": 499,
}
"""Statuses that stand for the types of Anthropic's and Google's errors, where an error comes without a status:
https://docs.claude.com/en/api/errors and https://docs.cloud.google.com/apis/design/errors."""

SERVER_SIDE = FailureRow(Owner.SERVER, f"{_RFC}.6", statuses=_SERVER_SIDE)
UNKNOWN_4XX = FailureRow(Owner.QUESTION, f"{_RFC}.5", statuses=_CLIENT)
UNKNOWN = FailureRow(Owner.SERVER, "no status of an error: whatever it is, it is not an answer")

NAMED_PARAMETERS: Mapping[str, re.Pattern[str]] = {
    _OPENAI_ERRORS: _text(
        r"(?:unsupported|unknown|unrecognized|invalid) (?:parameter|value|request argument[^:]*|field|argument):? "
        r"['\"`]?(?P<name>[A-Za-z_][\w.]*)"
    ),
    "https://github.com/vllm-project/vllm (pydantic's text)": _text(r"'loc': \('body', '(?P<name>[A-Za-z_]\w*)'"),
    _GEMINI: _text(r"unknown name \"(?P<name>\w+)\"", r"because it has an? (?P<other>\w+) value of"),
    _ANTHROPIC: _text(
        r"[`'\"]?\b(?P<name>[a-z_]+)\b[`'\"]? is (?:deprecated|not supported) for this model",
        r"^(?P<other>[a-z_.]+): extra inputs",
    ),
    f"{_TGI} and {_DASHSCOPE}": _text(
        r"[`'\"]?\b(?P<name>temperature|top_p|top_k|seed|max_tokens|max_completion_tokens|max_new_tokens"
        r"|max_output_tokens|presence_penalty|frequency_penalty|reasoning_effort|thinking_budget|enable_thinking"
        r"|verbosity|top_logprobs)\b[`'\"]?(?: parameter)?(?: \(?=?[\w.-]+\)?)?,? "
        r"(?:must|has to|have to|should|needs? to|cannot|can't|may not|does not|only supports?|is (?:not|too|out))"
    ),
}
"""Families of messages that name a parameter, by where they were read."""

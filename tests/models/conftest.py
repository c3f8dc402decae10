"""A planted key, and nothing else from anyone's environment."""

import pytest
from models.asks import KEY


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    for provider in (
        "ANTHROPIC",
        "GEMINI",
        "GOOGLE",
        "GOOGLE_GEMINI",
        "OPENAI",
        "VLLM",
        "OLLAMA",
        "LMSTUDIO",
        "OPENROUTER",
        "TOGETHER",
        "DASHSCOPE",
        "SGLANG",
    ):
        monkeypatch.delenv(f"{provider}_API_KEY", raising=False)
        monkeypatch.delenv(f"{provider}_BASE_URL", raising=False)
    for kind in ("ALL", "HTTP", "HTTPS", "NO"):
        monkeypatch.delenv(f"{kind}_PROXY", raising=False)
        monkeypatch.delenv(f"{kind}_PROXY".lower(), raising=False)
    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(variable, raising=False)
    for provider in ("ANTHROPIC", "GEMINI", "OPENAI"):
        monkeypatch.setenv(f"{provider}_API_KEY", KEY)

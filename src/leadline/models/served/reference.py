"""`inspect:PROVIDER/MODEL`: how a served model is named, and which providers there are.

Read without inspect-ai, whose import takes seconds, so that a slip in study.yaml is told at once.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from importlib.metadata import entry_points
from urllib.parse import urlsplit

PREFIX = "inspect:"
# Providers of inspect-ai that speak to a server, and the package that each needs.
PROVIDERS = {
    "anthropic": "anthropic",
    "bedrock": "aioboto3",
    "cloudflare": "openai",
    "deepseek": "openai",
    "fireworks": "openai",
    "google": "google-genai",
    "grok": "xai_sdk",
    "groq": "groq",
    "hf-inference-providers": "openai",
    "litellm-proxy": "openai",
    "llama-cpp-python": "openai",
    "meta": "openai",
    "mistral": "mistralai",
    "moonshot": "openai",
    "ollama": "openai",
    "openai": "openai",
    "openai-api": "openai",
    "openai-api-completions": "openai",
    "openrouter": "openai",
    "perplexity": "openai",
    "sagemaker": "aioboto3",
    "sambanova": "openai",
    "together": "openai",
}
# These load a model into this very process, which the study's own engine does, with more to show for it.
_IN_PROCESS = {"hf", "mockllm", "nnterp", "none", "transformer_lens"}
# Their clients send a request again by themselves, or start a server. These servers speak OpenAI's language
# too, and its client can be kept from that.
_BETTER_AS = {
    "azureai": "openai-api",
    "sglang": "openai-api",
    "vllm": "openai-api",
    "vllm-completions": "openai-api-completions",
}
# These take a service's name before the model's, which names the key's variable.
_WITH_SERVICE = {"openai-api", "openai-api-completions"}
# These are shown the prompt as it stands; no chat template is laid around it.
_RAW = {"openai-api-completions"}


@dataclass(frozen=True)
class Reference:
    """A provider and its model's name, which may hold further slashes."""

    provider: str
    model: str

    @property
    def name(self) -> str:
        """As inspect-ai wants it."""
        return f"{self.provider}/{self.model}"

    @property
    def takes_raw_text(self) -> bool:
        """Whether a prompt reaches the model as it stands, and conversations cannot be sent."""
        return self.provider in _RAW


def is_served(ref: str) -> bool:
    """Whether a model's reference names one behind an API."""
    return ref.startswith(PREFIX)


def read_reference(ref: str) -> Reference:
    """The provider and the model that `ref` names. Raises ValueError, in one line, if it names none.

    >>> read_reference("inspect:openai/gpt-4o-mini")
    Reference(provider='openai', model='gpt-4o-mini')
    """
    provider, _, model = ref.removeprefix(PREFIX).partition("/")
    if not is_served(ref) or not provider or not model.strip("/") or ref != ref.strip():
        raise ValueError("a served model is named inspect:PROVIDER/MODEL, such as inspect:openai/gpt-4o-mini")
    if provider in _IN_PROCESS:
        raise ValueError(
            f"{provider!r} loads a model into this process; name the model itself, such as ref: {model}"
        )
    if provider in _BETTER_AS:
        other = _BETTER_AS[provider]
        raise ValueError(
            f"start the server yourself and name it inspect:{other}/{provider}/{model}, with base_url"
        )
    if provider not in PROVIDERS and not _others_may_know():
        near = difflib.get_close_matches(provider, PROVIDERS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(PROVIDERS)}"
        raise ValueError(f"there is no provider {provider!r}; {hint}")
    if provider in _WITH_SERVICE and "/" not in model:
        raise ValueError(
            f"{provider!r} wants a service's name before the model's: inspect:{provider}/local/{model}"
        )
    return Reference(provider, model)


def is_loopback(url: str | None) -> bool:
    """Whether an address is on this machine, where servers seldom want a key."""
    host = urlsplit(url or "").hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _others_may_know() -> bool:
    """Whether a package here brings providers of its own, whose names only inspect-ai can tell."""
    return any(
        each.value.split(".")[0] not in ("leadline", "inspect_ai")
        for each in entry_points(group="inspect_ai")
    )

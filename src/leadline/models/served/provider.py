"""One of inspect-ai's providers, made ready to send single requests: without retries of its own.

inspect-ai is imported here and in `attempt`, late, since that takes seconds.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
from typing import Any

from leadline.errors import UsageError
from leadline.models.served.attempt import whole_tokens
from leadline.models.served.reference import PROVIDERS, is_loopback
from leadline.models.served.settings import ServedSettings
from leadline.redaction import redacted

# How single providers' clients are told not to send anything again by themselves.
_NO_RETRIES: dict[str, dict[str, Any]] = {"grok": {"disable_retry": True}}
_NO_RETRIES_BY_VARIABLE = {"bedrock": ("AWS_MAX_ATTEMPTS", "1")}
# Sent to servers on this machine that want a key in the header and do not look at it.
_NO_KEY = "none"


def make_provider(settings: ServedSettings) -> Any:
    """inspect-ai's `ModelAPI` for `settings`. Nothing is sent.

    Raises UsageError, in one line, where inspect-ai, the provider's own package or a key is missing, or where
    an option or an argument is not one.
    """
    try:
        importlib.import_module("inspect_ai.model")
    except ImportError as error:
        raise UsageError(
            f"served models need the extra 'served' ({error.name or 'inspect-ai'} is missing)",
            where=settings.ref,
            fix="pip install 'leadline[served]'",
        ) from error
    _keep_quiet()
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import get_model

    provider = settings.reference.provider
    if provider in _NO_RETRIES_BY_VARIABLE:
        os.environ.setdefault(*_NO_RETRIES_BY_VARIABLE[provider])
    config = generate_config(settings)
    arguments = {**_NO_RETRIES.get(provider, {}), **settings.args}

    def make(**key: Any) -> Any:
        return get_model(
            settings.reference.name,
            config=config,
            base_url=settings.base_url,
            memoize=False,
            **key,
            **arguments,
        )

    try:
        try:
            model = make()
        except PrerequisiteError as error:
            if not (_is_about_a_key(error) and is_loopback(_address(settings))):
                raise
            model = make(api_key=_NO_KEY)
    except PrerequisiteError as error:
        raise _missing(settings, error) from error
    except ImportError as error:
        raise UsageError(
            f"needs a package that is not installed: {error.name or error}",
            where=settings.ref,
            fix=f"pip install {PROVIDERS.get(settings.reference.provider, error.name or '')}".rstrip(),
        ) from error
    except (ValueError, TypeError) as error:
        raise _not_taken(settings, error) from error
    _without_retries(model.api, settings.timeout)
    _with_sound_usage(model.api)
    return model.api


def generate_config(settings: ServedSettings, **decided: Any) -> Any:
    """inspect-ai's `GenerateConfig`: the study's options, and what was decided for a request.

    Raises UsageError for an option that inspect-ai does not know, or whose value it does not take.
    """
    from inspect_ai.model import GenerateConfig
    from pydantic import ValidationError

    if settings.reference.provider == "openai":
        # Left open, inspect-ai would find out with a request of its own whether the account may have them.
        decided.setdefault("reasoning_summary", settings.options.get("reasoning_summary", "none"))
    try:
        return GenerateConfig(**{**settings.options, **decided})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        unknown = re.fullmatch(r"Unknown GenerateConfig field\(s\): (\w+).*", first["msg"].split(", ", 1)[-1])
        if unknown:
            fix = "what the provider itself takes: options: {extra_body: {...}}"
            raise UsageError(
                f"options: {unknown[1]} is no setting of inspect-ai's", where=settings.ref, fix=fix
            ) from error
        message = f"options: {name + ': ' if name else ''}{first['msg'].removeprefix('Value error, ')}"
        raise UsageError(
            _line(message), where=settings.ref, fix="see GenerateConfig of inspect-ai"
        ) from error


def address_of(api: Any) -> str | None:
    """Where a provider's requests go, as far as it says: the address may come from the environment."""
    client = getattr(api, "client", None)
    for holder in (api, client):
        found = getattr(holder, "base_url", None)
        if found:
            return str(found)
    return None


def key_of(api: Any) -> str:
    """The environment variable that a provider's key is taken from: one that is set, else the first."""
    names: list[str] = getattr(api, "api_key_vars", [])
    return next((name for name in names if os.environ.get(name)), names[0] if names else "the key")


def _address(settings: ServedSettings) -> str | None:
    """The address, before there is a provider to ask."""
    if settings.base_url is not None:
        return settings.base_url
    service = settings.reference.name.split("/")
    name = service[1] if service[0].startswith("openai-api") else service[0]
    return os.environ.get(f"{name.upper().replace('-', '_')}_BASE_URL")


def _without_retries(api: Any, timeout: float) -> None:
    """Switch off the retries of the provider's own client: each would be a request that no ledger knows of.

    The clients of OpenAI, Anthropic and Groq, which most providers use, read these when they send.
    """
    client: Any = getattr(api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0
        # Their own time-out is ten minutes; ours, which is around the whole attempt, may be longer.
        if timeout > 500 and hasattr(client, "timeout"):
            client.timeout = timeout + 60


def _with_sound_usage(api: Any) -> None:
    """Leave out what of a completion's usage is no number of tokens: inspect-ai would throw the answer away
    with it, and it would be asked, and paid for, again and again."""
    choices = getattr(api, "chat_choices_from_completion", None)
    if choices is None:
        return

    def from_completion(completion: Any, *more: Any) -> Any:
        completion.usage = _sound(completion.usage)
        return choices(completion, *more)

    api.chat_choices_from_completion = from_completion


def _sound(usage: Any) -> Any:
    """A completion's usage with what inspect-ai reads of it, or None."""
    said = [whole_tokens(getattr(usage, name, None)) for name in ("prompt_tokens", "completion_tokens")]
    if None in said:
        return None
    usage.total_tokens = sum(number or 0 for number in said)
    details = getattr(usage, "prompt_tokens_details", None)
    parts = [getattr(details, name, None) for name in ("cached_tokens", "cache_write_tokens")]
    if any(part is not None and whole_tokens(part) is None for part in parts):
        usage.prompt_tokens_details = None
    thought = getattr(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None)
    if thought is not None and whole_tokens(thought) is None:
        usage.completion_tokens_details = None
    return usage


def _is_about_a_key(error: Exception) -> bool:
    return bool(re.search(r"_(?:API_)?KEY|TOKEN", str(error)))


def _missing(settings: ServedSettings, error: Exception) -> UsageError:
    """inspect-ai's message is for its own terminal, on several lines; what it says is one of two things."""
    text = _plain(str(error))
    if found := re.search(r"No (.+?) defined in the environment", text):
        names = found[1]
        if "BASE_URL" in names:
            return UsageError("has no address", where=settings.ref, fix="base_url: http://... in study.yaml")
        return UsageError(
            f"there is no key: {names} is not set", where=settings.ref, fix=f"export {names}=..."
        )
    if found := re.search(r"pip install ([\w.\-\[\] ]+)", text):
        return UsageError(
            f"needs a package that is not installed, or a newer one: {_line(text)}",
            where=settings.ref,
            fix=f"pip install --upgrade {found[1].split()[0]}",
        )
    return UsageError(_line(text), where=settings.ref)


def _not_taken(settings: ServedSettings, error: Exception) -> UsageError:
    """An argument that the provider, or the package below it, does not know or take."""
    if found := re.search(r"unexpected keyword argument '(\w+)'", str(error)):
        what = f"args: {found[1]} is no argument of this provider's"
        return UsageError(what, where=settings.ref, fix="see its page in inspect-ai's documentation")
    return UsageError(f"args: {_line(error)}" if settings.args else _line(error), where=settings.ref)


def _plain(text: str) -> str:
    """Without the marks that colour a terminal."""
    return re.sub(r"\[/?(?:bold|blue|red|green|yellow|italic|/)[^\]]*\]", "", text).replace("ERROR: ", "")


def _line(error: object) -> str:
    text = " ".join(redacted(_plain(str(error))).split())
    return text if len(text) <= 300 else text[:299] + "…"


def _keep_quiet() -> None:
    """Warnings of inspect-ai and of the packages below it would cut through the progress display."""
    for name in ("inspect_ai", "openai", "anthropic", "httpx", "httpx2"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())

"""inspect-ai's cache of answers, with a scope for each request's key.

Without the scope its key is what was asked, and one answer would come back for every sample of an item. Its
files are pickles in its own cache folder, written and read by it alone; only a study that says so uses it.
"""

from __future__ import annotations

from typing import Any

from leadline.errors import UsageError
from leadline.models.served.worst_case import key_text


class AnswerCache:
    """Answers that were given before, by request."""

    def __init__(self, api: Any, name: str) -> None:
        """`name`: the model's, as inspect-ai has it. Raises UsageError where its cache cannot be used."""
        try:
            from inspect_ai.model import CachePolicy
            from inspect_ai.model._cache import CacheEntry, cache_fetch, cache_store
        except ImportError as error:
            raise UsageError(
                "this version of inspect-ai keeps its cache in a way that is not known here",
                fix="cache: false",
            ) from error
        self._policy, self._entry = CachePolicy, CacheEntry
        self._fetch, self._store = cache_fetch, cache_store
        self._base_url, self._name = getattr(api, "base_url", None), name

    def get(self, key: tuple[int | str, ...], messages: list[Any], config: Any) -> Any:
        """inspect-ai's output for this very request, or None."""
        return self._fetch(self._made(key, messages, config))

    def put(self, key: tuple[int | str, ...], messages: list[Any], config: Any, output: Any) -> None:
        """Keep an output. What a content filter stopped is not kept."""
        self._store(self._made(key, messages, config), output)

    def _made(self, key: tuple[int | str, ...], messages: list[Any], config: Any) -> Any:
        return self._entry(
            base_url=self._base_url,
            config=config,
            input=messages,
            model=self._name,
            policy=self._policy(expiry=None, scopes={"leadline": key_text(key)}),
            tool_choice="none",
            tools=[],
        )

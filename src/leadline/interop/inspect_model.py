"""A model of this machine as Inspect asks it: what `leadline serve` answers, without a server between."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from inspect_ai._util._async import current_async_backend
from inspect_ai.log._samples import sample_active
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Logprobs,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from leadline.bench.problem import did_you_mean
from leadline.errors import UsageError
from leadline.interop.inspect_faults import as_prerequisite
from leadline.techniques.prompts_library import STYLES, Prompts
from leadline.techniques.spelling import technique_from
from leadline.techniques.technique import Technique

# Arguments of the provider; whatever else -M gives is a setting of the technique.
OWN = {
    "technique": "greedy",
    "benchmark": "facts",  # what a technique is fitted on
    "prompt": "few-shot",  # how RECITE and GenRead put a question
    "dtype": "float32",
    "device": "auto",
    "max_batch": 64,
}
# The longest answer where nobody says one, in tokens.
MAX_TOKENS = 512
# What of Inspect's configuration decides an answer and is done. Unsaid, the temperature is 1, as on servers.
DONE = (
    "max_tokens", "temperature", "top_p", "stop_seqs", "seed", "num_choices", "logprobs", "top_logprobs",
)  # fmt: skip
# What changes no answer of a model on this machine.
IDLE = (
    "max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "max_connections",
    "adaptive_connections", "system_message", "cache", "cache_prompt", "max_tool_output", "internal_tools",
    "parallel_tool_calls", "fail_on_refusal", "fallback_models", "reasoning_history", "reasoning_summary",
)  # fmt: skip
# Values that ask for nothing.
NEUTRAL: Mapping[str, Sequence[Any]] = {
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "logit_bias": ({},),
    "best_of": (1,),
    "batch": (False,),
    "extra_headers": ({},),
    "extra_body": ({},),
    "modalities": (["text"],),
}
_STOP = {"stop": "stop", "length": "max_tokens"}


class LeadlineModel(ModelAPI):
    """`leadline/MODEL` or `leadline/MODEL?technique=...&setting=...`; see `OWN` for the arguments.

    Calls that wait are answered together. Without a seed every call draws anew; with one, the draws are keyed
    by it, the prompt, the epoch and the choice, so that epochs differ and come out the same again.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        **model_args: Any,
    ) -> None:
        """Load the model, make the technique ready. A wrong argument is told before anything is loaded."""
        super().__init__(model_name, base_url, api_key, [], config)
        with as_prerequisite():
            if base_url is not None:
                raise UsageError(
                    "leadline/... runs models of this machine and has no URL",
                    fix="for a server: --model openai-api/...",
                )
            check_config(config)
            reference, given = _arguments(model_name, model_args)
            technique = _technique(given)
            self._open(reference, technique, {**OWN, **given})

    def _open(self, reference: str, technique: Technique, given: Mapping[str, Any]) -> None:
        from leadline.models.probing import bench_for, loaded
        from leadline.serving import Batcher, offered

        style = given["prompt"]
        if style not in STYLES:
            raise UsageError(f"prompt is not {style!r}", fix=f"one of: {', '.join(STYLES)}")
        max_batch = given["max_batch"]
        if not isinstance(max_batch, int) or not 1 <= max_batch <= 4096:
            raise UsageError(f"max_batch is not {max_batch!r}", fix="a number from 1 to 4096")
        model = loaded(reference, str(given["dtype"]), str(given["device"]))
        bench = bench_for(model, str(given["benchmark"])) if technique.opens_the_model else None
        self.offer = offered(model, technique, name=self.model_name, bench=bench, prompts=Prompts(style))
        self.batcher = Batcher(self.offer, max_batch=max_batch, max_waiting=sys.maxsize)
        self.batcher.start()

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        """Answer one call. A prompt that is too long is an output that says so, as with other providers."""
        from leadline.serving.asking import of_chat
        from leadline.serving.parameters import ChatBody
        from leadline.serving.problem import TOO_LONG, ProblemError
        from leadline.serving.work import Outcome

        with as_prerequisite():
            if current_async_backend() != "asyncio":
                raise UsageError("leadline/... runs on asyncio", fix="unset INSPECT_ASYNC_BACKEND")
            if tools:
                raise UsageError("leadline/... calls no tools", fix="a task or solver without tools")
            check_config(config)
            values = {
                "messages": [{"role": one.role, "content": _text(one)} for one in input],
                "max_tokens": config.max_tokens,
                "temperature": config.temperature,
                "top_p": config.top_p,
                "stop": config.stop_seqs,
                "seed": _seed(config.seed),
                "n": config.num_choices,
                "logprobs": config.logprobs,
                "top_logprobs": config.top_logprobs if config.logprobs else None,
            }
            said = {key: value for key, value in values.items() if value is not None}
            try:
                asked = of_chat(self.offer, _checked(ChatBody, said), MAX_TOKENS)
            except ProblemError as problem:
                if problem.code == TOO_LONG:
                    return self._too_long(problem.message), ModelCall.create(said, {})
                raise UsageError(problem.message) from problem
        self.batcher.start()  # a model that was closed is used again in another eval of the same process
        work = self.batcher.submit(asked, streams=False)
        try:
            found: dict[int, Outcome] = {}
            while len(found) < len(asked.choices):
                event = await work.events.get()
                if isinstance(event, ProblemError):
                    if event.code == TOO_LONG:
                        return self._too_long(event.message), ModelCall.create(said, {})
                    raise event
                if isinstance(event, Outcome):
                    found[event.choice] = event
        finally:
            self.batcher.forget(work)
        outcomes = [found[number] for number in sorted(found)]
        output = self._output(outcomes, asked.prompt_tokens, asked.seed, bool(config.logprobs))
        return output, ModelCall.create(said, {"choices": [one.text for one in outcomes]})

    def _output(
        self, outcomes: Sequence[Any], prompt_tokens: int | None, seed: int, wants_logprobs: bool
    ) -> ModelOutput:
        from leadline.serving.logprobs import of_chat as logprobs_of

        taken = sum(one.tokens_in for one in outcomes) if prompt_tokens is None else prompt_tokens
        written = sum(one.tokens_out for one in outcomes)
        return ModelOutput(
            model=self.model_name,
            choices=[
                ChatCompletionChoice(
                    message=ChatMessageAssistant(content=one.text, model=self.model_name, source="generate"),
                    stop_reason=_STOP.get(one.finish, "unknown"),  # type: ignore[arg-type]
                    logprobs=Logprobs.model_validate(logprobs_of(one.logprobs)) if wants_logprobs else None,
                )
                for one in outcomes
            ],
            usage=ModelUsage(input_tokens=taken, output_tokens=written, total_tokens=taken + written),
            metadata={"system_fingerprint": self.offer.fingerprint, "seed": seed},
        )

    def _too_long(self, message: str) -> ModelOutput:
        return ModelOutput.from_content(self.model_name, "", stop_reason="model_length", error=message)

    async def count_text_tokens(self, text: str) -> int:
        """Tokens of a text, by the model's own tokenizer."""
        return len(self.offer.reader.encode(text, False)) if text else 0

    def close(self) -> None:
        """Stop answering."""
        self.batcher.close()

    def max_tokens(self) -> int | None:
        """The longest answer where nobody says one."""
        return None  # a prompting technique has a length of its own

    def max_connections(self) -> int:
        """As many calls as are answered together."""
        return self.batcher.max_batch

    def connection_key(self) -> str:
        """Calls to one model share what they may have in flight."""
        return self.model_name


def check_config(config: GenerateConfig) -> None:
    """Raise UsageError for what would change an answer and is not done: it is never ignored in silence."""
    for name, value in config.model_dump(exclude_none=True).items():
        if name in DONE or name in IDLE or value in NEUTRAL.get(name, ()):
            continue
        raise UsageError(
            f"leadline/... does not do {name}", fix=f"what it does: {', '.join(DONE)}; leave {name} out"
        )
    if config.top_logprobs and not config.logprobs:
        raise UsageError("top_logprobs says nothing without logprobs", fix="--logprobs")


def _arguments(name: str, model_args: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The model, and all arguments: those behind its name and those of -M."""
    reference, _, query = name.partition("?")
    if not reference:
        raise UsageError("no model is named", fix="--model leadline/smollm2")
    given: dict[str, Any] = {
        key: _value(key, value) for key, value in parse_qsl(query, keep_blank_values=True)
    }
    for key, value in model_args.items():
        if key in given and given[key] != value:
            raise UsageError(
                f"{key} is {given[key]!r} in the model's name and {value!r} in -M", fix="say it once"
            )
        given[key] = value
    return reference, given


def _value(key: str, text: str) -> Any:
    return int(text) if isinstance(OWN.get(key), int) and text.isdigit() else text


def _technique(given: Mapping[str, Any]) -> Technique:
    """The technique with the settings that are not the provider's own arguments."""
    spelled = str(given.get("technique", OWN["technique"]))
    settings = {key: value for key, value in given.items() if key not in OWN}
    if settings and "technique" not in given:
        name = next(iter(settings))
        hint = did_you_mean(name, OWN, otherwise=f"-M technique=NAME; or one of: {', '.join(OWN)}")
        raise UsageError(f"there is no argument {name!r}, and no technique whose setting it is", fix=hint)
    parts = [f"{key}={_spelled(value)}" for key, value in settings.items()]
    if parts:
        spelled += ("," if ":" in spelled else ":") + ",".join(parts)
    return technique_from(spelled)


def _spelled(value: Any) -> str:
    """As a person types it; -M has read lists and numbers already."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(_spelled, value))
    return "none" if value is None else str(value)


def _seed(seed: int | None) -> int | None:
    """The call's seed: an epoch beyond the first has one of its own, else all epochs would be one answer."""
    if seed is None:
        return None
    active = sample_active()
    epoch = 1 if active is None else active.epoch
    if epoch == 1:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed} {epoch}".encode()).digest()[:4], "big") >> 1


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    texts = []
    for part in message.content:
        if isinstance(part, ContentText):
            texts.append(part.text)
        elif not isinstance(part, ContentReasoning):
            raise UsageError(
                f"leadline/... reads text, not {part.type}", fix="a task without images or sounds"
            )
    return "\n".join(texts)


def _checked(kind: type[Any], values: Mapping[str, Any]) -> Any:
    """The body of a request, whose checks are those of the server."""
    import json

    from leadline.serving.parameters import read_body

    return read_body(kind, json.dumps(values).encode())

"""What a technique does to one distribution: the best first tokens, the gold token's rank, what follows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from leadline.engine import Failure, Prompt, Request, Sampling
from leadline.errors import LeadlineError, UsageError
from leadline.ordinary_file import content
from leadline.techniques.prepared import Bench
from leadline.techniques.technique import Technique

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.lm import CausalLM


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid")
    role: str
    content: str


class ProbeLine(BaseModel):
    """One line of a prompts file: a raw text or chat messages, and the gold answer if there is one."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    id: Annotated[str, Field(min_length=1)]
    prompt: Annotated[str, Field(min_length=1)] | None = None
    messages: Annotated[list[_Message], Field(min_length=1)] | None = None
    gold: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> ProbeLine:
        if (self.prompt is None) == (self.messages is None):
            raise ValueError("has either a prompt or messages")
        if self.gold is not None and not self.gold.strip():
            raise ValueError("its gold answer is blank")
        return self

    @property
    def asked(self) -> Prompt:
        """As the engine takes it."""
        if self.prompt is not None:
            return Prompt(text=self.prompt)
        return Prompt(messages=tuple((each.role, each.content) for each in self.messages or ()))


@dataclass(frozen=True)
class Token:
    """A token with its score under a technique, and the log-probability that the score amounts to."""

    token_id: int
    token: str
    score: float
    logprob: float


@dataclass(frozen=True)
class Probed:
    """What a technique made of one prompt.

    top: the best first tokens, best first; tokens that are ruled out are never among them. score: as the
    technique computes it; where none scores (the baseline, steering) the log-probability. gold_rank: 1 is the
    best; a token that is ruled out has the number of finite scores + 1. details: what was decided at each
    step (layer, alpha, ...).
    """

    id: str
    technique: str
    prompt_token_ids: list[int]
    top: list[Token]
    gold_token_id: int | None
    gold_rank: int | None
    continuation_token_ids: list[int]
    continuation: str
    details: dict[str, list[Any]]


def read_prompts(path: Path) -> list[ProbeLine]:
    """The lines of a prompts file (JSON Lines). Raises UsageError naming file and line."""
    try:
        text = content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("is not UTF-8", where=f"{path} (byte {error.start})") from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    found: dict[str, ProbeLine] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        where = f"{path}:{number}"
        if not line.strip():
            continue
        try:
            one = ProbeLine.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            raise UsageError(f"is not JSON: {error.msg}", where=where) from None
        except RecursionError:
            raise UsageError("is nested too deeply", where=where) from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            raise UsageError(
                f"{key}: {message[0].lower() + message[1:]}" if key else message,
                where=where,
                fix='a line is {"id": ..., "prompt": ... or "messages": [...], "gold": ... if any}',
            ) from None
        except ValueError:
            raise UsageError("holds a number that is too long", where=where) from None
        if one.id in found:
            raise UsageError(f"the id {one.id!r} stands twice", where=where)
        found[one.id] = one
    if not found:
        raise UsageError("has no prompts", where=str(path))
    return list(found.values())


def probe(
    lm: CausalLM,
    technique: Technique,
    lines: Sequence[ProbeLine],
    *,
    bench: Bench | None = None,
    top: int = 20,
    max_new_tokens: int = 16,
) -> list[Probed]:
    """Apply `technique` to each prompt: scores of the first token, and a greedy continuation.

    Prompts are taken as they stand: a prompting technique has nothing to do here and is refused. Raises
    UsageError for that and for a prompt that does not fit, naming it.
    """
    if technique.kind in ("prompting", "sampling"):
        raise UsageError(
            f"{technique.name} changes what is asked, not how the model answers a given prompt",
            fix="probe a decoding or steering technique, or greedy",
        )
    prepared = technique.prepare(lm, bench or Bench())
    penalty = float(getattr(technique, "repetition_penalty", 1.0))
    sampling = Sampling(0.0, max_new_tokens, (), penalty)
    groups: dict[int, list[ProbeLine]] = {}
    interventions = {line.id: prepared.for_item(line.id) for line in lines}
    for line in lines:
        groups.setdefault(id(interventions[line.id]), []).append(line)
    found: dict[str, Probed] = {}
    for group in groups.values():
        requests = [
            Request(line.asked, sampling, (0, line.id), (line.gold,) if line.gold else ()) for line in group
        ]
        for at, one in _probed(lm, technique.name, group, requests, interventions[group[0].id], top):
            found[group[at].id] = one
    return [found[line.id] for line in lines]


def _probed(
    lm: CausalLM,
    name: str,
    lines: Sequence[ProbeLine],
    requests: Sequence[Request],
    intervention: Any,
    top: int,
) -> Iterator[tuple[int, Probed]]:
    from leadline.engine.decode import generate

    best: dict[int, list[Token]] = {}

    def watch(at: int, scores: Tensor) -> None:
        best[at] = _top(lm, scores, top, is_scored=intervention.decoding is not None)

    twins: dict[int, int] = {}  # prompts that are the same are computed once
    first: dict[Any, int] = {}
    for at, request in enumerate(requests):
        twins[at] = first.setdefault((request.prompt, request.gold), at)
    for at, generation in generate(lm, requests, None, intervention, watch):
        if isinstance(generation, Failure):
            raise LeadlineError(generation.message, where=f"prompt {lines[at].id}")
        gold = generation.probes[0] if generation.probes else None
        text = lm.text_of(requests[at].prompt)
        yield (
            at,
            Probed(
                id=lines[at].id,
                technique=name,
                prompt_token_ids=lm.encode(text, requests[at].prompt.text is not None),
                top=best[twins[at]],
                gold_token_id=gold.token if gold else None,
                gold_rank=gold.rank if gold else None,
                continuation_token_ids=list(generation.token_ids),
                continuation=generation.text,
                details=generation.details,
            ),
        )


def _top(lm: CausalLM, scores: Tensor, count: int, is_scored: bool) -> list[Token]:
    import torch

    logprobs = scores.double().log_softmax(-1)
    values, ids = scores.topk(min(count, scores.shape[-1]))
    found = []
    for value, token in zip(values.tolist(), ids.tolist(), strict=True):
        if value == -torch.inf:
            break
        logprob = float(logprobs[token])
        piece = lm.pieces[token] if token < len(lm.pieces) else ""
        found.append(Token(token, piece, value if is_scored else logprob, logprob))
    return found

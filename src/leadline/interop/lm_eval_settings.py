"""How samples of lm-evaluation-harness were made: what tells two runs of one model on one task apart.

Some settings belong to a run: what the model was called with, its chat template. Others belong to a task,
such as the number of solved examples, and differ between the tasks of one run; they tell configurations apart
only where one task was run with two values of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from leadline.interop.lm_eval_results import Results
from leadline.interop.lm_eval_rows import SampleRow

# Functions of filters that look at each repeat by itself, so that "take_first" is about the first one.
_APART = frozenset(
    {"regex", "take_first", "remove_whitespace", "lowercase", "uppercase", "map", "multi_choice_regex"}
)

# Arguments of models that are its name, addresses, keys, or how fast it goes. Whatever else is said may
# change answers.
_NO_SETTING = frozenset(
    {
        "pretrained", "model", "model_name", "engine", "path", "tokenizer", "tokenizer_backend",
        "tokenizer_mode",
        "base_url", "port", "host", "header", "custom_llm_provider", "auth_token", "verify_certificate",
        "ca_cert_path", "trust_remote_code", "device", "device_map", "device_map_option", "parallelize",
        "autogptq", "max_memory_per_gpu", "max_cpu_memory", "offload_folder", "tensor_parallel_size",
        "pipeline_parallel_size", "data_parallel_size", "gpu_memory_utilization", "swap_space", "batch_size",
        "max_batch_size", "num_concurrent", "max_retries", "retry_timeout", "timeout", "tokenized_requests",
        "use_fast_tokenizer", "low_cpu_mem_usage", "logits_cache", "subfolder_cache", "cache_dir",
        "download_dir",
        "max_images", "lora_local_path",
    }
)  # fmt: skip


def of_run(results: Results) -> dict[str, str]:
    """The settings of a whole run, the most telling first."""
    said = results.said
    found: dict[str, str] = {}
    called = _called(results.config.get("gen_kwargs"))
    if "temperature" in called:  # says it already
        called.pop("do_sample", None)
    found |= called
    found["chat template"] = _short(said.get("chat_template_sha"), said.get("chat_template"))
    found["system"] = _short(said.get("system_instruction_sha"), said.get("system_instruction"))
    arguments = _called(results.config.get("model_args"))
    for name, value in arguments.items():
        if name not in _NO_SETTING:
            found[name] = re.split(r"[\\/]", value.rstrip("\\/"))[-1]
    return found


def of_task(results: Results, task: str, row: SampleRow) -> dict[str, str]:
    """The settings of a task in a run, as its samples and its configuration say."""
    found = {"shots": str(results.shots(task))}
    kwargs = generation_of(row)
    if not row.is_likelihood:
        found["temperature"] = temperature_of(kwargs)
    for name in ("top_p", "top_k", "max_gen_toks", "max_tokens", "until"):
        if name in kwargs:
            found[name] = _text(kwargs[name])
    return found


def telling(
    settings: Iterable[tuple[str, str, str, Mapping[str, str]]],
) -> dict[tuple[str, str], dict[str, str]]:
    """Of (model, run, task, settings of the task): by model and run, those that tell its runs apart.

    A setting tells where some task of a model has two values of it. A run's value is that of its tasks.

    >>> zero, five = {"shots": "0"}, {"shots": "5"}
    >>> telling([("m", "1", "sums", zero), ("m", "2", "sums", five), ("m", "2", "verbs", zero)])
    {('m', '1'): {'shots': '0'}, ('m', '2'): {'shots': '0/5'}}
    >>> telling([("m", "1", "sums", five), ("m", "2", "verbs", zero)])
    {('m', '1'): {}, ('m', '2'): {}}
    """
    of_task: defaultdict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    of_run: defaultdict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    for model, run, task, said in settings:
        of_task[model, task].append(said)
        of_run[model, run].append(said)
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for (model, _), several in of_task.items():
        for name in dict.fromkeys(name for said in several for name in said):
            if len({said.get(name) for said in several}) > 1:
                names[model][name] = None
    return {
        (model, run): {
            name: "/".join(values)
            for name in names[model]
            if (values := sorted({said[name] for said in several if name in said}))
        }
        for (model, run), several in of_run.items()
    }


def generation_of(row: SampleRow) -> Mapping[str, Any]:
    """How an answer was generated, as its request says; {} where likelihoods were measured."""
    request = row.requests[0]
    return request[1] if len(request) > 1 and isinstance(request[1], Mapping) else {}


def temperature_of(kwargs: Mapping[str, Any]) -> str:
    """The temperature of a request: "0" where nothing is drawn.

    Without `do_sample` the harness decodes greedily, whatever else is said, unless a temperature is given.
    """
    temperature = kwargs.get("temperature")
    if kwargs.get("do_sample") is True:
        return _text(1 if temperature is None else temperature)
    return _text(temperature) if temperature and kwargs.get("do_sample") is None else "0"


def judges_first(settings: Mapping[str, Any], name: str) -> bool:
    """A filter of the task hands on the first repeat alone: its metrics are about that one.

    Without any the harness takes the first; others may vote, or take several.
    """
    listed = settings.get("filter_list")
    if not isinstance(listed, list):
        return True
    for one in listed:
        if isinstance(one, Mapping) and one.get("name") == name:
            steps = [step.get("function") for step in one.get("filter") or () if isinstance(step, Mapping)]
            return "take_first" in steps and _APART.issuperset(steps)
    return False


def _called(kwargs: object) -> dict[str, str]:
    """What --gen_kwargs or --model_args set: an object, or "temperature=0.7,do_sample=True"."""
    if isinstance(kwargs, str):
        pairs = (one.partition("=") for one in kwargs.split(",") if "=" in one)
        return {name.strip(): value.strip() for name, _, value in pairs}
    return {str(name): _text(value) for name, value in kwargs.items()} if isinstance(kwargs, Mapping) else {}


def _short(sha: object, text: object) -> str:
    """The beginning of a digest; "none" where there is nothing that it could be of."""
    if isinstance(sha, str) and sha:
        return sha[:8]
    return hashlib.sha256(str(text).encode()).hexdigest()[:8] if text else "none"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

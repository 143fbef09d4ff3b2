"""Small studies of a random model: real files, real decoding, a second a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

# The random model writes letters in disorder, and "contains the answer" is the rule: a letter or two as gold
# is met now and then, so that there are right and wrong, shallow and deep among the items.
ALPHABET = "abcdefghijklmnopqrstuvwxyz ABQR?:.0123456789\n"
# Short prompts of our own: the packaged ones are ten times as long and take ten times as long.
PROMPTS = {
    "question/question.txt": "Q: {{ question }}\nA:",
    "question/question.chat.txt": "=== user ===\n{{ question }}",
    "recite/recite.chat.txt": "=== system ===\nRecite what helps.\n=== user ===\n{{ question }}",
    "recite/answer.chat.txt": "=== user ===\nR: {{ passage }}\nQ: {{ question }}",
    "genread/background.chat.txt": "=== user ===\nQ: {{ question }}\nBackground:",
    "genread/answer.chat.txt": "=== user ===\n{{ passage }}\nQ: {{ question }}",
    "recite/recite.txt": "Recite what helps.\nQ: {{ question }}\nR:",
    "recite/answer.txt": "R: {{ passage }}\nQ: {{ question }}\nA:",
    "genread/background.txt": "Q: {{ question }}\nBackground:",
    "genread/answer.txt": "{{ passage }}\nQ: {{ question }}\nA:",
}
STUDY: dict[str, Any] = {
    "name": "small",
    "benchmark": "items.jsonl",
    "prompts": "prompts",
    "max_tokens": 6,
    "techniques": [
        {"technique": "recite", "paths": 2, "passage_tokens": 8, "max_tokens": 6},
        {"technique": "genread", "passage_tokens": 8, "max_tokens": 6},
    ],
    "sampling": {"temperatures": [0.7, 1.2], "vote": 3},
    "beyond_sampling": {"k": 3, "sweep": 4},
    "batch_rows": 16,
}


def items(number: int = 6) -> list[dict[str, Any]]:
    """Items as a file has them, in two categories."""
    return [
        {
            "id": f"i{index:02}",
            "question": f"Which letters does number {index} have?",
            "answer": ALPHABET[index * 7 % 26],
            "aliases": [ALPHABET[(index * 7 + 11) % 26]],
            "category": "even" if index % 2 == 0 else "odd",
        }
        for index in range(number)
    ]


def write_items(path: Path, entries: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries), "utf-8")
    return path


def write_prompts(folder: Path) -> Path:
    for name, text in PROMPTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def write_config(folder: Path, config: Mapping[str, Any]) -> Path:
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True), "utf-8")
    return path


def small_study(folder: Path, model: Path | str, number: int = 6, **changes: Any) -> Path:
    """A study of `model` with `number` items; `changes` replace keys of STUDY. Returns its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_items(folder / "items.jsonl", items(number))
    write_prompts(folder / "prompts")
    write_config(folder, {**STUDY, "models": [str(model)], **changes})
    return folder


def change(folder: Path, **changes: Any) -> None:
    """Replace keys of the study in `folder`."""
    config = yaml.safe_load((folder / "study.yaml").read_text("utf-8"))
    write_config(folder, {**config, **changes})


def write_model(folder: Path, seed: int = 0) -> Path:
    """A random Llama that reads and writes ALPHABET. The seed makes its weights."""
    import torch
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = {word: index for index, word in enumerate(("<|end|>", "<|other|>", *ALPHABET))}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<|other|>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.15,
        bos_token_id=0,
        eos_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>", unk_token="<|other|>")
    wrapped.chat_template = "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"
    wrapped.save_pretrained(folder)
    return folder

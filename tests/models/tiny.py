"""Models of a few thousand random weights, in the real formats: a folder, a GGUF file, a wheel."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import numpy as np

from leadline.models.catalogue import EmbeddedModel

VOCABULARY, HIDDEN, LAYERS, HEADS, KEY_VALUE_HEADS, INNER = 99, 32, 2, 4, 2, 64
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
MEMBER = "tiny_leadline_model/tiny.Q4_1.gguf"


def _tokens() -> list[str]:
    """Three control tokens, the printable ASCII characters, one merged pair, and byte-level BPE's space."""
    letters = [chr(code) for code in range(33, 127)]
    return ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *letters, "ab", "Ġ"]


def write_gguf(path: Path, seed: int = 0) -> Path:
    """A Llama in GGUF with its matrices in Q4_1 blocks, as the embedded model has them."""
    from gguf import GGMLQuantizationType, GGUFWriter, quants

    rng = np.random.default_rng(seed)
    writer = GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(128)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_VALUE_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(_tokens())
    writer.add_token_types([3, 3, 3] + [1] * (VOCABULARY - 3))
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_chat_template(TEMPLATE)

    def matrix(name: str, rows: int, columns: int) -> None:
        values = rng.normal(0, 0.2, (rows, columns)).astype(np.float32)
        packed = quants.quantize(values, GGMLQuantizationType.Q4_1)
        writer.add_tensor(name, packed, raw_dtype=GGMLQuantizationType.Q4_1)

    key_value = HIDDEN * KEY_VALUE_HEADS // HEADS
    matrix("token_embd.weight", VOCABULARY, HIDDEN)
    writer.add_tensor("output_norm.weight", np.ones(HIDDEN, np.float32))
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        writer.add_tensor(f"{block}.attn_norm.weight", np.ones(HIDDEN, np.float32))
        writer.add_tensor(f"{block}.ffn_norm.weight", np.ones(HIDDEN, np.float32))
        matrix(f"{block}.attn_q.weight", HIDDEN, HIDDEN)
        matrix(f"{block}.attn_k.weight", key_value, HIDDEN)
        matrix(f"{block}.attn_v.weight", key_value, HIDDEN)
        matrix(f"{block}.attn_output.weight", HIDDEN, HIDDEN)
        matrix(f"{block}.ffn_gate.weight", INNER, HIDDEN)
        matrix(f"{block}.ffn_up.weight", INNER, HIDDEN)
        matrix(f"{block}.ffn_down.weight", HIDDEN, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_wheel(folder: Path, gguf: Path) -> Path:
    """A wheel that pip accepts, with `gguf` in it."""
    path = folder / "tiny_leadline_model-1.0-py3-none-any.whl"
    about = "tiny_leadline_model-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.write(gguf, MEMBER)
        wheel.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-leadline-model\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{about}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{about}/RECORD", "")
    return path


def catalogue_entry(gguf: Path) -> EmbeddedModel:
    return EmbeddedModel(
        name="tiny",
        title="Tiny",
        description="a tiny model for tests",
        licence="CC0-1.0",
        parameters=20_000,
        requirement="tiny-leadline-model==1.0",
        wheel_bytes=20_000,
        member=MEMBER,
        gguf_sha256=hashlib.sha256(gguf.read_bytes()).hexdigest(),
        gguf_bytes=gguf.stat().st_size,
        wheel_variable="LEADLINE_TINY_WHEEL",
    )


def write_folder(folder: Path) -> Path:
    """A randomly initialised Llama with its tokenizer, saved as transformers saves one."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KEY_VALUE_HEADS,
        max_position_embeddings=128,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    words = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(_tokens())}, unk_token="<|endoftext|>")
    )
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<|im_end|>").save_pretrained(folder)
    return folder

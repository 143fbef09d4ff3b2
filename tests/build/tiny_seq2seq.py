"""A seq2seq checkpoint with REBEL's tags and random weights: everything but what it would have learnt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TEXTS = [
    "Paris is the capital of France. It lies on the Seine.",
    "Gösta Berling's Saga is the first novel of Selma Lagerlöf, who was born at Mårbacka in 1858.",
    "Transportation Journal is an academic journal devoted to transportation, logistics and related fields.",
    "The hill is named after the settlement of Chelopech in Western Bulgaria.",
    "located in the administrative territorial entity capital of country of citizenship place of birth",
]
TAGS = ["<triplet>", "<subj>", "<obj>"]


def make(folder: Path, spread: float = 0.6, **changed: Any) -> Path:
    """A BART of two layers and its own tokenizer, saved as any checkpoint is.

    Weights are drawn wide, so that one token is clearly the likeliest: a real model's outputs do not hang on
    the last bit of a sum either. `changed` overrides settings of its generation_config.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    bpe.train_from_iterator(TEXTS, trainer)
    bpe.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        cls_token="<s>",
        sep_token="</s>",
        mask_token="<mask>",
    )
    tokenizer.add_tokens(TAGS, special_tokens=True)
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=300,
        init_std=spread,
        dropout=0.0,
        decoder_start_token_id=0,
        forced_bos_token_id=None,
        forced_eos_token_id=None,
    )
    model = BartForConditionalGeneration(config)
    for name, value in changed.items():
        setattr(model.generation_config, name, value)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def teach(folder: Path, pairs: dict[str, str], steps: int = 200) -> Path:
    """Train a checkpoint that `make` left until it writes these outputs for these texts, by heart."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    read = tokenizer(list(pairs), padding=True, return_tensors="pt")
    # The decoder starts with <s>, so that what it learns to write begins after it.
    said = tokenizer([f"{output}</s>" for output in pairs.values()], padding=True, add_special_tokens=False)
    labels = torch.tensor(said["input_ids"])
    labels[labels == tokenizer.pad_token_id] = -100
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(steps):
        loss = model(input_ids=read["input_ids"], attention_mask=read["attention_mask"], labels=labels).loss
        if loss.item() < 0.02:
            break
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.save_pretrained(folder)
    return folder


def taught_pairs() -> dict[str, str]:
    """Texts and what REBEL would write for them."""
    return {
        TEXTS[0]: "<triplet> Paris <subj> France <obj> capital of <subj> Seine <obj> located next to body of"
        " water",
        TEXTS[
            1
        ]: "<triplet> Selma Lagerlöf <subj> 1858 <obj> date of birth <triplet> Gösta Berling's Saga <subj>"
        " Selma Lagerlöf <obj> author",
        TEXTS[2]: "<triplet> Transportation Journal <subj> academic journal <obj> instance of",
    }

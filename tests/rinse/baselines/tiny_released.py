"""The architectures of the released classifiers with seeded random weights, on the words of the tiny BERT."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import PreTrainedModel

MARKS = ("<s>", "</s>", "[Relevant]", "[Irrelevant]")
"""Special tokens behind the tiny BERT's own; reflection tokens among them."""


def write_tokenizer(source: Path, folder: Path, *, single: str, pair: str | None = None) -> Tokenizer:
    """`tokenizer.json` of the tiny BERT in `folder`, with `MARKS` and other templates around texts."""
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.add_special_tokens(list(MARKS))
    marks = ("[CLS]", "[SEP]", *MARKS)
    tokenizer.post_processor = TemplateProcessing(
        single=single, pair=pair, special_tokens=[(mark, tokenizer.token_to_id(mark)) for mark in marks]
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer


def write_nli(
    source: Path, folder: Path, *, labels: Sequence[str] = ("entailment", "neutral", "contradiction")
) -> Path:
    """A classifier of pairs of mDeBERTa's architecture: 64 tokens at most."""
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    tokenizer = write_tokenizer(source, folder, single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]")
    settings: dict[str, Any] = {
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 64,
        "relative_attention": True,
        "position_buckets": 16,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
        "type_vocab_size": 0,
        "pad_token_id": 0,
        "initializer_range": 0.4,
        "id2label": dict(enumerate(labels)),
        "label2id": {label: number for number, label in enumerate(labels)},
    }
    return _save(DebertaV2ForSequenceClassification, DebertaV2Config(**settings), folder, seed=11)


def write_t5(source: Path, folder: Path, *, labels: int = 1) -> Path:
    """T5 as a classifier of texts that end with `</s>`."""
    from transformers import T5Config, T5ForSequenceClassification

    tokenizer = write_tokenizer(source, folder, single="$A </s>")
    settings: dict[str, Any] = {
        "vocab_size": tokenizer.get_vocab_size(),
        "d_model": 16,
        "d_kv": 8,
        "d_ff": 32,
        "num_layers": 2,
        "num_heads": 2,
        "pad_token_id": 0,
        "eos_token_id": tokenizer.token_to_id("</s>"),
        "decoder_start_token_id": 0,
        "initializer_factor": 1.0,
        "num_labels": labels,
    }
    return _save(T5ForSequenceClassification, T5Config(**settings), folder, seed=12)


def write_llama(source: Path, folder: Path, *, reads: int = 256) -> Path:
    """A Llama that reads `<s>` and a text, and whose vocabulary holds the reflection tokens."""
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = write_tokenizer(source, folder, single="<s> $A")
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=reads,
        bos_token_id=tokenizer.token_to_id("<s>"),
        eos_token_id=tokenizer.token_to_id("</s>"),
        initializer_range=0.5,
    )
    return _save(LlamaForCausalLM, config, folder, seed=13)


def _save(kind: type[PreTrainedModel], config: Any, folder: Path, *, seed: int) -> Path:
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        kind(config).save_pretrained(folder)
    return folder

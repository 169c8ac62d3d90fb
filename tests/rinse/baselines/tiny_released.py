"""The architectures of the released classifiers with seeded random weights, on the words of the tiny BERT."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from rinse.baselines.uar import HEADS, HEADS_FILE
from tests.tiny_llama import write_llama_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import PreTrainedModel

Array = NDArray[np.float32]

MARKS = ("<s>", "</s>", "[Relevant]", "[Irrelevant]")
"""Special tokens behind the tiny BERT's own; reflection tokens among them."""
TEXTS = (
    "The queen built the red castle.",
    "A ship was found by the captain of the island.",
    "The band moved west.",
)
"""Passages that these models score differently."""


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
    tokenizer = write_tokenizer(source, folder, single="<s> $A")
    return write_llama_for(tokenizer, folder, reads=reads, seed=13, start="<s>", end="</s>")


def write_uar(source: Path, folder: Path) -> Path:
    """The same Llama with four heads beside it."""
    write_llama(source, folder)
    random = np.random.default_rng(5)
    save_file({name: random.normal(size=(2, 16)).astype(np.float32) for name in HEADS}, folder / HEADS_FILE)
    return folder


def with_tensors(source: Path, folder: Path, change: Callable[[dict[str, Array]], dict[str, Array]]) -> Path:
    """A copy of the model in `source` whose weights are what `change` makes of them."""
    shutil.copytree(source, folder)
    weights = change(load_file(folder / "model.safetensors"))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def _save(kind: type[PreTrainedModel], config: Any, folder: Path, *, seed: int) -> Path:
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        kind(config).save_pretrained(folder)
    return folder

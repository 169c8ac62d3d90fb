"""A Llama with seeded random weights, 16 wide and two layers deep, for a tokenizer of the caller's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def write_llama_for(
    tokenizer: Tokenizer, folder: Path, *, reads: int, seed: int, start: str = "[CLS]", end: str = "[SEP]"
) -> Path:
    """config.json, tokenizer.json and model.safetensors in `folder`.

    The weights are drawn from a wide distribution, so that texts matter; the process's own random numbers go on as
    if nothing had happened.

    Args:
        tokenizer: Its vocabulary is the model's; token 0 is the padding.
        folder: Made if absent.
        reads: The longest input, in tokens.
        seed: The same seed gives the same weights.
        start: The token that begins a text.
        end: The token that ends one.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.utils import logging

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=reads,
        bos_token_id=tokenizer.token_to_id(start),
        eos_token_id=tokenizer.token_to_id(end),
        pad_token_id=0,
        initializer_range=0.5,
    )
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        LlamaForCausalLM(config).save_pretrained(folder)
    return folder

"""The paper's architectures with seeded random weights and a few hundred tokens: everything but the knowledge."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from rinse.paper import ReaderSettings

if TYPE_CHECKING:
    from transformers import PreTrainedModel

WORDS = re.findall(
    r"\w+",
    "the a of in and to is was were by on at for with from as it he she they who what where when which how do "
    "river city king queen bridge tower island castle mountain ship captain novel film song band team match not "
    "born died built wrote won moved founded named north south east west old new red blue green first second "
    "question document documents answer enough information contain read yes no",
)

SETTINGS = ReaderSettings(layer=2, function_idf=0.5)
"""The paper's, for these models: few layers, and an IDF counted on few texts."""
TEXTS = (
    "The queen built the red castle on the north mountain.",
    "The castle is by the river. The captain moved to the city.",
    "A ship was found. The team won the first match.",
    "The king of the old island wrote a novel and a song.",
    "The band moved west.",
    "The tower of the city was founded by a captain.",
)
QUESTION = "Which river is by the castle that the queen built?"

LAYERS = 4
"""Blocks of the tiny language model."""
LATENT_DIMS = 24
"""Width of its states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyModels:
    """Folders with config.json, tokenizer.json and model.safetensors each."""

    words: Path
    """BERT with a WordPiece vocabulary; only its tokenizer is read."""
    reranker: Path
    """XLM-RoBERTa sequence classification, one logit, Unigram vocabulary."""
    span: Path
    """RoBERTa question answering, byte-level BPE."""
    latent: Path
    """Qwen2 causal language model of `LAYERS` layers, `LATENT_DIMS` wide, byte-level BPE."""


def write_tiny_models(folder: Path, *, seed: int = 1) -> TinyModels:
    """Write the four models below `folder`.

    The same seed gives the same bytes. The weights are drawn from a wide distribution, so that texts matter.
    """
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    made = TinyModels(
        words=folder / "words", reranker=folder / "reranker", span=folder / "span", latent=folder / "latent"
    )
    with torch.random.fork_rng():
        _write(made.words, _wordpiece(), _bert, seed)
        _write(made.reranker, _unigram(), _xlm_roberta, seed + 1)
        _write(made.span, _byte_pairs(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], pairs=True), _roberta, seed + 2)
        _write(
            made.latent,
            _byte_pairs(["<|endoftext|>", "<|im_start|>", "<|im_end|>"], pairs=False),
            _qwen2,
            seed + 3,
        )
    return made


def _write(folder: Path, tokenizer: Tokenizer, build: Any, seed: int) -> None:
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    model: PreTrainedModel = build(tokenizer.get_vocab_size())
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))


def _bert(vocabulary: int) -> PreTrainedModel:
    from transformers import BertConfig, BertModel

    return BertModel(
        BertConfig(
            vocab_size=vocabulary,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
        )
    )


def _xlm_roberta(vocabulary: int) -> PreTrainedModel:
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

    return XLMRobertaForSequenceClassification(XLMRobertaConfig(**_encoder_shape(vocabulary) | {"num_labels": 1}))


def _roberta(vocabulary: int) -> PreTrainedModel:
    from transformers import RobertaConfig, RobertaForQuestionAnswering

    return RobertaForQuestionAnswering(RobertaConfig(**_encoder_shape(vocabulary)))


def _encoder_shape(vocabulary: int) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "initializer_range": 0.3,
    }


def _qwen2(vocabulary: int) -> PreTrainedModel:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=vocabulary,
            hidden_size=LATENT_DIMS,
            intermediate_size=32,
            num_hidden_layers=LAYERS,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=4096,
            initializer_range=0.3,
            tie_word_embeddings=True,
            bos_token_id=0,
            eos_token_id=2,
            pad_token_id=0,
        )
    )


def _wordpiece() -> Tokenizer:
    signs = string.ascii_lowercase + string.digits
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *".,?!-'\"():", *WORDS, *signs]
    tokens += [f"##{sign}" for sign in signs]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return tokenizer


def _unigram() -> Tokenizer:
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [f"▁{word}" for word in WORDS] + ["▁", *string.ascii_letters, *string.digits, *".,?!-'\"():"]
    vocabulary = [(token, 0.0) for token in special] + [
        (piece, -float(2 + i % 7)) for i, piece in enumerate(pieces)
    ]
    tokenizer = Tokenizer(models.Unigram([*vocabulary, ("<mask>", 0.0)], unk_id=3))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = _pair_template()
    tokenizer.add_special_tokens([*special, "<mask>"])
    return tokenizer


def _byte_pairs(special: list[str], *, pairs: bool) -> Tokenizer:
    """Bytes, and each of `WORDS` after a space grown letter by letter into one token."""
    tokens, merges = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())], []
    for word in WORDS:
        grown = "Ġ"
        for letter in word:
            merges.append((grown, letter))
            grown += letter
            tokens.append(grown)
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    tokenizer = Tokenizer(models.BPE(vocabulary, list(dict.fromkeys(merges))))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = _pair_template() if pairs else processors.ByteLevel(trim_offsets=False)
    tokenizer.add_special_tokens(special)
    return tokenizer


def _pair_template() -> processors.TemplateProcessing:
    return processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )

"""Fixtures shared by all tests: no network beyond this machine, and a tiny real model."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import settings
from pytest_socket import socket_allow_hosts

if TYPE_CHECKING:
    from retrieval.index.encoder import TransformerEncoder

_WORDS = re.findall(
    r"\w+",
    "the a of in and to is was were by on at for with from as it he she they who what where when which how "
    "river city king queen bridge tower island castle mountain ship captain novel film song band team match "
    "born died built wrote won moved founded named north south east west old new red blue green first second",
)


# The same examples in every run, and no opinion on how fast a machine is. New ones, and many:
# pytest --hypothesis-profile thorough
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _loopback_only() -> None:
    """A test that reaches beyond this machine fails. pytest-socket lifts the guard after each test."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="session")
def town_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of `tests.towns.CORPUS` with the real model, in a folder with spaces; its name is `wiki.index`."""
    from retrieval.index import TransformerEncoder, build_index
    from tests.towns import need_model, write_corpus

    need_model()
    folder = tmp_path_factory.mktemp("a folder with spaces")
    corpus = write_corpus(folder / "corpus.jsonl")
    build_index(corpus, folder / "wiki.index", encoder=TransformerEncoder.named())
    return folder / "wiki.index"


@pytest.fixture(scope="session")
def tiny_backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a BERT with seeded random weights: 32 wide, two layers, words and letters as vocabulary."""
    return build_tiny_backbone(tmp_path_factory.mktemp("tiny-bert"), hidden=32, seed=1)


@pytest.fixture(scope="session")
def tiny_encoder(tiny_backbone: Path) -> TransformerEncoder:
    """An encoder on `tiny_backbone`. Texts that share words have similar vectors, nothing more."""
    from retrieval.index.encoder import TransformerEncoder

    return TransformerEncoder.named(str(tiny_backbone))


@pytest.fixture(scope="session")
def make_backbone(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int, int], Path]:
    """`make_backbone(hidden, seed)`: the folder of another tiny BERT."""
    parent = tmp_path_factory.mktemp("more-berts")
    return lambda hidden, seed: build_tiny_backbone(parent / f"bert-{hidden}-{seed}", hidden=hidden, seed=seed)


def build_tiny_backbone(folder: Path, *, hidden: int, seed: int) -> Path:
    """Write config.json, tokenizer.json and model.safetensors of a BERT with random weights."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = _vocabulary()
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": 512,
        "num_attention_heads": 2,
        "num_hidden_layers": 2,
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
        "type_vocab_size": 2,
        "vocab_size": len(vocabulary),
    }
    (folder / "config.json").write_text(json.dumps(config))
    _write_tokenizer(folder / "tokenizer.json", vocabulary)
    _write_weights(folder / "model.safetensors", hidden=hidden, vocabulary=len(vocabulary), seed=seed)
    return folder


def _vocabulary() -> dict[str, int]:
    signs = string.ascii_lowercase + string.digits
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *".,?!-'\"()", *_WORDS, *signs]
    tokens += [f"##{sign}" for sign in signs]
    return {token: number for number, token in enumerate(dict.fromkeys(tokens))}


def _write_tokenizer(path: Path, vocabulary: dict[str, int]) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.save(str(path))


def _write_weights(path: Path, *, hidden: int, vocabulary: int, seed: int) -> None:
    from safetensors.numpy import save_file

    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (vocabulary, hidden),
        "embeddings.position_embeddings.weight": (512, hidden),
        "embeddings.token_type_embeddings.weight": (2, hidden),
        "embeddings.LayerNorm.weight": (hidden,),
        "embeddings.LayerNorm.bias": (hidden,),
        "pooler.dense.weight": (hidden, hidden),
        "pooler.dense.bias": (hidden,),
    }
    for layer in range(2):
        name = f"encoder.layer.{layer}."
        for part in ("attention.self.query", "attention.self.key", "attention.self.value"):
            shapes |= {f"{name}{part}.weight": (hidden, hidden), f"{name}{part}.bias": (hidden,)}
        shapes |= {
            f"{name}attention.output.dense.weight": (hidden, hidden),
            f"{name}attention.output.dense.bias": (hidden,),
            f"{name}attention.output.LayerNorm.weight": (hidden,),
            f"{name}attention.output.LayerNorm.bias": (hidden,),
            f"{name}intermediate.dense.weight": (2 * hidden, hidden),
            f"{name}intermediate.dense.bias": (2 * hidden,),
            f"{name}output.dense.weight": (hidden, 2 * hidden),
            f"{name}output.dense.bias": (hidden,),
            f"{name}output.LayerNorm.weight": (hidden,),
            f"{name}output.LayerNorm.bias": (hidden,),
        }
    random = np.random.default_rng(seed)
    weights = {
        name: np.ones(shape, np.float32)
        if name.endswith("LayerNorm.weight")
        else random.normal(0.0, 0.15, shape).astype(np.float32)
        for name, shape in shapes.items()
    }
    save_file(weights, path, metadata={"format": "pt"})

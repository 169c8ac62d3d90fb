"""Texts become unit vectors, alone or in company, from one thread or many."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from retrieval.backbones import WEIGHTS, find_backbone
from retrieval.errors import BackboneCorruptError
from retrieval.index.bert import BertEncoder
from retrieval.index.encoder import Encoder, TransformerEncoder, by_length

TEXTS = [
    "the old bridge of the city",
    "",
    "ship",
    "a queen was born in the north " * 60,
    "橋 και мост",
    "\u200b \n",
]


@pytest.fixture
def copy(tiny_backbone: Path, tmp_path: Path) -> Path:
    """A copy of the tiny model that a test may damage."""
    return Path(shutil.copytree(tiny_backbone, tmp_path / "copy"))


def test_rows_are_unit_and_in_the_order_of_the_texts(tiny_encoder: TransformerEncoder) -> None:
    vectors = tiny_encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 32)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(tiny_encoder.encode([text])[0], vector, atol=1e-5)


def test_no_texts_no_rows(tiny_encoder: TransformerEncoder) -> None:
    assert tiny_encoder.encode([]).shape == (0, 32)
    assert tiny_encoder.token_states([]) == []


@settings(max_examples=25)
@given(st.lists(st.text(max_size=40), max_size=6))
def test_any_text_has_a_finite_unit_vector(tiny_encoder: TransformerEncoder, texts: list[str]) -> None:
    vectors = tiny_encoder.encode(texts)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_encoding_is_deterministic(tiny_encoder: TransformerEncoder, tiny_backbone: Path) -> None:
    again = TransformerEncoder(find_backbone("other", folder=tiny_backbone))
    assert np.array_equal(tiny_encoder.encode(TEXTS), again.encode(TEXTS))


def test_small_and_large_passes_agree(tiny_backbone: Path) -> None:
    """How texts are batched does not show, up to rounding."""
    backbone = find_backbone(str(tiny_backbone))
    small = TransformerEncoder(backbone, batch_tokens=1).encode(TEXTS)
    np.testing.assert_allclose(small, TransformerEncoder(backbone, batch_tokens=100_000).encode(TEXTS), atol=1e-5)


@given(lengths=st.lists(st.integers(1, 50), max_size=30), limit=st.integers(1, 200))
def test_batches_hold_everything_once_within_the_limit(lengths: list[int], limit: int) -> None:
    """Padding counts; only a text that is too long by itself goes over the limit."""
    batches = list(by_length(lengths, limit))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or len(batch) * max(lengths[row] for row in batch) <= limit for batch in batches)


def test_a_long_text_is_cut_and_says_so(tiny_backbone: Path) -> None:
    """S06: truncation is never silent."""
    encoder = TransformerEncoder.named(str(tiny_backbone), max_tokens=8)
    long, short = encoder.token_states(["the river " * 20, "the river"])
    assert (long.truncated, long.states.shape) == (True, (6, 32))
    assert (short.truncated, short.states.shape) == (False, (2, 32))
    cut = encoder.encode(["the river " * 20, "the river " * 3])
    np.testing.assert_allclose(cut[0], cut[1], atol=1e-5)


def test_token_states_point_into_the_text(tiny_encoder: TransformerEncoder) -> None:
    text = "The old bridge"
    (found,) = tiny_encoder.token_states([text])
    assert [text[a:b] for a, b in found.spans] == ["The", "old", "bridge"]
    assert len(found.ids) == len(found.states) == 3


def test_pooling_is_the_mean_of_all_states_special_ones_included(tiny_backbone: Path) -> None:
    """Against `transformers` and the definition: what the published encoder computes (Reimers & Gurevych 2019)."""
    import torch
    from transformers import BertModel

    model = BertModel.from_pretrained(tiny_backbone, local_files_only=True).eval()  # type: ignore[no-untyped-call]
    encoder = TransformerEncoder.named(str(tiny_backbone))
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tiny_backbone / "tokenizer.json"))
    for text in ("the old bridge of the city", "x" * 30):
        with torch.inference_mode():
            states = model(torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0]
        mean = states.mean(dim=0)
        np.testing.assert_allclose(encoder.encode([text])[0], (mean / mean.norm()).numpy(), atol=1e-5)
        np.testing.assert_allclose(encoder.token_states([text])[0].states, states[1:-1].numpy(), atol=1e-4)


def test_padded_passes_equal_those_of_transformers(tiny_backbone: Path) -> None:
    """The masked forward pass of this package against `transformers.BertModel` on a padded batch."""
    import torch
    from transformers import BertModel

    backbone = find_backbone(str(tiny_backbone))
    reference = BertModel.from_pretrained(tiny_backbone, local_files_only=True).eval()  # type: ignore[no-untyped-call]
    ours = BertEncoder.load(backbone.config(), backbone.folder / WEIGHTS)
    random = np.random.default_rng(3)
    ids = torch.from_numpy(random.integers(5, 100, size=(4, 17)))
    mask = torch.from_numpy((np.arange(17)[None, :] < np.array([17, 9, 1, 12])[:, None]).astype(np.int64))
    with torch.inference_mode():
        expected = reference(input_ids=ids, attention_mask=mask).last_hidden_state
        found = ours(ids, mask)
    np.testing.assert_allclose(found[mask.bool()].numpy(), expected[mask.bool()].numpy(), atol=1e-5)


def test_a_model_of_another_type_goes_through_transformers(copy: Path, tiny_encoder: TransformerEncoder) -> None:
    """A decoder-like setting is not computed by our forward pass; the same weights then give the same vectors."""
    config = json.loads((copy / "config.json").read_text()) | {"hidden_act": "gelu_python"}
    (copy / "config.json").write_text(json.dumps(config))
    assert not BertEncoder.understands(config)
    other = TransformerEncoder.named(str(copy))
    np.testing.assert_allclose(other.encode(TEXTS), tiny_encoder.encode(TEXTS), atol=1e-5)


def test_weights_with_a_prefix_and_in_half_precision_are_read(
    copy: Path, tiny_encoder: TransformerEncoder
) -> None:
    weights = load_file(copy / WEIGHTS)
    half = {f"bert.{name}": tensor.astype(np.float16) for name, tensor in weights.items()}
    save_file(half, copy / WEIGHTS, metadata={"format": "pt"})
    found = TransformerEncoder.named(str(copy)).encode(TEXTS[:3])
    assert found.dtype == np.float32
    assert np.all(np.einsum("ij,ij->i", found, tiny_encoder.encode(TEXTS[:3])) > 0.999)


def test_threads_share_one_encoder(tiny_backbone: Path) -> None:
    """L12: many threads, two encoders of other lengths on one loaded model, results as if alone."""
    backbone = find_backbone(str(tiny_backbone))
    encoders: list[Encoder] = [TransformerEncoder(backbone, max_tokens=8), TransformerEncoder(backbone)]
    jobs = [(encoder, text) for text in TEXTS for encoder in encoders] * 3
    alone = [encoder.encode([text])[0] for encoder, text in jobs]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda job: job[0].encode([job[1]])[0], jobs))
    np.testing.assert_array_equal(together, alone)


def test_the_fingerprint_tells_models_and_lengths_apart(
    tiny_backbone: Path, make_backbone: Callable[[int, int], Path]
) -> None:
    """R06: content, pooling and longest input are part of it; the path is not."""
    fingerprints = {
        TransformerEncoder.named(str(tiny_backbone)).fingerprint,
        TransformerEncoder.named(str(tiny_backbone), max_tokens=128).fingerprint,
        TransformerEncoder.named(str(make_backbone(32, 2))).fingerprint,
        TransformerEncoder.named(str(make_backbone(64, 1))).fingerprint,
    }
    assert len(fingerprints) == 4


def test_width_is_known_without_loading_the_model(
    make_backbone: Callable[[int, int], Path], tmp_path: Path
) -> None:
    """An index compares widths when it opens; that must not cost a model's loading."""
    folder = Path(shutil.copytree(make_backbone(64, 1), tmp_path / "broken weights"))
    (folder / WEIGHTS).write_bytes(b"no weights")
    encoder = TransformerEncoder.named(str(folder))
    assert encoder.dims == 64
    with pytest.raises(BackboneCorruptError, match="safetensors"):
        encoder.load()


@pytest.mark.parametrize("tokens", [7, 513, 0])
def test_lengths_that_the_model_cannot_read_are_refused(tiny_backbone: Path, tokens: int) -> None:
    with pytest.raises(ValueError, match="between 8 and 512"):
        TransformerEncoder.named(str(tiny_backbone), max_tokens=tokens)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("hidden_size", None), ("hidden_size", "32"), ("max_position_embeddings", 0), ("vocab_size", 10)],
)
def test_contradicting_settings_are_a_typed_error(copy: Path, setting: str, value: object) -> None:
    config = json.loads((copy / "config.json").read_text()) | {setting: value}
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(BackboneCorruptError, match=r"config.json|tokenizer"):
        TransformerEncoder.named(str(copy)).load()


def test_missing_tensors_and_unreadable_tokenizers_are_typed_errors(copy: Path) -> None:
    weights = load_file(copy / WEIGHTS)
    del weights["encoder.layer.1.output.dense.bias"]
    save_file(weights, copy / WEIGHTS, metadata={"format": "pt"})
    with pytest.raises(BackboneCorruptError, match=r"layer\.1\.output\.dense\.bias"):
        TransformerEncoder.named(str(copy)).load()
    (copy / "tokenizer.json").write_text("{}")
    with pytest.raises(BackboneCorruptError, match=r"tokenizer\.json"):
        TransformerEncoder.named(str(copy)).load()

"""Text to vectors: the encoder seam, and the transformer that serves it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..backbones import WEIGHTS, Backbone, find_backbone
from ..errors import BackboneCorruptError
from ..text import encodable
from .bert import BertEncoder

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer
    from torch import Tensor

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
BATCH_TOKENS = 1536
"""Padded tokens in one forward pass. 20 texts of 185 tokens take 0.85 of the processor time of a pass each, with
4,096 tokens 0.91 (one thread, medians of five interleaved runs on a busy machine; single runs scatter as much)."""


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into vectors of length one.

    Contract: deterministic; finite; a text's vector does not depend on the texts beside it (up to float32
    rounding); texts longer than `max_tokens` are cut at the end; blocking, so it is called from a worker thread.
    """

    @property
    def fingerprint(self) -> str:
        """Identifies weights, tokenizer and pooling by content; the same model elsewhere has the same one."""
        ...

    @property
    def name(self) -> str:
        """For messages to people."""
        ...

    @property
    def dims(self) -> int:
        """Width of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows, shape `(len(texts), dims)`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenStates:
    """One text as a sequence of contextual token vectors, special tokens left out."""

    states: NDArray[np.float32]
    """Shape `(tokens, dims)`: last hidden states, not normalised."""
    ids: tuple[int, ...]
    """Vocabulary id of each token."""
    spans: tuple[tuple[int, int], ...]
    """Character span of each token in the text."""
    truncated: bool
    """True if the text was longer than `max_tokens` and the rest was not read."""


class TransformerEncoder:
    """A BERT-like backbone with mean pooling, on the CPU, in float32.

    The model is loaded on first use; threads may share one encoder.

    Args:
        backbone: What `find_backbone` found.
        max_tokens: Longest input in tokens, special tokens included.
        batch_tokens: Padded tokens in one forward pass; bounds memory.

    Raises:
        ValueError: `max_tokens` is out of range for this model.
        BackboneCorruptError: `config.json` does not say how wide the model is or how much it reads.
    """

    def __init__(self, backbone: Backbone, *, max_tokens: int = 256, batch_tokens: int = BATCH_TOKENS) -> None:
        config = backbone.config()
        longest = min(512, _positive(config, "max_position_embeddings", backbone))
        if not 8 <= max_tokens <= longest:
            raise ValueError(
                f"max_tokens must be between 8 and {longest} for {backbone.name}, it is {max_tokens}."
            )
        self._dims = _positive(config, "hidden_size", backbone)
        self._backbone = backbone
        self._max_tokens = max_tokens
        self._batch_tokens = batch_tokens

    @classmethod
    def named(cls, name: str = DEFAULT_ENCODER, *, max_tokens: int = 256) -> TransformerEncoder:
        """The encoder on the backbone `name`. Raises what `find_backbone` raises."""
        return cls(find_backbone(name), max_tokens=max_tokens)

    @property
    def fingerprint(self) -> str:
        """Content of the backbone, the pooling and the longest input."""
        return f"{self._backbone.fingerprint}:mean:{self._max_tokens}"

    @property
    def name(self) -> str:
        """The backbone's name."""
        return self._backbone.name

    @property
    def dims(self) -> int:
        """Width of a vector."""
        return self._dims

    def load(self) -> None:
        """Load the model now, so that the first `encode` does not wait for it."""
        _load(self._backbone)

    @property
    def _loaded(self) -> _Loaded:
        return _load(self._backbone)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Mean of the token states, normalised. See `Encoder.encode`."""
        out = np.zeros((len(texts), self.dims), dtype=np.float32)
        for rows, states, mask, _ in self._passes(texts):
            weights = mask[:, :, None]  # (batch, tokens, 1)
            pooled = (states * weights).sum(axis=1) / weights.sum(axis=1)
            out[rows] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True).clip(1e-12)
        return out

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """The contextual vectors of every token of every text, in the order of `texts`."""
        out: list[TokenStates | None] = [None] * len(texts)
        for rows, states, _, encodings in self._passes(texts):
            for row, matrix, encoding in zip(rows, states, encodings, strict=True):
                keep = [i for i, special in enumerate(encoding.special_tokens_mask) if not special]
                out[row] = TokenStates(
                    states=np.ascontiguousarray(matrix[keep]),
                    ids=tuple(encoding.ids[i] for i in keep),
                    spans=tuple(encoding.offsets[i] for i in keep),
                    truncated=bool(encoding.overflowing),
                )
        return [states for states in out if states is not None]

    def _passes(
        self, texts: Sequence[str]
    ) -> Iterator[tuple[list[int], NDArray[np.float32], NDArray[np.float32], list[Encoding]]]:
        """Forward passes over texts of similar length: rows, states (b, t, d), mask (b, t), encodings."""
        import torch

        loaded = self._loaded
        with loaded.lock:  # the tokenizer's truncation is a setting of the shared object
            loaded.tokenizer.enable_truncation(self._max_tokens)
            encodings = loaded.tokenizer.encode_batch([encodable(text) for text in texts])
        for rows in by_length([len(encoding) for encoding in encodings], self._batch_tokens):
            width = max(len(encodings[row]) for row in rows)
            ids = np.zeros((len(rows), width), dtype=np.int64)
            mask = np.zeros((len(rows), width), dtype=np.int64)
            for i, row in enumerate(rows):
                length = len(encodings[row])
                ids[i, :length] = encodings[row].ids
                mask[i, :length] = 1
            with torch.inference_mode():
                output = loaded.forward(torch.from_numpy(ids), torch.from_numpy(mask))
            yield rows, output.numpy(), mask.astype(np.float32), [encodings[row] for row in rows]


def by_length(lengths: Sequence[int], limit: int) -> Iterator[list[int]]:
    """Positions in batches of similar length, longest first; padded to its longest, a batch stays in `limit`."""
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > limit:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def _positive(config: Mapping[str, Any], key: str, backbone: Backbone) -> int:
    value = config.get(key)
    if not isinstance(value, int) or value < 1:
        raise BackboneCorruptError(
            f"{backbone.folder / 'config.json'}: {key} must be a positive number, it is {value!r}. "
            "Pass the folder of an encoder such as a BERT."
        )
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    forward: Callable[[Tensor, Tensor], Tensor]
    """Ids and mask (batch, tokens) to last hidden states (batch, tokens, dims)."""
    tokenizer: Tokenizer
    lock: threading.Lock


_LOADING = threading.Lock()


def _load(backbone: Backbone) -> _Loaded:
    with _LOADING:  # two threads that start together load once
        return _load_once(backbone)


@lru_cache(maxsize=4)
def _load_once(backbone: Backbone) -> _Loaded:
    from tokenizers import Tokenizer

    config = backbone.config()
    try:
        tokenizer = Tokenizer.from_file(str(backbone.folder / "tokenizer.json"))
    except Exception as error:  # the library raises plain Exception
        raise BackboneCorruptError(f"{backbone.folder / 'tokenizer.json'} cannot be read: {error}") from error
    known, read = tokenizer.get_vocab_size(), _positive(config, "vocab_size", backbone)
    if known > read:
        raise BackboneCorruptError(
            f"{backbone.folder}: the tokenizer has {known} tokens, the model {read}. "
            "The files belong to different models; download the folder again."
        )
    tokenizer.no_padding()
    forward = BertEncoder.load(config, backbone.folder / WEIGHTS) if BertEncoder.understands(config) else None
    return _Loaded(forward=forward or _through_transformers(backbone), tokenizer=tokenizer, lock=threading.Lock())


def _through_transformers(backbone: Backbone) -> Callable[[Tensor, Tensor], Tensor]:
    """Any other type of model; slower to start, because `transformers` is slow to import."""
    import torch
    from transformers import AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model = AutoModel.from_pretrained(
            backbone.folder,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            dtype=torch.float32,
        ).eval()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise BackboneCorruptError(f"{backbone.folder} cannot be loaded: {error}") from error

    def forward(ids: Tensor, mask: Tensor) -> Tensor:
        states: Tensor = model(input_ids=ids, attention_mask=mask).last_hidden_state
        return states

    return forward

"""Released weights: found by name, loaded without running anyone's code, read in batches of similar length."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.backbones import WEIGHTS, Backbone, find_backbone
from retrieval.errors import BackboneCorruptError, BackboneNotFoundError
from retrieval.index.encoder import by_length

from ..loading import quiet

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

Architecture = Literal[
    "AutoModelForSequenceClassification", "T5ForSequenceClassification", "LlamaModel", "LlamaForCausalLM"
]
"""The class of transformers that carries the weights and the head that is read."""

BATCH_TOKENS = 4096
"""Padded tokens in one forward pass; bounds memory. A longer text passes alone."""


def find_released(name: str, *, loaded: str, published: str) -> Backbone:
    """Find weights that others released, by hub id or by the folder to which they were converted.

    Args:
        name: See `find_backbone`.
        loaded: How transformers reads the released files, for the message.
        published: Where their authors offer them, for the message.

    Raises:
        BackboneNotFoundError: nowhere found.
        BackboneCorruptError: files are missing. Pickled weights are refused, and weights in several files too; the
            message says how to write them as one safetensors file.
    """
    try:
        return find_backbone(name)
    except (BackboneNotFoundError, BackboneCorruptError) as error:
        raise type(error)(
            f"{error} Its authors publish it as {published}. To convert that, in a throw-away environment since a "
            f"pickle runs code: transformers.{loaded}.save_pretrained(FOLDER, max_shard_size='1TB') and "
            "transformers.AutoTokenizer.from_pretrained(SOURCE).save_pretrained(FOLDER); then pass FOLDER, which "
            f"must hold one {WEIGHTS}."
        ) from error


def last_states(model: Any, arguments: dict[str, Tensor]) -> Tensor:  # noqa: ANN401
    """The last hidden state of each input's last token, shape `(batch, dims)`; padding stands on the right."""
    import torch

    states: Tensor = model(**arguments, use_cache=False).last_hidden_state  # (batch, tokens, dims)
    last = arguments["attention_mask"].sum(dim=1) - 1
    return states[torch.arange(len(states), device=states.device), last]


class ReleasedModel:
    """A released model with its tokenizer: float32, frozen, thread-safe, loaded on first use.

    Args:
        backbone: What `find_released` found.
        architecture: How its weights are read.
        device: `cpu`, `cuda` or whatever torch knows.
    """

    def __init__(self, backbone: Backbone, architecture: Architecture, *, device: str = "cpu") -> None:
        self.backbone = backbone
        self._architecture = architecture
        self._device = device
        self._lock = threading.RLock()
        self._model: Any = None
        self._tokenizer: Tokenizer | None = None

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own. Special marks are honoured: pass texts of others through `plain` first."""
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = _read_tokenizer(self.backbone)
            return self._tokenizer

    @property
    def model(self) -> Any:  # noqa: ANN401  transformers is untyped
        """The library's object.

        Raises:
            BackboneCorruptError: the weights are of another architecture, or lack a part of it.
        """
        with self._lock:
            if self._model is None:
                self._model = _load(self.backbone, self._architecture, self._device)
            return self._model

    def plain(self, text: str) -> str:
        """The text with each of the tokenizer's special marks broken up, so that a passage steers nothing."""
        for token in self.tokenizer.get_added_tokens_decoder().values():
            mark = token.content
            if len(mark) > 1 and mark in text:
                text = text.replace(mark, f"{mark[0]} {mark[1:]}")
        return text.encode("utf-8", "replace").decode("utf-8")

    def run(
        self,
        inputs: Sequence[Sequence[int]],
        read: Callable[[Any, dict[str, Tensor]], Tensor],
        *,
        types: Sequence[Sequence[int]] | None = None,
    ) -> list[NDArray[np.float32]]:
        """What `read(model, arguments)` makes of each input, one row each, in the order of `inputs`.

        Args:
            inputs: Token ids, special tokens included; padded on the right, and the padding masked.
            read: Gets the model and its arguments by name, each of shape `(batch, tokens)`; gives a tensor of
                shape `(batch, ...)`.
            types: The segment of each token, passed on to models that have segments.
        """
        import torch

        model = self.model
        shared = {"input_ids": inputs, "attention_mask": [[1] * len(ids) for ids in inputs]}
        if types is not None and getattr(model.config, "type_vocab_size", 0) > 1:
            shared["token_type_ids"] = types
        padding = {"input_ids": model.config.pad_token_id or 0}
        answers: dict[int, NDArray[np.float32]] = {}
        for rows in by_length([len(ids) for ids in inputs], BATCH_TOKENS):
            arguments = {
                name: _padded([values[row] for row in rows], padding.get(name, 0)).to(self._device)
                for name, values in shared.items()
            }
            with torch.inference_mode():
                output = read(model, arguments).float().cpu().numpy()
            answers.update(zip(rows, output, strict=True))
        return [answers[row] for row in range(len(inputs))]


def _padded(values: Sequence[Sequence[int]], padding: int) -> Tensor:
    """Shape (batch, tokens), padded on the right to the longest."""
    import torch

    width = max(map(len, values))
    return torch.tensor([[*row, *[padding] * (width - len(row))] for row in values], dtype=torch.long)


def _read_tokenizer(backbone: Backbone) -> Tokenizer:
    from tokenizers import Tokenizer

    path = backbone.folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise BackboneCorruptError(f"{path} cannot be read: {error}. Download the model again.") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _load(backbone: Backbone, architecture: Architecture, device: str) -> Any:  # noqa: ANN401
    import torch
    import transformers

    try:
        with quiet():
            model, report = getattr(transformers, architecture).from_pretrained(
                backbone.folder,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                dtype=torch.float32,
                output_loading_info=True,
            )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise BackboneCorruptError(f"{backbone.folder} cannot be read as {architecture}: {error}") from error
    missing = sorted(report["missing_keys"])
    if missing:
        raise BackboneCorruptError(
            f"The weights in {backbone.folder} lack {', '.join(missing[:3])}: as {architecture} the model would "
            "answer at random. Pass the folder of the released model."
        )
    return model.eval().requires_grad_(False).to(device)

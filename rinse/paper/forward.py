"""Models through transformers: found on disk, loaded once, run over inputs of similar length."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.backbones import Backbone
from retrieval.errors import BackboneCorruptError
from retrieval.index.encoder import by_length

from ..loading import quiet
from .pairs import PairWindow

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

BATCH_TOKENS = 8192
"""Padded tokens in one forward pass; bounds memory."""

Kind = Literal["relevance", "span", "states"]
"""One logit a pair; start and end logits a token; hidden states of a decoder."""

_LOADING = threading.RLock()


class PairModel:
    """An encoder with a head, run over pairs of texts. Frozen, float32, thread-safe.

    Args:
        backbone: Config and weights; loaded on first use.
        kind: `relevance` or `span`.
        device: `cpu`, `cuda` or whatever torch knows.
        batch_tokens: Padded tokens in one forward pass.
    """

    def __init__(
        self, backbone: Backbone, kind: Kind, *, device: str = "cpu", batch_tokens: int = BATCH_TOKENS
    ) -> None:
        self._backbone = backbone
        self._kind: Kind = kind
        self._device = device
        self._batch_tokens = batch_tokens

    def run(self, windows: Sequence[PairWindow]) -> list[NDArray[np.float32]]:
        """The model's answer to each window, in order.

        Of `relevance` shape `(1,)`; of `span` shape `(tokens, 2)`, start and end logits. Padding is masked: an
        answer depends on its batch only by float32 rounding.

        Raises:
            BackboneCorruptError: the model cannot be loaded, or reads less than a window holds.
        """
        import torch

        model = load_model(self._backbone, self._kind, self._device)
        self._check_length(max((len(window.ids) for window in windows), default=0), model.config)
        answers: dict[int, NDArray[np.float32]] = {}
        for rows in by_length([len(window.ids) for window in windows], self._batch_tokens):
            ids, mask, types = self._stack([windows[row] for row in rows], model.config)
            inputs = {"input_ids": ids, "attention_mask": mask}
            if getattr(model.config, "type_vocab_size", 0) > 1:
                inputs["token_type_ids"] = types
            with torch.inference_mode():
                output = model(
                    **{name: torch.from_numpy(value).to(self._device) for name, value in inputs.items()}
                )
            if self._kind == "relevance":
                values = output.logits
            else:
                values = torch.stack((output.start_logits, output.end_logits), dim=-1)
            for row, answer in zip(rows, values.float().cpu().numpy(), strict=True):
                answers[row] = answer if self._kind == "relevance" else answer[: len(windows[row].ids)]
        return [answers[row] for row in range(len(windows))]

    def _check_length(self, longest: int, config: PretrainedConfig) -> None:
        first = (
            (config.pad_token_id or 0) + 1 if "roberta" in config.model_type else 0
        )  # RoBERTa counts from there
        reads = config.max_position_embeddings - first
        if longest > reads:
            raise BackboneCorruptError(
                f"{self._backbone.name} reads at most {reads} tokens, the settings gave it {longest}. "
                "Shorten reranker_tokens or span_tokens, or pass another model."
            )

    @staticmethod
    def _stack(windows: Sequence[PairWindow], config: PretrainedConfig) -> tuple[NDArray[np.int64], ...]:
        """Ids, mask and segments, each of shape (batch, tokens), padded on the right."""
        shape = (len(windows), max(len(window.ids) for window in windows))
        ids = np.full(shape, config.pad_token_id or 0, dtype=np.int64)
        mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, window in enumerate(windows):
            length = len(window.ids)
            ids[row, :length] = window.ids
            mask[row, :length] = 1
            types[row, :length] = window.types
        return ids, mask, types


def load_model(backbone: Backbone, kind: Kind, device: str, layers: int | None = None) -> PreTrainedModel:
    """The model in float32, ready to run; two threads that ask together load it once.

    Args:
        backbone: Safetensors and config; code beside them is never run.
        kind: Which head it must have.
        device: Where it lives.
        layers: Only for `states`: how many blocks are kept; the rest is not even loaded.

    Raises:
        BackboneCorruptError: it cannot be loaded, is of another kind, or has fewer layers.
    """
    with _LOADING:
        return _load(backbone, kind, device, layers)


@lru_cache(maxsize=6)
def _load(backbone: Backbone, kind: Kind, device: str, layers: int | None) -> PreTrainedModel:
    import torch
    import transformers

    classes = {
        "relevance": transformers.AutoModelForSequenceClassification,
        "span": transformers.AutoModelForQuestionAnswering,
        "states": transformers.AutoModel,
    }
    safe = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = transformers.AutoConfig.from_pretrained(backbone.folder, **safe)
        _check_head(backbone, kind, config)
        _keep_layers(backbone, config, layers)
        with quiet():
            model, report = classes[kind].from_pretrained(
                backbone.folder,
                config=config,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
                **safe,
            )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise BackboneCorruptError(f"{backbone.folder} cannot be loaded: {error}") from error
    missing = sorted(report["missing_keys"])
    if missing:
        raise BackboneCorruptError(
            f"The weights in {backbone.folder} lack {', '.join(missing[:3])}: as a model for {kind} it would "
            "answer at random. Pass the folder of a model that was trained for it, or fit one with: sufficit fit"
        )
    if kind == "states":
        model.norm = torch.nn.Identity()  # it belongs after the last layer, which was left out
    loaded: PreTrainedModel = model.eval().requires_grad_(False).to(device)
    return loaded


def _check_head(backbone: Backbone, kind: Kind, config: PretrainedConfig) -> None:
    if kind == "relevance" and config.num_labels != 1:
        raise BackboneCorruptError(
            f"{backbone.folder} gives {config.num_labels} values a pair, a reranker gives one logit. "
            "Pass the folder of a cross-encoder."
        )


def _keep_layers(backbone: Backbone, config: PretrainedConfig, layers: int | None) -> None:
    if layers is None:
        return
    if not 1 <= layers < config.num_hidden_layers:
        raise BackboneCorruptError(
            f"{backbone.name} has {config.num_hidden_layers} layers, the profile reads the state after layer "
            f"{layers} of them, which must lie below the last. Pass another model or another layer."
        )
    config.num_hidden_layers = layers
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:layers]

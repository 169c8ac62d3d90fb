"""The forward pass of a BERT encoder in plain torch.

`transformers.BertModel` computes the same, but importing it brings in torch's compiler and distributed packages:
most of the time between a command and its first vector went there. Models of other types still go through
`transformers`; a test holds this file to its result.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BackboneCorruptError

if TYPE_CHECKING:
    from torch import Tensor


class BertEncoder:
    """Token ids to last hidden states (Devlin et al. 2019, sec. 3; post-layer-norm transformer, exact GELU).

    Args:
        config: The model's `config.json`.
        weights: Its tensors by the names of the checkpoint, without a `bert.` in front.

    Raises:
        BackboneCorruptError: a tensor or a setting is missing.
    """

    def __init__(self, config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> None:
        try:
            self._heads = int(config["num_attention_heads"])
            self._epsilon = float(config["layer_norm_eps"])
            self._layers = [f"encoder.layer.{layer}." for layer in range(int(config["num_hidden_layers"]))]
            self._weights = {name: weights[name].float() for name in self._names()}
        except (KeyError, TypeError, ValueError) as error:
            raise BackboneCorruptError(
                f"The model is no complete BERT: {error!r}. Download its folder again."
            ) from error

    @staticmethod
    def understands(config: Mapping[str, Any]) -> bool:
        """Whether this file computes the model that `config` describes."""
        return (
            config.get("model_type") == "bert"
            and config.get("hidden_act") == "gelu"
            and config.get("position_embedding_type", "absolute") == "absolute"
            and not config.get("is_decoder", False)
        )

    @classmethod
    def load(cls, config: Mapping[str, Any], file: Path) -> BertEncoder:
        """Read the tensors from a safetensors file."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            tensors = load_file(file)
        except (SafetensorError, OSError) as error:
            raise BackboneCorruptError(f"{file} is no readable safetensors file: {error}.") from error
        return cls(config, {name.removeprefix("bert."): tensor for name, tensor in tensors.items()})

    def __call__(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Last hidden states (batch, tokens, dims) of `ids` (batch, tokens) where `mask` (batch, tokens) is 1."""
        words = self._weights["embeddings.word_embeddings.weight"][ids]
        places = self._weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        states = words + places + self._weights["embeddings.token_type_embeddings.weight"][0]
        states = self._norm(states, "embeddings.LayerNorm")
        visible = None if bool(mask.all()) else mask.bool()[:, None, None, :]  # (batch, 1, 1, tokens)
        for layer in self._layers:
            states = self._layer(states, visible, layer)
        return states

    def _layer(self, states: Tensor, visible: Tensor | None, name: str) -> Tensor:
        from torch.nn.functional import gelu

        mixed = self._linear(self._attention(states, visible, name), f"{name}attention.output.dense")
        states = self._norm(states + mixed, f"{name}attention.output.LayerNorm")
        wide = gelu(self._linear(states, f"{name}intermediate.dense"))
        return self._norm(states + self._linear(wide, f"{name}output.dense"), f"{name}output.LayerNorm")

    def _attention(self, states: Tensor, visible: Tensor | None, name: str) -> Tensor:
        from torch.nn.functional import scaled_dot_product_attention

        batch, tokens, dims = states.shape
        query, key, value = (
            self._linear(states, f"{name}attention.self.{part}")
            .view(batch, tokens, self._heads, dims // self._heads)
            .transpose(1, 2)  # (batch, heads, tokens, dims per head)
            for part in ("query", "key", "value")
        )
        mixed = scaled_dot_product_attention(query, key, value, attn_mask=visible)
        return mixed.transpose(1, 2).reshape(batch, tokens, dims)

    def _linear(self, states: Tensor, name: str) -> Tensor:
        from torch.nn.functional import linear

        return linear(states, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, states: Tensor, name: str) -> Tensor:
        from torch.nn.functional import layer_norm

        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return layer_norm(states, weight.shape, weight, bias, self._epsilon)

    def _names(self) -> list[str]:
        modules = ["embeddings.LayerNorm"]
        for layer in self._layers:
            modules += [f"{layer}{part}" for part in _PARTS]
        tables = [f"embeddings.{table}_embeddings.weight" for table in ("word", "position", "token_type")]
        return tables + [f"{module}.{kind}" for module in modules for kind in ("weight", "bias")]


_PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)

"""Entailment: does one text follow from another? For scorers that compare an answer with passages or answers.

Source: natural language inference with mDeBERTa-v3-base (He et al. 2023), as the RINSE paper uses it in appendix A
for attribution (Honovich et al. 2022) and semantic entropy (Kuhn et al. 2023). It does not say which fine-tuned
weights it took; the default here is the widely used public one. Backbone: 279M. Cost: one pass a window of a
premise, nothing decoded.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from retrieval.backbones import Backbone
from retrieval.errors import BackboneCorruptError

from ..errors import ScoreError
from .model import identity
from .released import Architecture, ReleasedModel, find_released

if TYPE_CHECKING:
    from tokenizers import Encoding

DEFAULT_ENTAILMENT = "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
_ARCHITECTURE: Architecture = "AutoModelForSequenceClassification"
_LONGEST = 512
"""Tokens that mDeBERTa was trained to read."""
_OVERLAP = 64
"""Tokens that two windows of a premise share."""


@runtime_checkable
class Entailment(Protocol):
    """Judges pairs of texts.

    Contract: deterministic; a pair's value does not depend on the pairs beside it (up to float32 rounding);
    nothing is cut silently; blocking and thread-safe.
    """

    @property
    def fingerprint(self) -> str:
        """Identifies weights and settings by content."""
        ...

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The probability that the hypothesis follows, for each (premise, hypothesis), in [0, 1].

        Raises:
            ScoreError: a hypothesis is longer than the model reads, or the model gave no finite value.
        """
        ...


class EntailmentModel:
    """A sequence classifier with a label called entailment. An `Entailment`.

    A premise longer than the model reads is read in overlapping windows, and the most entailing window counts; a
    hypothesis must fit beside a window.

    Args:
        backbone: Weights, tokenizer and the names of the labels.
        device: Where it runs.

    Raises:
        BackboneCorruptError: no label of the model is called entailment.
    """

    def __init__(self, backbone: Backbone, *, device: str = "cpu") -> None:
        self._label = _entailment_label(backbone)
        self._released = ReleasedModel(backbone, _ARCHITECTURE, device=device)
        self._max_tokens = _longest(backbone)
        self._overlap = min(_OVERLAP, self._max_tokens // 8)
        self._lock = threading.Lock()

    @classmethod
    def named(cls, name: str = DEFAULT_ENTAILMENT, *, device: str = "cpu") -> EntailmentModel:
        """The model of this hub id, or in this folder. Raises what `find_released` raises."""
        return cls(
            find_released(
                name, loaded=f"{_ARCHITECTURE}.from_pretrained(SOURCE)", published=f"{DEFAULT_ENTAILMENT} (hub)"
            ),
            device=device,
        )

    @property
    def fingerprint(self) -> str:
        """The backbone's content and the windows."""
        return identity("entailment", self._released.backbone.fingerprint, f"{self._max_tokens} {self._overlap}")

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """See `Entailment.entails`."""
        windows = self._windows(pairs)
        logits = self._released.run(
            [one.ids for window in windows for one in window],
            lambda model, arguments: model(**arguments).logits,
            types=[one.type_ids for window in windows for one in window],
        )
        chances = iter([_share(row.astype(np.float64), self._label) for row in logits])
        return [max(next(chances) for _ in window) for window in windows]

    def _windows(self, pairs: Sequence[tuple[str, str]]) -> list[list[Encoding]]:
        """All windows of each pair, each of them a premise's part beside the whole hypothesis."""
        plain = [
            (self._released.plain(premise), self._released.plain(hypothesis)) for premise, hypothesis in pairs
        ]
        tokenizer = self._released.tokenizer
        with self._lock:  # truncation is a setting of the object
            tokenizer.no_truncation()
            for hypothesis, encoding in zip(
                (second for _, second in pairs),
                tokenizer.encode_batch([second for _, second in plain], add_special_tokens=False),
                strict=True,
            ):
                self._check_hypothesis(hypothesis, len(encoding.ids), tokenizer.num_special_tokens_to_add(True))
            tokenizer.enable_truncation(self._max_tokens, stride=self._overlap, strategy="only_first")
            encodings = tokenizer.encode_batch(plain)
        return [[encoding, *encoding.overflowing] for encoding in encodings]

    def _check_hypothesis(self, text: str, tokens: int, special: int) -> None:
        most = self._max_tokens - special - 2 * self._overlap
        if tokens > most:
            raise ScoreError(
                f"A hypothesis may have {most} tokens for {self._released.backbone.name}, {text[:60]!r}... has "
                f"{tokens}. Shorten the answer."
            )


def _entailment_label(backbone: Backbone) -> int:
    names = backbone.config().get("id2label") or {}
    found = [number for number, name in names.items() if str(name).casefold() == "entailment"]
    if len(found) != 1 or not str(found[0]).isdecimal():
        raise BackboneCorruptError(
            f"{backbone.folder / 'config.json'} must call one label entailment in id2label, it has {names}. "
            "Pass a model of natural language inference, or write the names of its labels there."
        )
    return int(found[0])


def _longest(backbone: Backbone) -> int:
    config = backbone.config()
    reads = config.get("max_position_embeddings")
    if not isinstance(reads, int):
        return _LONGEST
    if "roberta" in str(config.get("model_type")):  # counts from behind the padding's number
        reads -= (config.get("pad_token_id") or 0) + 1
    return min(reads, _LONGEST)


def _share(logits: NDArray[np.float64], label: int) -> float:
    """Softmax of one label, shape (labels,) to a number.

    Raises:
        ScoreError: a logit is not finite.
    """
    if not np.isfinite(logits).all():
        raise ScoreError(f"The entailment model gave the logits {logits.tolist()}, expected finite numbers.")
    weights = np.exp(logits - logits.max())
    return float(weights[label] / weights.sum())

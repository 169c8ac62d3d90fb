"""The decision tree of UAR: would a model need retrieval to answer?

Source: Cheng et al. 2024, Unified Active Retrieval. Four linear heads (intent, knowledge, time, self) read the
last token's state of a frozen Llama-2-7b-chat, and a tree over their decisions says whether to retrieve. Adapted
as in appendix A of the RINSE paper: the prompt of the DROP task holds every passage in the order given, in our own
words here, and the score is 1 for "no retrieval"; what lies beyond 4,096 tokens is not read. Backbone: 7B. Cost:
one pass a record, nothing decoded.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval import EvidenceSet
from retrieval.backbones import Backbone
from retrieval.errors import BackboneCorruptError

from ..errors import ScoreError
from ..sufficiency import Sufficiency
from .best_passage import canonical_text
from .model import identity
from .released import ReleasedModel, find_released, last_states

DEFAULT_UAR = "uar-llama2-7b-chat"
"""Its heads are published outside model hubs: a folder must be passed."""
HEADS_FILE = "heads.safetensors"
"""Beside the backbone's files: `intent`, `knowledge`, `time` and `self`, float, each of shape `(2, dims)`."""
HEADS = ("intent", "knowledge", "time", "self")
_LONGEST = 4096
_PROMPT = (
    "[INST] Use the passage to answer the question.\nPassage: {passages}\nQuestion: {question}\n"
    "Answer now. [/INST]"
)


class UarScorer:
    """A `SufficiencyScorer`: 1 where the tree says that no retrieval is needed, otherwise 0; 0 without a passage.

    The order of passages matters, as it does in the method. Of a prompt that is too long the beginning is read, as
    in the paper, and the question at its end is lost; such results say `truncated`.

    Args:
        backbone: A Llama, with `HEADS_FILE` in its folder.
        device: Where it runs.

    Raises:
        BackboneCorruptError: the heads are missing or do not fit the backbone; it says how to convert the released
            ones.
    """

    def __init__(self, backbone: Backbone, *, device: str = "cpu") -> None:
        config = backbone.config()
        self._heads = _read_heads(backbone.folder / HEADS_FILE, config.get("hidden_size"))
        self._max_tokens = min(_LONGEST, int(config.get("max_position_embeddings") or _LONGEST))
        self._released = ReleasedModel(backbone, "LlamaModel", device=device)
        self._lock = threading.Lock()
        self._truncated_records = 0

    @classmethod
    def named(cls, name: str = DEFAULT_UAR, *, device: str = "cpu") -> UarScorer:
        """The backbone and heads in this folder. Raises what `find_released` raises."""
        backbone = find_released(
            name,
            loaded="LlamaForCausalLM.from_pretrained(SOURCE)",
            published="meta-llama/Llama-2-7b-chat-hf (hub), the heads in the repository xiami2019/UAR",
        )
        return cls(backbone, device=device)

    @property
    def fingerprint(self) -> str:
        """The content of backbone and heads, the prompt and the longest input."""
        heads = hashlib.sha256(b"".join(self._heads[name].tobytes() for name in HEADS)).hexdigest()
        return identity("uar-tree", self._released.backbone.fingerprint, heads, _PROMPT, str(self._max_tokens))

    @property
    def truncated_records(self) -> int:
        """How many of the records scored so far were longer than what is read."""
        return self._truncated_records

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: the backbone's state is not finite.
            BackboneCorruptError: the backbone cannot be loaded.
        """
        if not len(evidence):
            return Sufficiency(score=0.0)
        ids = self._released.tokenizer.encode(self._prompt(question, evidence)).ids
        truncated = len(ids) > self._max_tokens
        with self._lock:
            self._truncated_records += truncated
        (state,) = self._released.run([ids[: self._max_tokens]], last_states)
        return Sufficiency(
            score=0.0 if needs_retrieval(self._chances(state)) else 1.0,
            passages=len(evidence),
            truncated=truncated,
        )

    def _prompt(self, question: str, evidence: EvidenceSet) -> str:
        passages = "\n".join(self._released.plain(canonical_text(passage)) for passage in evidence)
        return _PROMPT.format(passages=passages, question=self._released.plain(question))

    def _chances(self, state: NDArray[np.float32]) -> dict[str, float]:
        """P(yes) of each head from the state of shape `(dims,)`: softmax of two logits, the first of them yes."""
        logits = {name: head @ state for name, head in self._heads.items()}
        if not all(np.isfinite(pair).all() for pair in logits.values()):
            raise ScoreError(
                f"{self._released.backbone.name} gave a state that is not finite; nothing is decided."
            )
        return {name: float(1 / (1 + np.exp(pair[1] - pair[0]))) for name, pair in logits.items()}


def needs_retrieval(chances: Mapping[str, float]) -> bool:
    """The tree of UAR. A head says yes from 0.5 on.

    Whoever asks for retrieval gets it; what needs no knowledge needs none; what changes with time does; the rest
    does where the model does not know it by itself.

    Args:
        chances: P(yes) by the name of the head: `intent` = retrieval was asked for, `knowledge` = no knowledge is
            needed, `time` = the answer changes with time, `self` = the model does not know the answer.
    """
    if chances["intent"] >= 0.5:
        return True
    if chances["knowledge"] >= 0.5:
        return False
    return chances["time"] >= 0.5 or chances["self"] >= 0.5


def _read_heads(path: Path, dims: object) -> dict[str, NDArray[np.float32]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    convert = (
        "The released ones are pickled (intent_cls_7b.pth, know_cls_7b.pth, time_cls_7b.pth, self_cls_7b.pth): "
        "read each with torch.load(FILE, weights_only=True)['score.weight'].float(), and write all four with "
        f"safetensors.torch.save_file under the names {', '.join(HEADS)}."
    )
    if not path.is_file():
        raise BackboneCorruptError(f"The four heads of UAR are missing: {path}. {convert}")
    try:
        heads = load_file(path)
    except (SafetensorError, OSError) as error:
        raise BackboneCorruptError(f"{path} is no file of safetensors: {error}. {convert}") from error
    shapes = {name: head.shape for name, head in heads.items()}
    if set(shapes) != set(HEADS) or any(shape != (2, dims) for shape in shapes.values()):
        raise BackboneCorruptError(f"{path} must hold {HEADS}, each of shape (2, {dims}), not {shapes}. {convert}")
    return {name: head.astype(np.float32) for name, head in heads.items()}

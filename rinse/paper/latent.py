"""The latent reader: a frozen language model's state after reading question and passages together (section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.backbones import Backbone
from retrieval.errors import BackboneCorruptError
from retrieval.memo import Memo

from ..errors import ScoreError
from ..readers.states import canonical_heading
from .forward import load_model
from .pairs import PlainTokenizer
from .settings import ReaderSettings
from .sources import passage_text

QUESTION_TOKENS = 256
"""What is read of a question, in the model's tokens."""
STATE_BYTES = 64 * 2**20
"""States remembered: about 10,000 of a model 1,536 wide."""

_TASK = "Read the documents. Do they together state every fact that is needed to answer the question?"
_NONE = "There is no document."
_ASK = "Do the documents suffice to answer the question? Reply with yes or no.\nReply:"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentState:
    """The state of the last token."""

    state: NDArray[np.float32]
    """Of length one, shape `(dims,)`."""
    truncated: bool
    """True if the question or a passage was too long to be read whole."""


class LatentReader:
    """One pass of a causal language model over question and passages; nothing is decoded. Thread-safe.

    Args:
        backbone: The paper's is Qwen2.5-1.5B-Instruct.
        settings: Layer, and how much is read of a passage.
        device: Where it runs.
    """

    def __init__(self, backbone: Backbone, settings: ReaderSettings, *, device: str = "cpu") -> None:
        self.name = backbone.name
        self._backbone = backbone
        self._settings = settings
        self._device = device
        self._tokenizer = PlainTokenizer(backbone)
        self._memo: Memo[tuple[str, tuple[tuple[str, str], ...]], LatentState] = Memo(
            STATE_BYTES, lambda value: value.state.nbytes
        )

    @property
    def dims(self) -> int:
        """Width of a state, without loading the weights.

        Raises:
            BackboneCorruptError: the model's config does not say it.
        """
        width = self._backbone.config().get("hidden_size")
        if not isinstance(width, int):
            raise BackboneCorruptError(
                f"{self._backbone.folder / 'config.json'}: hidden_size must be a number, it is {width!r}. "
                "Pass the folder of a causal language model."
            )
        return width

    def read(self, question: str, passages: Sequence[Passage]) -> LatentState:
        """The state after reading these passages in this order.

        Raises:
            ScoreError: it is not finite, or has no length. One pass reads all passages, so none can be blamed.
        """
        key = (question, tuple((passage.id, canonical_heading(passage)) for passage in passages))
        known = self._memo.get(key)
        if known is None:
            known = self._read(question, passages)
            self._memo.put(key, known)
        return known

    def _read(self, question: str, passages: Sequence[Passage]) -> LatentState:
        prompt, truncated = self._prompt(question, [passage_text(passage)[0] for passage in passages])
        state = self._last_state(prompt)
        length = float(np.linalg.norm(state))
        if not np.isfinite(length) or length == 0.0:
            raise ScoreError(
                f"The language model {self.name} gave a state of length {length} for {len(passages)} passages. "
                "Check its weights with: sufficit doctor"
            )
        return LatentState(state=np.asarray(state / length, dtype=np.float32), truncated=truncated)

    def _prompt(self, question: str, texts: Sequence[str]) -> tuple[tuple[int, ...], bool]:
        """Vocabulary ids of the whole prompt, and whether something was left out.

        Each part is tokenized by itself: where a document ends never changes how the next one begins.
        """
        limit = self._settings.document_tokens
        headings = [f"\n\nDocument {number}: " for number in range(1, len(texts) + 1)]
        fixed = [f"{_TASK}\n\nQuestion: ", *headings, f"\n\n{_NONE}", "\n\nQuestion: ", f"\n{_ASK}"]
        opening, *rest = self._tokenizer.read([*fixed, question, *texts])
        numbers, (none, again, ask) = rest[: len(texts)], rest[len(texts) : len(texts) + 3]
        asked, *read = rest[len(texts) + 3 :]
        asked = asked.first(QUESTION_TOKENS)
        documents = [tokens.first(limit) for tokens in read]
        middle = [i for number, tokens in zip(numbers, documents, strict=True) for i in (*number.ids, *tokens.ids)]
        ids = (*opening.ids, *asked.ids, *(middle or none.ids), *again.ids, *asked.ids, *ask.ids)
        return ids, asked.truncated or any(tokens.truncated for tokens in documents)

    def _last_state(self, prompt: Sequence[int]) -> NDArray[np.float32]:
        import torch

        model = load_model(self._backbone, "states", self._device, self._settings.layer)
        ids = torch.tensor([list(prompt)], device=self._device)  # (1, tokens)
        with torch.inference_mode():
            states = model(input_ids=ids, use_cache=False).last_hidden_state  # (1, tokens, dims)
        return np.asarray(states[0, -1].float().cpu().numpy(), dtype=np.float32)

"""UPR: how likely is the question, given a passage?

Source: Sachan et al. 2022, who rerank passages by it. Adapted as in appendix A of the RINSE paper: the mean
log-probability of the question's tokens after each passage, the best passage counts. The prompt asks for a
question about the passage, in our own words. Backbone: any `ChatModel` (the paper's: Qwen2.5-1.5B-Instruct).
Cost: one pass a passage, nothing decoded; passages that were read for this question before are remembered.
"""

from __future__ import annotations

from retrieval import EvidenceSet
from retrieval.memo import Memo

from ..sufficiency import Sufficiency
from .documents import CHARACTERS, any_cut, document, require_input
from .model import ChatModel, identity

_PROMPT = "Passage: {passage}\nWrite one question that this passage answers."
_KEPT = 50_000
"""Values in memory, a passage for one question each."""


class UprScorer:
    """A `SufficiencyScorer`: the best passage's mean log P(question | passage), not above 0.

    Args:
        model: Its probabilities count.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._known: Memo[tuple[str, str], float] = Memo(_KEPT, lambda _: 1)

    @property
    def fingerprint(self) -> str:
        """Identifies model, prompt and settings by content."""
        return identity("upr", self._model.fingerprint, _PROMPT, str(CHARACTERS))

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: the question is blank, or there is no passage; a prompt is longer than the model reads;
                logits are NaN.
        """
        require_input(question, evidence)
        texts = dict.fromkeys(sorted(map(document, evidence)))
        known = {text: self._known.get((question, text)) for text in texts}
        fresh = [text for text, value in known.items() if value is None]
        prompts = [self._model.chat(_PROMPT.format(passage=text)) for text in fresh]
        found = dict(zip(fresh, self._model.mean_logprobs(prompts, question.strip()), strict=True))
        for text, value in found.items():
            self._known.put((question, text), value)
        best = max(found[text] if value is None else value for text, value in known.items())
        return Sufficiency(score=best, passages=len(evidence), truncated=any_cut(evidence))

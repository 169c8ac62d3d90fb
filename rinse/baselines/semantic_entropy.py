"""Semantic entropy: do several answers of a model mean the same?

Source: Kuhn et al. 2023 and Farquhar et al. 2024. Adapted as in appendix A of the RINSE paper: the shared
greedy answer and five samples, grouped by entailment in both directions; the score is the negative entropy of
the groups' shares. Backbone: any `ChatModel` for the answers (the paper's: Qwen2.5-1.5B-Instruct) and an
`Entailment` (the paper's: mDeBERTa-v3-base, 279M). Cost: one pass over all passages (two where the shared
answer comes from a store), six answers of up to 24 decoded tokens, and up to 30 entailment passes over answers.
The order of passages matters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from retrieval import EvidenceSet
from retrieval.text import tokenise

from ..sufficiency import Sufficiency
from .answers import MAX_TOKENS, GreedyAnswers
from .documents import any_cut
from .entailment import Entailment
from .model import identity

SAMPLES = 5
TEMPERATURE = 1.0
"""Of the samples, as in Farquhar et al.; the RINSE paper names none."""
_SEED = 0
_ENTAILED = 0.5
"""A probability above it is an entailment."""


class SemanticEntropyScorer:
    """A `SufficiencyScorer`: negative entropy of the meanings of six answers, in [-log 6, 0].

    Args:
        answers: Give the shared answer; their model draws the others.
        entailment: Compares answers, each behind its question.
    """

    def __init__(self, answers: GreedyAnswers, entailment: Entailment) -> None:
        self._answers = answers
        self._entailment = entailment
        self.spared_seconds = 0.0
        """What a store of answers and kept heads spared the last call; it belongs to the method's time."""

    @property
    def fingerprint(self) -> str:
        """Identifies models, prompts and settings by content."""
        settings = repr((SAMPLES, TEMPERATURE, _SEED, _ENTAILED))
        return identity("semantic-entropy", self._answers.fingerprint, self._entailment.fingerprint, settings)

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: see `GreedyAnswers.answer` and `Entailment.entails`.
        """
        greedy, self.spared_seconds = self._answers.answer(question, evidence)
        prompt, head = self._answers.prompt(question, evidence)
        drawn = self._answers.model.samples(
            prompt,
            count=SAMPLES,
            max_tokens=MAX_TOKENS,
            temperature=TEMPERATURE,
            seed=_SEED,
            head=head,
        )
        texts = [f"{question.strip()} {text}" for text in (greedy.text, *(one.text.strip() for one in drawn))]
        sizes = [len(group) for group in meanings(texts, self._entailment)]
        shares = [size / len(texts) for size in sizes]
        negative = math.fsum(share * math.log(share) for share in shares)
        return Sufficiency(score=negative, passages=len(evidence), truncated=any_cut(evidence))


def meanings(texts: Sequence[str], entailment: Entailment) -> list[list[str]]:
    """Texts that mean the same, in groups.

    A text joins the first group whose first text it entails and is entailed by. Texts that differ in case,
    punctuation and white space alone are the same text.
    """
    groups: list[list[str]] = []
    for text in texts:
        same = next((group for group in groups if _plain(group[0]) == _plain(text)), None)
        if same is None:
            ways = [pair for group in groups for pair in ((group[0], text), (text, group[0]))]
            found = iter(entailment.entails(ways) if ways else [])
            # NaN is above nothing, so it joins nothing
            joined = [there > _ENTAILED and back > _ENTAILED for there, back in zip(found, found, strict=True)]
            same = next((group for group, join in zip(groups, joined, strict=True) if join), None)
        if same is None:
            groups.append([text])
        else:
            same.append(text)
    return groups


def _plain(text: str) -> str:
    return " ".join(tokenise(text)) or text

"""How much of the question one passage repeats: the best share of its content words.

Source: the lexical cue that the RINSE paper warns of (section 1), turned into a scorer as its appendix A turns all
passage-level scores: the best passage counts. The share over the whole set, all words alike, is the benchmark's
cue `question-overlap`. Backbone: none. Cost: no pass.
"""

from __future__ import annotations

from retrieval import EvidenceSet
from retrieval.words import content_words, stems

from ..sufficiency import Sufficiency
from .best_passage import best_passage, canonical_passages, canonical_text
from .model import identity

_VERSION = 1
"""Changes with what counts as a word, as a content word or as the same word."""


class WordOverlapScorer:
    """A `SufficiencyScorer`: the best share in one passage of the question's content words, in [0, 1].

    Words are compared by stem, each distinct one counts once, and a passage's heading is part of it. A question
    without content words is covered by nothing: 0.
    """

    @property
    def fingerprint(self) -> str:
        """The rule; there is nothing else."""
        return identity("word-overlap", str(_VERSION))

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`."""
        asked = frozenset(stem for word in content_words(question) for stem in word.stems)
        passages = canonical_passages(evidence)
        shares = [
            len(asked & stems(canonical_text(passage))) / len(asked) if asked else 0.0 for passage in passages
        ]
        return best_passage(passages, shares, model="word overlap", lowest=0.0)

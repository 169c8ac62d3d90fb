"""The content reader: is every local part of the question supported somewhere in the evidence?

RINSE, section 4, in a form that needs a passage's own states only (no pass over question and passage together), so
a passage is read once for all questions. Its features, each a cosine in [0, 1], feed a conditional-logistic head:

* `tokens`: each question token against its best token of the evidence (late interaction), weighted by the
  profile's IDF;
* `phrases`: each phrase of the question, eight tokens long, against its best sentence;
* `sentence`: all question tokens against the one sentence that covers most of them.

No feature ever falls as evidence grows. Beside them stands the coverage of overlapping windows, for people and for
the next query: each window keeps its best *source*, so fragments of different sources never add up inside a
window; the chunks of one source do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from retrieval import EvidenceSet

from ..gaps import Coverage
from ..profile import Profile
from .matching import Match
from .question import QuestionView

FEATURES = ("tokens", "phrases", "sentence")
"""Names of the features."""


def content_features(view: QuestionView, matches: Sequence[Match]) -> dict[str, float]:
    """The features by name; all 0 without evidence."""
    if not matches or not len(view.ids):
        return dict.fromkeys(FEATURES, 0.0)
    tokens = np.max([match.tokens for match in matches], axis=0)
    phrases = np.max([match.phrases for match in matches], axis=0)
    return {
        "tokens": float(view.mean(tokens)),
        "phrases": float(phrases.mean()),
        "sentence": max(_best_sentence(view, match) for match in matches),
    }


def _best_sentence(view: QuestionView, match: Match) -> float:
    return float(view.mean(match.sentences[0])) if len(match.sentences) else 0.0


def coverage(
    view: QuestionView, evidence: EvidenceSet, matches: Mapping[str, Match], profile: Profile
) -> Coverage:
    """How well the evidence covers the question, token by token and window by window."""
    tokens = np.zeros(len(view.ids), dtype=np.float32)
    best = np.zeros(len(view.window_spans), dtype=np.float32)
    for chunks in _sources(evidence, matches):
        source = np.max([match.tokens for match in chunks], axis=0)
        tokens = np.maximum(tokens, source)
        # one product a source: the last bits of one product for all would depend on how many there are
        best = np.maximum(best, view.means @ source)
    return Coverage(
        tokens=tokens,
        windows=best.clip(0.0, 1.0),
        content=view.weights >= profile.settings.function_idf,
        token_spans=view.token_spans,
        window_spans=view.window_spans,
    )


def _sources(evidence: EvidenceSet, matches: Mapping[str, Match]) -> list[list[Match]]:
    """The matches by source. A text that several sources hold belongs to each of them."""
    sources: dict[str, list[Match]] = {}
    for passage in evidence:
        if passage.id in matches:
            for source in {place.source_id for place in passage.provenance}:
                sources.setdefault(source, []).append(matches[passage.id])
    return list(sources.values())

"""The contracts of the scorer on a tiny random model: purity, sizes, invalid values, odd questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval import EvidenceSet, Passage
from retrieval.index.encoder import TokenStates, TransformerEncoder
from rinse import RinseScorer, ScoreError, SufficiencyScorer
from rinse.errors import ProfileError, ProfileMismatchError
from rinse.profile import FittedReader, Profile
from rinse.readers.pairing import LINK_PREMIUM
from rinse.scorer import FEATURES

Build = Callable[..., EvidenceSet]

ROUNDING = 1e-5
"""What else is in a forward pass may move a score by so much; the bound of S10 is ten times that."""
QUESTION = "Which river flows by the castle that the queen built?"
TEXTS = (
    "The queen built the red castle on the north mountain.",
    "The castle is by the river. The captain moved to the city.",
    "A ship was found. The team won the first match.",
    "The king of the old island wrote a novel and a song.",
    "The band moved west.",
)


class CountingEncoder:
    """The tiny encoder; counts what it reads and spoils what it is told to."""

    def __init__(self, encoder: TransformerEncoder, spoil: Callable[[str], object] = lambda _: ...) -> None:
        self._encoder = encoder
        self._spoil = spoil
        self.read: list[str] = []
        self.name = encoder.name
        self.fingerprint = encoder.fingerprint

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        self.read.extend(texts)
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> TokenStates:
        states = self._encoder.token_states([text])[0]
        value = self._spoil(text)
        if value is ...:
            return states
        if value is None:
            return None  # type: ignore[return-value]
        spoilt = states.states.copy()
        spoilt[0, 0] = value  # type: ignore[call-overload]
        return TokenStates(states=spoilt, ids=states.ids, spans=states.spans, truncated=states.truncated)


def test_it_serves_the_seam(tiny_scorer: RinseScorer) -> None:
    assert isinstance(tiny_scorer, SufficiencyScorer)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=6, deadline=None)
@given(order=st.permutations(range(len(TEXTS))), cuts=st.sets(st.integers(0, len(TEXTS))), repeat=st.booleans())
def test_s10_any_order_in_any_batches_with_repeats_gives_the_score_from_scratch(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile, order: list[int], cuts: set[int], repeat: bool
) -> None:
    """S10: the incremental score equals the score from scratch, up to the rounding of a forward pass."""
    scratch = RinseScorer(tiny_encoder, tiny_profile).score(QUESTION, EvidenceSet.of(map(_passage, range(5))))
    scorer, growing, last = RinseScorer(tiny_encoder, tiny_profile), EvidenceSet(), 0
    for cut in (*sorted(cuts), len(order)):
        batch = [_passage(number) for number in order[last:cut]]
        growing = growing.add(batch * (2 if repeat else 1))
        scorer.score(QUESTION, growing)
        last = cut
    assert scorer.score(QUESTION, growing).score == pytest.approx(scratch.score, abs=ROUNDING)


def _passage(number: int) -> Passage:
    """Passages 0 and 1 are chunks of one document."""
    return Passage(text=TEXTS[number], title="Castle" if number < 2 else "", source_id="doc" if number < 2 else "")


def test_s10_which_source_of_a_text_came_first_does_not_matter(tiny_scorer: RinseScorer) -> None:
    """S10: a text found in two documents keeps the heading of the first one that arrived; scores do not see it."""
    first = Passage(text=TEXTS[0], title="Queen", source_id="a")
    second = Passage(text=TEXTS[0], title="Mountain", source_id="b")
    scores = {tiny_scorer.score(QUESTION, EvidenceSet.of(pair)) for pair in ((first, second), (second, first))}
    assert len(scores) == 1


def test_s10_two_spellings_of_one_passage_score_alike(tiny_scorer: RinseScorer, evidence: Build) -> None:
    """S10: full-width letters and folded white space are the same passage, whichever spelling came first."""
    wide = "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in TEXTS[0]).replace(" ", "  ")
    assert tiny_scorer.score(QUESTION, evidence(wide)) == tiny_scorer.score(QUESTION, evidence(TEXTS[0]))


def test_s02_five_copies_count_once(tiny_scorer: RinseScorer, evidence: Build) -> None:
    """S02: duplicates count once."""
    assert tiny_scorer.score(QUESTION, evidence(*[TEXTS[0]] * 5)) == tiny_scorer.score(
        QUESTION, evidence(TEXTS[0])
    )


def test_s02_siblings_matter_only_through_the_size_term(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile, evidence: Build
) -> None:
    """S02: a passage that covers nothing better changes the score by the size term and by nothing else."""
    best = (QUESTION, f"{QUESTION} The river.")
    scorer = RinseScorer(tiny_encoder, _with_trend(tiny_profile))
    alone = scorer.score(QUESTION, evidence(*best))
    joined = scorer.score(QUESTION, evidence(*best, TEXTS[4]))
    assert [reader.raw for reader in joined.readers] == [reader.raw for reader in alone.readers]
    growth = math.log(4) - math.log(3)
    assert alone.score - joined.score == pytest.approx(growth * (0.5 / 2 + 3 / 4))


def _with_trend(profile: Profile) -> Profile:
    """The profile with a size trend in each reader."""
    readers = {
        name: fitted.model_copy(update={"beta": beta, "sigma": sigma, "mu": 0.25})
        for (name, fitted), beta, sigma in zip(
            profile.settings.readers.items(), (0.5, 3.0), (2.0, 4.0), strict=True
        )
    }
    return Profile(settings=profile.settings.model_copy(update={"readers": readers}), idf=profile.idf)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10, deadline=None)
@given(order=st.permutations(range(len(TEXTS))))
def test_no_feature_falls_as_evidence_grows(tiny_scorer: RinseScorer, order: list[int]) -> None:
    """Only the documented size term can make a score fall."""
    growing, last = EvidenceSet(), tiny_scorer.read(QUESTION, EvidenceSet())
    for number in order:
        growing = growing.add([_passage(number)])
        now = tiny_scorer.read(QUESTION, growing)
        for reader, features in now.features.items():
            for name, value in features.items():
                bound = 1.0 + LINK_PREMIUM if name == "pair" else 1.0
                assert last.features[reader][name] - 1e-6 <= value <= bound + 1e-6
        assert (now.coverage.windows >= last.coverage.windows).all()
        assert (now.coverage.tokens >= last.coverage.tokens).all()
        last = now


def test_the_score_is_the_sum_of_the_readers_each_its_weighted_features(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile, evidence: Build
) -> None:
    """RINSE, section 4: equal weights of readers; the head weighs inside a reader."""
    scorer = RinseScorer(tiny_encoder, _with_trend(tiny_profile))
    result, reading = scorer.score(QUESTION, evidence(*TEXTS)), scorer.read(QUESTION, evidence(*TEXTS))
    assert [reader.reader for reader in result.readers] == list(scorer.profile.settings.readers)
    assert result.score == sum(reader.corrected for reader in result.readers)
    for reader in result.readers:
        fitted = scorer.profile.settings.readers[reader.reader]
        features = reading.features[reader.reader]
        assert set(features) == set(FEATURES[reader.reader])
        assert reader.raw == sum(weight * features[name] for name, weight in fitted.head.items())
        assert reader.corrected == fitted.correction.apply(reader.raw, len(TEXTS))


@pytest.mark.parametrize("readers", [{"charm": {"tokens": 1.0}}, {"content": {"tokens": 1.0, "charm": 1.0}}])
def test_a_profile_that_weighs_what_there_is_not_is_refused(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile, readers: dict[str, dict[str, float]]
) -> None:
    """A reader or a feature of another version, say: refused with what there is, at construction."""
    made = {name: FittedReader(head=head, alpha=0, beta=0, mu=0, sigma=1) for name, head in readers.items()}
    other = Profile(settings=tiny_profile.settings.model_copy(update={"readers": made}), idf=tiny_profile.idf)
    with pytest.raises(ProfileError, match=r"charm.*'anchored'"):
        RinseScorer(tiny_encoder, other)


def test_fragments_of_two_sources_do_not_add_up_but_chunks_of_one_do(tiny_scorer: RinseScorer) -> None:
    """RINSE, section 4: a window's match comes from one source; chunks of one source are rejoined."""
    halves = [("red castle", 0), ("blue ship", 1)]
    apart = EvidenceSet.of(Passage(text=text, source_id=str(number)) for text, number in halves)
    joined = EvidenceSet.of(Passage(text=text, source_id="one") for text, _ in halves)
    question = "red castle blue ship"
    low, high = tiny_scorer.read(question, apart).coverage, tiny_scorer.read(question, joined).coverage
    assert (low.tokens == high.tokens).all()
    assert low.windows.max() < high.windows.min()


def test_a_turn_reads_only_new_passages_and_an_unchanged_set_reads_none(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile, evidence: Build
) -> None:
    encoder = CountingEncoder(tiny_encoder)
    scorer = RinseScorer(encoder, tiny_profile)
    first = evidence(*TEXTS[:3])
    scorer.score(QUESTION, first)
    assert len(encoder.read) == 4  # the question and three passages
    scorer.score(QUESTION, first)
    assert len(encoder.read) == 4
    scorer.score(QUESTION, first.add([_passage(3)]))
    assert encoder.read[4:] == [TEXTS[3]]
    scorer.score("Who built the castle?", first)
    assert len(encoder.read) == 6  # another question: its own pass, no passage again


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None])
def test_s04_a_passage_without_usable_values_is_masked(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile, evidence: Build, value: float | None
) -> None:
    """S04: NaN, inf or None for one passage: the score is that of the others, and says which one is missing."""
    encoder = CountingEncoder(tiny_encoder, lambda text: value if "queen built" in text else ...)
    scorer = RinseScorer(encoder, tiny_profile)
    masked = scorer.score("Which river is it?", evidence(*TEXTS))
    clean = RinseScorer(tiny_encoder, tiny_profile).score("Which river is it?", evidence(*TEXTS[1:]))
    assert masked.score == pytest.approx(clean.score, abs=ROUNDING)
    assert [gap.text for gap in masked.gaps] == [gap.text for gap in clean.gaps]
    assert masked.masked == (Passage(text=TEXTS[0]).id,)
    assert masked.passages == len(TEXTS)


@pytest.mark.parametrize("value", [math.nan, math.inf, None])
@pytest.mark.parametrize("where", ["castle", "queen built?"])
def test_s04_without_any_usable_value_there_is_no_score(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile, evidence: Build, value: float | None, where: str
) -> None:
    """S04: all passages invalid, or the question itself: a typed error, never a number."""
    scorer = RinseScorer(CountingEncoder(tiny_encoder, lambda text: value if where in text else ...), tiny_profile)
    with pytest.raises(ScoreError, match="no finite vectors"):
        scorer.score(QUESTION, evidence(*TEXTS[:2]))


def test_s03_another_encoder_is_refused_by_name(
    make_backbone: Callable[[int, int], object], tiny_profile: Profile
) -> None:
    """S03: statistics of one model are never used with another one's scores."""
    other = TransformerEncoder.named(str(make_backbone(32, 2)))
    with pytest.raises(ProfileMismatchError, match=r"'tiny' was made for tiny .* the encoder is bert-32-2"):
        RinseScorer(other, tiny_profile)


def test_the_fingerprint_changes_with_the_statistics(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile, tiny_scorer: RinseScorer
) -> None:
    other = Profile(settings=tiny_profile.settings.model_copy(update={"gap_threshold": 0.9}), idf=tiny_profile.idf)
    assert RinseScorer(tiny_encoder, other).fingerprint != tiny_scorer.fingerprint
    assert RinseScorer(tiny_encoder, tiny_profile).fingerprint == tiny_scorer.fingerprint


def test_without_evidence_every_word_is_a_gap_and_coverage_is_lowest(
    tiny_scorer: RinseScorer, evidence: Build
) -> None:
    empty = tiny_scorer.score(QUESTION, EvidenceSet())
    assert [gap.text for gap in empty.gaps] == [QUESTION.rstrip("?")]
    assert [reader.raw for reader in empty.readers] == [0.0, 0.0]
    assert empty.score < tiny_scorer.score(QUESTION, evidence(TEXTS[2])).score


def test_many_threads_on_one_scorer_give_the_serial_scores(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile, evidence: Build
) -> None:
    """L12: whoever shares a forward pass with whom."""
    sets = [evidence(*TEXTS[first : first + number]) for number in range(1, 6) for first in range(5)] * 3
    scorer, serial = (RinseScorer(tiny_encoder, tiny_profile) for _ in range(2))
    with ThreadPoolExecutor(8) as pool:
        parallel = [found.score for found in pool.map(lambda found: scorer.score(QUESTION, found), sets)]
    assert parallel == pytest.approx([serial.score(QUESTION, found).score for found in sets], abs=ROUNDING)


def test_the_ranking_holds_every_passage_once_best_first(tiny_scorer: RinseScorer, evidence: Build) -> None:
    found = evidence(*TEXTS)
    ranking = tiny_scorer.rank(QUESTION, found)
    assert sorted(ranking.ids) == sorted(found.ids)
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    assert ranking == tiny_scorer.rank(QUESTION, EvidenceSet.of(reversed(found.passages)))
    assert {ranking.ids[0], ranking.ids[1]} == {Passage(text=text).id for text in TEXTS[:2]}


def test_values_stay_numbers_of_python(tiny_scorer: RinseScorer, evidence: Build) -> None:
    """They are written as JSON."""
    result = tiny_scorer.score(QUESTION, evidence(*TEXTS))
    assert type(result.score) is float
    assert all(type(gap.coverage) is float and not isinstance(gap.start, np.integer) for gap in result.gaps)

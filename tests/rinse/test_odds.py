"""Log-odds: what the head computes, what it refuses, and that it keeps a scorer's contract."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import EvidenceSet, Passage
from retrieval.index.encoder import TokenStates, TransformerEncoder
from rinse import OddsScorer, RinseScorer, SufficiencyScorer
from rinse.errors import ProfileError, ProfileMismatchError
from rinse.odds import Odds, OddsSettings, Parabola, Terms, readings_of
from rinse.profile import FOLDS, Profile

Build = Callable[..., EvidenceSet]

_VALUE = st.floats(-50, 50)
TEXTS = (
    "the king built the tower in the city",
    "the old bridge is in the north",
    "the queen was born in the green castle",
)


@st.composite
def parabolas(draw: st.DrawFn) -> Parabola:
    """Any that the fit could write."""
    low, high = sorted((draw(st.floats(-2, 2)), draw(st.floats(-2, 2))))
    return Parabola(weight=draw(_VALUE), square=draw(_VALUE), low=low, high=high)


class _Silent:
    """An encoder that gives nothing usable for one text."""

    def __init__(self, encoder: TransformerEncoder, text: str) -> None:
        self._encoder, self._text = encoder, text
        self.name, self.fingerprint = encoder.name, encoder.fingerprint

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        found = self._encoder.token_states(texts)
        return [
            replace(one, states=np.full_like(one.states, np.nan)) if self._text in text else one
            for text, one in zip(texts, found, strict=True)
        ]


def settings_json(profile: Profile, **changes: Any) -> dict[str, Any]:
    """A head for this profile: several passages count another way than one."""
    whole = {"weight": 4.0, "square": -1.0, "low": 0.2, "high": 0.9}
    size = {"weight": -0.5, "square": 0.0, "low": 0.0, "high": 3.0}
    one = {"passages": 1, "intercept": -1.0, "size": size, "readers": {"content": {"tokens": whole}}}
    readers = {"content": {"tokens": whole, "sentence": whole}, "chain": {"pair": whole}}
    several = {"passages": 2, "intercept": -2.0, "size": size, "readers": readers}
    found = {
        "format": "sufficit-odds-1",
        "name": "tiny-odds",
        "readings": readings_of(profile),
        "terms": [one, several],
        "origin": profile.settings.origin.model_dump(),
    }
    return found | changes


def odds(profile: Profile, **changes: Any) -> Odds:
    return Odds(settings=OddsSettings.model_validate_json(json.dumps(settings_json(profile, **changes))))


@pytest.fixture
def scorer(tiny_scorer: RinseScorer) -> OddsScorer:
    return OddsScorer(tiny_scorer, odds(tiny_scorer.profile))


@given(parabolas(), st.floats(-4, 4))
def test_a_parabola_is_flat_outside_what_it_was_fitted_on(one: Parabola, x: float) -> None:
    """No extrapolation: a square would carry a strange set anywhere."""
    assert one.at(x) == one.at(min(max(x, one.low), one.high))
    assert one.lowest <= one.at(x) + 1e-9
    assert any(abs(one.at(at / 500 - 2) - one.lowest) < 0.5 for at in range(2001))


def test_the_sum_is_the_one_that_is_worked_by_hand(scorer: OddsScorer, tiny_scorer: RinseScorer) -> None:
    """Parabolas of the features that the readers give, intercept and size once."""
    evidence = EvidenceSet.of([Passage(text=text) for text in TEXTS[:2]])
    features = tiny_scorer.read("who built the tower", evidence).features

    def at(x: float) -> float:
        inside = min(max(x, 0.2), 0.9)
        return 4 * inside - inside**2

    shown = scorer.score("who built the tower", evidence)
    content = at(features["content"]["tokens"]) + at(features["content"]["sentence"])
    chain = at(features["chain"]["pair"])
    assert [reader.raw for reader in shown.readers] == pytest.approx([content, chain])
    assert shown.score == pytest.approx(content + chain - 2 - 0.5 * 1.0986123)
    assert shown.score == pytest.approx(sum(reader.corrected for reader in shown.readers))


def test_it_keeps_the_contract_of_a_scorer(scorer: OddsScorer, tiny_scorer: RinseScorer, evidence: Build) -> None:
    """Order and repeats do not matter; gaps are those of the readings; nothing scores below no evidence."""
    assert isinstance(scorer, SufficiencyScorer)
    question = "who built the tower in the north"
    found = {scorer.score(question, evidence(*order)).score for order in itertools.permutations(TEXTS)}
    assert max(found) - min(found) < 1e-4
    whole = evidence(*TEXTS, TEXTS[0])
    assert scorer.score(question, whole).score == pytest.approx(min(found), abs=1e-4)
    assert scorer.score(question, whole).gaps == tiny_scorer.score(question, whole).gaps
    none = scorer.score(question, evidence())
    assert [gap.text for gap in none.gaps] == [question]
    sets = [evidence(*some) for size in (1, 2, 3) for some in itertools.combinations(TEXTS, size)]
    assert all(none.score <= scorer.score(question, one).score for one in sets)


def test_what_is_fitted_is_in_the_fingerprint(tiny_scorer: RinseScorer) -> None:
    """Thresholds belong to one fingerprint: another head, another one; and never that of the ranking score."""
    profile = tiny_scorer.profile
    terms = settings_json(profile)["terms"]
    other = [terms[0], terms[1] | {"intercept": -2.5}]
    found = {OddsScorer(tiny_scorer, odds(profile, **some)).fingerprint for some in ({}, {"terms": other})}
    assert len(found | {tiny_scorer.fingerprint}) == 3


def test_no_set_is_worse_than_none_whichever_terms_go_lowest(tiny_scorer: RinseScorer, evidence: Build) -> None:
    """Also where one passage has the higher terms, or the lower ones."""
    made = settings_json(tiny_scorer.profile)["terms"]
    for first, second in ((-9.0, 5.0), (5.0, -9.0)):
        terms = [made[0] | {"intercept": first}, made[1] | {"intercept": second}]
        scorer = OddsScorer(tiny_scorer, odds(tiny_scorer.profile, terms=terms))
        none = scorer.score("who built the tower", evidence()).score
        for size in (1, 2, 3):
            assert none <= scorer.score("who built the tower", evidence(*TEXTS[:size])).score


@pytest.mark.parametrize("family", [None, *FOLDS])
def test_the_shipped_heads_put_nothing_below_no_evidence(family: str | None) -> None:
    """The lowest that any set can get, by the parabolas alone."""
    head = Odds.small(without=family).settings
    lowest = [sum(one.shares({}, 0).values()) + one.base(0) for one in head.terms]
    chosen = head.of(0)
    assert sum(chosen.shares({}, 0).values()) + chosen.base(0) == min(lowest)


def test_a_set_of_which_one_passage_could_be_read_is_no_single_passage(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile, evidence: Build
) -> None:
    """S04: what the encoder gives nothing for must not raise a score by choosing other terms."""
    made = settings_json(tiny_profile)["terms"]
    head = odds(tiny_profile, terms=[made[0] | {"intercept": 50.0}, made[1]])
    encoder = _Silent(tiny_encoder, TEXTS[1])
    scorer = OddsScorer(RinseScorer(encoder, tiny_profile), head)
    found = scorer.score("who built the tower", evidence(*TEXTS[:2]))
    assert len(found.masked) == 1
    assert found.score < 20


def test_a_head_that_saw_what_the_profile_did_not_is_refused(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile
) -> None:
    """A held-out figure with it would be none."""
    settings = tiny_profile.settings.model_copy(update={"held_out": ("own",)})
    profile = Profile(settings=settings, idf=tiny_profile.idf)
    with pytest.raises(ProfileMismatchError, match="fitted on own"):
        OddsScorer(RinseScorer(tiny_encoder, profile), odds(profile))
    OddsScorer(RinseScorer(tiny_encoder, profile), odds(profile, held_out=["other", "own"]))


def test_a_head_for_other_readings_is_refused(tiny_scorer: RinseScorer) -> None:
    """S03: features of another backbone or IDF table mean something else."""
    strange = odds(tiny_scorer.profile, readings="0" * 64)
    with pytest.raises(ProfileMismatchError, match="fitted on other readings"):
        OddsScorer(tiny_scorer, strange)


def _terms(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    return lambda whole: change(whole["terms"][1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda whole: whole.pop("readings"), "readings"),
        (lambda whole: whole.update(format="sufficit-odds-2"), "sufficit-odds-1"),
        (lambda whole: whole["terms"].reverse(), "ascending"),
        (lambda whole: whole.update(terms=[]), "at least 1"),
        (_terms(lambda one: one.update(intercept=float("nan"))), "finite"),
        (_terms(lambda one: one["readers"].update(latent={"x": one["size"]})), "latent"),
        (_terms(lambda one: one["size"].update(low=9.0)), "above high"),
        (_terms(lambda one: one["readers"]["chain"].update(pear=one["size"])), "pear"),
    ],
)
def test_a_file_that_is_no_head_is_refused(
    change: Callable[[dict[str, Any]], None], message: str, tiny_profile: Profile, tmp_path: Path
) -> None:
    """A typed error that names the file and what was expected; NaN never decides."""
    whole = json.loads(json.dumps(settings_json(tiny_profile)))
    change(whole)
    file = tmp_path / "my-odds.json"
    file.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(ProfileError, match=message) as caught:
        Odds.load(file)
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="cannot be read"):
        Odds.load(tmp_path / "my-odds.json")


def test_every_shipped_profile_has_its_head() -> None:
    """Fitted on the same readings, without the same families."""
    for family in (None, *FOLDS, "a family of your own"):
        head, profile = Odds.small(without=family).settings, Profile.small(without=family)
        assert head.readings == readings_of(profile)
        assert head.held_out == profile.settings.held_out
        assert [one.passages for one in head.terms] == [1, 2]
    with pytest.raises(ProfileError, match="without 'nq'"):
        Odds.small(without="nq")


def test_sizes_choose_their_terms(tiny_profile: Profile) -> None:
    """The last terms that are not for larger sets; the smallest sets take the first."""
    made = settings_json(tiny_profile)["terms"]
    three = odds(tiny_profile, terms=[made[0] | {"passages": 2}, made[1] | {"passages": 5}]).settings
    found: list[Terms] = [three.of(size) for size in (0, 1, 2, 4, 5, 99)]
    assert [one.passages for one in found] == [2, 2, 2, 2, 5, 5]


def test_real_both_hops_are_likelier_than_one_and_that_than_none(
    real_scorer: RinseScorer, evidence: Build
) -> None:
    """On MiniLM, with the shipped head; and a complete set is likelier than not."""
    scorer = OddsScorer(real_scorer, Odds.small())
    question = "Which river runs through the birthplace of Mary Anning?"
    person = ("Mary Anning", "Mary Anning was an English fossil collector. She was born in Lyme Regis in Dorset.")
    town = ("Lyme Regis", "Lyme Regis is a coastal town in Dorset. The River Lym flows through it, past a mill.")
    bread = ("Bread", "Bread is baked from a dough of flour and water. Yeast makes it rise.")
    chess = ("Chess", "Chess is a game for two players. The queen is the strongest piece.")
    both, one, none = (
        scorer.score(question, evidence(*some, chess)).score
        for some in ((person, town), (person, bread), (bread,))
    )
    assert both > one > none
    assert both > 0 > none


def test_it_needs_no_model_to_be_made_from_an_encoder(tiny_encoder: TransformerEncoder) -> None:
    """Another encoder than the shipped one is refused by the profile, before anything is read."""
    with pytest.raises(ProfileMismatchError):
        OddsScorer.small(tiny_encoder)

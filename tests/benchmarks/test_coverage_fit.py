"""Bars for cache and web: what the fit plays is what the policy does, and it finds what is worth most."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.coverage import bars
from benchmarks.coverage.bars import Levels, as_bars, climb, play, table_of, worths
from benchmarks.coverage.exploring import CACHE_LOOKS, WEB_LOOKS, Explored, Look
from benchmarks.coverage.fit import CoverageFitOptions, run_coverage_fit
from benchmarks.coverage.layout import StreamOptions
from benchmarks.errors import SettingsError
from policies import AnswerNow, SearchState, TierInfo, Widen
from policies.coverage_bars import CoverageBars
from policies.shipped import read_shipped
from policies.utility import Utility
from retrieval import Allowance
from tests.benchmarks.coverage_towns import write_records
from tests.towns import need_model

LOOKS = CACHE_LOOKS + WEB_LOOKS
_scores = st.lists(st.integers(-20, 20).map(lambda tenths: tenths / 10), min_size=LOOKS, max_size=LOOKS)


def explored(scores: list[float], held: list[int], *, needs: int = 1) -> Explored:
    """A question with a fetch for each call to the web."""
    looks = [
        Look(score=score, held=there, fetches=max(0, place - CACHE_LOOKS + 1))
        for place, (score, there) in enumerate(zip(scores, held, strict=True))
    ]
    return Explored(cluster="a", needs=needs, cache=tuple(looks[:CACHE_LOOKS]), web=tuple(looks[CACHE_LOOKS:]))


@st.composite
def levels(draw: st.DrawFn) -> Levels:
    """Bars with none below another that it must not be below; the last of each tier decides alone."""
    upper = draw(_scores)
    lower = [min(one, other) for one, other in zip(upper, draw(_scores), strict=True)]
    lower[CACHE_LOOKS - 1], lower[-1] = upper[CACHE_LOOKS - 1], upper[-1]
    return Levels(upper=tuple(upper), lower=tuple(lower))


@given(_scores, levels())
def test_the_fit_plays_what_the_policy_decides(scores: list[float], drawn: Levels) -> None:
    """Look by look: the end, and whether it answers."""
    ends = play(table_of([explored(scores, [0] * LOOKS)]), drawn)
    look, answered = searched(scores, drawn)
    assert (int(ends.look[0]), bool(ends.answered[0])) == (look, answered)


def searched(scores: list[float], drawn: Levels) -> tuple[int, bool]:
    """A search by the policy itself: the last look, and whether it answered."""
    ahead, fetching = as_bars(drawn)
    policy = CoverageBars(ahead=ahead, fetching=fetching, otherwise=ahead)
    place = 0
    while True:
        web = place >= CACHE_LOOKS
        turns = place - CACHE_LOOKS + 1 if web else place + 1
        last = place in {CACHE_LOOKS - 1, LOOKS - 1}
        state = SearchState(
            turn=place + 1,
            tier="web" if web else "cache",
            scores=(scores[place],),
            passages=1,
            tier_turns=turns,
            tier_fetches=web,
            tiers_left=() if web else (TierInfo(name="web", fetches=True),),
            left=Allowance(),
        )
        decision = policy.decide(state)
        if isinstance(decision, AnswerNow):
            return place, True
        if not web and (isinstance(decision, Widen) or last):
            place = CACHE_LOOKS
        elif last or decision.action == "abstain":
            return place, False
        else:
            place += 1


def test_a_call_that_brings_nothing_is_not_made_and_one_that_does_is() -> None:
    """Half of the questions stand complete in the cache with high scores, half are found on the web at once."""
    known = [explored([2.0 + place / 50] * LOOKS, [1] * LOOKS) for place in range(20)]
    missing = [explored([-2.0 - place / 50] * 2 + [1.5] * 4, [0, 0, 1, 1, 1, 1]) for place in range(20)]
    table = table_of([*known, *missing])
    best = climb(table, Utility())
    ends = play(table, best)
    assert ends.hits.tolist() == [True] * 20 + [False] * 20
    assert ends.web_calls.tolist() == [0.0] * 20 + [1.0] * 20
    assert climb(table, Utility()) == best
    assert worths(table, ends, Utility()).min() == pytest.approx(1 - 0.0125 - 0.005)


def test_bars_that_meet_unsupported_questions_refuse_them() -> None:
    """L06: whoever was never asked what nobody can answer would answer everything."""
    good = [explored([-2.0, -2.0, 1.5 + place / 50, 1.6, 1.6, 1.6], [0, 0, 1, 1, 1, 1]) for place in range(20)]
    bad = [
        explored([-2.0, -2.0, -1.0 - place / 50, -1.0, -1.0, -1.0], [0] * LOOKS, needs=0) for place in range(20)
    ]
    table = table_of([*good, *bad])
    ends = play(table, climb(table, Utility()))
    assert ends.answered.tolist() == [True] * 20 + [False] * 20


def test_a_search_that_found_nothing_to_ask_keeps_its_last_look() -> None:
    """Fewer looks than there could be: the evidence did not change any more, no score is no answer."""
    one = Explored(cluster="a", needs=2, cache=(), web=(Look(score=None, held=1, fetches=1),))
    table = table_of([one])
    assert table.shares.tolist() == [[0.0, 0.0, 0.5, 0.5, 0.5, 0.5]]
    low = Levels(upper=(-3.0,) * LOOKS, lower=(-3.0,) * LOOKS)
    assert not play(table, low).answered.any()
    assert np.isfinite(worths(table, play(table, low), Utility())).all()


def test_the_command_explores_chooses_and_writes_what_can_be_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the real server, cache, scorer and loop; taken up again from what was kept."""
    need_model()
    few = bars._beginnings()[:2]  # that the climb finds what is best from all of them is tested above
    monkeypatch.setattr(bars, "_beginnings", lambda: few)
    records = write_records(tmp_path / "towns.jsonl", split="train")
    stream = StreamOptions(records=(records,), questions=4, seed=5)
    options = CoverageFitOptions(
        stream=stream, streams=2, kept=tmp_path / "kept.jsonl", out=tmp_path / "shipped.json"
    )
    report = run_coverage_fit(options)
    assert [row["bars"] for row in report.rows] == ["in the fit", "held out"]
    (written,) = json.loads(options.out.read_text())["shipped"]
    coverage = read_shipped(written).coverage
    assert coverage is not None
    assert coverage.ahead.answer_at == tuple(report.settings["ahead"]["answer_at"])
    assert run_coverage_fit(options).rows == report.rows


def test_questions_that_are_reported_on_are_refused(tmp_path: Path) -> None:
    need_model()
    stream = StreamOptions(records=(write_records(tmp_path / "towns.jsonl"),), questions=4)
    with pytest.raises(SettingsError, match="towns is of the split dev"):
        run_coverage_fit(CoverageFitOptions(stream=stream, streams=2, out=tmp_path / "shipped.json"))
    with pytest.raises(SettingsError, match="at least 2 streams"):
        CoverageFitOptions(stream=stream, streams=1)

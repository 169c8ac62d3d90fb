"""A replayed policy decides exactly as it would have decided live."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from policies import Budget, Reason, SearchOn, SearchState, StopPolicy
from policies.replay import OffRecord, Recorded, Stop
from tests.policies.simulation import Simulation, Yield, script, steady
from tests.policies.strategies import observations, policies, scores


@dataclass(frozen=True)
class Patient:
    """Never ends a search: what recordings are made with."""

    name: str = "patient"
    requires: frozenset[str] = frozenset()

    def decide(self, state: SearchState) -> SearchOn:
        """Go on."""
        return SearchOn(reason=Reason(code="patient", by=self.name))


_yields = st.builds(
    Yield,
    new=st.integers(min_value=0, max_value=5),
    score=scores(),
    failed=st.booleans(),
    calls=st.integers(min_value=1, max_value=2),
    observed=observations(),
)
_searches = st.lists(_yields, min_size=1, max_size=6).map(lambda found: script(*found)) | st.builds(
    steady, _yields
)
_given = st.none() | _yields.filter(lambda found: not found.failed and found.new > 0)


@given(policies(), _searches, st.integers(min_value=1, max_value=7), _given)
def test_replaying_gives_the_decisions_of_the_live_run(
    policy: StopPolicy, place: object, calls: int, start: Yield | None
) -> None:
    """Same end, same reason, same numbers, at the same turn, for the whole family, in one tier."""
    budget = Budget(max_calls=calls, max_turns=6)
    record = Simulation(Patient(), [place], budget, given=start)  # type: ignore[list-item]
    record.run()
    live = Simulation(policy, [place], budget, given=start)  # type: ignore[list-item]
    end = live.run()
    replayed = Recorded(record.seen).play(policy)
    assert isinstance(replayed, Stop)
    assert replayed.decision == end
    assert replayed.look == len(live.seen) - 1
    assert replayed.state == live.seen[-1]


def test_beyond_the_record_nothing_is_claimed() -> None:
    """A record of two calls cannot say how a third would have ended."""
    place = steady(Yield())
    record = Simulation(Patient(), [place], Budget(max_calls=3))
    record.run()
    assert isinstance(Recorded(record.seen[:2]).play(Patient()), OffRecord)

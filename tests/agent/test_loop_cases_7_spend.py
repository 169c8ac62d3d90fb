"""Loop cases L15 and S04: budgets that are crossed where several things run at once, kills, and bad numbers."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent import SearchResult
from agent.seams import Plan
from agent.trace import load_trace
from agent.wire import read_state
from policies import Budget, StopPolicy
from policies.combine import AnswerAtEnd, FirstOf
from policies.opinion import LlmSaysStop, SufficiencyPrompt
from policies.replay import Recorded, Stop
from policies.stability import AnswerStability, Tasr
from policies.stagnation import NoGain
from policies.threshold import Band, ScoreThreshold
from retrieval import EvidenceSet, Spend, Tier
from rinse import Sufficiency
from tests.fakes import (
    ChargingRetriever,
    ScriptedObserver,
    ScriptedPlanner,
    ScriptedScorer,
    agent,
    always_search,
    answer_at,
    passages,
    requests_of,
    run,
    tier,
)

ROOT = Path(__file__).resolve().parents[2]
PAIRS = [(f"q{n}", f"r{n}") for n in range(9)]
FIVE = passages("a", "b", "c", "d", "e")


@dataclass
class ChargingPlanner(ScriptedPlanner):
    """A planner that pays for each plan."""

    spend: Spend = Spend()

    async def plan(
        self, question: str, evidence: EvidenceSet, sufficiency: Sufficiency | None, tried: tuple[str, ...]
    ) -> Plan:
        self.calls += 1
        return Plan(queries=(f"query {self.calls}",), spend=self.spend)


def ended(result: SearchResult) -> tuple[str, str]:
    return result.action, result.reason.code


def replays(result: SearchResult, policy: StopPolicy) -> bool:
    """Whether the recorded states lead the policy to the end that the live search had."""
    end = Recorded([turn.state for turn in result.turns]).play(policy)
    return isinstance(end, Stop) and (end.look, end.decision) == (len(result.turns) - 1, result.turns[-1].decision)


@pytest.mark.parametrize(
    ("spend", "price", "budget", "code", "asked"),
    [
        (Spend(tokens=40), 0.0, Budget(max_tokens=50), "budget_tokens", 2),
        (Spend(price=5.0), 0.5, Budget(max_price=6.0), "budget_price", 2),
        (Spend(), 1.0, Budget(max_price=3.0), "budget_price", 3),
        (Spend(price=math.nan), 1.0, Budget(max_price=9.0), "budget_price", 2),
    ],
)
def test_l15_what_crosses_a_budget_in_a_fan_out_is_counted_and_nothing_follows(
    spend: Spend, price: float, budget: Budget, code: str, asked: int
) -> None:
    """L15: two calls run at once. What the first one charges cannot stop the second, but everything after it: no
    call, and no plan, which might cost tokens too. A declared price is known before: then one call only is made.
    """
    retriever, planner = ChargingRetriever(spend), ScriptedPlanner(script=PAIRS)
    result = run(agent(Tier(name="local", retriever=retriever, price=price), planner=planner), budget=budget)
    assert ended(result) == ("abstain", code)
    assert len(retriever.requests) == result.spend.calls == asked
    assert planner.calls == len(result.turns) == -(-asked // 2)
    assert result.spend.tokens == asked * spend.tokens
    assert result.spend.price == pytest.approx(asked * (price + spend.price), nan_ok=True)
    assert len(result.evidence) == asked
    assert replays(result, always_search())


@pytest.mark.parametrize(
    ("spend", "budget", "code"),
    [
        (Spend(tokens=60), Budget(max_tokens=100), "budget_tokens"),
        (Spend(price=0.7), Budget(max_price=2.0), "budget_price"),
    ],
)
def test_l15_no_call_is_made_with_what_a_plan_has_used_up(spend: Spend, budget: Budget, code: str) -> None:
    """L15: the second plan crosses the budget; its query is not asked, and the record says why."""
    local = tier("local", *([p] for p in FIVE), price=0.5)
    planner = ChargingPlanner(spend=spend)
    result = run(agent(local, planner=planner), budget=budget)
    assert ended(result) == ("abstain", code)
    assert (len(requests_of(local)), planner.calls, len(result.turns)) == (1, 2, 1)
    assert result.turns[-1].state.failed_turns == 0
    assert result.spend.tokens == 2 * spend.tokens
    assert replays(result, always_search())


def test_l15_the_first_plan_can_use_up_the_budget() -> None:
    """L15: then nothing is asked at all; a look without evidence says so."""
    local = tier("local", FIVE)
    result = run(agent(local, planner=ChargingPlanner(spend=Spend(tokens=60))), budget=Budget(max_tokens=50))
    assert ended(result) == ("abstain", "budget_tokens")
    assert (requests_of(local), [turn.number for turn in result.turns], result.spend.tokens) == ([], [0], 60)
    assert result.tiers_not_tried == ("local",)


def test_l15_a_plan_that_uses_up_the_budget_leaves_the_user_his_unchecked_answer() -> None:
    """L15 with L06: who allows an unchecked answer gets it here, too."""
    policy = AnswerAtEnd(ScoreThreshold(answer_at=9.0))
    planner = ChargingPlanner(spend=Spend(tokens=60))
    result = run(agent(tier("local", FIVE), policy=policy, planner=planner), budget=Budget(max_tokens=100))
    assert ended(result) == ("answer", "unchecked_answer")
    assert "budget_tokens" in result.reason.overruled


def test_l15_a_plan_that_uses_up_the_price_leaves_the_tiers_that_cost_nothing() -> None:
    """L15: a tier without a price may still be asked."""
    paid, free = tier("paid", *([p] for p in FIVE), price=0.5), tier("free", passages("z"))
    planner = ChargingPlanner(spend=Spend(price=0.7))
    result = run(agent(paid, free, planner=planner, policy=answer_at(2.0)), budget=Budget(max_price=2.0))
    assert (result.action, len(requests_of(paid)), len(requests_of(free))) == ("answer", 1, 1)


KILLED = """
import asyncio, pathlib, sys
from policies import Budget
from retrieval import Spend, Tier
from tests.fakes import ChargingRetriever, ScriptedPlanner, agent

class Hanging(ChargingRetriever):
    async def retrieve(self, request):
        if len(self.requests) == 3:
            print("in flight", flush=True)
            await asyncio.sleep(600)
        return await super().retrieve(request)

local = Tier(name="local", retriever=Hanging(Spend(tokens=20)), timeout_seconds=600)
planner = ScriptedPlanner(script=[("q1", "r1"), ("q2", "r2")])
agent(local, planner=planner).run_sync("question", budget=Budget(max_tokens=50), trace=pathlib.Path(sys.argv[1]))
"""


def test_l15_a_killed_search_leaves_a_trace_up_to_its_last_turn_and_can_be_taken_up(tmp_path: Path) -> None:
    """L15: of the second turn's two calls one has crossed the budget, the other hangs; then comes SIGKILL."""
    file = tmp_path / "trace.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(file)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in flight\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    trace = load_trace(file)
    assert (len(trace.turns), trace.result, trace.problems) == (1, None, ())
    assert read_state(trace.turns[0]["state"]).spend.tokens == 40
    left = trace.evidence_after(1)
    assert left.passages == passages("new 1", "new 2")
    again = run(agent(tier("local", FIVE), policy=answer_at(2.0)), evidence=left)
    assert (again.action, again.spend.calls, again.evidence.ids) == ("answer", 0, left.ids)


@pytest.mark.parametrize("policy", [
    ScoreThreshold(answer_at=-9.0),
    Band(answer_at=-9.0, abstain_below=-99.0),
    FirstOf(ScoreThreshold(answer_at=-9.0), NoGain(patience=1)),
])  # fmt: skip
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None, "raises"])
def test_s04_a_bad_score_decides_nothing_and_the_next_good_one_does(
    policy: StopPolicy, bad: float | str | None
) -> None:
    """S04: the scorer fails on one passage and works on two; the search ends on the second score."""

    def score(evidence: EvidenceSet) -> float:
        if len(evidence) > 1:
            return 1.0
        if bad == "raises":
            raise ArithmeticError("no finite score")
        return bad  # type: ignore[return-value]

    local = tier("local", *([p] for p in FIVE))
    result = run(agent(local, policy=policy, scorer=ScriptedScorer(function=score)))
    first, second = result.turns
    assert first.wish.reason.code == "score_invalid"
    assert (first.state.score, first.sufficiency, [event.kind for event in first.events]) == (
        None, None, ["score_invalid"],
    )  # fmt: skip
    assert second.state.score == 1.0
    assert ended(result) == ("answer", "threshold_met")
    assert result.degraded


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, RuntimeError("down")])
@pytest.mark.parametrize(
    ("policy", "value"),
    [
        (AnswerStability(), "stable"),
        (Tasr(margin=0.0), "margin"),
        (LlmSaysStop(), "stop"),
        (SufficiencyPrompt(), "sufficient"),
    ],
)
def test_s04_an_observation_that_is_no_number_decides_nothing(
    policy: StopPolicy, value: str, bad: float | Exception
) -> None:
    """S04, for policies that rest on an observer: it searches to the end of its budget and abstains."""
    (name,) = policy.requires
    values = bad if isinstance(bad, Exception) else {"stable": 9.0, value: bad}
    observer = ScriptedObserver(name, values)
    local = tier("local", *([p] for p in FIVE))
    result = run(agent(local, policy=policy, observers=[observer]), budget=Budget(max_turns=3))
    assert (result.action, len(result.turns), result.degraded) == ("abstain", 3, True)
    assert {turn.wish.reason.code for turn in result.turns} == {"not_observed"}
    assert replays(result, policy)

"""What docs/policies.md shows and lists is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

from policies import Reason, SearchState, StopPolicy
from policies.decision import ReasonCode

DOCS = Path(__file__).parents[2] / "docs" / "policies.md"


def test_the_policy_of_your_own_runs() -> None:
    """The code block is a policy, and decides as its text says."""
    [block] = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {"__name__": "docs_policies"}
    exec(compile(block, str(DOCS), "exec", dont_inherit=True), names)  # noqa: S102  our own documentation
    policy = names["policy"]
    assert isinstance(policy, StopPolicy)
    seen = {passages: _decide(policy, passages) for passages in (0, 1, 10)}
    assert [(action, reason.code) for action, reason in seen.values()] == [
        ("search", "no_score"),
        ("search", "cautious"),
        ("answer", "cautious"),
    ]
    assert seen[1][1].values == {"score": 1.0, "needed": 1.8}


def test_every_reason_code_is_documented() -> None:
    """The table lists the codes of the product, no more and no fewer."""
    reasons = DOCS.read_text(encoding="utf-8").split("## Reasons")[1].split("## Your own")[0]
    rows = [row.split("|")[1] for row in reasons.splitlines() if row.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(get_args(ReasonCode))


def _decide(policy: StopPolicy, passages: int) -> tuple[str, Reason]:
    state = SearchState(
        turn=1, tier="local", scores=(1.0,), passages=passages, tier_turns=1, new_passages=(passages,)
    )
    decision = policy.decide(state)
    return decision.action, decision.reason

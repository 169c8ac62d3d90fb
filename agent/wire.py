"""Values as JSON: what `--json` prints, what a trace holds, and the way back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from policies import Decision, Reason, SearchState, Widen
from retrieval import Event, EvidenceSet, Hit, Passage
from rinse import Sufficiency

from .result import SearchResult, Turn

_PASSAGE = TypeAdapter(Passage)
_SUFFICIENCY = TypeAdapter(Sufficiency)
_STATE = TypeAdapter(SearchState)
_EVENTS = TypeAdapter(tuple[Event, ...])
_ANY: TypeAdapter[Any] = TypeAdapter(Any)
_SURROGATE = re.compile("[\ud800-\udfff]")


def json_line(data: Mapping[str, Any]) -> str:
    r"""One object as a line of strict JSON, new line included; what UTF-8 cannot write is escaped (`\udcff`).

    Raises:
        ValueError: a number is NaN or infinite.
        TypeError: a value that JSON does not know.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text) + "\n"


def passage_json(passage: Passage) -> dict[str, Any]:
    """All fields; `id` is written for people, and computed again when it is read."""
    data: dict[str, Any] = _PASSAGE.dump_python(passage, mode="json")
    return {"id": passage.id} | data


def read_passage(data: Mapping[str, Any]) -> Passage:
    """The way back of `passage_json`.

    Raises:
        pydantic.ValidationError: a field is missing or of another type.
    """
    return _PASSAGE.validate_python({key: value for key, value in data.items() if key not in {"id", "type"}})


def sufficiency_json(sufficiency: Sufficiency | None) -> dict[str, Any] | None:
    """All fields, or None."""
    return None if sufficiency is None else _SUFFICIENCY.dump_python(sufficiency, mode="json")


def read_state(data: Mapping[str, Any]) -> SearchState:
    """The state that a policy saw, from a trace.

    Raises:
        pydantic.ValidationError: a field is missing or of another type.
    """
    return _STATE.validate_python(data)


def reason_json(reason: Reason) -> dict[str, Any]:
    """`{"code", "by", "values", "overruled"}`."""
    return {
        "code": reason.code,
        "by": reason.by,
        "values": dict(reason.values),
        "overruled": list(reason.overruled),
    }


def decision_json(decision: Decision) -> dict[str, Any]:
    """`{"action": "answer" | "search" | "widen" | "abstain", "reason": ..., "tier"?}`."""
    data: dict[str, Any] = {"action": decision.action, "reason": reason_json(decision.reason)}
    if isinstance(decision, Widen) and decision.tier is not None:
        data["tier"] = decision.tier
    return data


def hit_json(hit: Hit) -> dict[str, Any]:
    """A hit with its passage's id in the place of the passage."""
    return {
        "passage_id": hit.passage.id,
        "score": hit.score,
        "rank": hit.rank,
        "tier": hit.tier,
        "query": hit.query,
        "retrieved_at": hit.retrieved_at,
        "age": hit.age,
        "stale": hit.stale,
    }


def turn_json(turn: Turn) -> dict[str, Any]:
    """A turn with passage ids in the place of passages."""
    return {
        "number": turn.number,
        "tier": turn.tier,
        "queries": list(turn.queries),
        "plan_reason": turn.plan_reason,
        "hits": [hit_json(hit) for hit in turn.hits],
        "new": [passage.id for passage in turn.new],
        "sufficiency": sufficiency_json(turn.sufficiency),
        "scored": turn.scored,
        "state": _STATE.dump_python(turn.state, mode="json"),
        "wish": decision_json(turn.wish),
        "decision": decision_json(turn.decision),
        "duplicates": turn.duplicates,
        "events": _EVENTS.dump_python(turn.events, mode="json"),
        "seconds": turn.seconds,
    }


def evidence_json(evidence: EvidenceSet) -> list[dict[str, Any]]:
    """The passages, in order of arrival."""
    return [passage_json(passage) for passage in evidence]


def result_json(result: SearchResult, *, with_passages: bool = True) -> dict[str, Any]:
    """A whole result as one object; `docs/result.md` documents its keys."""
    answer = result.answer
    return {
        "question": result.question,
        "action": result.action,
        "reason": reason_json(result.reason),
        "answer": None if answer is None else answer.text,
        "citations": [_ANY.dump_python(citation, mode="json") for citation in result.citations],
        "verdict": _ANY.dump_python(result.verdict, mode="json"),
        "gaps": [_ANY.dump_python(gap, mode="json") for gap in result.gaps],
        "sufficiency": sufficiency_json(result.sufficiency),
        "spend": _ANY.dump_python(result.spend, mode="json"),
        "degraded": result.degraded,
        "tiers_not_tried": list(result.tiers_not_tried),
        "coverage": _ANY.dump_python(result.coverage, mode="json"),
        "ranking": list(result.ranking.ids),
        "evidence": evidence_json(result.evidence) if with_passages else list(result.evidence.ids),
        "turns": [turn_json(turn) for turn in result.turns] if with_passages else len(result.turns),
        "events": _EVENTS.dump_python(result.events, mode="json"),
    }

"""Whole searches over questions: judged, counted once, resumable, the same whenever they are repeated."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent import SearchAgent, SearchResult
from benchmarks.datasets import Gold, GoldPassage, GoldSentence, Question
from benchmarks.errors import RunFileError
from benchmarks.outcome import Failure, Outcome, digest, judge
from benchmarks.runfile import RunFile
from benchmarks.runner import SearchFunction, search_all
from benchmarks.summary import rows
from benchmarks.support import holds, support_ranks
from policies import Budget
from retrieval import Passage
from retrieval.passage import passage_id
from tests.fakes import QuoteAnswerer, ScriptedPlanner, ScriptedScorer, answer_at, tier

LAKE = Passage(text="The lake is fed by the Mirna. It is deep.", title="Lake")
FERRY = Passage(text="The ferry crosses the lake.", title="Ferry")
HILL = Passage(text="The hill is bare.", title="Hill")


def question(name: str = "q1", *, support: Sequence[Gold] | None = None, **changes: Any) -> Question:
    gold = [GoldPassage(passage_id=passage.id) for passage in (LAKE, FERRY)]
    full: dict[str, Any] = {
        "id": name,
        "dataset": "toy",
        "split": "dev",
        "question": "Which river feeds the lake that the ferry crosses?",
        "answers": (LAKE.text,),
        "answerable": True,
        "support": tuple(gold if support is None else support),
        "group": name,
    }
    return Question(**(full | changes))


def agent(*script: Sequence[Passage], score: float = 2.0) -> SearchAgent:
    """Finds these passages, turn by turn, and answers once there are `score` of them."""
    return SearchAgent(
        tiers=[tier("local", *script)],
        scorer=ScriptedScorer(),
        policy=answer_at(score),
        planner=ScriptedPlanner(),
        answerer=QuoteAnswerer(),
        budget=Budget(max_turns=3, max_seconds=None),
    )


def outcome_of(asked: Question, *script: Sequence[Passage], score: float = 2.0) -> Outcome:
    result = agent(*script, score=score).run_sync(asked.question)
    return judge(asked, result, policy="threshold")


# --- support


def test_a_gold_passage_is_found_by_its_text_alone() -> None:
    """White space and title do not matter, one other character does: near-identical text is another passage."""
    gold = GoldPassage(passage_id=LAKE.id)
    assert holds(Passage(text=LAKE.text.replace(" ", "  "), title="Other"), gold)
    assert not holds(Passage(text=LAKE.text.replace(".", "!"), title="Lake"), gold)


def test_a_gold_sentence_is_found_in_any_passage_of_its_article() -> None:
    """However the article is cut; the same sentence in another article is no support."""
    gold = GoldSentence(article="Lake", sentence_id=passage_id("It is deep."))
    assert holds(LAKE, gold)
    assert holds(Passage(text="It is deep.", title="Lake", section="Depth"), gold)
    assert not holds(Passage(text="It is deep.", title="Hill"), gold)
    assert not holds(Passage(text="It is deep and cold.", title="Lake"), gold)
    elsewhere = Passage(text=LAKE.text, title="Copy").merged_with(LAKE)
    assert holds(elsewhere, gold), "a passage with several sources belongs to each of their articles"


def test_ranks_count_from_one_and_a_passage_may_hold_two_pieces() -> None:
    """The first passage that holds a piece of support gives its rank."""
    support: list[Gold] = [
        GoldSentence(article="Lake", sentence_id=passage_id("It is deep.")),
        GoldSentence(article="Lake", sentence_id=passage_id("The lake is fed by the Mirna.")),
        GoldPassage(passage_id=FERRY.id),
        GoldPassage(passage_id="f" * 64),
    ]
    assert support_ranks(support, [HILL, LAKE, LAKE, FERRY]) == (2, 2, 4, None)
    assert support_ranks([], [HILL]) == ()


# --- one search


def test_a_search_is_judged_turn_by_turn() -> None:
    """One of two pieces after the first turn, both at the end; then the answer is right."""
    found = outcome_of(question(), [LAKE], [LAKE, FERRY])
    assert (found.support, found.support_turn1, found.support_end) == (2, 1, 2)
    assert (found.complete_turn1, found.complete, found.correct) == (False, True, True)
    assert (found.action, found.answer, found.em, found.f1) == ("answer", LAKE.text, 1.0, 1.0)
    assert (found.turns, found.calls, found.passages, found.reason) == (2, 2, 2, "threshold_met")
    assert sorted(rank for rank in found.ranks if rank) == [1, 2]


def test_answering_without_all_support_is_a_wrong_decision() -> None:
    """Even where the answer's text happens to be right."""
    found = outcome_of(question(), [LAKE, HILL])
    assert (found.em, found.complete, found.correct) == (1.0, False, False)


def test_an_unanswerable_question_is_never_complete() -> None:
    """Abstaining is correct, answering is not, whatever was found; no answer is judged."""
    unanswerable = question(answerable=False, support=())
    abstained = outcome_of(unanswerable, [LAKE], score=9.0)
    answered = outcome_of(unanswerable, [LAKE, FERRY])
    assert (abstained.action, abstained.complete, abstained.correct) == ("abstain", False, True)
    assert (answered.action, answered.complete, answered.correct) == ("answer", False, False)
    assert (abstained.em, answered.em, answered.f1) == (None, None, None)


def test_an_abstention_scores_zero_even_if_the_gold_answer_normalises_to_nothing() -> None:
    """No answer and the answer "The The" have the same normal form; an abstention is no answer."""
    found = outcome_of(question(answers=("The The",)), [LAKE], score=9.0)
    assert (found.action, found.answer, found.em, found.f1) == ("abstain", None, 0.0, 0.0)


def test_without_accepted_answers_no_answer_is_judged() -> None:
    """Case E02: None, not 0."""
    found = outcome_of(question(answers=()), [LAKE, FERRY])
    assert (found.action, found.em, found.f1) == ("answer", None, None)


def test_what_went_wrong_on_the_way_is_recorded() -> None:
    """A tier that fails in the first turn degrades the search; the outcome says which part it was."""
    failing = SearchAgent(
        tiers=[tier("local", OSError("disk"), [LAKE, FERRY])],
        scorer=ScriptedScorer(),
        policy=answer_at(2.0),
        planner=ScriptedPlanner(),
        answerer=QuoteAnswerer(),
    )
    found = judge(question(), failing.run_sync("Which river?"), policy="threshold")
    assert found.degraded
    assert found.events == ["local/tier_failed"]


# --- many searches


def searching(*script: Sequence[Passage], score: float = 2.0) -> SearchFunction:
    async def search(asked: str) -> SearchResult:
        return await agent(*script, score=score).run(asked)

    return search


def run(
    questions: Sequence[Question],
    searches: dict[str, SearchFunction],
    *,
    concurrency: int = 1,
    **options: Any,
) -> list[Outcome | Failure]:
    records: list[Outcome | Failure] = []
    asyncio.run(search_all(questions, searches, concurrency=concurrency, on_record=records.append, **options))
    return records


def test_every_question_meets_every_policy_whatever_the_concurrency() -> None:
    """Order of completion changes nothing that is reported but times."""
    questions = [question(f"q{n}") for n in range(7)]
    searches = {"eager": searching([LAKE], score=1.0), "patient": searching([LAKE], [FERRY])}
    tables = []
    for concurrency in (1, 3, 50):
        records = run(questions, searches, concurrency=concurrency)
        outcomes = [record for record in records if isinstance(record, Outcome)]
        assert len({outcome.key for outcome in outcomes}) == len(records) == 14
        tables.append(rows(reversed(outcomes), []))
    for table in tables:
        for row in table:
            row.pop("seconds_per_turn")
    assert tables[0] == tables[1] == tables[2]
    assert [row["policy"] for row in tables[0]] == ["eager", "patient"]


def test_a_search_that_raises_is_a_failure_and_the_others_go_on() -> None:
    """Counted by name, in no figure."""

    async def broken(asked: str) -> SearchResult:
        if "second" in asked:
            raise RuntimeError("no room")
        return await agent([LAKE, FERRY]).run(asked)

    questions = [question("q1"), question("q2", question="The second one?"), question("q3")]
    records = run(questions, {"band": broken}, concurrency=2)
    failures = [record for record in records if isinstance(record, Failure)]
    outcomes = [record for record in records if isinstance(record, Outcome)]
    assert [(failure.id, failure.error) for failure in failures] == [("q2", "RuntimeError: no room")]
    (row,) = rows(outcomes, failures)
    assert (row["n"], row["failures"], row["all_support"]) == (2, 1, 1.0)


def test_a_dataset_of_failures_only_has_a_row_of_nulls() -> None:
    """It must not vanish from the table (case E02)."""
    failure = Failure(policy="band", dataset="toy", split="dev", id="q1", error="ValueError: x")
    (row,) = rows([], [failure])
    assert (row["n"], row["failures"], row["f1"], row["seconds_per_turn"]) == (0, 1, None, None)


def test_cancelling_stops_every_search() -> None:
    """Control-C leaves no search behind; what was finished was reported."""
    started = asyncio.Event()

    async def endless(_asked: str) -> SearchResult:
        started.set()
        await asyncio.sleep(3600)
        raise AssertionError

    async def main() -> int:
        records: list[Outcome | Failure] = []
        work = search_all([question(), question("q2")], {"band": endless}, concurrency=2, on_record=records.append)
        task = asyncio.create_task(work)
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(records) + len(asyncio.all_tasks()) - 1

    assert asyncio.run(main()) == 0


def test_rows_hold_the_worked_example() -> None:
    """Four questions, worked by hand: complete and answered, complete and abstained, incomplete and answered,
    unanswerable and abstained.
    """
    outcomes = [
        outcome_of(question("q1"), [LAKE, FERRY]),
        outcome_of(question("q2"), [LAKE], [FERRY], score=9.0),
        outcome_of(question("q3", answers=("Mirna",), group="q1"), [HILL, LAKE]),
        outcome_of(question("q4", answerable=False, support=()), [HILL], score=9.0),
    ]
    (row,) = rows(outcomes, [], labels={"system": "toy-scorer"})
    shares = {
        "all_support_turn1": 1 / 3,
        "all_support": 2 / 3,
        "correct_decisions": 2 / 4,
        "answered": 2 / 4,
        "answered_when_sufficient": 1 / 2,
        "abstained_when_insufficient": 1 / 2,
        "risk": 1 / 2,
        "em": 1 / 3,
        "em_answered": 1 / 2,
        "recall@5": (1 + 1 + 0.5) / 3,
        "all_support@5": 2 / 3,
        "turns_per_question": (1 + 3 + 1 + 3) / 4,
    }
    assert {name: row[name] for name in shares} == pytest.approx(shares)
    sizes = {"dataset": "toy", "split": "dev", "policy": "threshold", "system": "toy-scorer", "n": 4, "groups": 3}
    assert {name: row[name] for name in sizes} == sizes


def test_a_run_that_abstains_on_all_has_nulls_and_no_nan() -> None:
    """Case E02: nothing was answered, so what is a share of the answered is undefined."""
    (row,) = rows([outcome_of(question(answerable=False, support=()), [HILL], score=9.0)], [])
    undefined = {"all_support", "em", "f1", "em_answered", "risk", "answered_when_sufficient", "recall@5"}
    assert {row[name] for name in undefined} == {None}
    assert row["abstained_when_insufficient"] == 1.0
    json.dumps(row, allow_nan=False)


def test_the_digest_knows_everything_but_times_and_order() -> None:
    """Equal digests mean that two runs did the same for every question."""
    one, two = outcome_of(question("q1"), [LAKE]), outcome_of(question("q2"), [FERRY])
    slower = one.model_copy(update={"seconds": 99.0})
    other = one.model_copy(update={"evidence": "another ranking"})
    assert digest([one, two]) == digest([two, slower])
    assert digest([one, two]) != digest([two, other])
    assert digest([one]) != digest([one, one])


# --- the run file


def known(file: RunFile) -> Callable[[str, Question], bool]:
    return lambda policy, asked: (policy, asked.dataset, asked.id) in file.outcomes


def test_a_run_taken_up_again_counts_every_question_once(tmp_path: Path) -> None:
    """Case R11: stopped after 7 of 10, killed in the middle of a line, then finished."""
    path = tmp_path / "run.jsonl"
    questions = [question(f"q{n}") for n in range(10)]
    searches = {"threshold": searching([LAKE, FERRY])}
    first = RunFile(path, {"index": "abc"})
    asyncio.run(search_all(questions[:7], searches, concurrency=2, on_record=first.append))
    with path.open("ab") as file:
        file.write(b'{"type":"outcome","policy":"thr')

    second = RunFile(path, {"index": "abc"})
    assert len(second.outcomes) == 7
    records = run(questions, searches, skip=known(second))
    assert len(records) == 3
    for record in records:
        second.append(record)

    third = RunFile(path, {"index": "abc"})
    assert {outcome.id for outcome in third.outcomes.values()} == {asked.id for asked in questions}
    assert third.faults == []
    assert len(path.read_bytes().splitlines()) == 11


def test_a_failed_search_is_tried_again(tmp_path: Path) -> None:
    """Its outcome counts once it has one."""
    path = tmp_path / "run.jsonl"
    asked = question()
    file = RunFile(path, {})
    file.append(Failure(policy="threshold", dataset="toy", split="dev", id="q1", error="OSError: x"))
    again = RunFile(path, {})
    assert not known(again)("threshold", asked)
    again.append(outcome_of(asked, [LAKE, FERRY]))
    assert known(RunFile(path, {}))("threshold", asked)


def test_repeated_and_broken_lines_of_a_run_file_are_named(tmp_path: Path) -> None:
    """Case R11: the first outcome of a question counts; nothing is dropped in silence."""
    path = tmp_path / "run.jsonl"
    file = RunFile(path, {})
    found = outcome_of(question(), [LAKE, FERRY])
    file.append(found)
    file.append(found.model_copy(update={"calls": 99}))
    with path.open("ab") as raw:
        raw.write(b'not json\n{"type":"outcome"}\n')
    again = RunFile(path, {})
    assert [outcome.calls for outcome in again.outcomes.values()] == [found.calls]
    assert [(fault.line, fault.kind) for fault in again.faults] == [
        (3, "repeated_id"),
        (4, "bad_record"),
        (5, "bad_record"),
    ]


def test_another_run_or_another_file_is_refused(tmp_path: Path) -> None:
    """Outcomes of two indexes are never mixed, and no foreign file is overwritten."""
    path = tmp_path / "run.jsonl"
    RunFile(path, {"index": "abc", "k": 5})
    with pytest.raises(RunFileError, match="differs in index"):
        RunFile(path, {"index": "xyz", "k": 5})
    foreign = tmp_path / "notes.txt"
    foreign.write_text("my notes\n")
    with pytest.raises(RunFileError, match="no run file"):
        RunFile(foreign, {})
    assert foreign.read_text() == "my notes\n"
    unfinished = tmp_path / "unfinished.txt"
    unfinished.write_text("my notes without a line end")
    with pytest.raises(RunFileError, match="no run file"):
        RunFile(unfinished, {})
    assert unfinished.read_text() == "my notes without a line end"
    with pytest.raises(RunFileError, match="Cannot use"):
        RunFile(tmp_path, {})

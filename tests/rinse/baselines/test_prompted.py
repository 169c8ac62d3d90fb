"""The scorers that prompt a language model, on a tiny one and on scripted replies."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from retrieval import EvidenceSet, Passage
from rinse import ScoreError, SufficiencyScorer
from rinse.baselines.answers import MAX_TOKENS, GreedyAnswers
from rinse.baselines.attribution import AttributionScorer
from rinse.baselines.documents import CHARACTERS, document, numbered_documents
from rinse.baselines.flare import FlareScorer
from rinse.baselines.p_true import PTrueScorer
from rinse.baselines.ragas import RagasScorer, extracted_share
from rinse.baselines.semantic_entropy import SemanticEntropyScorer, meanings
from rinse.baselines.sufficient_context import SufficientContextScorer, read_label
from rinse.baselines.upr import UprScorer
from rinse.baselines.yes_no import NO, TEMPLATE, YES, YesNoScorer
from rinse.local_generator import LocalGenerator
from tests.rinse.baselines.tiny_chat import Kept, Replies, SameWords

QUESTION = "who built the bridge"
EVIDENCE = EvidenceSet.of(
    [
        Passage(title="Bridge", text="The king built it."),
        Passage(text="A river of the north."),
        Passage(text="Ships."),
    ]
)
MAKE: dict[str, Callable[[LocalGenerator], SufficiencyScorer]] = {
    "yes-no": YesNoScorer,
    "upr": UprScorer,
    "ragas-cr": RagasScorer,
    "sufficient-context": SufficientContextScorer,
    "flare": lambda model: FlareScorer(GreedyAnswers(model)),
    "p-true": lambda model: PTrueScorer(GreedyAnswers(model)),
    "attribution": lambda model: AttributionScorer(GreedyAnswers(model), SameWords()),
    "semantic-entropy": lambda model: SemanticEntropyScorer(GreedyAnswers(model), SameWords()),
}
every = pytest.mark.parametrize("name", list(MAKE))


@every
def test_a_score_is_the_same_again(name: str, chat_model: LocalGenerator, chat_folder: Path) -> None:
    """Also in another process, which has read nothing before; what was cut is told."""
    scorer = MAKE[name](chat_model)
    first = scorer.score(QUESTION, EVIDENCE)
    assert first.passages == 3
    assert not first.truncated
    scorer.score("who won", EVIDENCE)
    assert scorer.score(QUESTION, EVIDENCE) == first
    other = MAKE[name](LocalGenerator.named(str(chat_folder)))
    assert other.score(QUESTION, EVIDENCE) == first
    assert other.fingerprint == scorer.fingerprint
    assert isinstance(scorer, SufficiencyScorer)
    assert scorer.score(QUESTION, EVIDENCE.add([Passage(text="the " * 300)])).truncated


def test_fingerprints_tell_scorers_apart(chat_model: LocalGenerator) -> None:
    """Scores of one are never taken for another's."""
    assert len({make(chat_model).fingerprint for make in MAKE.values()}) == len(MAKE)


@every
@pytest.mark.parametrize(
    ("question", "evidence", "message"),
    [
        (" ", EVIDENCE, "question is blank"),
        (QUESTION, EvidenceSet(), "no passage"),
        ("who won the match " * 400, EVIDENCE, "at most 1024 tokens"),
    ],
    ids=["no question", "no evidence", "too long"],
)
def test_what_cannot_be_asked_is_a_typed_error(
    name: str, question: str, evidence: EvidenceSet, message: str, chat_model: LocalGenerator
) -> None:
    """Nothing is cut silently and nothing is guessed."""
    with pytest.raises(ScoreError, match=message):
        MAKE[name](chat_model).score(question, evidence)


@every
def test_broken_characters_are_read_as_replacement_characters(name: str, chat_model: LocalGenerator) -> None:
    """Half a surrogate pair, as broken pages hold them, stops no scorer."""
    scorer = MAKE[name](chat_model)
    broken = scorer.score(f"{QUESTION} \ud800", EvidenceSet.of([Passage(text="a \udc00 king")]))
    plain = scorer.score(f"{QUESTION} \ufffd", EvidenceSet.of([Passage(text="a \ufffd king")]))
    assert broken.score == plain.score


def test_documents_are_numbered_lines_of_limited_length() -> None:
    """In the order of the set; a passage cannot begin a line of its own, and braces are plain text."""
    evidence = EvidenceSet.of([Passage(title="T", text="a\n[2] b {x}"), Passage(text="c" * 2000)])
    lines = numbered_documents(evidence).split("\n")
    assert lines == ["[1] T: a [2] b {x}", f"[2] {'c' * CHARACTERS}"]


def test_yes_no_reads_the_printed_template(chat_model: LocalGenerator) -> None:
    """The score is the log-odds of that prompt, nothing else."""
    prompt = TEMPLATE.format(question=QUESTION, documents=numbered_documents(EVIDENCE))
    odds = chat_model.log_odds(chat_model.chat(prompt), YES, NO)
    assert YesNoScorer(chat_model).score(QUESTION, EVIDENCE).score == odds


def test_upr_takes_the_best_passage_and_remembers(chat_model: LocalGenerator) -> None:
    """More passages never lower the score, the order of arrival does not matter."""
    scorer = UprScorer(chat_model)
    parts = [scorer.score(QUESTION, EvidenceSet.of([passage])).score for passage in EVIDENCE]
    assert scorer.score(QUESTION, EVIDENCE).score == max(parts)
    turned = EvidenceSet.of(reversed(EVIDENCE.passages))
    assert UprScorer(chat_model).score(QUESTION, turned) == UprScorer(chat_model).score(QUESTION, EVIDENCE)


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ('{"sufficient": 1}', 1),
        (' {"sufficient": false}\n', 0),
        ('{"sufficient": 1', 1),
        ('```json\n{"sufficient": 0}\n```', 0),
        ('```\n{"sufficient": 1', 1),
        ('{"sufficient": 2}', None),
        ('{"sufficient": "1"}', None),
        ('{"sufficient": 1.0}', None),
        ('{"sufficient": 1, "why": 2}', None),
        ('Sure: {"sufficient": 1}', None),
        ("yes", None),
        ("", None),
        ("[" * 100_000, None),
    ],
    ids=range(13),
)
def test_a_label_is_parsed_strictly(reply: str, label: int | None) -> None:
    """What is not exactly the JSON that was asked for is no label."""
    assert read_label(reply) == label


def test_sufficient_context_works_with_any_generator() -> None:
    """One without a chat template gets the prompt as it is; a reply without a label is 0."""
    model = Replies('{"sufficient": 1}')
    assert SufficientContextScorer(model).score(QUESTION, EVIDENCE).score == 1.0
    assert numbered_documents(EVIDENCE) in model.prompts[0]
    assert SufficientContextScorer(Replies("I think so.")).score(QUESTION, EVIDENCE).score == 0.0


def test_a_chat_model_is_asked_for_the_label_alone(chat_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reply is begun up to the label, so that one that would rather talk gives one too."""
    model, label = LocalGenerator.named(str(chat_folder)), Replies(" 1")
    monkeypatch.setattr(model, "generate", lambda prompt, head, **asked: label.generate(prompt, **asked))
    assert SufficientContextScorer(model).score(QUESTION, EVIDENCE).score == 1.0
    assert label.prompts[0].endswith('{"sufficient":')


def test_ragas_counts_sentences_by_their_first_words() -> None:
    """A reply that the limit of tokens cut counts the sentence that it was in; signs are no sentence."""
    context = ["The king built it.", "A river runs north.", "!"]
    assert extracted_share(context, "- the King built it\n- A river runs") == 0.5
    assert extracted_share([], "the king") == 0.0


def test_the_answer_is_generated_once(chat_model: LocalGenerator) -> None:
    """A second scorer takes it from the store and says what that spared it."""
    kept = Kept()
    first = FlareScorer(GreedyAnswers(chat_model, kept))
    score = first.score(QUESTION, EVIDENCE)
    (answer,) = kept.values()
    second = FlareScorer(GreedyAnswers(chat_model, kept))
    assert second.score(QUESTION, EVIDENCE) == score
    assert second.spared_seconds == answer.seconds > 0.0
    assert score.score == min(answer.logprobs)
    assert len(answer.tokens) <= MAX_TOKENS


def test_attribution_compares_passages_with_the_claim(chat_model: LocalGenerator) -> None:
    """One pair a passage, each with question and answer in the hypothesis."""
    entailment = SameWords()
    AttributionScorer(GreedyAnswers(chat_model), entailment).score(QUESTION, EVIDENCE)
    assert [premise for premise, _ in entailment.pairs] == [document(passage) for passage in EVIDENCE]
    assert {hypothesis.startswith(f"The answer to {QUESTION} is ") for _, hypothesis in entailment.pairs} == {True}


def test_meanings_are_groups_by_entailment_both_ways() -> None:
    """One direction alone does not join; case and signs make no difference."""
    assert meanings(["a b", "b a", "a", "A B!"], SameWords()) == [["a b", "b a", "A B!"], ["a"]]


def test_semantic_entropy_is_bounded(chat_model: LocalGenerator) -> None:
    """Six answers: between six meanings and one."""
    score = SemanticEntropyScorer(GreedyAnswers(chat_model), SameWords()).score(QUESTION, EVIDENCE).score
    assert -math.log(6) - 1e-9 <= score <= 0.0

"""The official files as records: what is evidence, what is support, what is the label, who belongs together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.datasets import Record, load_records
from benchmarks.datasets.records import record_key
from tests.benchmarks.official_files import (
    HILL,
    LAKE,
    MIRNA,
    array,
    articles,
    asked,
    hotpot,
    iirc,
    iirc_question,
    lines,
    musique,
    squad,
    two_wiki,
)

SPAN: dict[str, Any] = {"type": "span", "answer_spans": [{"text": "Mirna", "passage": "mirna"}]}


def evidence(record: Record) -> list[tuple[str, str, bool, tuple[str, ...]]]:
    return [(one.passage.title, one.passage.text, one.support, one.hop_answers) for one in record.passages]


def only(path: Path) -> Record:
    loaded = load_records([path])
    assert loaded.faults == ()
    (record,) = loaded.records
    return record


def kinds(path: Path) -> list[tuple[int, str]]:
    return [(fault.line, fault.kind) for fault in load_records([path]).faults]


def test_hotpotqa_names_its_support_by_title(tmp_path: Path) -> None:
    """Sentences are joined by one space, empty passages go, a support sentence that does not exist is no harm."""
    record = only(array(tmp_path / "hotpot_dev_distractor_v1.json", hotpot()))
    assert record.dataset == "hotpotqa"
    assert (record.id, record.split, record.answers, record.answerable) == ("h1", "dev", ("Mirna",), True)
    assert (record.group, record.cluster) == ("hotpotqa:h1", "hotpotqa:h1")
    assert evidence(record) == [
        ("Mirna", MIRNA, True, ()),
        ("Lake", LAKE, True, ()),
        ("Hill", HILL, False, ()),
    ]


@pytest.mark.parametrize(("missing", "support"), [("Mirna", ["Lake"]), ("Lake", ["Mirna"])])
def test_a_fullwiki_set_without_a_supporting_title_does_not_suffice(
    tmp_path: Path, missing: str, support: list[str]
) -> None:
    """Its passages were retrieved: the label is whether all gold articles are among them."""
    context = [passage for passage in hotpot()["context"] if passage[0] != missing]
    path = array(tmp_path / "hotpot_dev_fullwiki_v1.json", hotpot(context=context), hotpot("h2"))
    short, full = load_records([path]).records
    assert short.dataset == full.dataset == "hotpotqa_fullwiki"
    assert (short.answerable, full.answerable) == (False, True)
    assert [one.passage.title for one in short.support] == support


def test_an_answerable_question_whose_only_support_is_missing_is_insufficient_not_a_crash(tmp_path: Path) -> None:
    """Even a set with no passage at all is read."""
    record = only(array(tmp_path / "x.json", hotpot(context=[])))
    assert (record.answerable, record.passages, record.split) == (False, (), "unknown")


def test_two_wiki_gives_each_passage_the_objects_of_its_subject(tmp_path: Path) -> None:
    """The hop answers serve screens of near misses and of deletions."""
    record = only(array(tmp_path / "train.json", two_wiki()))
    assert (record.dataset, record.split, record.group) == ("2wikimultihopqa", "train", "2wiki:w1")
    assert [one.hop_answers for one in record.passages] == [("the lake",), ("ferry",), ()]


@pytest.mark.parametrize("changes", [{"answer": None}, {"supporting_facts": None}, {"supporting_facts": []}])
@pytest.mark.parametrize("entry", [hotpot, two_wiki])
def test_a_test_file_without_labels_is_counted(tmp_path: Path, entry: Any, changes: dict[str, Any]) -> None:
    """Nothing can be judged on it, and nobody may wonder where its questions went."""
    path = array(tmp_path / "hotpot_test_fullwiki_v1.json", entry("a", **changes), entry("b"))
    assert kinds(path) == [(1, "no_label")]


def test_musique_knows_hops_aliases_and_support(tmp_path: Path) -> None:
    """Hops are tied to paragraphs by `idx`, wherever the paragraph stands."""
    entry = musique()
    entry["paragraphs"].reverse()
    record = only(lines(tmp_path / "musique_ans_v1.0_dev.jsonl", entry))
    assert (record.dataset, record.split, record.answers) == ("musique", "dev", ("Mirna", "the Mirna"))
    assert evidence(record) == [
        ("Mirna", MIRNA, True, ("Mirna",)),
        ("Lake", LAKE, True, ("the lake",)),
        ("Hill", HILL, False, ()),
    ]


def test_the_variants_of_musique_full_are_two_records_of_one_group(tmp_path: Path) -> None:
    """They share an id in the file: no repeat; a third line of that id is one."""
    without = [dict(one, is_supporting=one["idx"] == 1) for one in musique()["paragraphs"][:2]]
    hops = [dict(hop, paragraph_support_idx=support) for hop, support in zip(hop_list(), (1, None), strict=True)]
    unanswerable = musique(answerable=False, paragraphs=without, question_decomposition=hops)
    path = lines(tmp_path / "musique_full_v1.0_train.jsonl", musique(), unanswerable, musique())
    good, bad = load_records([path]).records
    assert (good.answerable, bad.answerable) == (True, False)
    assert good.group == bad.group == "musique:2hop__1_2"
    assert record_key(good) != record_key(bad)
    assert bad.answers == good.answers
    assert evidence(bad) == [("Hill", HILL, False, ()), ("Lake", LAKE, True, ("the lake",))]
    assert kinds(path) == [(3, "repeated_id")]


def hop_list() -> list[dict[str, Any]]:
    hops: list[dict[str, Any]] = musique()["question_decomposition"]
    return hops


def test_lines_of_musique_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    """No label (the test files), a field missing, an answerable question without support."""
    plain = [dict(one, is_supporting=False) for one in musique()["paragraphs"]]
    entries = [musique("a", answerable=None), musique("b", question=None), musique("c", paragraphs=plain)]
    path = lines(tmp_path / "m.jsonl", *entries, musique("d"))
    assert kinds(path) == [(1, "no_label"), (2, "bad_fields"), (3, "no_support")]
    assert [record.id for record in load_records([path]).records] == ["d"]


def test_squad_groups_by_paragraph_and_clusters_by_article(tmp_path: Path) -> None:
    """The plausible answers of an impossible question are wrong by intent and no answers of it."""
    article = squad(asked("a"), asked("b", impossible=True))
    article["paragraphs"].append({"context": MIRNA, "qas": [asked("c")]})
    records = load_records([articles(tmp_path / "dev-v2.0.json", article)]).records
    assert [(one.id, one.answerable, one.answers) for one in records] == [
        ("a", True, ("The ferry",)),
        ("b", False, ()),
        ("c", True, ("The ferry",)),
    ]
    assert [one.group for one in records] == ["squad2:Lake_Mirna:0"] * 2 + ["squad2:Lake_Mirna:1"]
    assert {(one.dataset, one.split, one.cluster) for one in records} == {("squad2", "dev", "squad2:Lake_Mirna")}
    assert evidence(records[0]) == [("Lake Mirna", LAKE, True, ())]
    assert evidence(records[1]) == [("Lake Mirna", LAKE, False, ())]


def test_a_broken_question_of_squad_takes_no_neighbour_along(tmp_path: Path) -> None:
    """Place and reason are named down to the question; the rest of the article is read."""
    broken = squad(asked("a"), asked("b", question=" "), asked("c", impossible=None), asked("d"))
    broken["paragraphs"].append({"context": None, "qas": []})
    path = articles(tmp_path / "dev-v2.0.json", {"title": 3}, broken, squad(asked("e"), title="Hill"))
    loaded = load_records([path])
    assert [record.id for record in loaded.records] == ["a", "d", "e"]
    assert kinds(path) == [(1, "bad_fields"), (2, "bad_fields"), (2, "no_label"), (2, "bad_fields")]
    assert loaded.faults[1].detail.startswith("paragraph 0, question 1: question: ")
    assert loaded.faults[3].detail.startswith("paragraph 1: context: ")


def test_squad_1_is_told_by_its_questions(tmp_path: Path) -> None:
    """It knows no impossible questions and is another dataset in tables."""
    record = only(articles(tmp_path / "train-v1.1.json", squad(asked("a", impossible=None))))
    assert (record.dataset, record.answerable, record.cluster) == ("squad1", True, "squad1:Lake_Mirna")


def test_an_iirc_record_has_its_passage_and_its_own_pieces_of_linked_articles(tmp_path: Path) -> None:
    """A piece from the passage itself marks the passage as support and is not added to it again."""
    question = iirc_question("q_1", SPAN, ("main", LAKE[:27]), ("mirna", MIRNA), ("hill", HILL))
    record = only(array(tmp_path / "iirc_dev.json", iirc(question)))
    assert (record.id, record.dataset, record.group) == ("q_1", "iirc", "iirc:Lake")
    assert evidence(record) == [
        ("Lake", LAKE, True, ()),
        ("mirna", MIRNA, True, ("Mirna",)),
        ("hill", HILL, True, ()),
    ]


def test_iirc_answers_by_type(tmp_path: Path) -> None:
    """Spans are one answer together, a number may bear its unit, `none` is unanswerable, `bad` is left out."""
    two = {"type": "span", "answer_spans": [{"text": "Mirna"}, {"text": " Ister"}]}
    value = {"type": "value", "answer_value": "12", "answer_unit": "km", "answer_spans": []}
    answers = [SPAN, two, value, {"type": "binary", "answer_value": "yes"}, {"type": "none"}, {"type": "bad"}]
    questions = [iirc_question(None, answer, ("mirna", MIRNA)) for answer in answers]
    path = array(tmp_path / "iirc_test.json", iirc(*questions, pid=None))
    loaded = load_records([path])
    assert [(one.answers, one.answerable) for one in loaded.records] == [
        (("Mirna",), True),
        (("Mirna, Ister",), True),
        (("12", "12 km"), True),
        (("yes",), True),
        ((), False),
    ]
    assert len({one.id for one in loaded.records}) == 5
    assert kinds(path) == [(1, "no_label")]


def test_broken_questions_and_passages_of_iirc_are_named(tmp_path: Path) -> None:
    """An unknown type, no context for an answerable question, a passage without text."""
    strange = iirc_question("a", {"type": "essay"}, ("mirna", MIRNA))
    path = array(
        tmp_path / "iirc.json", iirc(strange, iirc_question("b", SPAN)), iirc(text=None), iirc(title="Hill")
    )
    assert kinds(path) == [(1, "bad_fields"), (1, "no_support"), (2, "bad_fields")]

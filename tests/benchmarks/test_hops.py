"""What `benchmarks retrieval` counts: passages that hold the support, where titles lead, figures, intervals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.datasets import GoldPassage, GoldSentence, Question
from benchmarks.hops.filler import MARK, FillerEncoder, random_unit, write_filler
from benchmarks.hops.kinds import load_kinds
from benchmarks.hops.rows import ORACLE, Measured, oracle_rows, system_rows
from benchmarks.hops.search import Found
from benchmarks.hops.targets import Target, find_targets, leads_to_all
from retrieval import Passage
from retrieval.backbones import find_backbone
from retrieval.passage import passage_id
from retrieval.text import tokenise

LAKE = Passage(title="Lake Orlo", text="Lake Orlo is fed by the Mirna. It is deep.")
FERRY = Passage(title="Aurora (ferry)", text="The ferry crosses Lake Orlo in summer.")
LATER = Passage(title="Aurora (ferry)", text="In winter it lies at Osterby. It is deep.")
PASSAGES = (LAKE, FERRY, LATER)


def question(*support: GoldPassage | GoldSentence, name: str = "q", group: str = "", text: str = "?") -> Question:
    return Question(
        id=name,
        dataset="toy",
        split="dev",
        question=text,
        answers=(),
        answerable=True,
        support=support,
        group=group or name,
    )


def gold(passage: Passage) -> GoldPassage:
    return GoldPassage(passage_id=passage.id, title=passage.title)


def target(*ids: str, name: str = "q", group: str = "", reach: bool | None = True) -> Target:
    return Target(
        question=question(name=name, group=group),
        holders=tuple(frozenset({key}) for key in ids),
        title_reach=reach,
    )


def measured(one: Target, *found: str, kind: str = "", system: str = "rrf") -> Measured:
    return Measured(target=one, kind=kind, system=system, found=Found(ids=found, calls=1, ms=2.0))


def test_a_sentence_is_held_by_passages_of_its_article_only() -> None:
    """Another article that says the same is no support; a passage is found by its text whatever its title."""
    sentence = GoldSentence(article="Aurora (ferry)", sentence_id=passage_id("It is deep."))
    renamed = GoldPassage(passage_id=LAKE.id, title="Some other title")
    (found,) = find_targets([question(sentence, renamed)], PASSAGES)
    assert found.holders == (frozenset({LATER.id}), frozenset({LAKE.id}))
    assert found.complete


def test_support_that_the_corpus_lacks_is_missed_not_left_out() -> None:
    """A question does not leave the table because it is hopeless."""
    (found,) = find_targets([question(gold(LAKE), gold(Passage(text="Absent.", title="Absent")))], PASSAGES)
    assert not found.complete
    assert found.title_reach is None
    assert found.ranks([LAKE.id]) == (1, None)
    (row,) = system_rows([measured(found, LAKE.id)], labels={}, seed=0)
    assert (row["lacking"], row["recall@5"], row["all_support@5"]) == (1, 0.5, 0.0)


@pytest.mark.parametrize(
    ("asked", "support", "expected"),
    [
        ("What feeds Lake Orlo?", [LAKE], True),
        ("Which river feeds the lake that the Aurora crosses?", [FERRY, LAKE], True),
        ("Which river feeds the lake that the Aurora crosses?", [LAKE, FERRY], True),
        ("Which river feeds the lake of the auroras?", [FERRY, LAKE], False),
        ("Which river feeds Lake Orlo, and which ferry crosses it?", [LAKE, FERRY], False),
    ],
)
def test_titles_lead_by_whole_words_through_text_that_was_reached(
    asked: str, support: list[Passage], expected: bool
) -> None:
    """The order of the support does not matter; a title in a text that was not reached leads nowhere."""
    assert leads_to_all(asked, [(one.title, one.text) for one in support]) is expected


def test_the_oracle_has_rows_of_its_own_and_leaves_out_what_has_no_titles() -> None:
    """A corpus without titles has no title reach: no row, rather than zero."""
    some = [target("a", name="1"), target("b", name="2", reach=False), target("c", name="3", reach=None)]
    (row,) = oracle_rows(some, ["x", "x", "y"], labels={"titles": True}, seed=0)
    assert (row["system"], row["n"], row["title_reach"], row["titles"]) == (ORACLE, 2, 0.5, True)
    assert oracle_rows(some[2:], ["y"], labels={}, seed=0) == []


def test_figures_of_each_subset_are_those_of_its_questions() -> None:
    """Worked by hand: three questions, two types."""
    found = [
        measured(target("a", "b", name="1"), "a", "x", "x2", "x3", "x4", "b", kind="bridge"),
        measured(target("a", "b", "c", "d", name="2"), "d", "c", "b", kind="bridge"),
        measured(target("a", name="3"), *(f"x{at}" for at in range(19)), "a", kind="comparison"),
    ]
    rows = {row["subset"]: row for row in system_rows(found, labels={"titles": False}, seed=0)}
    assert list(rows) == ["all", "bridge", "comparison"]
    assert rows["all"]["recall@5"] == pytest.approx((0.5 + 0.75 + 0) / 3)
    assert rows["bridge"]["recall@10"] == pytest.approx((1 + 0.75) / 2)
    assert rows["bridge"]["all_support@5"] == 0
    assert rows["bridge"]["all_support@10"] == 0.5
    assert rows["comparison"]["all_support@10"] == 0
    assert rows["comparison"]["all_support@20"] == 1
    assert rows["comparison"]["all_support@20_lo"] is None  # one group alone tells nothing of how groups vary
    assert rows["all"]["all_support"] == pytest.approx(2 / 3)
    assert (rows["all"]["calls_per_question"], rows["all"]["ms_p50"], rows["all"]["titles"]) == (1, 2, False)


def test_what_filler_costs_is_counted_question_by_question() -> None:
    """A loss of one question and a gain of another are two changes; without a run before there is no column."""
    one, other, third = (target("a", name=name) for name in "123")
    pairs = [(one, "a", "x"), (other, "x", "a"), (third, "a", "x")]
    found = [
        replace(measured(at, after), without_filler=Found(ids=(before,), calls=1, ms=1.0))
        for at, before, after in pairs
    ]
    (row,) = system_rows(found, labels={}, seed=0)
    assert row["lost_recall@5"] == pytest.approx(1 / 3)
    assert row["lost_recall@5_lo"] == -1
    assert row["lost_recall@5_hi"] == 1
    (alone,) = system_rows([measured(one, "a"), *found[1:]], labels={}, seed=0)
    assert not [name for name in alone if name.startswith("lost")]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), min_size=1, max_size=20), st.integers(0, 9))
def test_intervals_hold_whole_groups_and_do_not_depend_on_order(hits: list[tuple[str, bool]], seed: int) -> None:
    """Both ends are shares, unless there is one group; shuffled questions give the same row."""
    found = [
        measured(target("a", name=str(at), group=group), "a" if hit else "x")
        for at, (group, hit) in enumerate(hits)
    ]
    (row,) = system_rows(found, labels={}, seed=seed)
    (turned,) = system_rows(found[::-1], labels={}, seed=seed)
    assert turned == row
    lo, hi = row["recall@5_lo"], row["recall@5_hi"]
    if len({group for group, _ in hits}) == 1:
        assert lo is hi is None
        return
    assert isinstance(lo, float)
    assert isinstance(hi, float)
    assert 0 <= lo <= hi <= 1


def test_types_come_from_either_key_and_bad_lines_do_not_matter(tmp_path: Path) -> None:
    """`kind` of our own questions, `meta.type` of normalised files; the first of two lines counts."""
    lines = [
        json.dumps({"id": "1", "dataset": "toy", "kind": "bridge"}),
        json.dumps({"id": "1", "dataset": "toy", "kind": "comparison"}),
        json.dumps({"id": "2", "dataset": "toy", "meta": {"type": "2hop", "hops": 2}}),
        json.dumps({"id": "3", "dataset": "toy", "meta": {"type": 7}}),
        json.dumps({"id": "4", "dataset": "toy"}),
        "a slip",
    ]
    file = tmp_path / "toy.jsonl"
    file.write_text("\n".join(lines))
    assert load_kinds([file]) == {("toy", "1"): "bridge", ("toy", "2"): "2hop"}


def test_filler_is_seeded_distinct_and_speaks_with_the_words_of_the_corpus() -> None:
    """Nine words of ten are the corpus's; titles only where it has some."""
    some = list(write_filler(PASSAGES, 200, seed=3))
    assert some == list(write_filler(PASSAGES, 200, seed=3))
    assert len({one.id for one in (*some, *write_filler(PASSAGES, 200, seed=4))}) > 390
    known = {word for passage in PASSAGES for word in tokenise(passage.text)}
    words = [word for one in some for word in tokenise(one.text.removesuffix(MARK))]
    assert 0.85 < sum(word in known for word in words) / len(words) < 0.95
    assert all(one.title for one in some)
    assert not any(one.title for one in write_filler([Passage(text=LAKE.text)], 5, seed=3))


def test_the_encoder_makes_real_vectors_of_real_texts_only(tiny_backbone: Path) -> None:
    """Filler gets its random direction without the model; a recalled vector is taken as it is."""
    backbone = find_backbone(str(tiny_backbone))
    encoder = FillerEncoder(backbone)
    filler = next(iter(write_filler(PASSAGES, 1, seed=0))).full_text
    alone = encoder.encode([LAKE.full_text])
    encoder.recalled = {FERRY.full_text: np.full(encoder.dims, 0.5, dtype=np.float32)}
    mixed = encoder.encode([filler, LAKE.full_text, FERRY.full_text])
    assert np.array_equal(mixed[0], random_unit(filler, encoder.dims))
    assert np.allclose(mixed[1], alone[0], atol=1e-6)
    assert np.array_equal(mixed[2], encoder.recalled[FERRY.full_text])
    assert np.allclose(np.linalg.norm(mixed[:2], axis=1), 1, atol=1e-5)

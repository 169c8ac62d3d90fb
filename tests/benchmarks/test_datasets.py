"""Reading benchmark questions: nothing is dropped silently, nothing crashes half way."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.datasets import GoldPassage, GoldSentence, Question, Record, load_questions, stream_questions
from benchmarks.datasets import lines as lines_module
from benchmarks.datasets.families import family_of, left_out_with
from benchmarks.datasets.sample import draw, draw_groups, load_all
from benchmarks.errors import DatasetError
from retrieval import Passage


def row(**changes: Any) -> dict[str, Any]:
    """A line as our data files hold it; a change to None removes the field."""
    full = {
        "id": "q1",
        "dataset": "toy",
        "split": "dev",
        "question": "Which river feeds the lake that the ferry crosses?",
        "answers": ["Mirna"],
        "answerable": True,
        "passages": [
            {"id": "p0", "title": "Lake", "text": "The lake is fed by the Mirna.", "is_support": True},
            {"id": "p1", "title": "Hill", "text": "The hill is bare.", "is_support": False},
        ],
        "group": "g1",
        "meta": {"ignored": 1},
    }
    return {key: value for key, value in {**full, **changes}.items() if value is not None}


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return path


def test_a_line_becomes_a_frozen_question(tmp_path: Path) -> None:
    """Gold support is the content of the passages that are marked, whatever their ids and titles say."""
    (question,) = load_questions(write(tmp_path / "q.jsonl", row())).questions
    gold = Passage(text="The lake is fed by the Mirna.", title="another title").id
    assert question == Question(
        id="q1",
        dataset="toy",
        split="dev",
        question="Which river feeds the lake that the ferry crosses?",
        answers=("Mirna",),
        answerable=True,
        support=(GoldPassage(passage_id=gold, title="Lake"),),
        group="g1",
    )
    with pytest.raises(AttributeError):
        question.id = "other"  # type: ignore[misc]


def test_support_may_be_sentences_of_articles(tmp_path: Path) -> None:
    """The form in which the demo's own questions name their support; repeats count once."""
    support = {"article": "Lake", "section": "Inflow", "sentence_sha256": "ab" * 32}
    path = write(tmp_path / "q.jsonl", row(passages=None, support=[support, support]))
    (question,) = load_questions(path).questions
    assert question.support == (GoldSentence(article="Lake", section="Inflow", sentence_id="ab" * 32),)


def test_two_copies_of_a_gold_passage_are_one_and_variants_are_two(tmp_path: Path) -> None:
    """Identity is the content after NFKC and white-space folding; near-identical text is another passage."""
    texts = ["The lake  is deep.", "The lake is deep.", "The lake is deep!"]
    passages = [{"text": text, "is_support": True} for text in texts]
    (question,) = load_questions(write(tmp_path / "q.jsonl", row(passages=passages))).questions
    assert len(question.support) == 2


@pytest.mark.parametrize(
    ("line", "kind", "named"),
    [
        ('{"id": "q2", ', "not_json", "EOF"),
        ("\x00\x01", "not_json", ""),
        ("[1, 2]", "bad_fields", "object"),
        (json.dumps(row(question=None)), "bad_fields", "question"),
        (json.dumps(row(question=" \t")), "bad_fields", "question"),
        (json.dumps(row(answerable="yes")), "bad_fields", "answerable"),
        (json.dumps(row(answers="Mirna")), "bad_fields", "answers"),
        (json.dumps(row(passages=[{"title": "no text"}])), "bad_fields", "passages.0.text"),
        (json.dumps(row(passages=[])), "no_support", "q1"),
        (json.dumps(row(id="before")), "repeated_id", "before"),
    ],
)
def test_a_bad_line_is_counted_and_named_and_reading_goes_on(
    tmp_path: Path, line: str, kind: str, named: str
) -> None:
    """Broken lines, missing and mistyped fields, repeats: one fault each, the lines around them are read."""
    loaded = load_questions(write(tmp_path / "q.jsonl", row(id="before"), line, row(id="after")))
    assert [question.id for question in loaded.questions] == ["before", "after"]
    (fault,) = loaded.faults
    assert (fault.file, fault.line, fault.kind) == ("q.jsonl", 2, kind)
    assert named in fault.detail


def test_one_id_in_two_datasets_is_no_repeat(tmp_path: Path) -> None:
    """An id is unique within its dataset only (case R11)."""
    loaded = load_questions(write(tmp_path / "q.jsonl", row(dataset="a"), row(dataset="b")))
    assert len(loaded.questions) == 2
    assert loaded.faults == ()


def test_an_unanswerable_question_needs_no_support(tmp_path: Path) -> None:
    """It has none: that is what makes it unanswerable."""
    loaded = load_questions(write(tmp_path / "q.jsonl", row(answerable=False, answers=[], passages=[])))
    assert loaded.questions[0].support == ()
    assert loaded.faults == ()


def test_gzip_is_known_by_its_bytes_and_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    """The name of the file does not matter."""
    path = tmp_path / "questions"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + json.dumps(row()).encode() + b"\n\n"))
    loaded = load_questions(path)
    assert len(loaded.questions) == 1
    assert loaded.faults == ()


def test_a_truncated_archive_gives_what_it_holds_and_a_fault(tmp_path: Path) -> None:
    """A download that broke off must not look like a small dataset."""
    lines = "".join(json.dumps(row(id=f"q{n}", group=f"{n * 7919:x}")) + "\n" for n in range(500))
    path = tmp_path / "q.jsonl.gz"
    packed = gzip.compress(lines.encode())
    path.write_bytes(packed[: len(packed) // 2])
    loaded = load_questions(path)
    assert 0 < len(loaded.questions) < 500
    assert loaded.faults[-1].kind == "file_damaged"


def test_an_endless_line_is_skipped_in_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are untrusted: the line after the endless one is read."""
    monkeypatch.setattr(lines_module, "MAX_LINE_BYTES", 1000)
    loaded = load_questions(write(tmp_path / "q.jsonl", "x" * 5000, row()))
    assert [fault.kind for fault in loaded.faults] == ["line_too_long"]
    assert loaded.faults[0].line == 1
    assert len(loaded.questions) == 1


def test_a_missing_file_is_a_typed_error_that_names_it(tmp_path: Path) -> None:
    """Only a file that cannot be opened at all raises."""
    with pytest.raises(DatasetError, match=r"absent\.jsonl"):
        list(stream_questions(tmp_path / "absent.jsonl"))
    with pytest.raises(DatasetError, match="a file of JSON"):
        list(stream_questions(tmp_path))


@given(st.lists(st.binary(max_size=80), max_size=8))
def test_any_bytes_give_one_item_a_line(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    """Whatever a file holds, every line that is not blank is a question or a fault, and nothing raises."""
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    content = b" " + b"\n".join(lines)  # the blank keeps the file from looking like gzip
    path.write_bytes(content)
    items = list(stream_questions(path))
    assert len(items) == sum(bool(line.strip()) for line in content.split(b"\n"))


def test_two_files_are_one_list_and_a_question_in_both_counts_once(tmp_path: Path) -> None:
    """Case R11 across files: the repeat is a fault that names question and file; faults of both files are kept."""
    one = write(tmp_path / "one.jsonl", row(id="a"), row(id="b"), "broken")
    two = write(tmp_path / "two.jsonl", row(id="b"), row(id="c"), row(id="b", dataset="other"))
    loaded = load_all([one, two])
    assert [(question.dataset, question.id) for question in loaded.questions] == [
        ("toy", "a"),
        ("toy", "b"),
        ("toy", "c"),
        ("other", "b"),
    ]
    assert [(fault.file, fault.kind) for fault in loaded.faults] == [
        ("one.jsonl", "not_json"),
        ("two.jsonl", "repeated_id"),
    ]


@given(st.integers(0, 40), st.integers(0, 5), st.randoms(use_true_random=False))
def test_a_sample_depends_on_ids_and_seed_alone(limit: int, seed: int, shuffler: Any) -> None:
    """Each dataset has its own share, order is kept, a larger limit keeps what a smaller one drew."""
    fields = {"split": "dev", "question": "?", "answers": (), "answerable": False, "support": (), "group": "g"}
    questions = [Question(id=str(n), dataset="ab"[n % 2], **fields) for n in range(30)]  # type: ignore[arg-type]
    drawn = draw(questions, limit, seed=seed)
    assert list(drawn) == [question for question in questions if question in drawn]
    assert [sum(question.dataset == name for question in drawn) for name in "ab"] == [min(limit, 15)] * 2
    shuffled = shuffler.sample(questions, len(questions))
    assert set(draw(shuffled, limit, seed=seed)) == set(drawn)
    assert set(drawn) <= set(draw(questions, limit + 1, seed=seed))
    assert draw(questions, None, seed=seed) == tuple(questions)


@given(st.integers(0, 12), st.integers(0, 5), st.randoms(use_true_random=False))
def test_a_sample_of_groups_takes_them_whole(limit: int, seed: int, shuffler: Any) -> None:
    """Pairs are made within groups: half a group would be other pairs. Order and nesting as for questions."""
    fields = {"split": "dev", "question": "?", "answers": (), "answerable": False, "passages": (), "cluster": "c"}
    records = [
        Record(id=str(n), dataset="ab"[n % 2], group=str(n // 6), **fields)  # type: ignore[arg-type]
        for n in range(48)
    ]
    drawn = draw_groups(records, limit, seed=seed)
    chosen = {(record.dataset, record.group) for record in drawn}
    assert list(drawn) == [record for record in records if (record.dataset, record.group) in chosen]
    assert [sum(dataset == name for dataset, _ in chosen) for name in "ab"] == [min(limit, 8)] * 2
    shuffled = shuffler.sample(records, len(records))
    assert set(draw_groups(shuffled, limit, seed=seed)) == set(drawn)
    assert set(drawn) <= set(draw_groups(records, limit + 1, seed=seed))
    assert draw_groups(records, None, seed=seed) == tuple(records)


def test_families_say_what_a_held_out_figure_must_not_have_seen() -> None:
    """MuSiQue is composed of questions of SQuAD and NQ; a dataset that nobody knows stands for itself."""
    assert [family_of(name) for name in ("squad1", "squad2", "hotpotqa_gold", "nq_open", "mine")] == [
        "squad",
        "squad",
        "hotpotqa",
        "nq",
        "mine",
    ]
    assert left_out_with("musique") == {"musique", "squad", "nq"}
    assert left_out_with("squad") == {"squad"}
    assert left_out_with("mine") == {"mine"}

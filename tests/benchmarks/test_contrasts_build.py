"""From records to contrasts and their counts, without a search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

from benchmarks.contrasts.build import BuildOptions, Built, build_contrasts
from benchmarks.contrasts.file import stream_contrasts, write_contrasts
from benchmarks.contrasts.model import Construction, Contrast
from benchmarks.datasets.records import Record
from benchmarks.errors import SettingsError
from retrieval import Passage
from retrieval.errors import CorpusError
from tests.benchmarks.records_world import changed, drawn, paragraphs, record, shuffled, words, world, write_corpus

PLAIN: tuple[Construction, ...] = tuple(
    name for name in get_args(Construction) if name not in {"hard-substitution", "retrieval"}
)
"""What needs no search."""
WORLD = world(8)
RECORDS = [*WORLD.records, *paragraphs(6)]


def options(folder: Path, corpus: Sequence[Passage] = WORLD.corpus) -> BuildOptions:
    path = write_corpus(folder / "corpus.jsonl", corpus)
    return BuildOptions(constructions=PLAIN, corpus=path, additions=3)


def counts(built: Built) -> dict[str, tuple[object, ...]]:
    return {str(row["construction"]): (row["eligible"], row["kept"], row["pairs"]) for row in built.rows}


def test_rows_count_what_was_eligible_kept_and_dropped(tmp_path: Path) -> None:
    """Nothing that was eligible disappears: kept and dropped, by reason, add up."""
    lone = [changed(one, cluster="all") for one in paragraphs(1, seed=5)]
    strange = changed(
        world(1, seed=9, distractors=0).records[0],
        dataset="toy",
        passages=record("x", [Passage(text=words(drawn("s", at)), title="Sea") for at in range(4)]).passages,
    )
    built = build_contrasts([*RECORDS, strange], options(tmp_path))
    rows = {(row["dataset"], row["construction"]): row for row in built.rows}
    assert {key: (row["eligible"], row["kept"], row["pairs"]) for key, row in rows.items()} == {
        ("musique", "deletion"): (8, 8, 32),
        ("musique", "substitution"): (8, 8, 16),
        ("squad2", "question-swap"): (6, 6, 12),
        ("squad2", "unrelated-swap"): (6, 6, 24),
        ("toy", "substitution"): (1, 0, 0),
    }
    assert rows["musique", "substitution"]["passages_per_side"] == 8.0
    assert rows["musique", "substitution"]["sides"] == 24
    dropped = rows["toy", "substitution"]
    assert (dropped["eligible"], dropped["kept"], dropped["dropped_no_title_distractor"]) == (1, 0, 1)
    assert dropped["passages_per_side"] is None
    assert built.searched is None
    (row,) = build_contrasts(lone, BuildOptions(constructions=("unrelated-swap",))).rows
    assert (row["eligible"], row["kept"], row["dropped_no_unrelated_question"]) == (1, 0, 1)


@pytest.mark.parametrize("order", range(4))
def test_the_file_is_the_same_in_whatever_order_records_and_corpus_came(tmp_path: Path, order: int) -> None:
    """Same seed, same bytes; several records of a group included. Another seed, other bytes."""
    records = [*RECORDS, *(changed(one, dataset="2wikimultihopqa", group="g") for one in world(5, seed=4).records)]
    written = []
    for name, found, corpus in (
        ("a", records, WORLD.corpus),
        ("b", shuffled(records, order), shuffled(WORLD.corpus, order)),
    ):
        write_contrasts(tmp_path / name, build_contrasts(found, options(tmp_path, corpus)).contrasts)
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    other = BuildOptions(constructions=PLAIN, corpus=tmp_path / "corpus.jsonl", additions=3, seed=order + 18)
    write_contrasts(tmp_path / "c", build_contrasts(records, other).contrasts)
    assert (tmp_path / "c").read_bytes() != written[0]


def test_every_contrast_has_a_key_of_its_own_and_is_read_as_it_was_built(tmp_path: Path) -> None:
    """Several eligible records of one group, as in IIRC, do not hide one another."""
    grouped: list[Record] = [changed(one, group="g", cluster="g") for one in WORLD.records]
    built = build_contrasts([*grouped, *paragraphs(6)], options(tmp_path))
    assert len({one.key for one in built.contrasts}) == len(built.contrasts) == 8 + 8 + 6 + 6
    assert list(built.contrasts) == sorted(built.contrasts, key=lambda one: one.key)
    write_contrasts(tmp_path / "c.jsonl", built.contrasts)
    assert list(stream_contrasts(tmp_path / "c.jsonl")) == list(built.contrasts)


def test_deletion_of_hotpotqa_is_built_only_where_it_is_asked_for() -> None:
    """It is the paper's test of substitution; any other dataset, yours too, has deletion by default."""
    hotpot = [changed(one, dataset="hotpotqa") for one in WORLD.records]
    mine = [changed(one, dataset="mine") for one in WORLD.records]
    plain = BuildOptions(additions=0)
    assert counts(build_contrasts(hotpot, plain)) == {}
    assert counts(build_contrasts(mine, plain)).keys() == {"deletion"}
    asked = BuildOptions(constructions=("deletion",), additions=0)
    assert counts(build_contrasts(hotpot, asked)).keys() == {"deletion"}


def test_without_a_corpus_what_needs_none_is_built() -> None:
    """The default is all that apply, not an error about what was not asked for."""
    built = build_contrasts(RECORDS, BuildOptions(additions=0))
    assert counts(built).keys() == {"deletion", "question-swap", "unrelated-swap"}


def test_native_contrasts_are_those_of_records_with_sets_of_their_own(tmp_path: Path) -> None:
    """MuSiQue in full, beside substitution of its answerable half."""
    one = WORLD.records[0]
    part = changed(
        one,
        id="q0-part",
        answerable=False,
        passages=record("x", [], [p.passage for p in one.passages[1:]]).passages,
    )
    built = build_contrasts([one, part], options(tmp_path))
    assert counts(built) == {"deletion": (1, 1, 4), "native": (1, 1, 1), "substitution": (1, 1, 2)}
    (native,) = (found for found in built.contrasts if found.construction == "native")
    assert isinstance(native, Contrast)
    assert {side.id: side.sufficient for side in native.sides} == {"q0": True, "q0-part": False}


@pytest.mark.parametrize("construction", ["substitution", "hard-substitution", "retrieval"])
def test_a_missing_corpus_is_said_with_what_to_do(construction: Construction) -> None:
    """Before anything is computed; a construction without need of one runs without."""
    with pytest.raises(SettingsError, match="--corpus FILE, or leave"):
        build_contrasts(WORLD.records, BuildOptions(constructions=(construction,)))
    built = build_contrasts(RECORDS, BuildOptions(constructions=("question-swap",), additions=0))
    assert len(built.contrasts) == 6
    assert not any(one.added for one in built.contrasts)


def test_a_corpus_that_is_not_there_is_a_typed_error(tmp_path: Path) -> None:
    """Not a traceback of a reader."""
    with pytest.raises(CorpusError, match=r"absent\.jsonl"):
        build_contrasts(
            WORLD.records, BuildOptions(constructions=("substitution",), corpus=tmp_path / "absent.jsonl")
        )


@pytest.mark.parametrize(
    "given_options",
    [
        {"corpus": Path("a"), "index": Path("b")},
        {"additions": -1},
        {"processes": 0},
        {"retrieval_limit": -1},
    ],
)
def test_options_that_cannot_work_are_refused(given_options: dict[str, object]) -> None:
    """When they are made, with the values."""
    with pytest.raises(SettingsError):
        BuildOptions(**given_options)  # type: ignore[arg-type]

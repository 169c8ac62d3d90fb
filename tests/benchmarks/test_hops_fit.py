"""`benchmarks retrieval-fit`: what the weights are fitted on, that families are left out, and the file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from agent.chains import FEATURES
from agent.ranking import ALL, ChainRanker, Compared, Weights
from benchmarks.cli import app
from benchmarks.datasets import GoldPassage, Question
from benchmarks.errors import BenchmarkError, SettingsError
from benchmarks.hops import fit, search
from benchmarks.hops.collector import collector
from benchmarks.hops.fit import Case, fit_families, fit_weights
from benchmarks.hops.search import Found, Job, call_rankings
from benchmarks.hops.targets import Target
from retrieval import Passage
from retrieval.index import LocalIndex
from tests.benchmarks.records_world import world, write_corpus, write_records
from tests.towns import need_model

RUNNER = CliRunner()
JOB = Job(question="q", system="hop", turns=4, k=10, scorer="none")


def case(name: str, dataset: str, sign: str, *, size: int = 5) -> Case:
    """A question whose one gold passage, `size` others beside it, is told by the feature `sign` and some noise."""
    ids = tuple(f"{name}-{at}" for at in range(size + 1))
    features = np.random.default_rng([size, *name.encode()]).uniform(0, 0.2, (size + 1, len(FEATURES)))
    features[0, FEATURES.index(sign)] += 0.8
    question = Question(
        id=name,
        dataset=dataset,
        split="train",
        question="?",
        answers=(),
        answerable=True,
        support=(GoldPassage(passage_id=ids[0], title=""),),
        group=name,
    )
    return Case(
        target=Target(question=question, holders=(frozenset({ids[0]}),), title_reach=None),
        found=Found(ids=ids, calls=1, ms=1.0),
        compared=Compared(near=ids, rest=(), features=features, covers=np.zeros((len(ids), 0))),
    )


def toward(weights: Weights) -> str:
    """The feature that weighs most."""
    return max(weights, key=lambda name: weights[name])


def test_what_tells_support_from_the_rest_gets_the_weight() -> None:
    """And the fitted order puts the support first, though it was last."""
    cases = [case(f"q{at}", "hotpotqa", "mentioned", size=4 + at) for at in range(6)]
    weights = fit_weights(cases)
    assert tuple(weights) == FEATURES
    assert toward(weights) == "mentioned"
    turned = replace(
        cases[0].compared, near=cases[0].compared.near[::-1], features=cases[0].compared.features[::-1]
    )
    assert turned.ranking(np.array(list(weights.values()))).ids[0] == "q0-0"


def test_families_count_the_same_however_many_questions_they_have() -> None:
    """Of two families that disagree neither wins by its size."""
    few = [case(f"a{at}", "hotpotqa", "asked") for at in range(2)]
    many = [case(f"b{at}", "2wikimultihopqa", "near") for at in range(40)]
    weights = fit_weights([*few, *many])
    assert weights["asked"] == pytest.approx(weights["near"], rel=0.5)


def test_a_family_is_left_out_with_what_it_is_made_of() -> None:
    """Weights without musique have seen neither musique nor squad; those on all have."""
    cases = [
        case("a", "hotpotqa", "near"),
        case("b", "musique", "asked"),
        case("c", "squad1", "asked"),
        case("d", "2wikimultihopqa", "near"),
    ]
    fitted = fit_families(cases)
    assert set(fitted) == {ALL, "hotpotqa", "musique", "squad", "2wiki"}
    assert fitted["musique"] == fit_weights([cases[0], cases[3]])
    assert fitted["squad"] == fit_weights([cases[0], cases[1], cases[3]])
    assert fitted[ALL] == fit_weights(cases)


def test_without_support_to_compare_there_is_nothing_to_fit() -> None:
    """Only support, or none: no pair."""
    lone = case("a", "hotpotqa", "near", size=0)
    with pytest.raises(SettingsError, match="nothing can be compared"):
        fit_weights([lone])


def test_the_family_that_is_left_out_is_part_of_what_a_kept_result_depends_on() -> None:
    assert JOB.key("i") != replace(JOB, without="musique").key("i")
    single = replace(JOB, system="bm25")
    assert single.key("i") == replace(single, without="musique").key("i")


@pytest.mark.anyio
async def test_rankings_of_the_calls_make_the_ranking_of_the_search(town_index: Path) -> None:
    """What is kept of a search is enough to rank again what it found."""
    question = "Which river flows through the town where the glass painter Orla Venn was born?"
    with LocalIndex.open(town_index) as index:
        result = await collector(index, scorer="none", turns=3, k=2).run(question)
    rankings = call_rankings(result)
    assert len(rankings) <= result.spend.calls
    assert {key for ranking in rankings for key in ranking} == set(result.evidence.ids)
    assert ChainRanker().rank(question, result.evidence, rankings) == result.ranking


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two families of two questions over one corpus."""
    need_model()
    made = tmp_path_factory.mktemp("fit")
    corpus: list[Passage] = []
    for seed, dataset in enumerate(("hotpotqa", "musique")):
        some = world(2, seed=seed, distractors=2, dataset=dataset, split="train")
        write_records(made / f"{dataset}.jsonl", some.records)
        corpus.extend(some.corpus)
    write_corpus(made / "corpus.jsonl", corpus)
    return made


def _command(folder: Path, *more: str) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("benchmarks.corpus", "benchmarks.hops.fit"):
            patch.setattr(f"{module}.cache_folder", lambda: folder / "cache")
        files = [
            part for name in ("hotpotqa", "musique") for part in ("--questions", str(folder / f"{name}.jsonl"))
        ]
        where = ["--corpus", str(folder / "corpus.jsonl"), "--out", str(folder / "new" / "ranking.json"), "--json"]
        done = RUNNER.invoke(app, ["retrieval-fit", *files, *where, "--turns", "2", "--k", "3", *more])
    assert done.exit_code == 0, done.output
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_the_command_writes_weights_and_says_how_well_they_rank(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three sets of weights, rows for both orders, and a second run that searches for nothing."""
    report = _command(folder)
    written = json.loads((folder / "new" / "ranking.json").read_text())
    assert set(written) == {ALL, "hotpotqa", "musique"}
    assert all(tuple(weights) == FEATURES for weights in written.values())
    assert [path.name for path in (folder / "new").iterdir()] == ["ranking.json"]
    rows = report["rows"]
    assert {row["without"]: row["n"] for row in rows if row["system"] == "weights"} == {
        ALL: 4, "hotpotqa": 2, "musique": 2,
    }  # fmt: skip
    figures = {(row["dataset"], row["system"], row["held_out"]): row for row in rows if row["system"] != "weights"}
    assert len(figures) == 6
    for row in figures.values():
        assert (row["split"], row["n"], row["construction"]) == ("train", 2, "retrieval-fit")
        assert 0 <= row["recall@5"] <= 1

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("searched again")

    monkeypatch.setattr(search, "Lanes", forbidden)
    assert _command(folder)["rows"] == rows


@pytest.mark.parametrize(
    ("split", "dataset", "more", "said"),
    [
        ("dev", "musique", [], "nothing is fitted on it"),
        ("train", "hotpotqa", [], "second family"),
        ("train", "musique", ["--index", "i"], "one of --corpus FILE and --index DIR"),
        ("train", "musique", ["--turns", "0"], "at least 1 turn"),
    ],
)
def test_what_cannot_be_fitted_is_one_message_with_a_remedy(
    tmp_path: Path, split: str, dataset: str, more: list[str], said: str
) -> None:
    """Figures are reported on dev: a fit on it is refused before anything is built."""
    one = write_records(tmp_path / "a.jsonl", world(1, distractors=0, dataset="hotpotqa", split="train").records)
    two = write_records(
        tmp_path / "b.jsonl", world(1, seed=1, distractors=0, dataset=dataset, split=split).records
    )
    arguments = ["--questions", str(one), "--questions", str(two), "--corpus", "c", "--out", str(tmp_path / "o")]
    done = RUNNER.invoke(app, ["retrieval-fit", *arguments, *more, "--json"])
    assert done.exit_code in {1, 2}
    assert said in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""
    assert not (tmp_path / "o").exists()


def test_weights_that_cannot_be_written_leave_nothing_behind(tmp_path: Path) -> None:
    """The folder's name is taken by a file."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(BenchmarkError, match="name another file"):
        fit._write(tmp_path / "taken" / "ranking.json", {ALL: {}})
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]

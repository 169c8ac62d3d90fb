"""Contrasts that are judged, and contrasts that thresholds are chosen on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..contrasts.build import NEED_CORPUS, NO_DELETION, BuildOptions
from ..contrasts.model import CONSTRUCTIONS, Construction, Contrast
from ..datasets import Fault
from ..datasets.families import family_of
from ..errors import SettingsError
from ..pairwise.run import PairwiseOptions, load_contrasts

FOLDER = Path("../shared/data")
"""Where the default files lie."""
CORPUS = "corpus_wiki_pool.jsonl.gz"
JUDGED = ("hotpotqa_distractor.dev", "2wikimultihopqa.dev", "musique_ans.dev", "squad2.dev")
"""The files of the headline (docs/sufficiency.md)."""
TRAINING = (
    "hotpotqa_distractor.train",
    "2wikimultihopqa.train",
    "musique_ans.train",
    "squad1.train",
    "multirc.train",
    "nq_open_oracle.dev",
    "qed_nq.dev",
    "clapnq.dev",
    "sleepqa.dev",
    "drop_span.dev",
    "qamr.dev",
)
"""The files that the shipped profiles were fitted on, and SQuAD 1.1's, whose family is judged too; those named
`dev` belong to families that are for that."""
TESTS = 7
"""Between so many tests the records of the default files are shared."""
TRAINING_TESTS = 9
"""Those of the default training files: three families of swaps, and no question swap of annotators."""
_FEWEST_GROUPS = 40
_FEWEST_SEARCHED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where contrasts come from: ready ones, or files of records that they are built from."""

    contrasts: tuple[Path, ...] = ()
    data: tuple[Path, ...] = ()

    def or_default(self, names: Iterable[str], folder: Path) -> Source:
        """This one, or the files of these names where neither is given."""
        if self.contrasts or self.data:
            return self
        return Source(data=tuple(folder / f"{name}.jsonl.gz" for name in names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Contrasts of the kinds that count, with what could not be read."""

    contrasts: list[Contrast]
    faults: list[Fault]


def load(
    source: Source,
    constructions: frozenset[Construction],
    *,
    corpus: Path | None,
    per_label: int,
    tests: int = TESTS,
    seed: int,
) -> Loaded:
    """Read contrasts of these constructions, or build about as many as are needed.

    HotpotQA's deletions are left out, as in the headline: it is the paper's test of substitution.

    Args:
        source: Files.
        constructions: Those that count.
        corpus: Where near misses and retrieved sets come from, where contrasts are built; None = without those
            that need one.
        per_label: Records of each label that will be drawn from them.
        tests: Between so many tests these are shared.
        seed: Of every choice.

    Raises:
        DatasetError, CorpusError, IndexFolderError, BackboneError: an input cannot be used.
    """
    wanted = constructions if corpus or source.contrasts else constructions - NEED_CORPUS
    each = -(-per_label // tests)
    files = max(len(source.data), 1)  # what retrievers return is one test of all files together
    options = PairwiseOptions(
        data=source.data,
        contrasts=source.contrasts,
        build=BuildOptions(
            constructions=tuple(name for name in CONSTRUCTIONS if name in wanted),
            corpus=corpus if source.data else None,
            additions=0,
            retrieval_limit=max(_FEWEST_SEARCHED, -(-2 * each // files)),
            seed=seed,
        ),
        scorers=(),
        limit=max(_FEWEST_GROUPS, 2 * each) if source.data else None,
    )
    found, faults, _ = load_contrasts(options)
    return Loaded(contrasts=[one for one in found if _counts(one)], faults=faults)


def apart(training: Iterable[Contrast], judged: Iterable[Contrast]) -> tuple[list[Contrast], int]:
    """Training contrasts that ask no question of those that are judged, and how many were left out.

    Raises:
        SettingsError: none is left.
    """
    asked = {_folded(side.question) for one in judged for side in one.sides}
    found = list(training)
    kept = [one for one in found if not any(_folded(side.question) in asked for side in one.sides)]
    if not kept:
        raise SettingsError(
            f"All {len(found)} training contrasts ask questions that are judged too. A threshold is chosen on "
            "other records than those that it is judged on: give --train-contrasts or --train-data other files."
        )
    return kept, len(found) - len(kept)


def _counts(contrast: Contrast) -> bool:
    return contrast.construction != "deletion" or family_of(contrast.dataset) not in NO_DELETION


def _folded(question: str) -> str:
    return " ".join(question.casefold().split())

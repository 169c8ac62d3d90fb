"""Families of datasets: what has to be left out of a fit so that a figure is `held out`."""

from __future__ import annotations

from collections.abc import Mapping

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "hotpotqa": ("hotpotqa", "hotpotqa_fullwiki", "hotpotqa_gold"),
    "2wiki": ("2wikimultihopqa", "2wikimultihopqa_open"),
    "musique": ("musique",),
    "squad": ("squad1", "squad2", "squadshifts_new_wiki", "squad1_sentence_rel"),
    "nq": ("nq_open", "qed_nq", "clapnq"),
    "other": ("qamr", "drop_span", "multirc", "sleepqa", "scifact_rel"),
    "strategyqa": ("strategyqa",),
    "iirc": ("iirc",),
}
_FAMILY = {dataset: family for family, datasets in _FAMILIES.items() for dataset in datasets}
_LINEAGE: Mapping[str, frozenset[str]] = {"musique": frozenset({"squad", "nq"})}


def family_of(dataset: str) -> str:
    """The family of a dataset by the name that tables print; an unknown one is its own family.

    >>> family_of("hotpotqa_fullwiki"), family_of("mine")
    ('hotpotqa', 'mine')
    """
    return _FAMILY.get(dataset, dataset)


def left_out_with(family: str) -> frozenset[str]:
    """The families that nothing may have been fitted on where `family` is reported as held out; it is among them.

    MuSiQue is composed of single-hop questions of SQuAD, Natural Questions and others (Trivedi et al., 2022): its
    hops and their gold paragraphs are theirs. Whoever fitted on squad or nq has seen parts of musique.

    >>> sorted(left_out_with("musique"))
    ['musique', 'nq', 'squad']
    """
    return _LINEAGE.get(family, frozenset()) | {family}

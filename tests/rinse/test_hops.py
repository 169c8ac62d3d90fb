"""Ten questions of two hops on the real model: the passage that carries on beats one that resembles the question.

Skipped where the weights of MiniLM are not installed. People and places are invented.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from retrieval import EvidenceSet
from rinse import RinseScorer

Build = Callable[..., EvidenceSet]
Text = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hops:
    """A question that needs two passages, and a passage that looks like a better second one."""

    question: str
    first: Text
    second: Text
    decoy: Text
    """About what the question's words say, but not about what the first passage names."""


CASES = (
    Hops(
        question="Which river runs through the birthplace of the painter Odile Marven?",
        first=("Odile Marven", "Odile Marven was a painter of harbours. She was born in Castrenne in 1871."),
        second=(
            "Castrenne",
            "Castrenne is a market town in the hills. The Vessel flows through it from north to south.",
        ),
        decoy=(
            "Rivers in painting",
            (
                "Many painters lived by a river that runs through their birthplace. "
                "The river is a common subject of painters."
            ),
        ),
    ),
    Hops(
        question="Who directed the film in which Bram Oskarly played the lighthouse keeper?",
        first=("Bram Oskarly", "Bram Oskarly was an actor. He played the lighthouse keeper in Salt Lantern."),
        second=(
            "Salt Lantern",
            "Salt Lantern is a drama from 1962. It was directed by Yvette Korrin and shot on an island.",
        ),
        decoy=(
            "The Lighthouse Keeper",
            (
                "The Lighthouse Keeper is a film about a lighthouse. "
                "The lighthouse keeper in the film was played by its director, Paul Denn."
            ),
        ),
    ),
    Hops(
        question="In which country is the university where Tamsin Orrel studied chemistry?",
        first=("Tamsin Orrel", "Tamsin Orrel discovered two dyes. She studied chemistry at Quellmark University."),
        second=(
            "Quellmark University",
            "Quellmark University was founded in 1790. It is the oldest one in Norway.",
        ),
        decoy=(
            "Chemistry",
            (
                "Chemistry is studied at a university in every country. "
                "Students of chemistry in a country with many universities can choose."
            ),
        ),
    ),
    Hops(
        question="When was the company that makes the Pelican radio founded?",
        first=("Pelican (radio)", "The Pelican is a portable radio made by Halvorsen & Dray since 1958."),
        second=(
            "Halvorsen & Dray",
            "Halvorsen & Dray is a maker of electrical goods. It was founded in 1911 by two brothers.",
        ),
        decoy=(
            "Radio company",
            (
                "The first radio company was founded when radio was new. "
                "A company that makes a radio needs a licence."
            ),
        ),
    ),
    Hops(
        question="What is the capital of the province where the Ostrava bridge of Lenk stands?",
        first=(
            "Lenk bridge",
            "The Ostrava bridge of Lenk is a stone bridge. It stands in the province of Varduin.",
        ),
        second=("Varduin", "Varduin is a province of farms and lakes. Its largest town and capital is Mirrow."),
        decoy=(
            "Bridges of Ostrava",
            (
                "A bridge in Ostrava stands near the capital of a province. "
                "The Ostrava bridge is one of many bridges that stand there."
            ),
        ),
    ),
    Hops(
        question="Who was the father of the king that ordered the building of Grauholm Castle?",
        first=("Grauholm Castle", "Grauholm Castle lies on a rock. Its building was ordered by Sigvard IV."),
        second=(
            "Sigvard IV",
            "Sigvard IV reigned for nine years. He was a son of Harlan the Lame and Queen Odda.",
        ),
        decoy=(
            "Castle building",
            (
                "The building of a castle was ordered by a king. "
                "A king whose father ordered a castle often ordered another castle."
            ),
        ),
    ),
    Hops(
        question="Which instrument does the singer of the band Copper Owls play?",
        first=("Copper Owls", "Copper Owls are a band from a small port. Their singer is Jonna Brevik."),
        second=(
            "Jonna Brevik",
            "Jonna Brevik grew up on a farm. She plays the accordion and writes for children.",
        ),
        decoy=(
            "Singer",
            (
                "The singer of a band often does play an instrument. "
                "Which instrument a singer plays depends on the band."
            ),
        ),
    ),
    Hops(
        question="How high is the mountain on which the poet Ilse Tarnow died?",
        first=("Ilse Tarnow", "Ilse Tarnow was a poet. She died in a storm on the Hochkammer."),
        second=("Hochkammer", "The Hochkammer is a peak with two glaciers. It rises to 3,120 metres."),
        decoy=(
            "High mountains",
            (
                "How high a mountain is can be measured. "
                "Poets have died on a high mountain, and a poet wrote on the height of the mountain."
            ),
        ),
    ),
    Hops(
        question="For which club did the brother of the goalkeeper Matteo Sarrin play?",
        first=("Matteo Sarrin", "Matteo Sarrin is a goalkeeper. His elder brother is Luca Sarrin."),
        second=("Luca Sarrin", "Luca Sarrin was a midfielder. He spent his whole career with Fiorela 1908."),
        decoy=(
            "Goalkeeper",
            (
                "A goalkeeper plays for a club. "
                "The brother of a goalkeeper did often play for the same club as the goalkeeper."
            ),
        ),
    ),
    Hops(
        question="What did the founder of the town of Port Ansley do before he became a settler?",
        first=("Port Ansley", "Port Ansley is a town at a bay. It was founded by Captain Eliu Marsh."),
        second=("Eliu Marsh", "Eliu Marsh came over the sea in 1803. He had been a whaler for twenty years."),
        decoy=(
            "Settlers",
            (
                "A settler became the founder of a town. "
                "What a settler did before he became the founder of a town is often not known."
            ),
        ),
    ),
)


def test_s09_the_passage_that_carries_on_beats_one_that_resembles_the_question(
    real_scorer: RinseScorer, evidence: Build
) -> None:
    """S09: the second hop missing; in nine of ten at least the sufficient set wins."""
    lost = []
    for case in CASES:
        sets = [evidence(case.first, second) for second in (case.second, case.decoy)]
        tokens = [real_scorer.read(case.question, found).features["content"]["tokens"] for found in sets]
        assert tokens[0] < tokens[1] + 0.005  # or it is no decoy
        whole, near = (real_scorer.score(case.question, found).score for found in sets)
        if whole <= near:
            lost.append((case.question, whole - near))
    assert len(CASES) == 10
    assert len(lost) <= 1, lost


@pytest.mark.parametrize("case", CASES, ids=[case.first[0] for case in CASES])
def test_each_set_of_both_hops_beats_each_hop_alone(real_scorer: RinseScorer, evidence: Build, case: Hops) -> None:
    """Neither passage suffices by itself, with an unrelated one in the place of the other."""
    other = ("Bread", "Bread is baked from a dough of flour and water. Yeast makes it rise.")
    both = real_scorer.score(case.question, evidence(case.first, case.second)).score
    assert both > real_scorer.score(case.question, evidence(case.first, other)).score
    assert both > real_scorer.score(case.question, evidence(case.second, other)).score

"""What is masked for a twin, and that a masked passage is nowhere to be seen."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.datasets import GoldPassage, GoldSentence, Question
from benchmarks.stopping.twins import MaskedTier, find_masks
from retrieval import Passage, Request, Retrieved
from retrieval.passage import passage_id

FACT = "The ferry Aurora crosses Lake Orlo every day in summer and lies at Osterby in winter."
GOLD = Passage(title="Aurora (ferry)", text=FACT, source_id="doc-1")
COPY = Passage(title="Ferries of Orlo", text=f"As is known: {FACT}", source_id="doc-2")
SIBLING = Passage(title="aurora  (Ferry)", text="It was built of oak.", source_id="doc-3")
CHUNK = Passage(title="", text="Its crew counts three.", source_id="doc-1")
OTHER = Passage(title="Osterby", text="Osterby is a harbour town with a mint.", source_id="doc-4")
CORPUS = (GOLD, COPY, SIBLING, CHUNK, OTHER)


def question(*support: GoldPassage | GoldSentence, name: str = "q") -> Question:
    return Question(
        id=name,
        dataset="toy",
        split="dev",
        question="Where does the Aurora lie in winter?",
        answers=("Osterby",),
        answerable=True,
        support=support,
        group=name,
    )


def gold(passage: Passage) -> GoldPassage:
    return GoldPassage(passage_id=passage.id, title=passage.title)


def test_gold_its_copies_and_its_article_are_masked() -> None:
    """A twin whose fact stands in a copy, or in another part of the article, would be labelled wrongly."""
    masks = find_masks([question(gold(GOLD))], CORPUS)
    assert masks["toy", "q"] == {GOLD.id, COPY.id, SIBLING.id, CHUNK.id}


def test_a_sentence_masks_its_article() -> None:
    """Support that is a sentence has no passage of its own: all passages of the article go."""
    sentence = GoldSentence(article="Osterby", sentence_id=passage_id("Osterby is a harbour town with a mint."))
    assert find_masks([question(sentence)], CORPUS)["toy", "q"] == {OTHER.id}


def test_each_question_has_a_mask_of_its_own() -> None:
    """What one question loses, another one keeps; gold that the corpus lacks masks itself only."""
    absent = Passage(title="Elsewhere", text="A text that no corpus holds.")
    masks = find_masks([question(gold(OTHER), name="a"), question(gold(absent), name="b")], CORPUS)
    assert masks == {("toy", "a"): {OTHER.id}, ("toy", "b"): {absent.id}}


class Everything:
    """A tier that returns the corpus in its order."""

    async def retrieve(self, request: Request) -> Retrieved:
        return Retrieved.ranked(CORPUS, request, tier="local")


@given(st.sets(st.sampled_from([passage.id for passage in CORPUS])), st.integers(1, 6))
def test_a_masked_passage_is_never_returned(masked: set[str], k: int) -> None:
    """The mask joins what the search leaves out already, and what remains fills the k places."""
    tier = MaskedTier(Everything(), frozenset(masked))
    request = Request(query="Aurora", k=k, exclude=frozenset({OTHER.id}))
    found = [hit.passage.id for hit in asyncio.run(tier.retrieve(request)).hits]
    assert found == [p.id for p in CORPUS if p.id not in masked | {OTHER.id}][:k]

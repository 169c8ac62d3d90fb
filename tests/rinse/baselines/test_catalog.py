"""The catalog names every rival once, with what it needs and how it is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.errors import BackboneCorruptError
from rinse.baselines.catalog import ENTRIES, rival
from rinse.baselines.rival import Parts
from rinse.sufficiency import SufficiencyScorer


def test_every_rival_is_described() -> None:
    """Names are distinct; nobody stands in a table without source, cost and backbone."""
    names = [one.name for one in ENTRIES]
    assert len(set(names)) == len(names) == 15
    for one in ENTRIES:
        assert all((one.title, one.source, one.cost))
        assert (one.backbone is None) == (not one.needs)


def test_an_unknown_rival_is_told_with_the_known_ones() -> None:
    """The message lists what there is."""
    with pytest.raises(KeyError, match=r"'nobody'.*upr"):
        rival("nobody")


def test_what_needs_no_weights_is_made_of_nothing() -> None:
    """Always here, and a scorer at once."""
    free = [one for one in ENTRIES if not one.needs]
    assert {one.name for one in free} == {"word-overlap", "retrieval-score"}
    for one in free:
        assert one.missing() == ()
        assert isinstance(one.make(), SufficiencyScorer)


def test_a_folder_that_was_given_is_where_weights_are_looked_for(tiny_backbone: Path, tmp_path: Path) -> None:
    """Weights are missing without it, there with it; a folder without a model is an error, not an absence."""
    crag = rival("crag")
    (name,) = crag.needs
    assert crag.missing() == (name,)
    assert crag.missing(Parts({name: str(tiny_backbone)})) == ()
    with pytest.raises(BackboneCorruptError, match="lacks"):
        crag.missing(Parts({name: str(tmp_path)}))
    cosine = rival("minilm-cosine")
    assert isinstance(cosine.make(Parts({cosine.needs[0]: str(tiny_backbone)})), SufficiencyScorer)

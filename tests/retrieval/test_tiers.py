"""A tier is refused when it is built, not when it is used."""

from __future__ import annotations

import pytest

from retrieval import Passage, Request, Retrieved, Retriever, Tier


class Nothing:
    async def retrieve(self, request: Request) -> Retrieved:
        return Retrieved()


def test_a_sound_tier_is_accepted() -> None:
    assert isinstance(Nothing(), Retriever)
    tier = Tier(name="local", retriever=Nothing(), k=3, price=0.5, timeout_seconds=float("inf"))
    assert (tier.k, tier.price) == (3, 0.5)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": " "}, "needs a name"),
        ({"k": 0}, "k must be at least 1"),
        ({"price": -1.0}, "price must be finite"),
        ({"price": float("nan")}, "price must be finite"),
        ({"price": float("inf")}, "price must be finite"),
        ({"timeout_seconds": 0.0}, "timeout_seconds must be positive"),
        ({"timeout_seconds": float("nan")}, "timeout_seconds must be positive"),
    ],
)
def test_unusable_settings_are_refused(changed: dict[str, float | str], message: str) -> None:
    settings: dict[str, object] = {"name": "local", "retriever": Nothing()} | changed
    with pytest.raises(ValueError, match=message):
        Tier(**settings)  # type: ignore[arg-type]


def test_a_tier_that_knows_only_an_order_keeps_the_contract() -> None:
    """`Retrieved.ranked`: best first, at most k, nothing twice, nothing excluded, ranks from 1."""
    one, two, three = (Passage(text=text) for text in ("one", "two", "three"))
    request = Request(query="q", k=2, exclude=frozenset({two.id}))
    hits = Retrieved.ranked([one, two, one, three, three], request, tier="mine").hits
    assert [(hit.passage, hit.rank, hit.score) for hit in hits] == [(one, 1, 1.0), (three, 2, 0.5)]
    assert {(hit.tier, hit.query) for hit in hits} == {("mine", "q")}

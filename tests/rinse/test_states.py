"""Passages as a model sees them: windows, sentences, headings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from retrieval import Passage
from retrieval.index.encoder import TokenStates, TransformerEncoder
from rinse.profile import Profile
from rinse.readers.states import PassageReader, PassageStates, SharedEncoder, free_lanes
from rinse.readers.subject import LONGEST_NAME_WEIGHT

SENTENCES = tuple(
    f"{who} the {where} in the {way}."
    for who in ("The queen built", "A captain founded", "The old king moved to", "Second team built")
    for where in ("red castle", "bridge", "north island", "tower", "city")
    for way in ("west", "blue ship", "east mountain")
)
"""60 sentences, no two alike: several windows of the model."""


@pytest.fixture
def read(tiny_encoder: TransformerEncoder, tiny_profile: Profile) -> PassageReader:
    """A reader that has read nothing yet."""
    return PassageReader(SharedEncoder(tiny_encoder), tiny_profile.idf)


def states_of(reader: PassageReader, text: str, title: str = "", section: str = "") -> PassageStates:
    [(_, states)] = reader.read([Passage(text=text, title=title, section=section)])
    assert states is not None
    return states


def ids_of(encoder: TransformerEncoder, text: str) -> tuple[int, ...]:
    return encoder.token_states([text])[0].ids


@pytest.mark.parametrize("title", ["", "Castle (novel)"])
def test_sentences_are_counted_on_over_several_windows(
    read: PassageReader, tiny_encoder: TransformerEncoder, title: str
) -> None:
    """A number is one run of tokens of one sentence: no sentence of a window joins one of another window."""
    states = states_of(read, " ".join(SENTENCES), title)
    body = states.sentence_of[states.sentence_of >= 0]
    assert (np.diff(body) >= 0).all()
    numbers = np.unique(body)
    assert numbers.tolist() == list(range(len(states.sentences)))
    assert len(SENTENCES) < len(numbers) < 1.5 * len(SENTENCES)  # some stand in two windows
    whole = [_listed(one.ids) for one in tiny_encoder.token_states(SENTENCES)]
    for number in numbers:
        run = _listed([states.ids[place] for place in np.flatnonzero(states.sentence_of == number)])
        assert any(run in sentence for sentence in whole)


def _listed(ids: Sequence[int]) -> str:
    return f",{','.join(map(str, ids))},"


def test_every_sentence_is_whole_in_some_window(read: PassageReader, tiny_encoder: TransformerEncoder) -> None:
    """S06: windows overlap by more than a sentence, so none is seen in halves only."""
    states = states_of(read, " ".join(SENTENCES))
    numbers = range(len(states.sentences))
    found = {tuple(states.ids[i] for i in np.flatnonzero(states.sentence_of == number)) for number in numbers}
    assert found >= {one.ids for one in tiny_encoder.token_states(SENTENCES)}


def test_sentence_vectors_are_means_with_the_heading(
    read: PassageReader, tiny_encoder: TransformerEncoder
) -> None:
    """A sentence that says "it" is about the title."""
    states = states_of(read, " ".join(SENTENCES[:2]), "Castle")
    raw = tiny_encoder.token_states([f"Castle. {' '.join(SENTENCES[:2])}"])[0].states
    for number, vector in enumerate(states.sentences):
        mean = raw[(states.sentence_of == number) | (states.sentence_of == -1)].mean(axis=0)
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-3)


@pytest.mark.parametrize(
    ("title", "section", "main"),
    [
        ("Red Castle", "", "red castle"),
        ("Red Castle (novel)", "", "red castle"),
        ("Red Castle (first (old) novel)", "", "red castle"),
        ("Castle (novel)", "North", "castle"),
        ("(1871)", "", "( 1871 )"),
        ("", "", ""),
    ],
)
def test_a_heading_loses_what_stands_in_parentheses(
    read: PassageReader, tiny_encoder: TransformerEncoder, title: str, section: str, main: str
) -> None:
    """Nobody writes "Red Castle (novel)" in a sentence; a heading that is nothing else stays whole."""
    subject = states_of(read, "The king won.", title, section).subject
    assert subject.heading == (ids_of(tiny_encoder, main) if main else ())
    assert subject.body == set(ids_of(tiny_encoder, "The king won."))


def test_a_passage_knows_the_names_of_heading_and_text(read: PassageReader) -> None:
    """Weights are sums over word pieces, capped; the first word of a sentence and light names are left out."""
    subject = states_of(read, "Tamsin met Qu in Orrel. Then the King won.", "Zy").subject
    assert subject.names == {"zy": 8.0, "qu": 8.0, "orrel": LONGEST_NAME_WEIGHT}


def test_each_sentence_knows_its_names_and_the_heading_s(read: PassageReader) -> None:
    """Two sentences of different passages may share them; one number a sentence, also over several windows."""
    text = "They met Orrel. The King won. They saw Tamsin."
    assert list(states_of(read, text, "Zy").subject.sentences) == [{"zy", "orrel"}, {"zy"}, {"zy", "tamsin"}]
    long = states_of(read, f"They met Orrel. {' '.join(SENTENCES)} They saw Tamsin.")
    assert len(long.subject.sentences) == len(long.sentences)
    assert [long.subject.sentences[place] for place in (0, -1)] == [{"orrel"}, {"tamsin"}]


def test_names_behind_the_first_window_are_known(read: PassageReader) -> None:
    """Whole, also where the first window cut them."""
    filler = " ".join(SENTENCES)
    assert states_of(read, f"{filler} They met Orrel.").subject.names == {"orrel": LONGEST_NAME_WEIGHT}


def test_a_text_without_any_sign_has_no_tokens(read: PassageReader) -> None:
    """Zero rows, not an error."""
    states = states_of(read, "\u200b")
    assert states.tokens.shape[0] == len(states.ids) == len(states.subject.body)


def test_s06_a_heading_that_fills_the_input_is_no_silent_cut(tiny_backbone: Path, tiny_profile: Profile) -> None:
    """S06: signs of some scripts are several tokens each; the text behind such a heading cannot be read."""
    encoder = TransformerEncoder.named(str(tiny_backbone), max_tokens=64)
    narrow = PassageReader(SharedEncoder(encoder), tiny_profile.idf)
    filled = states_of(narrow, "The king won.", "zq " * 40)
    assert not (filled.sentence_of >= 0).any()
    assert filled.truncated
    assert not states_of(narrow, "The king won.", "zq " * 10).truncated


def test_a_passage_is_read_once(read: PassageReader) -> None:
    """The same object comes back; another heading is another reading."""
    first = states_of(read, "The king won.", "King")
    assert states_of(read, "The king won.", "King") is first
    assert states_of(read, "The king won.", "Queen") is not first


def test_passages_are_read_together_each_as_if_alone(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile
) -> None:
    """S10: short ones share a pass, long ones go on window by window; states differ by rounding only."""
    encoder = Listening(tiny_encoder)
    passages = [Passage(text=" ".join(SENTENCES[:count]), title="Castle") for count in (1, 2, 60, 3, 59, 0)]
    together = dict(PassageReader(SharedEncoder(encoder), tiny_profile.idf).read(passages))
    assert [len(texts) for texts in encoder.calls[:2]] == [5, 2]
    for passage in passages:
        [(_, alone)] = PassageReader(SharedEncoder(tiny_encoder), tiny_profile.idf).read([passage])
        states = together[passage]
        if states is None or alone is None:
            assert states is alone is None
            assert not passage.text
            continue
        assert states.ids == alone.ids
        np.testing.assert_array_equal(states.sentence_of, alone.sentence_of)
        np.testing.assert_allclose(states.tokens, alone.tokens, atol=2e-3)
        np.testing.assert_allclose(states.sentences, alone.sentences, atol=2e-3)


def test_what_is_under_way_at_once_is_bounded(
    tiny_encoder: TransformerEncoder, tiny_profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large set takes turns with other searches, and its windows' states are not all in memory at once."""
    monkeypatch.setattr("rinse.readers.states.CHARACTERS_AT_ONCE", 300)
    encoder = Listening(tiny_encoder)
    passages = [Passage(text=f"{sentence} {sentence}") for sentence in SENTENCES[:20]]
    found = dict(PassageReader(SharedEncoder(encoder), tiny_profile.idf).read(passages))
    assert all(found[passage] is not None for passage in passages)
    assert max(len("".join(texts)) for texts in encoder.calls) <= 300
    assert len(encoder.calls) < len(passages)
    assert sorted(text for texts in encoder.calls for text in texts) == sorted(one.text for one in passages)


@pytest.mark.parametrize(("threads", "lanes"), [(1, 4), (2, 2), (3, 1), (4, 1), (9, 1)])
def test_passes_side_by_side_do_not_compete_for_cores(
    threads: int, lanes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has the threads that torch is set to; one may always run, however many that are."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr("torch.get_num_threads", lambda: threads)
    assert free_lanes() == lanes


def test_s04_an_input_that_the_encoder_refuses_spoils_no_other(tiny_encoder: TransformerEncoder) -> None:
    """S04: unusable states, too few of them: the others of the batch are read again, alone."""

    class Odd(Listening):
        def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
            return super().token_states([text for text in texts if text != "odd"])

    encoder = Odd(tiny_encoder)
    first, odd, last = SharedEncoder(encoder).read(["castle", "odd", "king"])
    assert odd is None
    assert first is not None
    assert last is not None
    assert (first.ids, last.ids) == (ids_of(tiny_encoder, "castle"), ids_of(tiny_encoder, "king"))


class Listening:
    """The tiny encoder; keeps what it was asked for at once."""

    def __init__(self, encoder: TransformerEncoder) -> None:
        self._encoder = encoder
        self.calls: list[list[str]] = []
        self.name, self.fingerprint = encoder.name, encoder.fingerprint

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        self.calls.append(list(texts))
        return self._encoder.token_states(texts)


def test_half_a_surrogate_pair_is_read_as_a_replacement_character(tiny_encoder: TransformerEncoder) -> None:
    """As broken pages hold them; places in the text stay what they were."""
    broken, plain = tiny_encoder.token_states(["a \ud800 king", "a \ufffd king"])
    assert (broken.ids, broken.spans) == (plain.ids, plain.spans)
    assert np.array_equal(tiny_encoder.encode(["a \udc00"]), tiny_encoder.encode(["a \ufffd"]))

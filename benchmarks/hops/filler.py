"""Other text to hide a corpus in: invented passages whose words look like the corpus's, with random vectors.

A filler passage is a bag of words: nine of ten are drawn from the corpus's own words by their frequency, so that
common words and names of the corpus lead into it; one of ten is made of syllables. It is as long as a passage of
the corpus, and has a title of two words if the corpus has titles. Its vector is a random direction, the same for
the same text. Random directions are nearly at right angles to every query (384 dimensions: a cosine of 0.05 is one
standard deviation), unlike text that people wrote: the words are the harder half of this filler.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.index import TransformerEncoder

MARK = " (invented filler)"
"""The end of every filler passage; by it the encoder tells them."""
_INVENTED = 0.1
"""Share of words that the corpus does not have."""
_INVENTED_WORDS = 20_000
_BLOCK = 2_000
_SYLLABLES = (
    "ba",
    "cor",
    "dru",
    "el",
    "fin",
    "gra",
    "hul",
    "is",
    "ko",
    "lem",
    "mi",
    "nar",
    "os",
    "pel",
    "ri",
    "tus",
)


class FillerEncoder(TransformerEncoder):
    """A transformer for all texts but filler, whose vectors are random unit rows, seeded by the text.

    Name and fingerprint are the transformer's: every vector of a real text is the one that it makes.
    """

    recalled: Mapping[str, NDArray[np.float32]] = {}
    """Vectors that are known already, by text; they are not computed again."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Encoder.encode`."""
        out = np.empty((len(texts), self.dims), dtype=np.float32)
        unknown: list[int] = []
        for row, text in enumerate(texts):
            if text.endswith(MARK):
                out[row] = random_unit(text, self.dims)
            elif (known := self.recalled.get(text)) is not None:
                out[row] = known
            else:
                unknown.append(row)
        if unknown:
            out[unknown] = super().encode([texts[row] for row in unknown])
        return out


def random_unit(text: str, dims: int) -> NDArray[np.float32]:
    """A vector of length one, shape `(dims,)`, uniform over directions and determined by the text."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    vector = np.random.default_rng(int.from_bytes(digest, "little")).standard_normal(dims)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def write_filler(passages: Iterable[Passage], count: int, *, seed: int) -> Iterator[Passage]:
    """Invented passages in the likeness of others; the same seed writes the same ones.

    Args:
        passages: Whose words, lengths and titles are imitated; read once.
        count: How many to write.
        seed: Of every choice.
    """
    random = np.random.default_rng(seed)
    words, shares, lengths, titled = _likeness(passages)
    syllables = random.choice(_SYLLABLES, size=(_INVENTED_WORDS, 3))
    invented = np.array(["".join(row) for row in syllables], dtype=object)
    for start in range(0, count, _BLOCK):
        sizes = random.choice(lengths, size=min(_BLOCK, count - start))
        total = int(sizes.sum())
        text = words[np.searchsorted(shares, random.random(total), side="right")]
        made = random.random(total) < _INVENTED
        text[made] = random.choice(invented, size=int(made.sum()))
        names = random.choice(invented, size=(len(sizes), 2))
        for at, (end, size) in enumerate(zip(np.cumsum(sizes), sizes, strict=True)):
            body = " ".join(text[end - size : end])
            title = " ".join(names[at]).title() if titled else ""
            yield Passage(text=f"{body}{MARK}", title=title, source_id=f"filler-{start + at}")


def _likeness(
    passages: Iterable[Passage],
) -> tuple[NDArray[np.object_], NDArray[np.float64], NDArray[np.int64], bool]:
    """The words, their cumulated shares, the lengths of all passages in words, and whether there are titles."""
    counted: Counter[str] = Counter()
    lengths: list[int] = []
    titled = False
    for passage in passages:
        found = passage.text.split()
        counted.update(found)
        lengths.append(len(found))
        titled = titled or bool(passage.title)
    words = sorted(counted) or ["nothing"]
    shares = np.cumsum([counted[word] or 1 for word in words], dtype=np.float64)
    return np.array(words, dtype=object), shares / shares[-1], np.array(lengths or [1]), titled

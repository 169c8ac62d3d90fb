"""Two texts as one input of a model: the first whole, the second in overlapping windows where it is long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from retrieval.backbones import Backbone
from retrieval.errors import BackboneCorruptError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_CHARACTERS = 400_000
"""What is tokenized of one text; the rest is not read and the result says so."""
MAX_WINDOWS = 128
"""Windows read of one text; the rest is not read and the result says so (case S06)."""
FIRST_SHARE = 4
"""A first text takes at most one part in so many of the input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """A text in vocabulary ids, without special tokens."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    """Characters of each token."""
    truncated: bool
    """True if the text was too long to be read whole."""

    def part(self, begin: int, end: int) -> Tokens:
        """Tokens `begin` to `end`."""
        return Tokens(ids=self.ids[begin:end], spans=self.spans[begin:end], truncated=self.truncated)

    def first(self, count: int) -> Tokens:
        """At most the first `count` tokens; `truncated` says whether there are more."""
        if len(self.ids) <= count:
            return self
        return Tokens(ids=self.ids[:count], spans=self.spans[:count], truncated=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairWindow:
    """One input of a model."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    """Segment of each token; all zero for models without segments."""
    begin: int
    """Where the second text's tokens begin in `ids`."""
    spans: tuple[tuple[int, int], ...]
    """Characters in the second text of those of its tokens that stand in this window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairInput:
    """All windows of a pair; at least one, also where the second text has no token."""

    windows: tuple[PairWindow, ...]
    truncated: bool
    """True if a part of either text stands in no window."""


class PlainTokenizer:
    """A model's own tokenizer. Marks such as `</s>` in a text are text, they steer nothing.

    Args:
        backbone: Its `tokenizer.json` is read on first use.
    """

    def __init__(self, backbone: Backbone) -> None:
        self._backbone = backbone

    @property
    def raw(self) -> Tokenizer:
        """The library's object, shared by all users of this backbone: change no setting of it."""
        return _tokenizer(self._backbone)

    def read(self, texts: Sequence[str]) -> list[Tokens]:
        """Each text in vocabulary ids; of a text beyond `MAX_CHARACTERS` the beginning."""
        tokenizer = self.raw
        marks = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
        parts = [_harmless(text[:MAX_CHARACTERS], marks) for text in texts]
        encodings = tokenizer.encode_batch(parts, add_special_tokens=False)
        return [
            Tokens(
                ids=tuple(encoding.ids),
                spans=tuple(encoding.offsets),
                truncated=len(text) > MAX_CHARACTERS,
            )
            for text, encoding in zip(texts, encodings, strict=True)
        ]


class PairTokenizer(PlainTokenizer):
    """Puts pairs together as the model was trained to read them (`tokenizer.json` says how).

    Args:
        backbone: The model.
        max_tokens: Longest input, special tokens included.
        overlap: Tokens of the second text that two of its windows share.
    """

    def __init__(self, backbone: Backbone, *, max_tokens: int, overlap: int) -> None:
        super().__init__(backbone)
        self._max_tokens = max_tokens
        self._overlap = overlap

    def join(self, first: Tokens, second: Tokens) -> PairInput:
        """Windows over `second`, each beside the same `first`."""
        shape = _template(self._backbone)
        first = first.first(self._max_tokens // FIRST_SHARE)
        room = self._max_tokens - len(first.ids) - len(shape.before) - len(shape.between) - len(shape.after)
        begins = [0]
        while begins[-1] + room < len(second.ids) and len(begins) < MAX_WINDOWS:
            begins.append(begins[-1] + max(room - self._overlap, 1))
        return PairInput(
            windows=tuple(shape.fill(first, second.part(begin, begin + room)) for begin in begins),
            truncated=first.truncated or second.truncated or begins[-1] + room < len(second.ids),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Template:
    """Special tokens around and between two texts, with the segments of the texts."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    first_type: int
    second_type: int

    def fill(self, first: Tokens, second: Tokens) -> PairWindow:
        head = (*self.before, *first.ids, *self.between)
        tail = (*second.ids, *self.after)
        return PairWindow(
            ids=head + tail,
            types=(self.first_type,) * len(head) + (self.second_type,) * len(tail),
            begin=len(head),
            spans=second.spans,
        )


def _harmless(text: str, marks: Sequence[str]) -> str:
    """The text with every special mark broken by a look-alike that keeps each character's place.

    `encode_special_tokens` is not enough: a Unigram vocabulary holds its marks as ordinary pieces too.
    """
    for mark in marks:
        if mark in text:
            text = text.replace(mark, " " + mark[1:])
    return text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=16)
def _tokenizer(backbone: Backbone) -> Tokenizer:
    from tokenizers import Tokenizer

    path = backbone.folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise BackboneCorruptError(f"{path} cannot be read: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return tokenizer


@lru_cache(maxsize=16)
def _template(backbone: Backbone) -> _Template:
    encoding = _tokenizer(backbone).encode("a", "a")
    owners = list(encoding.sequence_ids)
    if owners.count(0) == 0 or owners.count(1) == 0 or owners[0] is not None:
        raise BackboneCorruptError(
            f"{backbone.folder / 'tokenizer.json'} puts no special token before a pair of texts: "
            f"{encoding.tokens}. Expected a model that reads pairs, such as RoBERTa; pass another folder."
        )
    first, second = owners.index(0), owners.index(1)
    first_end, second_end = first + owners.count(0), second + owners.count(1)
    return _Template(
        before=tuple(encoding.ids[:first]),
        between=tuple(encoding.ids[first_end:second]),
        after=tuple(encoding.ids[second_end:]),
        first_type=encoding.type_ids[first],
        second_type=encoding.type_ids[second],
    )

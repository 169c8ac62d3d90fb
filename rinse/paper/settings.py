"""How the three readers read: everything that is chosen, nothing that is fitted."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..profile import WindowSettings

_Share = Annotated[float, Field(ge=0, le=1)]


class ReaderSettings(BaseModel):
    """Settings of the readers. The defaults are the paper's where it names a value (section 4, appendix E).

    Fitted values belong to one combination of settings and backbones; a profile keeps both.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    window: WindowSettings = WindowSettings(size=4, stride=2)
    """The local parts of a question, in WordPieces."""
    quantiles: Annotated[tuple[_Share, ...], Field(min_length=1, max_length=32)] = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
    """Which quantiles of a coverage profile are features; the paper names none, these are ours."""
    function_idf: Annotated[float, Field(ge=0)] = 2.0
    """A token that weighs less is a function word or a sign: it makes no gap."""
    gap_threshold: _Share = 0.5
    """A window of which a smaller share of the IDF is covered is part of a gap."""
    reranker_tokens: Annotated[int, Field(ge=32, le=8192)] = 512
    """Longest input of the reranker, in its tokens."""
    reranker_overlap: Annotated[int, Field(ge=0, le=4096)] = 64
    """Tokens that two overflow windows of a source share."""
    span_tokens: Annotated[int, Field(ge=32, le=8192)] = 384
    """Longest input of the span reader, in its tokens."""
    span_overlap: Annotated[int, Field(ge=0, le=4096)] = 128
    """Tokens that two overflow windows of a passage share."""
    answer_tokens: Annotated[int, Field(ge=1, le=512)] = 30
    """Longest span."""
    layer: Annotated[int, Field(ge=1, le=256)] = 17
    """The latent reader's state is what this many blocks of the language model make; later ones never run."""
    documents: Annotated[int, Field(ge=1, le=64)] = 5
    """How many of the best-reranked passages the latent reader reads."""
    document_tokens: Annotated[int, Field(ge=8, le=8192)] = 384
    """What the latent reader reads of each, in its tokens."""
    given_order: bool = False
    """True: the latent reader keeps the order in which passages arrived, as the paper does; the score then depends
    on it. False: the canonical order (`rinse.order`)."""

    @model_validator(mode="after")
    def _windows_go_on(self) -> Self:
        for name, tokens, overlap in (
            ("reranker", self.reranker_tokens, self.reranker_overlap),
            ("span", self.span_tokens, self.span_overlap),
        ):
            if 2 * overlap > tokens:
                raise ValueError(
                    f"{name}_overlap is {overlap}, more than half of {tokens} tokens: windows hardly move on"
                )
        return self

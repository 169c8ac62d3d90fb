"""What else could be done with question and passages: one pass for each pair, or asking a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from retrieval import Passage
from retrieval.backbones import Backbone

if TYPE_CHECKING:
    from tokenizers import Encoding

TOKENS = 24
"""Tokens that the language model generates, no fewer."""
BATCH = 32
"""Pairs in one pass of the cross-encoder."""
LONGEST = 512
"""Tokens of a pair, special tokens included."""


class CrossEncoder:
    """A plain cross-encoder of a backbone's size: a BERT with one output over question and passage together.

    Its weights are random: they do not change its time. It remembers nothing; the caller hands it what is new.

    Args:
        backbone: Whose `config.json` and tokenizer are taken; the default encoder gives a MiniLM-L6.
    """

    def __init__(self, backbone: Backbone) -> None:
        from tokenizers import Tokenizer
        from transformers import BertConfig, BertForSequenceClassification

        config = BertConfig(**(backbone.config() | {"num_labels": 1}))
        model: Any = BertForSequenceClassification(config)
        self._model = model.eval()
        self._tokenizer = Tokenizer.from_file(str(backbone.folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST, strategy="only_second")

    def scores(self, question: str, passages: Sequence[Passage]) -> list[float]:
        """One number a passage; pairs of similar length share a pass."""
        pairs = self._tokenizer.encode_batch([(question, passage.full_text) for passage in passages])
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place]))
        found = [0.0] * len(pairs)
        for begin in range(0, len(order), BATCH):
            places = order[begin : begin + BATCH]
            for place, value in zip(places, self._pass([pairs[place] for place in places]), strict=True):
                found[place] = value
        return found

    def _pass(self, pairs: Sequence[Encoding]) -> list[float]:
        import torch

        width = max(len(pair) for pair in pairs)

        def rows(name: str) -> torch.Tensor:
            return torch.tensor([[*getattr(pair, name), *[0] * (width - len(pair))] for pair in pairs])

        with torch.inference_mode():
            output = self._model(
                input_ids=rows("ids"), attention_mask=rows("attention_mask"), token_type_ids=rows("type_ids")
            )
        values: list[float] = output.logits[:, 0].tolist()
        return values


def judge_prompt(question: str, passages: Sequence[Passage]) -> str:
    """What a language model is asked: the same question and passages, and whether they suffice."""
    evidence = "\n\n".join(f"[{number}] {one.full_text}" for number, one in enumerate(passages, start=1))
    return f"{evidence}\n\nQuestion: {question}\nDo the passages suffice to answer it? Explain.\n"

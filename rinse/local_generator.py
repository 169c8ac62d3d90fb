"""A causal language model on this machine as a `Generator`, through transformers, on the CPU, in float32."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from retrieval.backbones import Backbone, find_backbone
from retrieval.errors import BackboneCorruptError
from retrieval.text import encodable

from .chat_template import ChatTemplate, find_template, read_template
from .completion_text import generated, until
from .decoding import Choose, KeptHead, Prefill, complete, drawn, greedy, log_probabilities
from .errors import ScoreError
from .generator import Generated
from .likelihood import summed_logprobs

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DEFAULT_GENERATOR = "SmolLM2-135M-Instruct"


class LocalGenerator:
    """One causal language model: a `Generator` and a `ChatModel`. Blocking, thread-safe, one call at a time.

    A prompt is read as it is; `chat` makes one from what a user says. The model is loaded on first use. Every
    method that reads a prompt raises:
        ScoreError: the prompt, with what is to follow it, is longer than the model reads; or logits are NaN.
        ValueError: the prompt holds no token.
        BackboneCorruptError: see `load`.

    Args:
        backbone: What `find_backbone` found.
    """

    def __init__(self, backbone: Backbone) -> None:
        self._backbone = backbone
        self._lock = threading.Lock()
        self._parts: tuple[Any, Tokenizer] | None = None
        self._template: ChatTemplate | None = None
        self._heads = KeptHead()

    @classmethod
    def named(cls, name: str = DEFAULT_GENERATOR) -> LocalGenerator:
        """The model of this name, or in this folder. Raises what `find_backbone` raises."""
        return cls(find_backbone(name))

    @property
    def name(self) -> str:
        """For tables and traces."""
        return self._backbone.name

    @cached_property
    def fingerprint(self) -> str:
        """Weights, tokenizer and chat template by content."""
        parts = (self._backbone.fingerprint, read_template(self._backbone.folder) or "")
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def spared_seconds(self) -> float:
        """What the last call would have spent on reading its head, had the head not been kept."""
        return self._heads.spared_seconds

    def load(self) -> None:
        """Load the model now, so that the first call does not wait for it.

        Raises:
            BackboneCorruptError: the folder holds no causal language model.
        """
        with self._lock:
            self._loaded()

    def chat(self, user: str) -> str:
        """The prompt of one user turn in the model's own chat template, with the assistant's turn opened.

        The model's control tokens have no power inside what the user says, so that no passage can end the turn.

        Raises:
            BackboneCorruptError: the model has no chat template, or it fails; see also `load`.
        """
        with self._lock:
            if self._template is None:
                model, tokenizer = self._loaded()
                self._template = find_template(self._backbone.folder, tokenizer, model.config)
            return self._template.opened(user)

    def generate(
        self,
        prompt: str,
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        head: str = "",
        exact: bool = False,
    ) -> Generated:
        """Complete the prompt by at most `max_tokens` tokens. See `Generator.generate`.

        The text ends before the first of `stop`; `tokens` and `logprobs` hold all that was generated.

        Args:
            prompt: Read with the special tokens that the tokenizer puts around a text.
            max_tokens: At least 1.
            temperature: 0 = the likeliest token; above it, drawn with `seed`.
            seed: Of the draws.
            stop: Texts at which the completion ends.
            head: A beginning of the prompt that other prompts share; see `ChatModel`.
            exact: Generate `max_tokens` tokens even where the model or `stop` would end: for measuring time.

        Raises:
            ValueError: `max_tokens` or `temperature` is out of range. See also the class.
        """
        if not temperature >= 0:
            raise ValueError(f"Expected a temperature not below 0, got {temperature}.")
        with self._lock:
            barred = _end_ids(self._loaded()[0]) if exact else set()
            chooser = drawn(temperature, seed, barred) if temperature else greedy(barred)
            return self._complete(prompt, head, [chooser], max_tokens, () if exact else stop)[0]

    def samples(
        self,
        prompt: str,
        *,
        count: int,
        max_tokens: int,
        temperature: float = 1.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        head: str = "",
    ) -> tuple[Generated, ...]:
        """So many completions drawn side by side; the one at place i with `seed + i`. See `generate`.

        The prompt is read once for all of them.

        Raises:
            ValueError: a number is out of range: one sample and a temperature above 0 at the least. See also the
                class.
        """
        if count < 1 or not temperature > 0:
            raise ValueError(
                f"Expected one sample or more at a temperature above 0, got {count} at {temperature}."
            )
        with self._lock:
            choosers = [drawn(temperature, seed + place) for place in range(count)]
            return tuple(self._complete(prompt, head, choosers, max_tokens, stop))

    def logprob(self, prompt: str, continuation: str) -> float:
        """Sum of the log-probabilities of the continuation's tokens, which are cut apart from the prompt's.

        Raises:
            See the class.
        """
        return self._likelihoods([prompt], continuation)[0][0]

    def mean_logprobs(self, prompts: Sequence[str], continuation: str) -> list[float]:
        """Mean log-probability of the continuation's tokens after each prompt, like lengths at once.

        Raises:
            ValueError: the continuation holds no token. See also the class.
        """
        found = self._likelihoods(prompts, continuation)
        if any(not tokens for _, tokens in found):
            raise ValueError(f"A continuation needs at least one token, {continuation!r} has none.")
        return [total / tokens for total, tokens in found]

    def log_odds(self, prompt: str, yes: Sequence[str], no: Sequence[str], *, head: str = "") -> float:
        """Log of P(a first token of `yes`) minus log of P(a first token of `no`) as the prompt's next token.

        Raises:
            ValueError: a word has no token, or both sides share a first token. See also the class.
        """
        import torch

        with self._lock, torch.inference_mode():
            _, tokenizer = self._loaded()
            sides = [sorted({_first_id(tokenizer, word) for word in words}) for words in (yes, no)]
            if not all(sides) or set(sides[0]) & set(sides[1]):
                raise ValueError(f"{self.name} cannot tell {list(yes)} from {list(no)} by their first tokens.")
            table = log_probabilities(self._prefill(self._read(prompt, room=0), head).logits[0])
            odds = torch.logsumexp(table[sides[0]], 0) - torch.logsumexp(table[sides[1]], 0)
            return float(odds)

    def _complete(
        self, prompt: str, head: str, choosers: Sequence[Choose], max_tokens: int, stop: Sequence[str]
    ) -> list[Generated]:
        import torch

        if max_tokens < 1:
            raise ValueError(f"Expected max_tokens of at least 1, got {max_tokens}.")
        model, tokenizer = self._loaded()
        ids = self._read(prompt, room=max_tokens)
        last_ids = _end_ids(model)

        def ends(tokens: list[int]) -> bool:
            return tokens[-1] in last_ids or bool(stop and until(tokenizer.decode(tokens), stop)[1])

        with torch.inference_mode():
            begin = self._prefill(ids, head)
            made = complete(model, begin, choosers, max_tokens=max_tokens, ends=ends)
        return [generated(one, tokenizer, last_ids, stop, len(ids)) for one in made]

    def _prefill(self, ids: list[int], head: str) -> Prefill:
        return self._heads.read(self._loaded()[0], ids, self._ids(head) if head else [])

    def _likelihoods(self, prompts: Sequence[str], continuation: str) -> list[tuple[float, int]]:
        """For each prompt the sum over the continuation's tokens, and how many these are."""
        import torch

        with self._lock, torch.inference_mode():
            model, tokenizer = self._loaded()
            plain = encodable(continuation)
            after: list[int] = tokenizer.encode(plain, add_special_tokens=False).ids
            before = [self._read(prompt, room=len(after)) for prompt in prompts]
            sums = summed_logprobs(model, before, after) if after else [0.0] * len(before)
            return [(one, len(after)) for one in sums]

    def _read(self, prompt: str, *, room: int) -> list[int]:
        """The prompt's tokens, which leave room for so many more."""
        model, _ = self._loaded()
        ids = self._ids(prompt)
        if not ids:
            raise ValueError(f"A prompt needs at least one token, {prompt!r} has none.")
        longest = getattr(model.config, "max_position_embeddings", None)
        if isinstance(longest, int) and len(ids) + room > longest:
            raise ScoreError(
                f"{self.name} reads at most {longest} tokens, prompt and completion have {len(ids) + room}. "
                "Give fewer or shorter passages, or take a model that reads more."
            )
        return ids

    def _ids(self, text: str) -> list[int]:
        model, tokenizer = self._loaded()
        ids: list[int] = tokenizer.encode(encodable(text)).ids
        # a chat template writes the token that begins a text, and some tokenizers put it there too
        return ids[1:] if ids[:1] == ids[1:2] == [model.config.bos_token_id] else ids

    def _loaded(self) -> tuple[Any, Tokenizer]:
        if self._parts is None:
            self._parts = _load(self._backbone)
        return self._parts


def _load(backbone: Backbone) -> tuple[Any, Tokenizer]:
    import torch
    from tokenizers import Tokenizer
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(
            backbone.folder,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            dtype=torch.float32,
            attn_implementation="sdpa",
        )
        tokenizer = Tokenizer.from_file(str(backbone.folder / "tokenizer.json"))
    except Exception as error:  # the tokenizer's library raises plain Exception
        raise BackboneCorruptError(f"{backbone.folder} holds no causal language model: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return model.eval(), tokenizer


def _first_id(tokenizer: Tokenizer, word: str) -> int:
    ids: list[int] = tokenizer.encode(word, add_special_tokens=False).ids
    if not ids:
        raise ValueError(f"A word needs at least one token, {word!r} has none.")
    return ids[0]


def _end_ids(model: Any) -> set[int]:  # noqa: ANN401  transformers is untyped
    """Tokens that end a text: one, several or none, in either of two files."""
    found: set[int] = set()
    for settings in (model.config, model.generation_config):
        ends = settings.eos_token_id
        found |= {ends} if isinstance(ends, int) else set(ends or ())
    return found

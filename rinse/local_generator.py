"""A causal language model on this machine as a `Generator`, through transformers, on the CPU, in float32."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from retrieval.backbones import Backbone, find_backbone
from retrieval.errors import BackboneCorruptError

from .generator import Generated

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

DEFAULT_GENERATOR = "SmolLM2-135M-Instruct"


class LocalGenerator:
    """One causal language model. A `Generator`: blocking, thread-safe, one call at a time.

    A prompt is given as it is; a model's chat template is the caller's affair. The model is loaded on first use.

    Args:
        backbone: What `find_backbone` found.
    """

    def __init__(self, backbone: Backbone) -> None:
        self._backbone = backbone
        self._lock = threading.Lock()
        self._parts: tuple[Any, Tokenizer] | None = None

    @classmethod
    def named(cls, name: str = DEFAULT_GENERATOR) -> LocalGenerator:
        """The model of this name, or in this folder. Raises what `find_backbone` raises."""
        return cls(find_backbone(name))

    @property
    def name(self) -> str:
        """For tables and traces."""
        return self._backbone.name

    @property
    def fingerprint(self) -> str:
        """The backbone's content."""
        return self._backbone.fingerprint

    def load(self) -> None:
        """Load the model now, so that the first call does not wait for it.

        Raises:
            BackboneCorruptError: the folder holds no causal language model.
        """
        with self._lock:
            self._loaded()

    def generate(
        self,
        prompt: str,
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
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
            exact: Generate `max_tokens` tokens even where the model or `stop` would end: for measuring time.

        Raises:
            ValueError: `max_tokens` or `temperature` is out of range, the prompt holds no token, or prompt and
                completion together are longer than the model reads.
            BackboneCorruptError: see `load`.
        """
        import torch

        if max_tokens < 1 or not temperature >= 0:
            raise ValueError(
                f"Expected max_tokens of at least 1 and a temperature not below 0, got {max_tokens} and "
                f"{temperature}."
            )
        with self._lock, torch.random.fork_rng(devices=[]):
            model, tokenizer = self._loaded()
            ids = _prompt_ids(tokenizer, prompt)
            self._check_length(model, len(ids) + max_tokens)
            torch.manual_seed(seed)
            output = model.generate(
                torch.tensor([ids]),
                attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                stopping_criteria=[] if exact else [_stopping(tokenizer, len(ids), stop)],
                generation_config=_settings(model, max_tokens=max_tokens, temperature=temperature, exact=exact),
            )
            new = output.sequences[0, len(ids) :].tolist()
            logits = torch.cat(output.logits).double()  # (tokens, vocabulary)
            logprobs = torch.log_softmax(logits, dim=-1)[range(len(new)), new].tolist()
        ended = not exact and new[-1] in _end_ids(model)
        tokens = new[:-1] if ended else new
        text, stopped = _until(tokenizer.decode(tokens), () if exact else stop)
        return Generated(
            text=text,
            tokens=tuple(tokenizer.decode([token], skip_special_tokens=False) for token in tokens),
            logprobs=tuple(logprobs[: len(tokens)]),
            prompt_tokens=len(ids),
            stopped=ended or stopped,
        )

    def logprob(self, prompt: str, continuation: str) -> float:
        """Sum of the log-probabilities of the continuation's tokens, which are cut apart from the prompt's.

        Raises:
            ValueError: the prompt holds no token, or both together are longer than the model reads.
            BackboneCorruptError: see `load`.
        """
        import torch

        with self._lock, torch.inference_mode():
            model, tokenizer = self._loaded()
            before = _prompt_ids(tokenizer, prompt)
            after = tokenizer.encode(continuation, add_special_tokens=False).ids
            if not after:
                return 0.0
            self._check_length(model, len(before) + len(after))
            ids = torch.tensor([[*before, *after]])
            logits = model(input_ids=ids, use_cache=False, logits_to_keep=len(after) + 1).logits[0, :-1]
            chosen = torch.log_softmax(logits.double(), dim=-1)[range(len(after)), after]
            return float(chosen.sum())

    def _loaded(self) -> tuple[Any, Tokenizer]:
        if self._parts is None:
            self._parts = _load(self._backbone)
        return self._parts

    def _check_length(self, model: Any, tokens: int) -> None:  # noqa: ANN401  transformers is untyped
        longest = getattr(model.config, "max_position_embeddings", None)
        if isinstance(longest, int) and tokens > longest:
            raise ValueError(f"{self.name} reads at most {longest} tokens, prompt and completion have {tokens}.")


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
        )
        tokenizer = Tokenizer.from_file(str(backbone.folder / "tokenizer.json"))
    except Exception as error:  # the tokenizer's library raises plain Exception
        raise BackboneCorruptError(f"{backbone.folder} holds no causal language model: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return model.eval(), tokenizer


def _prompt_ids(tokenizer: Tokenizer, prompt: str) -> list[int]:
    ids: list[int] = tokenizer.encode(prompt).ids
    if not ids:
        raise ValueError(f"A prompt needs at least one token, {prompt!r} has none.")
    return ids


def _end_ids(model: Any) -> set[int]:  # noqa: ANN401
    """Tokens that end a text: one, several or none, in either of two files."""
    found: set[int] = set()
    for settings in (model.config, model.generation_config):
        ends = settings.eos_token_id
        found |= {ends} if isinstance(ends, int) else set(ends or ())
    return found


def _settings(model: Any, *, max_tokens: int, temperature: float, exact: bool) -> Any:  # noqa: ANN401
    """Settings of one call; what the model's own file says about drawing is left out: the caller decides."""
    from transformers import GenerationConfig

    ends = sorted(_end_ids(model))
    drawn = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature else {}
    return GenerationConfig(  # type: ignore[no-untyped-call]
        max_new_tokens=max_tokens,
        min_new_tokens=max_tokens if exact else None,
        eos_token_id=ends or None,
        pad_token_id=ends[0] if ends else 0,
        return_dict_in_generate=True,
        output_logits=True,
        use_cache=True,
        **drawn or {"do_sample": False},
    )


def _stopping(tokenizer: Tokenizer, begin: int, stop: Sequence[str]) -> Callable[..., Tensor]:
    """A criterion of transformers: true as soon as the completion holds one of the texts."""
    import torch

    def stops(ids: Tensor, _scores: Tensor, **_: object) -> Tensor:
        found = bool(stop) and _until(tokenizer.decode(ids[0, begin:].tolist()), stop)[1]
        return torch.tensor([found])

    return stops


def _until(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """The text before the first stop, and whether there was one."""
    places = [place for one in stop if one and (place := text.find(one)) >= 0]
    return (text[: min(places)], True) if places else (text, False)

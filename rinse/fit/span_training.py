"""Trains the span reader with an explicit null (RINSE, appendix E); an interrupted training ends the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from retrieval.backbones import Backbone
from retrieval.errors import BackboneCorruptError

from ..paper.settings import ReaderSettings
from .checkpoint import Checkpoint
from .errors import FitError
from .negatives import SpanExample
from .span_inputs import SpanInput, span_inputs, stacked

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from transformers import PreTrainedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTraining:
    """How it is trained; the defaults are the paper's (appendix E)."""

    epochs: int = 1
    batch: int = 32
    """Examples a step, positives and negatives mixed."""
    learning_rate: float = 2e-5
    """At the end of the warm-up; it falls to 0 in a line."""
    warm_up: float = 0.06
    """Share of the steps in which the rate rises from 0."""
    weight_decay: float = 0.01
    seed: int = 0
    device: str = "cpu"
    """On `cuda` the passes run in bfloat16, as in the paper."""
    save_every: int = 200
    """Steps from checkpoint to checkpoint."""


def train_span_reader(
    base: Backbone,
    examples: Sequence[SpanExample],
    out: Path,
    *,
    training: SpanTraining,
    settings: ReaderSettings,
    checkpoint: Path,
    key: str,
    progress: Callable[[int, int], None],
) -> None:
    """Train and write `config.json`, `tokenizer.json` and `model.safetensors` into the new folder `out`.

    Every step seeds its own dropout and the order of examples depends on seed and epoch alone, so that a training
    which goes on from a checkpoint ends with the bytes of one that was never interrupted.

    Args:
        base: What the training begins with; a head for answers that it lacks begins at random, seeded.
        examples: See `span_examples`.
        out: Does not exist yet; appears whole.
        training: How.
        settings: Longest input, overlap and longest span.
        checkpoint: File of the last checkpoint; removed at the end.
        key: Identifies data and settings; a checkpoint with another key is not gone on with.
        progress: Called with the steps done and the steps in all.

    Raises:
        FitError: no example fits the model's input, or the loss is not finite.
        BackboneCorruptError: the base model cannot be loaded.
    """
    inputs = span_inputs(base, settings, examples)
    if not inputs:
        raise FitError(
            "No pair carries an answer that stands in one of its passages, so there is nothing to train the span "
            "reader on. Add 'answers' to the pairs, or pass a trained one with --span NAME --no-train-span."
        )
    run = _Run(base, inputs, training)
    saved = Checkpoint(checkpoint, key=key)
    begin = saved.restore(run.model, run.optimizer)
    progress(begin, run.steps)
    for step in range(begin, run.steps):
        run.step(step)
        if (step + 1) % training.save_every == 0:
            saved.save(run.model, run.optimizer, step=step + 1)
        progress(step + 1, run.steps)
    _write(run.model, base, out)
    checkpoint.unlink(missing_ok=True)


class _Run:
    """The state of one training."""

    def __init__(self, base: Backbone, inputs: Sequence[SpanInput], training: SpanTraining) -> None:
        import torch

        self._inputs = inputs
        self._training = training
        self._batches = -(-len(inputs) // training.batch)
        self.steps = self._batches * training.epochs
        self.model = _load(base, training)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay
        )

    def step(self, step: int) -> None:
        """One batch forth and back."""
        import torch

        training = self._training
        with torch.random.fork_rng():
            torch.manual_seed(training.seed * 1_000_003 + step)  # dropout
            loss = self._loss(self._batch(step))
            if not bool(torch.isfinite(loss)):
                raise FitError(f"The span reader's loss is {float(loss)} in step {step}. Lower the learning rate.")
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)  # the paper is silent; transformers' default
        for group in self.optimizer.param_groups:
            group["lr"] = training.learning_rate * rate(step, steps=self.steps, warm_up=training.warm_up)
        self.optimizer.step()

    def _batch(self, step: int) -> list[SpanInput]:
        epoch, at = divmod(step, self._batches)
        order = np.random.default_rng((self._training.seed, epoch)).permutation(len(self._inputs))
        return [self._inputs[i] for i in order[at * self._training.batch : (at + 1) * self._training.batch]]

    def _loss(self, batch: Sequence[SpanInput]) -> Tensor:
        import torch
        from torch.nn.functional import cross_entropy

        device = torch.device(self._training.device)
        ids, mask = (
            torch.from_numpy(array).to(device)
            for array in stacked(batch, padding=self.model.config.pad_token_id or 0)
        )
        half = torch.autocast("cuda", dtype=torch.bfloat16) if device.type == "cuda" else nullcontext()
        with half:
            output = self.model(input_ids=ids, attention_mask=mask)
        losses = []
        for logits, targets in (
            (output.start_logits, [one.first for one in batch]),
            (output.end_logits, [one.last for one in batch]),
        ):
            real = logits.float().masked_fill(mask == 0, -1e4)
            losses.append(cross_entropy(real, torch.tensor(targets, device=device)))
        return (losses[0] + losses[1]) / 2


def rate(step: int, *, steps: int, warm_up: float) -> float:
    """The learning rate of a step as a share of the highest: up in a line, then down to 0.

    >>> [round(rate(step, steps=10, warm_up=0.2), 2) for step in (0, 1, 2, 9)]
    [0.5, 1.0, 1.0, 0.12]
    """
    rising = max(round(steps * warm_up), 1)
    if step < rising:
        return (step + 1) / rising
    return (steps - step) / max(steps - rising, 1)


def _load(base: Backbone, training: SpanTraining) -> PreTrainedModel:
    import torch
    import transformers
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # a head that begins at random is meant
    try:
        with torch.random.fork_rng():
            torch.manual_seed(training.seed)
            model: PreTrainedModel = transformers.AutoModelForQuestionAnswering.from_pretrained(
                base.folder,
                use_safetensors=True,
                dtype=torch.float32,
                local_files_only=True,
                trust_remote_code=False,
            )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise BackboneCorruptError(
            f"{base.folder} cannot be loaded as a span reader: {error}. Pass a RoBERTa."
        ) from error
    finally:
        logging.set_verbosity(verbosity)
    module: Module = model
    module.train().to(training.device)
    return model


def _write(model: PreTrainedModel, base: Backbone, out: Path) -> None:
    part = out.with_name(f"{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    module: Module = model
    module.to("cpu")
    model.save_pretrained(part)
    shutil.copyfile(base.folder / "tokenizer.json", part / "tokenizer.json")
    part.rename(out)

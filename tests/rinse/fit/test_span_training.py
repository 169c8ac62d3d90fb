"""The span reader's training on a tiny RoBERTa."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval import Passage
from retrieval.backbones import find_backbone
from rinse.fit.errors import FitError, FolderError
from rinse.fit.negatives import SpanExample
from rinse.fit.span_inputs import span_inputs
from rinse.fit.span_training import SpanTraining, train_span_reader
from rinse.paper.settings import ReaderSettings
from rinse.paper.span import SpanReader
from tests.rinse.paper.tiny_models import TinyModels

_NAMES = ("king", "queen", "captain", "band", "team", "ship", "city", "river")


def _examples() -> list[SpanExample]:
    made = []
    for name in _NAMES:
        question, text = f"who built the {name} bridge", f"the {name} built it in the north"
        made.append(SpanExample(question=question, passage=Passage(text=text), start=4, end=4 + len(name)))
        made.append(
            SpanExample(
                question=question, passage=Passage(text=f"the song of the {name} is old"), start=0, end=None
            )
        )
    return made


def _train(models: TinyModels, folder: Path, *, stop_at: int | None = None, **changed: object) -> Path:
    def progress(done: int, _: int) -> None:
        if done == stop_at:
            raise KeyboardInterrupt

    settings = {"epochs": 4, "batch": 4, "save_every": 3, "learning_rate": 1e-3} | changed
    train_span_reader(
        find_backbone(str(models.span)),
        _examples(),
        folder / "span",
        training=SpanTraining(**settings),  # type: ignore[arg-type]
        settings=ReaderSettings(),
        checkpoint=folder / "checkpoint.safetensors",
        key="key",
        progress=progress,
    )
    return folder / "span"


def _weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    return tmp_path


def test_an_interrupted_training_ends_with_the_same_bytes(tiny_models: TinyModels, folder: Path) -> None:
    """Weights, moments, order and dropout: whatever is not restored shows here."""
    whole = _train(tiny_models, folder / "a")
    for stop in (8, 14):
        with pytest.raises(KeyboardInterrupt):
            _train(tiny_models, folder / "b", stop_at=stop)
        assert not (folder / "b" / "span").exists()
    assert _weights(_train(tiny_models, folder / "b")) == _weights(whole)
    assert sorted(path.name for path in (folder / "b").iterdir()) == ["span"]
    assert _weights(whole) != _weights(tiny_models.span)


def test_what_is_written_is_a_span_reader_that_learned_the_null(tiny_models: TinyModels, folder: Path) -> None:
    """Positives get a larger margin than negatives, by the reader that will use it."""
    trained = _train(tiny_models, folder / "a", epochs=20, learning_rate=5e-3)
    reader = SpanReader(find_backbone(str(trained)), ReaderSettings())
    right = 0
    for positive, negative in zip(_examples()[::2], _examples()[1::2], strict=True):
        spans = reader.read(positive.question, [positive.passage, negative.passage])
        good, bad = spans[positive.passage.id], spans[negative.passage.id]
        assert good is not None
        assert bad is not None
        right += good.margin > bad.margin
    assert right == len(_NAMES)


def test_targets_are_the_tokens_of_the_answer(tiny_models: TinyModels) -> None:
    """One token beside it and the reader learns to cut names."""
    tokens = span_inputs(find_backbone(str(tiny_models.span)), ReaderSettings(), _examples())
    positive, negative = tokens[:2]
    left, right = (
        positive.window.spans[place - positive.window.begin] for place in (positive.first, positive.last)
    )
    assert "the king built it in the north"[left[0] : right[1]].strip() == "king"
    assert (negative.first, negative.last) == (0, 0)


def test_nothing_to_train_on_is_refused_with_both_remedies(tiny_models: TinyModels, folder: Path) -> None:
    """A user's pairs often carry no answers."""
    with pytest.raises(FitError, match="--no-train-span"):
        train_span_reader(
            find_backbone(str(tiny_models.span)),
            [],
            folder / "span",
            training=SpanTraining(),
            settings=ReaderSettings(),
            checkpoint=folder / "c",
            key="",
            progress=lambda *_: None,
        )


def test_a_damaged_checkpoint_is_named(tiny_models: TinyModels, folder: Path) -> None:
    """A disk that was full must not end in a traceback of a library."""
    (folder / "a" / "checkpoint.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}")
    with pytest.raises(FolderError, match="Delete it"):
        _train(tiny_models, folder / "a")

"""How the IDF tables of the shipped profiles were counted, on rows of our own."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from benchmarks.idf import count, inverse_document_frequency, read_texts, write


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Twelve questions with one support passage, one distractor each and a passage that all share."""
    rows = [
        {
            "id": str(number),
            "question": f"who built tower {number}?",
            "passages": [
                {"title": "Tower", "text": f"the king built tower {number}", "is_support": True},
                {"title": "", "text": f"ship {number} moved west", "is_support": False},
                {"title": "", "text": "the old river", "is_support": False},
            ],
        }
        for number in range(12)
    ]
    with gzip.open(tmp_path / "own.train.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


@pytest.fixture
def tokenizer(tiny_backbone: Path) -> Tokenizer:
    return Tokenizer.from_file(str(tiny_backbone / "tokenizer.json"))


def test_a_token_is_as_common_as_the_more_usual_collection_makes_it(data: Path, tokenizer: Tokenizer) -> None:
    """`who` stands in no passage and in every question: it weighs as little as a word of every passage would."""
    texts, questions = read_texts(data, ["own.train"])
    assert (len(texts), len(questions)) == (25, 12)  # the shared passage counts once
    table = inverse_document_frequency(count(texts, tokenizer), count(questions, tokenizer))
    weight = {word: table[tokenizer.token_to_id(word)] for word in ("who", "tower", "ship", "river", "song")}
    assert weight["who"] == weight["tower"] == pytest.approx(-math.log(12.5 / 13))
    assert weight["ship"] == pytest.approx(-math.log(12.5 / 26))
    assert weight["river"] == pytest.approx(-math.log(1.5 / 26))
    assert weight["song"] == pytest.approx(-math.log(0.5 / 13))
    assert (table >= 0).all()


def test_two_runs_write_the_same_bytes(data: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    texts, questions = read_texts(data, ["own.train"])
    counts = count(texts, tokenizer), count(questions, tokenizer)
    table = inverse_document_frequency(*counts)
    digests = {
        write(tmp_path / name, table, *counts, ["own.train"]) for name in ("a.safetensors", "b.safetensors")
    }
    assert len(digests) == 1
    assert np.allclose(load_file(tmp_path / "a.safetensors")["idf"], table, atol=1e-2)

"""A small corpus of our own, for tests that need a whole search with the real model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CORPUS = [
    ("Orla Venn", "Orla Venn was a glass painter. She was born in Marrowby and worked there until 1911."),
    ("Marrowby", "Marrowby is a market town on the river Tessel. Its bridge was built in 1784."),
    ("Tessel", "The Tessel is a river of 140 kilometres. It rises in the Aven hills."),
    ("Aven hills", "The Aven hills are a range of chalk hills. Sheep are kept on most of them."),
    ("Pell Harrow", "Pell Harrow was a clock maker who lived in Dunmouth."),
    ("Dunmouth", "Dunmouth is a harbour on the north coast. It had a mint in the fourteenth century."),
]


def write_corpus(file: Path) -> Path:
    """The corpus as JSON lines."""
    rows = [{"id": title, "title": title, "text": text} for title, text in CORPUS]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def need_model() -> None:
    """Skip the test where the weights of the default backbone are not installed."""
    from retrieval.backbones import find_backbone
    from retrieval.errors import BackboneNotFoundError

    try:
        find_backbone("all-MiniLM-L6-v2", allow_hub=False)
    except BackboneNotFoundError as missing:
        pytest.skip(str(missing))

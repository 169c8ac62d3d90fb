"""How the IDF table of a RINSE profile was counted: `python -m benchmarks.idf --data DIR --out FILE`.

A document is a passage with its heading, or a question. A token is as common as the more usual of the two
collections makes it: "what" stands in one passage of forty and in every second question, and it must weigh as
little as "of" does. With d documents of n holding a token, `idf = -log(max over both of (d + 0.5) / (n + 1))`,
at least 0.

The output holds statistics only, no text. Two runs over the same files give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.backbones import find_backbone
from retrieval.index.encoder import DEFAULT_ENCODER

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FILES = (
    "2wikimultihopqa.train",
    "clapnq.dev",
    "drop_span.dev",
    "hotpotqa_distractor.train",
    "hotpotqa_gold.train",
    "multirc.train",
    "musique_ans.train",
    "nq_open_oracle.dev",
    "qamr.dev",
    "qed_nq.dev",
    "scifact_rel.train",
    "sleepqa.dev",
    "squad1.train",
)
"""The files for fitting whose passages are whole paragraphs; those named `dev` belong to families that no table
reports. A profile for a family that is held out leaves its files out (`--files`)."""

_BATCH = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """In how many documents of a collection each token occurs."""

    documents: int
    holding: NDArray[np.int64]
    """Shape `(vocabulary,)`: documents that hold the token."""
    tokens: int
    """Tokens of all documents together."""


def count(texts: Iterable[str], tokenizer: Tokenizer) -> Count:
    """Count documents by token, special tokens left out."""
    holding = np.zeros(tokenizer.get_vocab_size(), dtype=np.int64)
    documents = tokens = 0
    for batch in _batches(texts):
        for encoding in tokenizer.encode_batch(batch, add_special_tokens=False):
            holding[np.unique(encoding.ids)] += 1
            documents += 1
            tokens += len(encoding.ids)
    return Count(documents=documents, holding=holding, tokens=tokens)


def inverse_document_frequency(*counts: Count) -> NDArray[np.float32]:
    """The table of the module's docstring, shape `(vocabulary,)`, natural logarithm, not below 0."""
    shares = [(one.holding + 0.5) / (one.documents + 1) for one in counts]
    common = np.minimum(np.max(shares, axis=0), 1.0)
    return np.asarray(-np.log(common), dtype=np.float32)


def read_texts(data: Path, files: Sequence[str]) -> tuple[list[str], list[str]]:
    """Distinct passages (by identity, with their first heading) and distinct questions of `files`."""
    passages: dict[str, str] = {}
    questions: dict[str, None] = {}
    for row in _rows(data, files):
        questions[row["question"]] = None
        for item in row["passages"]:
            passage = Passage(text=item["text"], title=item["title"])
            passages.setdefault(passage.id, passage.full_text)
    return list(passages.values()), list(questions)


def _rows(data: Path, files: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name in files:
        with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for text in texts:
        batch.append(text)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def write(path: Path, table: NDArray[np.float32], passages: Count, questions: Count, files: Sequence[str]) -> str:
    """Write the table as safetensors (`idf`, float16) with its origin in the header; returns the file's sha256."""
    from safetensors.numpy import save

    origin = {
        "average_passage_tokens": round(passages.tokens / passages.documents, 4),
        "files": list(files),
        "passages": passages.documents,
        "questions": questions.documents,
    }
    # one key: the order of several keys in a safetensors header changes from run to run
    content = save({"idf": table.astype(np.float16)}, metadata={"origin": json.dumps(origin)})
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a profile says about its table."""

    sha256: str
    """Of the file, hex."""
    average_passage_tokens: float


def read_origin(path: Path) -> Written:
    """What `write` put into the header."""
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        origin = json.loads(file.metadata()["origin"])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Written(sha256=digest, average_passage_tokens=float(origin["average_passage_tokens"]))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    from tokenizers import Tokenizer

    parser = argparse.ArgumentParser(prog="python -m benchmarks.idf", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the *.jsonl.gz files")
    parser.add_argument("--out", type=Path, required=True, help="the safetensors file to write")
    parser.add_argument("--files", nargs="+", default=FILES, help="names without .jsonl.gz")
    parser.add_argument("--backbone", default=DEFAULT_ENCODER, help="whose vocabulary the table is for")
    options = parser.parse_args(arguments)
    tokenizer = Tokenizer.from_file(str(find_backbone(options.backbone).folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts, asked = read_texts(options.data, options.files)
    passages, questions = count(texts, tokenizer), count(asked, tokenizer)
    table = inverse_document_frequency(passages, questions)
    digest = write(options.out, table, passages, questions, options.files)
    report = {"passages": passages.documents, "questions": questions.documents, "sha256": digest}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()

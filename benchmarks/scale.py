"""How a profile's size trend and scale were estimated: `python -m benchmarks.scale --data DIR --out FILE`.

Of each training file some questions are drawn. Each gives two sets of about five passages: its support with
distractors of its own, and the same with one support passage replaced by a passage of another question. Both are
padded with passages of other questions to several sizes, which changes the size but not the label (RINSE,
section 4). The trend is fitted within the padded variants of one set; mean and deviation over all of them.

FILE is an existing profile: its `content` statistics and `origin` are replaced, the rest stays. Reads train files
only; writes numbers only.
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from pydantic import BaseModel

from retrieval import EvidenceSet, Passage
from retrieval.index.encoder import TransformerEncoder
from rinse import RinseScorer
from rinse.profile import Origin, Profile, ReaderStatistics
from rinse.size import SizeCorrection, fit_size_correction

FILES = ("2wikimultihopqa.train", "hotpotqa_distractor.train", "musique_ans.train")
"""Questions with distractors of their own: their sets have about five passages, as a search has after one turn. A
set of one passage grows differently (the reader looks at the two nearest), and would tilt the trend of all."""
SIZES = (5, 10, 20, 40)
"""Passages of the padded sets."""

Raw = Callable[[str, EvidenceSet], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One training question."""

    id: str
    question: str
    support: tuple[Passage, ...]
    others: tuple[Passage, ...]
    """Its own distractors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One scored set."""

    group: str
    """The set that it was padded from."""
    sufficient: bool
    passages: int
    raw: float


def draw(data: Path, files: Sequence[str], count: int, seed: int) -> list[list[Record]]:
    """`count` questions of each file, by file. The same seed draws the same questions."""
    return [_draw_file(data / f"{name}.jsonl.gz", count, seed) for name in files]


class _PassageRow(BaseModel):
    title: str
    text: str
    is_support: bool


class _Row(BaseModel):
    id: str
    question: str
    passages: list[_PassageRow]

    def record(self) -> Record:
        """The same with passages that know their identity."""
        made = [(row.is_support, Passage(text=row.text, title=row.title)) for row in self.passages]
        return Record(
            id=self.id,
            question=self.question,
            support=tuple(passage for is_support, passage in made if is_support),
            others=tuple(passage for is_support, passage in made if not is_support),
        )


def _draw_file(file: Path, count: int, seed: int) -> list[Record]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = list(lines)
    chosen = random.Random(seed).sample(rows, min(count, len(rows)))  # noqa: S311  a draw, no secret
    return [_Row.model_validate_json(row).record() for row in chosen]


def samples(records: Sequence[Record], raw: Raw, seed: int) -> Iterator[Sample]:
    """All sets of one file's questions, scored."""
    generator = random.Random(seed)  # noqa: S311
    pool = {passage.id: passage for record in records for passage in (*record.support, *record.others)}
    for record in records:
        own = {passage.id for passage in (*record.support, *record.others)}
        foreign = [passage for key, passage in pool.items() if key not in own]
        generator.shuffle(foreign)
        replacement, *padding = foreign
        lost = generator.randrange(len(record.support))
        broken = tuple(replacement if i == lost else passage for i, passage in enumerate(record.support))
        for sufficient, support in ((True, record.support), (False, broken)):
            base = EvidenceSet.of((*support, *record.others)[: max(SIZES[0], len(support))])
            for size in sorted({len(base), *SIZES}):
                if size >= len(base):
                    padded = base.add(padding[: size - len(base)])
                    yield Sample(
                        group=f"{record.id}/{sufficient}",
                        sufficient=sufficient,
                        passages=len(padded),
                        raw=raw(record.question, padded),
                    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the *.jsonl.gz files")
    parser.add_argument("--out", type=Path, required=True, help="the profile's JSON file, which is rewritten")
    parser.add_argument("--files", nargs="+", default=FILES, help="names without .jsonl.gz")
    parser.add_argument("--questions", type=int, default=60, help="questions of each file")
    parser.add_argument("--seed", type=int, default=17)
    options = parser.parse_args(arguments)
    scorer = RinseScorer(TransformerEncoder.named(), Profile.load(options.out))
    drawn = draw(options.data, options.files, options.questions, options.seed)
    found = [
        sample
        for records in drawn
        for sample in samples(records, lambda q, e: scorer.content(q, e).raw, options.seed)
    ]
    fit = fit_size_correction(
        [one.raw for one in found], [one.passages for one in found], [one.group for one in found]
    )
    records = sum(len(records) for records in drawn)
    note = (
        f"The reader is unfitted, equal weights. Size trend and scale are estimated on {records} training "
        "records, sufficient and with one support passage substituted, padded with passages of other questions."
    )
    origin = Origin(
        note=note,
        files=tuple(options.files),
        records=records,
        seed=options.seed,
        versions={name: metadata.version(name) for name in ("numpy", "tokenizers", "torch", "transformers")}
        | {"python": platform.python_version()},
    )
    _rewrite(options.out, fit, origin)
    sys.stdout.write(json.dumps(asdict(fit) | {"sets": len(found), "records": records}) + "\n")


def _rewrite(file: Path, fit: SizeCorrection, origin: Origin) -> None:
    settings = Profile.load(file).settings
    content = ReaderStatistics(**{name: round(value, 6) for name, value in asdict(fit).items()})
    changed = settings.model_copy(update={"content": content, "origin": origin})
    file.write_text(changed.model_dump_json(indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

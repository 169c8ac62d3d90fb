"""Questions of our own about invented towns, for tests of the simulator."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.datasets import Record, load_records

_TOWNS = {
    "Osterby": ("It was founded by the glazier Hanna Berg.", "Its bridge over the Mirna was built in 1784."),
    "Tolvik": ("Its harbour freezes in most winters.", "The lighthouse keeper there was Jon Aske."),
    "Marrowby": ("It lies on the river Tessel.", "Its fair of clocks is held each May."),
    "Dunmouth": ("It had a mint in the fourteenth century.", "Its ferry is called Aurora."),
    "Kelda": ("Its mine gave copper until 1911.", "The painter Orla Venn was born there."),
    "Sandrey": ("Its windmill has six sails.", "Its ropes were sold as far as Lisbon."),
}
_QUESTIONS = {
    "Osterby": ("Who founded Osterby?", "Hanna Berg", "When was the bridge of Osterby built?", "1784"),
    "Tolvik": (
        "What freezes in Tolvik in most winters?",
        "harbour",
        "Who kept the lighthouse of Tolvik?",
        "Jon Aske",
    ),
    "Marrowby": ("On which river does Marrowby lie?", "Tessel", "When is the fair of Marrowby held?", "May"),
    "Dunmouth": (
        "In which century had Dunmouth a mint?",
        "fourteenth",
        "How is Dunmouth's ferry called?",
        "Aurora",
    ),
    "Kelda": ("What did the mine of Kelda give?", "copper", "Which painter was born in Kelda?", "Orla Venn"),
    "Sandrey": (
        "How many sails has Sandrey's windmill?",
        "six",
        "Where were the ropes of Sandrey sold?",
        "Lisbon",
    ),
}


def text_of(town: str) -> str:
    """The passage about a town."""
    return f"{town} is a small town on the north coast. {' '.join(_TOWNS[town])}"


def write_records(file: Path, *, split: str = "dev") -> Path:
    """Two answerable questions and an unanswerable one for each town, all of one passage."""
    rows = []
    for town, (first, answer, second, other) in _QUESTIONS.items():
        last: list[str] = []
        asked = ((first, [answer]), (second, [other]), (f"Who was the last mayor of {town}?", last))
        for number, (question, answers) in enumerate(asked):
            passage = {"id": town, "title": town, "text": text_of(town), "is_support": bool(answers)}
            rows.append(
                {
                    "id": f"{town}-{number}",
                    "dataset": "towns",
                    "split": split,
                    "question": question,
                    "answers": answers,
                    "answerable": bool(answers),
                    "passages": [passage],
                    "group": town,
                }
            )
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def town_records(folder: Path) -> tuple[Record, ...]:
    """The records of `write_records`."""
    return load_records([write_records(folder / "towns.jsonl")]).records

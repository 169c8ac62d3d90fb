"""Small files in the form of the official ones, with texts of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MIRNA = "The Mirna feeds the lake."
LAKE = "The ferry crosses the lake. It is deep."
HILL = "The hill is bare."
QUESTION = "Which river feeds the lake that the ferry crosses?"


def changed(full: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """With these changes; a change to None removes the key."""
    return {key: value for key, value in {**full, **changes}.items() if value is not None}


def hotpot(name: str = "h1", **changes: Any) -> dict[str, Any]:
    full = {
        "_id": name,
        "question": QUESTION,
        "answer": "Mirna",
        "supporting_facts": [["Mirna", 0], ["Lake", 7]],  # the second points past the end, as some do
        "context": [
            ["Mirna", ["The Mirna feeds", " the lake."]],
            ["Lake", ["The ferry crosses the lake.", " It is deep.", ""]],
            ["Hill", ["The hill is bare."]],
            ["Nothing", []],
        ],
        "type": "bridge",
        "level": "hard",
    }
    return changed(full, changes)


def two_wiki(name: str = "w1", **changes: Any) -> dict[str, Any]:
    triples = [["Mirna", "mouth of the watercourse", "the lake"], ["Lake", "crossed by", "ferry"]]
    return hotpot(name, **{"evidences": triples, "level": None, **changes})


def musique(name: str = "2hop__1_2", **changes: Any) -> dict[str, Any]:
    full = {
        "id": name,
        "question": QUESTION,
        "answer": "Mirna",
        "answer_aliases": ["the Mirna", "Mirna"],
        "answerable": True,
        "paragraphs": [
            {"idx": 0, "title": "Hill", "paragraph_text": HILL, "is_supporting": False},
            {"idx": 1, "title": "Lake", "paragraph_text": LAKE, "is_supporting": True},
            {"idx": 2, "title": "Mirna", "paragraph_text": MIRNA, "is_supporting": True},
        ],
        "question_decomposition": [
            {"id": 1, "question": "ferry >> crosses", "answer": "the lake", "paragraph_support_idx": 1},
            {"id": 2, "question": "#1 >> fed by", "answer": "Mirna", "paragraph_support_idx": 2},
        ],
    }
    return changed(full, changes)


def squad(*qas: dict[str, Any], title: str = "Lake_Mirna", context: str = LAKE) -> dict[str, Any]:
    """An article of one paragraph."""
    return {"title": title, "paragraphs": [{"context": context, "qas": list(qas)}]}


def asked(name: str, *, impossible: bool | None = False, **changes: Any) -> dict[str, Any]:
    """A question of SQuAD."""
    full = {
        "id": name,
        "question": f"What crosses the lake, {name}?",
        "answers": [] if impossible else [{"text": "The ferry", "answer_start": 0}] * 2,
        "is_impossible": impossible,
        "plausible_answers": [{"text": "deep", "answer_start": 34}] if impossible else None,
    }
    return changed(full, changes)


def iirc(*questions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A passage of IIRC with its questions."""
    full = {
        "pid": "p_1",
        "title": "Lake",
        "text": LAKE,
        "links": [{"target": "mirna", "indices": [0, 3]}],
        "questions": list(questions),
    }
    return changed(full, changes)


def iirc_question(name: str | None, answer: dict[str, Any], *context: tuple[str, str]) -> dict[str, Any]:
    """`context` holds passage and text of each piece that the annotator read."""
    pieces = [{"passage": passage, "text": text, "indices": [0, 1]} for passage, text in context]
    full = {"qid": name, "question": QUESTION, "answer": answer, "question_links": ["mirna"], "context": pieces}
    return changed(full, {})


def array(path: Path, *entries: Any) -> Path:
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def lines(path: Path, *entries: Any) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def articles(path: Path, *entries: Any) -> Path:
    path.write_text(json.dumps({"version": "v2.0", "data": entries}), encoding="utf-8")
    return path

"""The demo: a few of our questions, searched live over a Wikipedia excerpt and held against their annotations."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from agent.build import open_agent
from agent.result import SearchResult
from agent.show import show_search

from .corpus import demo_index
from .datasets import Question
from .datasets.demo import load_demo_questions
from .errors import SettingsError
from .metrics import exact_match
from .support import support_ranks

SHOWN = ("demo-bridge2-13", "demo-bridge2-18", "demo-comparison-01", "demo-unanswerable-02")
"""Chosen because each shows another way to end; `python -m benchmarks quick` tells how all 40 fare."""


def run_demo(index: Path | None, ids: Sequence[str]) -> None:
    """Search for the questions with these ids and print each search as it goes.

    Raises:
        SettingsError: there is no question with such an id.
        RetrievalError, AgentError, DatasetError: corpus, index or model cannot be opened.
    """
    questions = {question.id: question for question in load_demo_questions().questions}
    unknown = [key for key in ids if key not in questions]
    if unknown:
        raise SettingsError(f"There is no demo question {unknown[0]!r}. Known: {', '.join(questions)}.")
    folder = index or demo_index().folder
    with Console(stderr=True).status("Opening the index and loading the model …"):
        agent = open_agent(folder)
    console = Console()
    for key in ids:
        console.print()
        result = asyncio.run(show_search(agent, questions[key].question, console=console))
        console.print(verdict(questions[key], result))


def verdict(question: Question, result: SearchResult) -> Text:
    """One line that holds the outcome against the annotations."""
    found = [rank for rank in support_ranks(question.support, result.evidence) if rank is not None]
    support = f"{len(found)} of {len(question.support)} annotated sentences found"
    if not question.answerable:
        right = result.action == "abstain"
        said = "rightly abstained" if right else "wrongly answered"
        return _line(right, f"{said}: the articles do not say ({support})")
    expected = f"expected {question.answers[0]!r}, {support}"
    if result.answer is None:
        complete = len(found) == len(question.support)
        why = "although all support was found" if complete else "since not all support was found"
        return _line(not complete, f"abstained {why} ({expected})")
    right = exact_match(result.answer.text, question.answers) == 1.0
    return _line(
        right, f"{'right' if right else 'wrong'} answer after turn {result.turns[-1].number} ({expected})"
    )


def _line(right: bool, text: str) -> Text:
    return Text.assemble((("✓ " if right else "✗ "), "green" if right else "red"), (text, "dim"))

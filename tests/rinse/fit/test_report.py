"""What a fit says of itself."""

from __future__ import annotations

import pytest

from rinse.fit.groups import TrainingGroup
from rinse.fit.report import warnings_of


def _groups(**families: int) -> list[TrainingGroup]:
    return [
        TrainingGroup(family=family, group=str(number), sides=())
        for family, count in families.items()
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("families", "numbers"),
    [
        ({"own": 199}, "199 questions (own 199)"),
        ({"a": 200, "b": 49}, "249 questions (a 200, b 49)"),
        ({"a": 50, "b": 149}, "199 questions (a 50, b 149)"),
    ],
)
def test_few_questions_are_warned_about_with_numbers(families: dict[str, int], numbers: str) -> None:
    """In all or of one family; a fit on a handful of pairs looks like any other."""
    [warning] = warnings_of(_groups(**families))
    assert numbers in warning


@pytest.mark.parametrize("families", [{"own": 200}, {"a": 50, "b": 150}])
def test_enough_questions_are_no_warning(families: dict[str, int]) -> None:
    """A warning that is always there is read by nobody."""
    assert warnings_of(_groups(**families)) == ()


def test_variants_of_one_question_count_once() -> None:
    """Groups of one name weigh as one, so a thousand lines of one question are one question."""
    [warning] = warnings_of(_groups(own=1) * 1000)
    assert "Fitted on 1 questions" in warning

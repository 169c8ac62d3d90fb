"""Figures of scorers with their uncertainty. Undefined is None, never NaN (case E02)."""

from .calibration import brier_score, calibration_error
from .discrimination import GroupAuroc, auroc, group_auroc
from .intervals import Bootstrap, Interval, bootstrap, macro, worst
from .pairs import compare, pairwise_accuracy, tie_rate

__all__ = [
    "Bootstrap",
    "GroupAuroc",
    "Interval",
    "auroc",
    "bootstrap",
    "brier_score",
    "calibration_error",
    "compare",
    "group_auroc",
    "macro",
    "pairwise_accuracy",
    "tie_rate",
    "worst",
]

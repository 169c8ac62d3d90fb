"""Figures of scorers with their uncertainty. Undefined is None, never NaN (case E02)."""

from .calibration import brier_score, calibration_error
from .discrimination import GroupAuroc, auroc, group_auroc
from .holm import holm
from .intervals import Bootstrap, Interval, bootstrap, macro, ratios, weighted, worst
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
    "holm",
    "macro",
    "pairwise_accuracy",
    "ratios",
    "tie_rate",
    "weighted",
    "worst",
]

"""Probabilities, thresholds for a demanded risk, and a watch over both, from recorded searches with labels."""

from .cases import Case
from .conformal import RefusalControl, control_refusals
from .feasible import Feasible, feasible
from .fitting import fit_isotonic, fit_platt, hazards
from .ltt import RiskControl, control_risk
from .monitor import Drift, ScoreMonitor
from .probing import fit_probe_weights

__all__ = [
    "Case",
    "Drift",
    "Feasible",
    "RefusalControl",
    "RiskControl",
    "ScoreMonitor",
    "control_refusals",
    "control_risk",
    "feasible",
    "fit_isotonic",
    "fit_platt",
    "fit_probe_weights",
    "hazards",
]

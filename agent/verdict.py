"""What a calibration promises, in a sentence, or why it promises nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policies.calibration import RefusalControl, RiskControl

    from .calibrating import Calibrated


def verdict(done: Calibrated) -> str:
    """In one or two sentences."""
    from policies.calibration import RefusalControl

    if isinstance(done.control, RefusalControl):
        return _of_refusals(done.control)
    return _of_risk(done.control)


def _of_refusals(control: RefusalControl) -> str:
    if control.parameter is not None:
        return f"Conformal: on average at most {control.at_most:g} of the searches with support are refused."
    if control.groups_needed is None:
        return (
            "Not certified: too many searches with support are answered at no threshold at all. Record them "
            "without an end by score, or lower --min-turns."
        )
    return f"Not certified: this needs {control.groups_needed} groups with support, there are {control.groups}."


def _of_risk(control: RiskControl) -> str:
    if control.parameter is not None:
        return (
            f"Certified: at most {control.alpha:g} of the answered searches lack support, with confidence "
            f"{1 - control.delta:g}, for questions drawn as these were."
        )
    if not control.coverage:
        return "Not certified: no threshold answers anything, or no search has a valid score."
    if control.groups_needed is None:
        return (
            f"Not certified: at the best threshold {control.risk or 0.0:.1%} of the answered searches lack "
            f"support, which is not clearly below the demanded {control.alpha:.1%}. More questions like these "
            "would not help; a better search or scorer would, or a higher --risk."
        )
    needed = _rounded(max(control.groups_needed, control.groups + 1))
    return (
        f"Not certified: {control.groups} groups are too few to tell. About {needed} like these would be needed "
        "for 4 chances in 5."
    )


def _rounded(count: int) -> int:
    """Up, to two digits: an estimate has no more."""
    step = int(10 ** max(len(str(count)) - 2, 0))
    return -(-count // step) * step

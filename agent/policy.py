"""Which stop policy the settings mean."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from policies import Budget, StopPolicy, build_policy
from policies.fixed import FixedK
from policies.gated import Gated
from policies.named import DEFAULT_POLICY, DEFAULT_WITH_WEB, needs_thresholds
from policies.shipped import shipped

from .certify import Certificate, load_certificate
from .config import Settings
from .errors import ConfigError

_LOG = logging.getLogger(__name__)


def choose_policy(
    settings: Settings, identity: Mapping[str, Any], certificate: Certificate | None = None
) -> StopPolicy:
    """The policy that the settings name, with what was shipped for the scorer where they give no parameters.

    Args:
        settings: `answer_at` and `abstain_below` without a policy mean `band`.
        identity: Of the searches, see `search_identity`.
        certificate: Goes before everything else.

    Raises:
        ConfigError: the policy needs thresholds or a fit, and none was given or shipped for this scorer; or it
            looks at no threshold, and one was given.
        PolicyParameterError: the policy refuses its parameters.
    """
    if certificate is not None:
        return certificate.build()
    given = settings.answer_at is not None or settings.abstain_below is not None
    found = shipped(str(identity["scorer"]))
    usual = DEFAULT_WITH_WEB if "web" in settings.tiers and found is not None and found.web else DEFAULT_POLICY
    name = settings.policy or ("band" if given else usual)
    _require_effect(settings, name)
    if found is None:
        return _unshipped(settings, name, str(identity["scorer"]))
    return found.build(
        name,
        answer_at=settings.answer_at,
        abstain_below=settings.abstain_below,
        min_turns=settings.min_turns,
        patience=settings.patience,
    )


def _require_effect(settings: Settings, name: str) -> None:
    """A threshold that changes nothing was meant for something.

    Raises:
        ConfigError: one was given for a policy that has none.
    """
    looked_at = {"answer_at", "abstain_below"} if needs_thresholds(name) else set()
    looked_at |= {"min_turns"} if name in _WAITING else set()
    useless = [flag for flag in _THRESHOLDS if getattr(settings, flag) is not None and flag not in looked_at]
    if useless:
        raise ConfigError(
            f"Policy {name!r} does not look at {', '.join(useless)}. Leave it out, or choose the policy band."
        )


_THRESHOLDS = ("answer_at", "abstain_below", "min_turns")
_WAITING = frozenset({"band", "threshold", "probed"})
"""Policies that look at `min_turns`."""


def budget_of(settings: Settings, policy: StopPolicy) -> Budget:
    """A policy of K calls has a budget of exactly K: a turn of two queries must not pass it by one.

    Limits that the user set hold all the same; only those that were not set give way.
    """
    counted = policy.part if isinstance(policy, Gated) else policy
    if not isinstance(counted, FixedK):
        return settings.budget
    calls, given = settings.budget.max_calls, settings.model_fields_set
    return replace(
        settings.budget,
        max_calls=min(counted.k, calls) if "max_calls" in given and calls is not None else counted.k,
        max_turns=settings.budget.max_turns if "max_turns" in given else None,
    )


def certificate_of(settings: Settings, identity: Mapping[str, Any]) -> Certificate | None:
    """The certificate that the settings name, if it speaks of these searches; None if they name none.

    Logs a warning about parts of the searches that it says nothing of.

    Raises:
        ConfigError: the settings name another policy, too.
        CertificateError: it cannot be read, or belongs to other searches.
    """
    if settings.certificate is None:
        return None
    others = [name for name in ("policy", *_THRESHOLDS) if getattr(settings, name) is not None]
    if others:
        raise ConfigError(
            f"A certificate says which policy decides, and {', '.join(others)} says otherwise. Leave one out."
        )
    certificate = load_certificate(settings.certificate)
    certificate.check(identity)
    if certificate.kind == "uncertified":
        _LOG.warning("The certificate certifies nothing: its threshold is the best guess on its data.")
    if unknown := certificate.unknown(identity):
        _LOG.warning("The certificate says nothing of %s of the searches it is used for.", ", ".join(unknown))
    return certificate


def _unshipped(settings: Settings, name: str, scorer: str) -> StopPolicy:
    """A policy whose parameters all come from the settings."""
    both = settings.answer_at is not None and settings.abstain_below is not None
    if (needs_thresholds(name) and not both) or name in {DEFAULT_POLICY, DEFAULT_WITH_WEB, "utility", "ragflow"}:
        raise ConfigError(
            f"Nothing was shipped for the scorer {scorer[:12]}, so policy {name!r} has no parameters. Pass "
            "--answer-at and --abstain-below with --policy band, or --certificate; find them on questions of your "
            "own with: sufficit calibrate --help"
        )
    return build_policy(
        name,
        answer_at=settings.answer_at or 0.0,
        abstain_below=settings.abstain_below or 0.0,
        min_turns=settings.min_turns or 1,
        patience=settings.patience,
    )

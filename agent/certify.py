"""Certificates: what is promised of a stop policy, for which searches, in a small file.

Its checksum shows an edit; it is no signature and says nothing of who made it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from policies import PolicyError, StopPolicy, build_policy
from policies.calibrated import Calibration
from policies.guaranteed import ConformalThreshold, LttThreshold
from policies.probed import ProbeWeights

from .errors import CertificateError, CertificateMismatchError

FORMAT = 1
MAX_BYTES = 2**20
"""Largest file that is read."""
MAX_SCORES = 2_000
"""Most reference scores that a certificate carries."""

_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(ge=0)]
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_SHOWN = 60  # characters of a value in a message


class _Strict(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class PolicySpec(_Strict):
    """A policy by name and parameters, see `policies.build_policy`."""

    name: str
    answer_at: float
    abstain_below: float
    min_turns: Annotated[int, Field(ge=1)] = 1
    patience: Annotated[int, Field(ge=1)] = 2
    probe: ProbeWeights | None = None
    """Of `probed`."""

    def build(self) -> StopPolicy:
        """The policy.

        Raises:
            PolicyParameterError: the name is unknown, or the policy refuses the parameters.
        """
        return build_policy(
            self.name,
            answer_at=self.answer_at,
            abstain_below=self.abstain_below,
            min_turns=self.min_turns,
            patience=self.patience,
            probe=self.probe,
        )


class DataRecord(_Strict):
    """What was calibrated on."""

    files: dict[str, _Sha256]
    """By name without a path."""
    datasets: dict[str, _Count]
    """Searches of each."""
    groups: _Count
    searches: _Count
    learned: _Count
    """Groups that the order of candidates was learned on; 0 for a conformal threshold."""
    tested: _Count
    """Groups that the promise rests on."""
    seed: int
    """Of the division of the groups."""


class Achieved(_Strict):
    """What the policy did on the data. Observed, not promised."""

    coverage: _Share
    """Share of searches that it answers."""
    risk: _Share | None
    """Share of answered searches whose evidence was not complete; None if none was answered."""
    refused: _Share | None = None
    """Conformal: share of the searches with complete evidence that it refuses."""
    p_value: _Share | None = None
    """Certified: of the hypothesis that the risk is above alpha."""


class Certificate(_Strict):
    """A stop policy and what may be said of it.

    `certified`: with confidence 1 - `delta` over the draw of the groups, at most a share `alpha` of the answered
    searches lacks support. `conformal`: on average over such draws, at most a share `alpha` of the searches whose
    evidence becomes complete is refused. `uncertified`: nothing; the threshold is the best guess. All for searches
    drawn as the calibration's were, which `search` and `data` describe.
    """

    format: Literal[1] = 1
    kind: Literal["certified", "conformal", "uncertified"]
    policy: PolicySpec
    alpha: Annotated[float, Field(gt=0, lt=1)]
    delta: Annotated[float, Field(gt=0, lt=1)] | None
    """None: conformal."""
    search: dict[str, Any]
    """Identity of the searches: scorer, tiers, budget, and where it is known planner, corpus and encoder."""
    data: DataRecord
    achieved: Achieved
    mu: _Share
    """Share of searches that no policy can answer with support."""
    coverage_at_most: _Share | None
    """Certified: what any policy could answer at this risk, (1 - mu) / (1 - alpha)."""
    calibration: Calibration | None = None
    """From score and turn to the probability of complete evidence."""
    hazard: tuple[_Share, ...] = ()
    """See `policies.calibration.hazards`."""
    stop_scores: Annotated[tuple[float, ...], Field(max_length=MAX_SCORES)] = ()
    """Scores at the stop of one search of each group, for a `ScoreMonitor`."""

    def build(self) -> StopPolicy:
        """The policy, under a name that says what is promised.

        Raises:
            PolicyParameterError: it cannot be built from these parameters.
        """
        part = self.policy.build()
        if self.kind == "certified" and self.delta is not None:
            return LttThreshold(part=part, alpha=self.alpha, delta=self.delta)
        return ConformalThreshold(part=part, alpha=self.alpha) if self.kind == "conformal" else part

    def check(self, against: Mapping[str, Any]) -> None:
        """Make sure that it speaks of these searches.

        Args:
            against: The identity of an agent's searches, `identity.search_identity`.

        Raises:
            CertificateMismatchError: names each part that differs.
        """
        missing = object()
        differ = [name for name, value in self.search.items() if against.get(name, missing) != value]
        if differ:
            details = "; ".join(
                f"{name}: certified for {_short(one)}, here {_short(other)}"
                for name in differ
                for one, other in [_differing(self.search[name], against.get(name))]
            )
            raise CertificateMismatchError(
                f"The certificate belongs to other searches, it differs in {', '.join(differ)} ({details}). "
                "Search with the settings of the calibration, or calibrate again: sufficit calibrate --help",
                parts=differ,
            )

    def unknown(self, against: Mapping[str, Any]) -> tuple[str, ...]:
        """Parts of these searches that it says nothing of: calibrated on traces, which don't tell them."""
        return tuple(sorted(against.keys() - self.search.keys()))


def save_certificate(certificate: Certificate, path: Path) -> None:
    """Write it; a file that stands there is replaced at once, never half.

    Raises:
        CertificateError: it cannot be written.
    """
    content = certificate.model_dump(mode="json")
    text = json.dumps({**content, "sha256": _seal(content)}, ensure_ascii=False, allow_nan=False, indent=1)
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise CertificateError(f"Cannot write the certificate {path} ({error.strerror}).") from error


def load_certificate(path: Path) -> Certificate:
    """Read it and make sure that it is as it was written.

    Raises:
        CertificateError: no certificate, of another format, edited, or with a policy that cannot be built.
    """
    content = _object(path)
    seal = content.pop("sha256", None)
    if content.get("format") != FORMAT or seal is None:
        raise CertificateError(
            f"{path} is no certificate of format {FORMAT}. Make one with: sufficit calibrate --help"
        )
    if seal != _seal(content):
        raise CertificateError(
            f"{path} was changed after it was made, so it certifies nothing. Make it again with: "
            "sufficit calibrate --help"
        )
    try:
        certificate = Certificate.model_validate_json(json.dumps(content))
        certificate.build()
    except (ValidationError, PolicyError) as error:
        raise CertificateError(f"{path} cannot be used: {_first(error)}. Calibrate again.") from error
    return certificate


def _object(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CertificateError(f"Cannot read the certificate {path} ({error.strerror}).") from error
    if len(data) > MAX_BYTES:
        raise CertificateError(f"{path} is no certificate: it has more than {MAX_BYTES} bytes.")
    try:
        content = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"{path} is no certificate: it is not JSON.") from error
    if not isinstance(content, dict):
        raise CertificateError(f"{path} is no certificate: it is not a JSON object.")
    return content


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _seal(content: Mapping[str, Any]) -> str:
    """SHA-256 of the content in one fixed form."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _differing(one: object, other: object) -> tuple[object, object]:
    """Of two objects only the fields that differ."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return one, other
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return {name: one.get(name) for name in names}, {name: other.get(name) for name in names}


def _short(value: object) -> str:
    text = json.dumps(value, default=str, sort_keys=True)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _first(error: ValidationError | PolicyError) -> str:
    if isinstance(error, PolicyError):
        return str(error).rstrip(".")
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"

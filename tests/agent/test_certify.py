"""Certificates: what they promise survives a file, and nothing else does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.calibrating import CalibrateRequest, calibrate
from agent.calibration_data import read_runs
from agent.certify import MAX_BYTES, Certificate, load_certificate, save_certificate
from agent.errors import CertificateError, CertificateMismatchError
from policies import AnswerNow
from policies.calibration import ScoreMonitor
from policies.errors import PolicyParameterError
from policies.guaranteed import ConformalThreshold, LttThreshold
from policies.replay import Stop
from tests.agent.labelled_world import SEARCH, episodes, write_run
from tests.policies.calibration.world import case, pairs


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """Of searches whose scores tell."""
    run = write_run(tmp_path_factory.mktemp("run") / "dev.run", episodes(pairs(120, seed=0)))
    done = calibrate(read_runs([run]), CalibrateRequest(share=0.2))
    assert done.promised
    assert done.certificate is not None
    return done.certificate


def test_it_says_for_what_and_on_what(certificate: Certificate) -> None:
    """A reader of the file alone knows policy, searches, data, promise and what was achieved."""
    assert certificate.kind == "certified"
    assert (certificate.alpha, certificate.delta) == (0.2, 0.05)
    assert certificate.search == SEARCH
    assert certificate.data.datasets == {"towns": 240}
    assert (certificate.data.groups, certificate.data.learned, certificate.data.tested) == (120, 40, 80)
    assert list(certificate.data.files) == ["dev.run"]
    assert certificate.achieved.risk is not None
    assert certificate.achieved.risk < 0.2
    assert certificate.achieved.coverage <= (certificate.coverage_at_most or 0.0)
    assert 0.5 < certificate.mu < 0.7
    assert len(certificate.stop_scores) == 120
    ScoreMonitor(certificate.stop_scores)


def test_a_round_trip_gives_the_same_policy(certificate: Certificate, tmp_path: Path) -> None:
    """With the same decisions, under a name that tells the promise."""
    file = tmp_path / "certificate.json"
    save_certificate(certificate, file)
    read = load_certificate(file)
    assert read == certificate
    policy = read.build()
    assert isinstance(policy, LttThreshold)
    assert policy.name == "ltt-0.20"
    for one in pairs(5, seed=9):
        first, second = one.recorded.play(policy), one.recorded.play(certificate.build())
        assert first == second
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.json"]


def test_an_edited_one_is_refused(certificate: Certificate, tmp_path: Path) -> None:
    """Whichever value was changed, also in depth."""
    file = tmp_path / "certificate.json"
    save_certificate(certificate, file)
    content = json.loads(file.read_text())
    for change in ({"alpha": 0.01}, {"mu": 0.0}, {"policy": {**content["policy"], "answer_at": -5.0}}):
        file.write_text(json.dumps(content | change))
        with pytest.raises(CertificateError, match="was changed after it was made"):
            load_certificate(file)
    file.write_text(json.dumps(content, indent=4))  # the same content in another layout is no edit
    assert load_certificate(file) == certificate


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"format": 1, "sha256": NaN}', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "no certificate of format 1"),
        ('{"format": 2, "sha256": "00"}', "no certificate of format 1"),
        (" " * (MAX_BYTES + 1), "bytes"),
    ],
)
def test_what_is_no_certificate_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """One typed error with the reason."""
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(CertificateError, match=message):
        load_certificate(file)
    with pytest.raises(CertificateError, match="Cannot read"):
        load_certificate(tmp_path / "absent.json")


def test_a_seal_does_not_make_nonsense_valid(certificate: Certificate, tmp_path: Path) -> None:
    """A file that somebody sealed again still has to be one that a policy can be built from."""
    from agent.certify import _seal

    good = certificate.model_dump(mode="json")
    file = tmp_path / "x.json"
    for change, message in (
        ({"policy": {**good["policy"], "name": "magic"}}, "Unknown policy"),
        ({"policy": {**good["policy"], "name": "band", "abstain_below": 99.0}}, "abstain_below"),
        ({"alpha": 7}, "alpha"),
        ({"surprise": 1}, "surprise"),
    ):
        content: dict[str, Any] = good | change
        file.write_text(json.dumps(content | {"sha256": _seal(content)}))
        with pytest.raises(CertificateError, match=message):
            load_certificate(file)


def test_it_is_refused_by_other_searches(certificate: Certificate) -> None:
    """Each part that differs is named."""
    certificate.check(SEARCH)
    certificate.check(SEARCH | {"chunks": {"max_words": 120}})
    assert certificate.unknown(SEARCH | {"chunks": 1}) == ("chunks",)
    other = SEARCH | {"scorer": "00" * 32, "budget": {"max_turns": 4, "max_calls": 8}}
    with pytest.raises(CertificateMismatchError, match="differs in scorer, budget") as caught:
        certificate.check(other)
    assert caught.value.parts == ("scorer", "budget")
    with pytest.raises(CertificateMismatchError, match="planner"):
        certificate.check({name: value for name, value in SEARCH.items() if name != "planner"})


@given(part=st.sampled_from(sorted(SEARCH)), value=st.none() | st.integers() | st.text(max_size=100))
def test_any_difference_is_found(certificate: Certificate, part: str, value: object) -> None:
    """No part of the identity is overlooked."""
    with pytest.raises(CertificateMismatchError) as caught:
        certificate.check(SEARCH | {part: value})
    assert caught.value.parts == (part,)


def test_a_conformal_threshold_has_a_certificate_too(tmp_path: Path) -> None:
    """It says what is promised, and no confidence."""
    run = write_run(tmp_path / "dev.run", episodes(pairs(60, seed=1, never=0.0)))
    done = calibrate(read_runs([run]), CalibrateRequest(share=0.1, promise="refusals", policy="threshold"))
    assert done.certificate is not None
    assert (done.certificate.kind, done.certificate.delta) == ("conformal", None)
    assert done.certificate.achieved.refused is not None
    assert done.certificate.achieved.refused <= 0.1
    assert isinstance(done.certificate.build(), ConformalThreshold)


def test_the_best_guess_is_marked_as_such(tmp_path: Path) -> None:
    """A policy without a promise, under its own name."""
    run = write_run(tmp_path / "dev.run", episodes(pairs(12, seed=1)))
    done = calibrate(read_runs([run]), CalibrateRequest(share=0.1))
    assert not done.promised
    assert done.certificate is not None
    assert done.certificate.kind == "uncertified"
    assert not isinstance(done.certificate.build(), LttThreshold)


def test_a_degenerate_policy_is_warned_of(tmp_path: Path) -> None:
    """Case E05: with realised rates."""
    run = write_run(tmp_path / "dev.run", episodes([case(str(i), [float(i % 2)] * 3, 1) for i in range(90)]))
    done = calibrate(read_runs([run]), CalibrateRequest(share=0.5, policy="threshold"))
    assert done.promised
    assert any("always answers: 90 of 90" in warning for warning in done.warnings)
    with pytest.raises(PolicyParameterError, match="holds no score against a threshold"):
        CalibrateRequest(policy="fixed-6")


def test_without_a_valid_score_there_is_not_even_a_guess(tmp_path: Path) -> None:
    """Case S04."""
    run = write_run(tmp_path / "dev.run", episodes([case(str(i), [None, None], 1) for i in range(9)]))
    done = calibrate(read_runs([run]), CalibrateRequest())
    assert (done.promised, done.certificate) == (False, None)


def test_the_promise_is_about_the_policy_that_is_built(certificate: Certificate) -> None:
    """It answers on the data as often as the certificate says."""
    policy = certificate.build()
    ends = [one.recorded.play(policy) for one in pairs(120, seed=0)]
    answered = sum(isinstance(end, Stop) and isinstance(end.decision, AnswerNow) for end in ends)
    assert answered / len(ends) == pytest.approx(certificate.achieved.coverage)

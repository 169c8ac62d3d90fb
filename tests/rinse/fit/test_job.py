"""The whole fit on tiny models: what it makes, that it goes on, and that two runs give the same bytes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from retrieval import EvidenceSet
from rinse.fit.errors import FitError, FolderError
from rinse.fit.job import fit_paper
from rinse.fit.pairs import stream_pairs
from rinse.fit.paper import PaperFit
from rinse.fit.report import FitProgress
from rinse.fit.span_training import SpanTraining
from rinse.paper.profile import PaperProfile
from rinse.paper.scorer import PaperScorer
from rinse.paper.settings import ReaderSettings
from tests.rinse.paper.tiny_models import TinyModels

_BUILDERS = ("king", "queen", "captain", "band", "team", "match")
_BUILT = ("bridge", "tower", "castle", "ship")


def _write_pairs(path: Path) -> Path:
    """Two families of three questions; a distractor replaces the passage with the answer."""
    lines = []
    for number, builder in enumerate(_BUILDERS):
        built, other = _BUILT[number % 4], _BUILT[(number + 1) % 4]
        other_passage = f"the {other} in the north is old and it is green {number}"
        line = {
            "question": f"who built the {built} in the city",
            "sufficient": [f"the {builder} built the {built} in the city {number}", other_passage],
            "insufficient": [f"the {built} is in the city {number}", other_passage],
            "answers": [builder],
            "group": f"q{number}",
            "family": "towns" if number < 3 else "ships",
        }
        lines.append(json.dumps(line))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def fit(tmp_path: Path, tiny_models: TinyModels) -> PaperFit:
    """A fit that has not begun."""
    return _fit(tmp_path, tiny_models)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, tiny_models: TinyModels) -> Path:
    """The folder of a fit that was never interrupted; tests that write into it take a copy."""
    fit = _fit(tmp_path_factory.mktemp("whole"), tiny_models)
    report = fit_paper(fit)
    assert report.fitted
    assert (report.records, report.failed) == (6 * 2 * 2, 0)
    assert dict(report.families) == {"towns": 3, "ships": 3}
    assert [path.relative_to(fit.out).as_posix() for path in report.profiles] == [
        ".",
        "folds/without-ships",
        "folds/without-towns",
    ]
    return fit.out


def _fit(folder: Path, tiny_models: TinyModels) -> PaperFit:
    return PaperFit(
        pairs=(_write_pairs(folder / "pairs.jsonl"),),
        out=folder / "profile",
        words=str(tiny_models.words),
        reranker=str(tiny_models.reranker),
        span=str(tiny_models.span),
        latent=str(tiny_models.latent),
        settings=ReaderSettings(layer=2),
        training=SpanTraining(batch=4, epochs=1, save_every=1, learning_rate=1e-3),
        padding=(2,),
        folds=True,
        seed=5,
    )


def _profiles(folder: Path) -> dict[str, bytes]:
    """Every byte that a scorer reads."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "work" not in path.parts and path.name != "lock"
    }


def test_a_fit_ends_in_a_profile_that_scores(fit: PaperFit, whole: Path) -> None:
    """The statistics are those of the records: mean 0 and deviation 1 for every reader; folds beside it."""
    scorer = PaperScorer.load(whole)
    groups = list(stream_pairs(fit.pairs[0]))
    scores = [
        [one.corrected for one in scorer.score(side.question, EvidenceSet.of(side.passages)).readers]
        for group in groups
        for side in group.sides
    ]
    assert np.mean(scores, axis=0) == pytest.approx([0.0] * 3, abs=1e-3)
    assert np.std(scores, axis=0) == pytest.approx([1.0] * 3, abs=1e-3)
    for reader in ("span", "latent"):
        correction = scorer.profile.corrections[reader]
        assert correction.limit == 2
        assert len(correction.knots) >= 2
    fold = PaperProfile.load(whole / "folds" / "without-ships")
    assert fold.settings.held_out == ()
    assert "Span reader and IDF have seen ships" in fold.settings.origin.note
    assert "Fitted on 3 questions (towns 3)." in fold.settings.origin.note
    assert fold.fingerprint != scorer.profile.fingerprint
    assert PaperScorer.load(whole / "folds" / "without-ships").profile.settings.name == "paper-without-ships"


def test_an_interrupted_fit_goes_on_and_ends_with_the_same_bytes(fit: PaperFit, whole: Path) -> None:
    """Whatever a run had done must neither be lost nor show in the result, in whichever stage it stopped."""
    seen: list[tuple[str, int]] = []
    stops = [("span", 2), ("readings", 4), ("profiles", 1)]

    def interrupt(progress: FitProgress) -> None:
        seen.append((progress.stage, progress.done))
        if (progress.stage, progress.done) == stops[0]:
            raise KeyboardInterrupt

    begins = []
    while stops:
        seen.clear()
        with pytest.raises(KeyboardInterrupt):
            fit_paper(fit, progress=interrupt)
        begins.append(next((done for stage, done in seen if stage == "span"), None))
        del stops[0]
    assert begins == [0, 2, None]
    assert fit_paper(fit).fitted
    assert _profiles(fit.out) == _profiles(whole)


_HOLDS = """
import sys
from pathlib import Path
from rinse.fit.folder import fit_folder
with fit_folder(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_killed_process_leaves_a_folder_that_goes_on(fit: PaperFit, whole: Path) -> None:
    """SIGKILL runs no handler: the lock is free, a line that was cut off is dropped, the bytes are the same.

    The process that is killed only holds the folder: to load the models in it would take ten times as long.
    """

    def interrupt(progress: FitProgress) -> None:
        if (progress.stage, progress.done) == ("readings", 3):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_paper(fit, progress=interrupt)
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(fit.out)],
        cwd=Path(__file__).resolve().parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(FolderError, match="Another process"):
            fit_paper(fit)
        os.kill(process.pid, signal.SIGKILL)
    with (fit.out / "work" / "readings.jsonl").open("ab") as file:
        file.write(b'{"format": "sufficit-readings-1", "key"')
    before = (fit.out / "work" / "readings.jsonl").read_bytes().splitlines()[:3]
    fit_paper(fit)
    lines = (fit.out / "work" / "readings.jsonl").read_bytes().splitlines()
    assert lines[:3] == before
    assert len(lines) == 6
    assert _profiles(fit.out) == _profiles(whole)


def test_a_finished_folder_is_fitted_again_only_if_something_changed(fit: PaperFit, whole: Path) -> None:
    """Nothing is done twice, and what changed is said; readings that still hold are not made again."""
    shutil.copytree(whole, fit.out)
    made = _profiles(fit.out)
    assert not fit_paper(fit).fitted
    report = fit_paper(replace(fit, penalty=3.0))
    assert report.fitted
    assert report.changed == ("penalty",)
    assert len((fit.out / "work" / "readings.jsonl").read_bytes().splitlines()) == 6
    assert _profiles(fit.out) != made
    (fit.out / "paper.json").write_text("{}", encoding="utf-8")
    assert fit_paper(replace(fit, penalty=3.0)).fitted


def test_a_family_left_out_is_seen_by_nothing(fit: PaperFit) -> None:
    """Held out means the span reader and the IDF as well."""
    alone = replace(fit, without=("ships",), folds=False)
    fit_paper(alone)
    profile = PaperProfile.load(fit.out)
    assert profile.settings.held_out == ("ships",)
    assert profile.settings.name == "paper-without-ships"
    lines = fit.pairs[0].read_text(encoding="utf-8").splitlines()
    other = fit.pairs[0].with_name("towns.jsonl")
    other.write_text("\n".join(line for line in lines if '"towns"' in line), encoding="utf-8")
    fit_paper(replace(fit, pairs=(other,), out=fit.out.with_name("towns"), folds=False))
    same = PaperProfile.load(fit.out.with_name("towns"))
    assert np.array_equal(profile.idf, same.idf)
    assert np.array_equal(profile.head, same.head)


def test_families_that_share_the_heavy_parts_leave_clean_folds(fit: PaperFit) -> None:
    """The protocol of the paper: the span reader trained once on families that are not reported."""
    fit_paper(replace(fit, shared=("towns",), training=None))
    assert PaperProfile.load(fit.out / "folds" / "without-ships").settings.held_out == ("ships",)
    assert PaperProfile.load(fit.out / "folds" / "without-towns").settings.held_out == ()


def test_what_cannot_be_fitted_is_refused_before_any_work(fit: PaperFit, tmp_path: Path) -> None:
    """Each with a remedy; a folder that holds something else is left alone."""
    with pytest.raises(FitError, match="--without rivers: the files hold the families ships, towns"):
        fit_paper(replace(fit, without=("rivers",)))
    with pytest.raises(FitError, match="No pair is left"):
        fit_paper(replace(fit, without=("towns", "ships")))
    with pytest.raises(FitError, match="two families"):
        fit_paper(replace(fit, without=("towns",)))
    with pytest.raises(FitError, match="names no family"):
        fit_paper(replace(fit, families={"towns": "../up"}))
    with pytest.raises(FolderError, match="holds no fit"):
        fit_paper(replace(fit, out=tmp_path))
    (tmp_path / "work").mkdir()
    with pytest.raises(FolderError, match="holds no fit"):
        fit_paper(replace(fit, out=tmp_path))
    assert not any((tmp_path / "work").iterdir()), "a folder named work makes no fit of it"
    with pytest.raises(FitError, match="--padding"):
        fit_paper(replace(fit, padding=(1000,), training=None, folds=False))

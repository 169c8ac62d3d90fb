"""The fit of `small` on a tiny encoder: what it makes, what is held out, that it goes on with the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from retrieval.index.encoder import TransformerEncoder
from rinse import OddsScorer, RinseScorer
from rinse.errors import ProfileMismatchError
from rinse.fit.errors import FitError, FolderError
from rinse.fit.report import FitProgress
from rinse.fit.selection import Selection, read_groups
from rinse.fit.small import SmallFit
from rinse.fit.small_job import fit_small
from rinse.odds import Odds, odds_name
from rinse.profile import FOLDS, Profile, fold_name

_BUILT = ("bridge", "tower", "castle", "ship", "garden", "wall")


def _pairs(path: Path) -> Path:
    """Three families of two questions; one passage of two is replaced."""
    lines = []
    for number, built in enumerate(_BUILT):
        other = f"the {_BUILT[number - 1]} in the north is old and green {number}"
        line = {
            "question": f"who built the {built} in the city",
            "sufficient": [f"the king built the {built} in the city {number}", other],
            "insufficient": [f"the {built} is in the city {number}", other],
            "family": ("musique", "squad", "own")[number // 2],
            "group": f"q{number}",
        }
        lines.append(json.dumps(line))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _base(folder: Path, profile: Profile) -> Path:
    """A folder of base profiles for the tiny encoder; the table of each fold is one of its own."""
    folder.mkdir()
    for number, family in enumerate((None, *FOLDS)):
        table = save({"idf": profile.idf + np.float32(number)})
        name, file = ("small", "idf") if family is None else (fold_name(family), f"idf-without-{family}")
        (folder / f"{file}.safetensors").write_bytes(table)
        settings = profile.settings.model_copy(
            update={"idf_file": f"{file}.safetensors", "idf_sha256": hashlib.sha256(table).hexdigest()}
        )
        (folder / f"{name}.json").write_text(settings.model_dump_json(), encoding="utf-8")
    return folder


@pytest.fixture
def fit(tmp_path: Path, tiny_profile: Profile) -> SmallFit:
    """A fit that has not begun."""
    return SmallFit(
        pairs=(_pairs(tmp_path / "pairs.jsonl"),),
        out=tmp_path / "mine",
        work=tmp_path / "work",
        lineage={"musique": ("squad", "nq")},
        folds=True,
        padding=(1, 2),
        base=_base(tmp_path / "base", tiny_profile),
    )


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_fit_ends_in_profiles_that_score(fit: SmallFit, tiny_encoder: TransformerEncoder) -> None:
    """Mean 0, deviation 1, weights not below 0; nothing but profiles and tables in the folder."""
    report = fit_small(fit, encoder=tiny_encoder)
    assert (report.fitted, report.records, report.failed) == (True, 6 * 2 * 3, 0)
    assert dict(report.families) == {"musique": 2, "own": 2, "squad": 2}
    names = ["mine", *(f"mine-without-{family}" for family in (*FOLDS[:3], "own", "squad"))]
    assert [path.stem for path in report.profiles] == names
    tables = {f"idf-without-{family}.safetensors" for family in FOLDS} | {"idf.safetensors"}
    heads = {f"{odds_name(name)}.json" for name in names}
    assert [path.name for path in report.odds] == [f"{odds_name(name)}.json" for name in names]
    assert {path.name for path in fit.out.iterdir()} == {f"{name}.json" for name in names} | heads | tables

    scorer = RinseScorer(tiny_encoder, Profile.load(report.profiles[0]))
    groups = read_groups(Selection(pairs=fit.pairs, families={}, without=frozenset()), lambda *_: None)
    sides = [side for group in groups for side in group.sides]
    scores = [[one.corrected for one in scorer.score(side.question, side.evidence).readers] for side in sides]
    assert np.mean(scores, axis=0) == pytest.approx(np.zeros(len(scores[0])), abs=1e-3)
    assert np.std(scores, axis=0) == pytest.approx(np.ones(len(scores[0])), abs=1e-3)
    weights = [reader.head for reader in scorer.profile.settings.readers.values()]
    assert min(weight for head in weights for weight in head.values()) >= 0
    assert scorer.profile.settings.readers["content"].limit is None
    [warning] = report.warnings
    assert "Fitted on 6 questions (musique 2, own 2, squad 2)." in warning
    assert scorer.profile.settings.origin.note.endswith(warning)
    assert "Fitted on 4 questions (musique 2, own 2)." in Profile.load(report.profiles[-1]).settings.origin.note


def test_log_odds_lie_beside_every_profile(fit: SmallFit, tiny_encoder: TransformerEncoder) -> None:
    """They belong to its readings, saw the same families, and think more of the right sides."""
    report = fit_small(fit, encoder=tiny_encoder)
    for file in report.profiles:
        profile = Profile.load(file)
        head = Odds.load(file.with_name(f"{odds_name(file.stem)}.json"))
        assert head.settings.held_out == profile.settings.held_out
        OddsScorer(RinseScorer(tiny_encoder, profile), head)
    groups = read_groups(Selection(pairs=fit.pairs, families={}, without=frozenset()), lambda *_: None)
    scorer = OddsScorer(
        RinseScorer(tiny_encoder, Profile.load(report.profiles[0])), Odds.load(fit.out / "mine-odds.json")
    )
    found = {
        label: [
            scorer.score(side.question, side.evidence).score
            for group in groups
            for side in group.sides
            if side.sufficient == label
        ]
        for label in (True, False)
    }
    assert np.mean(found[True]) > np.mean(found[False])


def test_a_fold_has_seen_neither_the_family_nor_its_lineage(
    fit: SmallFit, tiny_encoder: TransformerEncoder
) -> None:
    """Heads, trends and table of a fold are those of a fit that never got the files."""
    fit_small(fit, encoder=tiny_encoder)
    fold = Profile.load(fit.out / "mine-without-musique.json").settings
    assert fold.held_out == ("musique", "nq", "squad")
    assert fold.idf_file == "idf-without-musique.safetensors"
    assert Profile.load(fit.out / "mine.json").settings.held_out == ()
    lines = fit.pairs[0].read_text(encoding="utf-8").splitlines()
    alone = fit.pairs[0].with_name("alone.jsonl")
    alone.write_text("\n".join(line for line in lines if '"own"' in line), encoding="utf-8")
    cut = replace(fit, pairs=(alone,), folds=False, out=fit.out.with_name("cut"))
    # the base without musique is what such a fit would take its table from
    (fit.base / "small.json").write_bytes((fit.base / "small-without-musique.json").read_bytes())
    fit_small(cut, encoder=tiny_encoder)
    assert Profile.load(cut.out / "cut.json").settings.readers == fold.readers
    odds = [
        Odds.load(path).settings
        for path in (cut.out / "cut-odds.json", fit.out / "mine-without-musique-odds.json")
    ]
    assert odds[0].terms == odds[1].terms


def test_an_interrupted_fit_goes_on_and_ends_with_the_same_bytes(
    fit: SmallFit, tiny_encoder: TransformerEncoder
) -> None:
    """A line that was cut off is read again; what stands there already is not written again."""

    def interrupt(progress: FitProgress) -> None:
        if (progress.stage, progress.done) == ("readings", 7):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_small(fit, encoder=tiny_encoder, progress=interrupt)
    assert not fit.out.exists()
    kept = fit.work_folder / "readings.jsonl"
    before = kept.read_bytes()
    assert before.count(b"\n") == 7
    kept.write_bytes(before + b'{"format": "sufficit-small')
    fit_small(fit, encoder=tiny_encoder)
    assert kept.read_bytes().startswith(before)
    whole = replace(fit, work=fit.out.with_name("other-work"), out=fit.out.with_name("other"), name="mine")
    fit_small(whole, encoder=tiny_encoder)
    assert _bytes(fit.out) == _bytes(whole.out)
    assert not fit_small(fit, encoder=tiny_encoder).fitted


def test_another_encoder_is_refused(fit: SmallFit, make_backbone: Callable[[int, int], Path]) -> None:
    """S03: a table and settings of one model say nothing about another one."""
    other = TransformerEncoder.named(str(make_backbone(32, 9)))
    with pytest.raises(ProfileMismatchError):
        fit_small(fit, encoder=other)


def test_nobody_elses_file_is_written_over(fit: SmallFit, tiny_encoder: TransformerEncoder) -> None:
    """A table that other profiles need, or a file that is none of ours."""
    fit.out.mkdir()
    (fit.out / "mine.json").write_text('{"notes": 1}', encoding="utf-8")
    with pytest.raises(FolderError, match="is no profile"):
        fit_small(fit, encoder=tiny_encoder)
    (fit.out / "mine.json").unlink()
    (fit.out / "idf.safetensors").write_bytes(b"another")
    with pytest.raises(FolderError, match="another IDF table"):
        fit_small(fit, encoder=tiny_encoder)
    assert [path.name for path in fit.out.iterdir()] == ["idf.safetensors"]


def test_a_profile_is_not_taken_for_a_head(fit: SmallFit, tiny_encoder: TransformerEncoder) -> None:
    """A profile called my-odds stays when one called my is fitted, and the other way round."""
    for first, second, what in (("my-odds", "my", "head of log-odds"), ("its", "its-odds", "profile")):
        out = fit.out.with_name(first)
        fit_small(replace(fit, name=first, folds=False, out=out), encoder=tiny_encoder)
        before = _bytes(out)
        with pytest.raises(FolderError, match=f"is no {what}"):
            fit_small(replace(fit, name=second, folds=False, out=out), encoder=tiny_encoder)
        assert _bytes(out) == before


def test_no_profile_of_a_fit_is_written_over_by_log_odds_of_the_same_fit(
    fit: SmallFit, tiny_encoder: TransformerEncoder
) -> None:
    """A family called own-odds beside one called own: refused before anything is read or written."""
    renamed = replace(fit, families={"squad": "own-odds"}, lineage={})
    with pytest.raises(FitError, match="mine-without-own-odds would be a profile and the log-odds of"):
        fit_small(renamed, encoder=tiny_encoder)
    assert not fit.out.exists()
    assert not (fit.work_folder / "readings.jsonl").exists()


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no folder here that nobody can write to")
def test_a_folder_that_cannot_be_written_is_told_before_anything_is_read(
    fit: SmallFit, tiny_encoder: TransformerEncoder
) -> None:
    """Reading takes hours; where the profiles would go is known before."""
    with pytest.raises(FolderError, match="Nothing can be written to /proc "):
        fit_small(replace(fit, out=Path("/proc/mine")), encoder=tiny_encoder)
    assert not (fit.work_folder / "readings.jsonl").exists()


@pytest.mark.parametrize("name", ["notes.txt", "package.json", "paper.json"])
def test_a_folder_of_something_else_is_left_alone(
    fit: SmallFit, tiny_encoder: TransformerEncoder, name: str
) -> None:
    """docs/fit.md promises it; the work of a stopped run inside the folder is not something else."""
    fit.out.mkdir()
    (fit.out / name).write_text("{}", encoding="utf-8")
    with pytest.raises(FolderError, match="is not empty and holds no profile of this kind"):
        fit_small(replace(fit, work=fit.out / "work"), encoder=tiny_encoder)
    assert {path.name for path in fit.out.iterdir()} == {name, "work"}


@pytest.mark.parametrize("work", [".", "work", "a/b"])
def test_what_a_stopped_run_left_in_the_folder_is_no_hindrance(
    fit: SmallFit, tiny_encoder: TransformerEncoder, work: str
) -> None:
    """Whether it stopped among the readings, or between a table and its profile."""
    inside = replace(fit, work=fit.out / work, folds=False)

    def interrupt(progress: FitProgress) -> None:
        if (progress.stage, progress.done) == ("readings", 1):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_small(inside, encoder=tiny_encoder, progress=interrupt)
    (fit.out / "idf.safetensors").write_bytes((fit.base / "idf.safetensors").read_bytes())
    assert fit_small(inside, encoder=tiny_encoder).fitted
    assert not fit_small(inside, encoder=tiny_encoder).fitted


def test_what_cannot_be_fitted_is_refused(fit: SmallFit, tiny_encoder: TransformerEncoder) -> None:
    """Each with a remedy, before a model is run."""
    with pytest.raises(FitError, match="--lineage rivers"):
        fit_small(replace(fit, lineage={"rivers": ("squad",)}), encoder=tiny_encoder)
    with pytest.raises(FitError, match="No IDF table has missed musique, squad together"):
        fit_small(replace(fit, without=("musique", "squad"), lineage={}, folds=False), encoder=tiny_encoder)
    with pytest.raises(FitError, match="names no profile"):
        fit_small(replace(fit, name="../up"), encoder=tiny_encoder)
    with pytest.raises(FitError, match="--padding"):
        fit_small(replace(fit, padding=(900,), folds=False), encoder=tiny_encoder)


def test_sides_that_are_the_wrong_way_round_make_no_profile(
    fit: SmallFit, tiny_encoder: TransformerEncoder
) -> None:
    """Weights stop at 0: a fit never learns that more coverage is worse."""
    lines = []
    for line in fit.pairs[0].read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        pair["sufficient"], pair["insufficient"] = ["x"], [*pair["sufficient"], *pair["insufficient"]]
        lines.append(json.dumps(pair))
    fit.pairs[0].write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(FitError, match="wrong way round"):
        fit_small(replace(fit, folds=False), encoder=tiny_encoder)

"""A profile: whole on disk or not there, and never used for models that it was not fitted for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rinse.errors import ProfileError, ProfileMismatchError
from rinse.paper import Lexicon, PaperBackbones, PaperProfile, PaperReaders, PaperScorer, ReaderSettings, storage
from rinse.size import SizeCorrection
from tests.rinse.paper.tiny_models import SETTINGS, write_tiny_models


def test_what_is_loaded_is_what_was_saved(profile: PaperProfile, tmp_path: Path) -> None:
    """Every value comes back; a second save leaves no file of the first."""
    profile.save(tmp_path / "a folder")
    loaded = PaperProfile.load(tmp_path / "a folder")
    assert loaded.settings == profile.settings
    assert loaded.corrections == profile.corrections
    for name in ("idf", "head", "direction"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(profile, name))
    assert loaded.fingerprint == profile.fingerprint
    other = replace(profile, head=profile.head * 2)
    other.save(tmp_path / "a folder")
    assert PaperProfile.load(tmp_path / "a folder").fingerprint == other.fingerprint != profile.fingerprint
    assert len(list((tmp_path / "a folder").iterdir())) == 2


def test_a_save_that_breaks_off_leaves_the_former_profile(
    profile: PaperProfile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full after the tensors: the folder still holds the profile that was there."""
    profile.save(tmp_path)
    write = storage.replace_file

    def full(path: Path, content: bytes) -> None:
        if path.suffix == ".json":
            raise OSError(28, "No space left on device")
        write(path, content)

    monkeypatch.setattr("rinse.paper.profile.replace_file", full)
    with pytest.raises(ProfileError, match="No space left"):
        replace(profile, head=profile.head * 2).save(tmp_path)
    assert PaperProfile.load(tmp_path).fingerprint == profile.fingerprint


def test_a_damaged_profile_is_refused(profile: PaperProfile, tmp_path: Path) -> None:
    """Missing, cut, changed, foreign: a typed error that says which file and what to do."""
    with pytest.raises(ProfileError, match="sufficit fit"):
        PaperProfile.load(tmp_path)
    profile.save(tmp_path)
    tensors, settings = next(tmp_path.glob("*.safetensors")), tmp_path / "paper.json"
    whole, text = tensors.read_bytes(), settings.read_text()
    tensors.write_bytes(whole[:-4])
    with pytest.raises(ProfileError, match="sha256"):
        PaperProfile.load(tmp_path)
    tensors.write_bytes(whole)
    for change in ({"format": 2}, {"kind": "small"}, {"more": 1}, {"tensors_sha256": "../x"}):
        settings.write_text(json.dumps(json.loads(text) | change))
        with pytest.raises(ProfileError, match="is no profile"):
            PaperProfile.load(tmp_path)
    settings.write_text(text + " " * 2**20)
    with pytest.raises(ProfileError, match="larger than"):
        PaperProfile.load(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"head": np.zeros(3)},
        {"head": np.full(12, np.nan)},
        {"direction": np.zeros((2, 2), dtype=np.float32)},
        {"direction": np.zeros(0, dtype=np.float32)},
    ],
)
def test_parts_of_the_wrong_shape_are_refused(profile: PaperProfile, change: dict[str, object]) -> None:
    with pytest.raises(ProfileError, match="'tiny'"):
        replace(profile, **change)  # type: ignore[arg-type]


def test_s03_statistics_of_other_readers_are_refused_by_name(profile: PaperProfile) -> None:
    """S03: not silently normalised."""
    corrections = dict(profile.corrections)
    corrections["entailment"] = corrections.pop("latent")
    with pytest.raises(ProfileMismatchError, match="entailment"):
        replace(profile, corrections=corrections)


def test_content_has_no_size_curve(profile: PaperProfile) -> None:
    """The paper's padding curve is for span and latent only."""
    curved = SizeCorrection(alpha=0.0, beta=0.0, mu=0.0, sigma=1.0, limit=3)
    with pytest.raises(ProfileError, match="content"):
        replace(profile, corrections={**profile.corrections, "content": curved})


@pytest.mark.parametrize("role", ["reranker", "span", "latent"])
def test_s03_statistics_of_another_model_are_refused_by_name(
    backbones: PaperBackbones, lexicon: Lexicon, profile: PaperProfile, tmp_path: Path, role: str
) -> None:
    """S03: the same architecture with other weights is another model; the same one under another path is not."""
    other = write_tiny_models(tmp_path / "other", seed=50)
    changed = replace(
        backbones,
        **{
            role: getattr(
                PaperBackbones.named(
                    words=other.words, reranker=other.reranker, span=other.span, latent=other.latent
                ),
                role,
            )
        },
    )
    with pytest.raises(ProfileMismatchError, match=f"as {role}"):
        PaperScorer(PaperReaders(changed, lexicon, SETTINGS), profile)
    same = write_tiny_models(tmp_path / "same")
    again = PaperBackbones.named(words=same.words, reranker=same.reranker, span=same.span, latent=same.latent)
    PaperScorer(PaperReaders(again, lexicon, SETTINGS), profile)


def test_s03_other_settings_or_another_idf_are_refused(
    backbones: PaperBackbones, lexicon: Lexicon, profile: PaperProfile
) -> None:
    """S03: what was fitted on one way of reading says nothing of another."""
    with pytest.raises(ProfileMismatchError, match="settings"):
        PaperScorer(PaperReaders(backbones, lexicon, ReaderSettings(layer=3, function_idf=0.5)), profile)
    other = replace(lexicon, idf=lexicon.idf + 1)
    with pytest.raises(ProfileMismatchError, match="IDF"):
        PaperScorer(PaperReaders(backbones, other, SETTINGS), profile)
    narrow = replace(profile, direction=profile.direction[:-1])
    with pytest.raises(ProfileMismatchError, match="23 dims"):
        PaperScorer(PaperReaders(backbones, lexicon, SETTINGS), narrow)


def test_a_table_of_another_vocabulary_is_refused(lexicon: Lexicon) -> None:
    with pytest.raises(ProfileError, match="tokens of"):
        replace(lexicon, idf=lexicon.idf[:-1])


@pytest.mark.parametrize(
    "change",
    [{"span_overlap": 300}, {"window": {"size": 2, "stride": 3}}, {"quantiles": [0.5, 1.5]}, {"layer": 0}],
)
def test_settings_that_cannot_be_read_with_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        ReaderSettings.model_validate(change)

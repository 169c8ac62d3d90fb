"""A profile is read whole, checked, and refused if it is another one's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from rinse.errors import ProfileError, ProfileMismatchError
from rinse.profile import MAX_IDF_BYTES, SHIPPED, Profile, shipped_file

FITTED = {"head": {"tokens": 1.0}, "alpha": 0.0, "beta": 0.0, "mu": 0.0, "sigma": 1.0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped profile."""
    for name in ("small.json", "idf.safetensors"):
        shutil.copy(SHIPPED / name, tmp_path / name)
    return tmp_path


def edit(folder: Path, **changes: object) -> Path:
    file = folder / "small.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return file


def test_the_shipped_profile_says_what_it_is_and_where_its_numbers_come_from() -> None:
    profile = Profile.small()
    assert profile.settings.encoder == "all-MiniLM-L6-v2"
    assert profile.idf.shape == (30_522,)
    assert profile.settings.origin.records > 0
    assert all("dev" not in name for name in profile.settings.origin.files)
    assert set(profile.settings.readers) == {"content", "chain"}


def test_the_same_content_has_the_same_fingerprint_anywhere(folder: Path) -> None:
    assert Profile.load(folder / "small.json").fingerprint == Profile.small().fingerprint


def test_s03_another_encoder_is_refused_with_both_names() -> None:
    """S03: refused by name, not silently normalised."""
    profile = Profile.small()
    profile.check_encoder("any name", profile.settings.encoder_fingerprint)
    with pytest.raises(ProfileMismatchError, match=r"all-MiniLM-L6-v2 \(.*\), the encoder is other \(abc"):
        profile.check_encoder("other", "abc:mean:256")


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 1},
        {"format": 3},
        {"surprise": 1},
        {"gap_threshold": 1.5},
        {"window": {"size": 0, "stride": 1}},
        {"idf_file": "../../elsewhere.safetensors"},
        {"readers": {}},
        {"readers": {"content": {**FITTED, "head": {}}}},
        {"readers": {"content": {**FITTED, "head": {"tokens": float("nan")}}}},
        {"readers": {"content": {**FITTED, "sigma": 0.0}}},
        {"readers": {"content": {**FITTED, "alpha": float("nan")}}},
        {"readers": {"content": {**FITTED, "limit": -1}}},
        {"readers": {"content": {**FITTED, "limit": 5, "knots": [1.0, 2.0], "values": [0.0]}}},
        {"readers": {"content": {**FITTED, "knots": [1.0, 2.0], "values": [0.0, 1.0]}}},
        {"content": FITTED},
    ],
)
def test_values_out_of_range_are_refused(folder: Path, changes: dict[str, object]) -> None:
    with pytest.raises(ProfileError, match="is no profile"):
        Profile.load(edit(folder, **changes))


def test_a_reader_s_statistics_become_its_correction(folder: Path) -> None:
    """Head, line, limit and curve are read back as they were written."""
    curve = {"limit": 5, "knots": [1.0, 3.0], "values": [0.0, 2.0], "beta": 2.0, "sigma": 4.0}
    settings = Profile.load(edit(folder, readers={"content": FITTED | curve})).settings
    correction = settings.readers["content"].correction
    assert correction.limit == 5
    assert correction.trend(9) > correction.trend(5) == pytest.approx(2.0 * np.log(6))
    assert settings.readers["content"].head == {"tokens": 1.0}


def test_a_window_that_would_skip_tokens_is_refused(folder: Path) -> None:
    with pytest.raises(ProfileError, match="stride"):
        Profile.load(edit(folder, window={"size": 4, "stride": 5}))


def test_another_idf_table_is_refused_by_its_hash(folder: Path) -> None:
    (folder / "idf.safetensors").write_bytes((folder / "idf.safetensors").read_bytes() + b" ")
    with pytest.raises(ProfileError, match="sha256"):
        Profile.load(folder / "small.json")


def test_missing_oversized_and_broken_files_are_typed_errors(folder: Path) -> None:
    with pytest.raises(ProfileError, match=r"cannot be read .* Name a file that `sufficit fit` wrote"):
        Profile.load(folder / "absent.json")
    with pytest.raises(ProfileError, match="Install the package again"):
        Profile.load(shipped_file("absent"))
    (folder / "idf.safetensors").write_bytes(b"\0" * (MAX_IDF_BYTES + 1))
    with pytest.raises(ProfileError, match="at most"):
        Profile.load(folder / "small.json")
    (folder / "small.json").write_text("{")
    with pytest.raises(ProfileError, match="is no profile"):
        Profile.load(folder / "small.json")


@pytest.mark.parametrize("bad", [np.array([1.0, np.nan]), np.array([-1.0]), np.zeros((2, 2)), np.zeros(0)])
def test_an_idf_table_that_could_give_nan_is_refused(bad: np.ndarray) -> None:
    with pytest.raises(ProfileError, match="IDF table"):
        Profile(settings=Profile.small().settings, idf=bad.astype(np.float32))

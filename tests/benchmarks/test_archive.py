"""Archives from outside: named members only, no trust in what an archive says of itself."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.datasets.archive import Unpacked, unpack
from benchmarks.errors import ArchiveError, DiskError
from tests.benchmarks.fileserver import fetch, give, serving, toy_source

Form: TypeAlias = Literal["zip", "tgz"]
FORMS: tuple[Form, ...] = ("zip", "tgz")
both = pytest.mark.parametrize("form", FORMS)


def packed(form: Form, members: list[tuple[str, bytes]]) -> bytes:
    """An archive of these paths and contents, in this order."""
    out = io.BytesIO()
    if form == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, data in members:
                zipped.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w:gz") as tarred:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tarred.addfile(info, io.BytesIO(data))
    return out.getvalue()


def taken(archive: bytes, to: Path, *globs: str, form: Form, max_bytes: int = 10_000) -> dict[str, bytes]:
    """Unpack into a folder of its own; what lies there afterwards."""
    path = to.with_name(f"{to.name}.{form}")
    path.write_bytes(archive)
    to.mkdir(exist_ok=True)
    members = unpack(path, form=form, members=globs, to=to, max_bytes=max_bytes)
    files = {file.name: file.read_bytes() for file in to.iterdir()}
    assert members == tuple(
        Unpacked(path=to / name, bytes=len(files[name]), sha256=hashlib.sha256(files[name]).hexdigest())
        for name in (each.path.name for each in members)
    )
    return files


@both
def test_only_named_members_are_taken_under_their_base_names(tmp_path: Path, form: Form) -> None:
    """Folders of the archive, and all that nobody asked for, stay behind."""
    archive = packed(
        form, [("data/", b""), ("data/dev.json", b"{}"), ("__MACOSX/._dev.json", b"x"), ("a.sh", b"x")]
    )
    assert taken(archive, tmp_path / "out", "dev.json", form=form) == {"dev.json": b"{}"}


@both
@pytest.mark.parametrize("path", ["../../dev.json", "/tmp/dev.json", "..\\..\\dev.json", "C:\\dev.json"])  # noqa: S108
def test_paths_are_never_trusted(tmp_path: Path, form: Form, path: str) -> None:
    """A member that points elsewhere lands in the folder like any other."""
    before = set(tmp_path.rglob("*"))
    assert taken(packed(form, [(path, b"{}")]), tmp_path / "out", "*.json", form=form) == {"dev.json": b"{}"}
    assert set(tmp_path.rglob("*")) - before == {
        tmp_path / f"out.{form}",
        tmp_path / "out",
        tmp_path / "out/dev.json",
    }


def test_links_devices_and_folders_are_no_members(tmp_path: Path) -> None:
    """They are passed over, whatever they are called; then the member is missing."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tarred:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            info = tarfile.TarInfo("dev.json")
            info.type, info.linkname = kind, "/etc/hostname"
            tarred.addfile(info)
    with pytest.raises(ArchiveError, match=r"holds no member dev\.json"):
        taken(out.getvalue(), tmp_path / "tar", "dev.json", form="tgz")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        link = zipfile.ZipInfo("dev.json")
        link.external_attr = 0o120777 << 16
        zipped.writestr(link, "/etc/hostname")
    with pytest.raises(ArchiveError, match=r"holds no member dev\.json"):
        taken(out.getvalue(), tmp_path / "zip", "dev.json", form="zip")


@both
def test_a_bomb_is_stopped_while_it_unpacks(tmp_path: Path, form: Form) -> None:
    """The sum over members counts, also of those whose headers say little; nothing is left on the disk."""
    archive = packed(form, [("a.json", b"{" * 6_000), ("b.json", b"{" * 6_000)])
    with pytest.raises(ArchiveError, match="unpacks to more than was declared"):
        taken(archive, tmp_path / "out", "*.json", form=form)
    assert not list((tmp_path / "out").iterdir())


def test_a_bomb_in_members_that_nobody_asked_for_is_stopped_too(tmp_path: Path) -> None:
    """A tgz has to be unpacked to be passed over."""
    archive = packed("tgz", [("big", bytes(8_000_000)), ("dev.json", b"{}")])
    with pytest.raises(ArchiveError, match="unpacks to more than was declared"):
        taken(archive, tmp_path / "out", "dev.json", form="tgz")


@both
def test_two_members_of_one_name_and_a_missing_one_are_errors(tmp_path: Path, form: Form) -> None:
    """Which one is meant cannot be known; a missing one means another version of the dataset."""
    archive = packed(form, [("a/dev.json", b"1"), ("b/dev.json", b"2")])
    with pytest.raises(ArchiveError, match=r"two members named dev\.json"):
        taken(archive, tmp_path / "out", "dev.json", form=form)
    with pytest.raises(ArchiveError, match=r"holds no member train\.json"):
        taken(packed(form, [("dev.json", b"1")]), tmp_path / "out", "dev.json", "train.json", form=form)
    assert not list((tmp_path / "out").iterdir())


@both
@settings(max_examples=60)
@given(at=st.integers(0, 2**30), bit=st.integers(0, 7), cut=st.booleans())
def test_a_damaged_archive_is_an_error_or_gives_the_right_bytes(
    tmp_path_factory: pytest.TempPathFactory, form: Form, at: int, bit: int, *, cut: bool
) -> None:
    """One flipped bit or a cut anywhere: never other content under the member's name, never another exception."""
    data = bytes(range(256)) * 4
    archive = bytearray(packed(form, [("dev.json", data)]))
    at %= len(archive)
    if cut:
        del archive[at:]
    else:
        archive[at] ^= 1 << bit
    to = tmp_path_factory.mktemp("damaged") / "out"
    try:
        files = taken(bytes(archive), to, "dev.json", form=form)
    except ArchiveError:
        assert not list(to.iterdir())
    else:
        assert files == {"dev.json": data}


def test_a_cut_tgz_publishes_nothing(tmp_path: Path) -> None:
    """The wanted member is whole, the end of the archive is not: it is not the archive that was meant."""
    plain = gzip.decompress(packed("tgz", [("dev.json", b"{}"), ("z", bytes(50_000))]))
    with pytest.raises(ArchiveError, match="cannot be unpacked"):
        taken(gzip.compress(plain)[:-12], tmp_path / "out", "dev.json", form="tgz")
    assert not list((tmp_path / "out").iterdir())


def test_a_folder_that_cannot_be_written_is_a_disk_error(tmp_path: Path) -> None:
    """Not an archive's fault."""
    path = tmp_path / "a.zip"
    path.write_bytes(packed("zip", [("dev.json", b"{}")]))
    with pytest.raises(DiskError, match="cannot be written"):
        unpack(path, form="zip", members=["dev.json"], to=tmp_path / "none", max_bytes=10)


@both
def test_a_downloaded_archive_is_unpacked_once_and_again_when_a_member_is_lost(tmp_path: Path, form: Form) -> None:
    """`data` are the members; a member that was changed or deleted comes back without a new download."""
    archive = packed(form, [("data/dev.json", b"{}"), ("data/train.json", b"[]")])
    fields = {"name": f"toy.{form}", "format": form, "members": ["*.json"], "max_unpacked_bytes": 100}
    with serving(give(archive)) as server:
        source = toy_source(server, bytes=len(archive), **fields)
        first = fetch(source, tmp_path)
        assert [path.name for path in first.data] == ["dev.json", "train.json"]
        untouched = first.data[0].stat().st_mtime_ns
        assert fetch(source, tmp_path).members == first.members
        assert first.data[0].stat().st_mtime_ns == untouched
        first.data[0].unlink()
        first.data[1].write_bytes(b"{}")
        fetch(source, tmp_path)
    assert [path.read_bytes() for path in first.data] == [b"{}", b"[]"]
    assert server.ranges == [None]

"""A build that is killed goes on, publishes in one step, and never works beside another."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from retrieval.errors import IndexBusyError, IndexCorruptError
from retrieval.index import LocalIndex, Progress, TransformerEncoder, build_index, index_info
from tests.retrieval.indexes import Counting, jsonl, numbered, stored, vectors


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "corpus.jsonl", numbered(40))


@pytest.fixture
def long_corpus(tmp_path: Path) -> Path:
    """Three blocks of encoding, the last one short."""
    return jsonl(tmp_path / "long.jsonl", numbered(1100))


_KILLED = """
import os, signal, sys
from pathlib import Path
from retrieval.index import TransformerEncoder, build_index

class Killer(TransformerEncoder):
    calls = 0
    def encode(self, texts):
        if self.calls == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        self.calls += 1
        return super().encode(texts)

build_index(Path(sys.argv[1]), Path(sys.argv[2]), encoder=Killer.named(sys.argv[3]))
"""


def test_a_killed_build_goes_on_and_ends_up_the_same(
    tmp_path: Path, tiny_encoder: TransformerEncoder, tiny_backbone: Path, long_corpus: Path
) -> None:
    """After kill -9 while it encodes the old index still serves; the next build encodes only what is missing."""
    out = tmp_path / "index"
    build_index(jsonl(tmp_path / "old.jsonl", numbered(5, word="castle")), out, encoder=tiny_encoder)
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(long_corpus), str(out), str(tiny_backbone)], check=False, timeout=100
    )
    assert killed.returncode == -signal.SIGKILL
    with LocalIndex.open(out, tiny_encoder) as index:
        assert len(index) == 5
    counting = Counting(tiny_encoder)
    build_index(long_corpus, out, encoder=counting)
    assert len(counting.texts) == 1100 - 2 * 512
    build_index(long_corpus, tmp_path / "whole", encoder=tiny_encoder)
    assert vectors(out) == vectors(tmp_path / "whole")
    assert stored(out) == stored(tmp_path / "whole")
    assert len([path for path in out.iterdir() if path.is_dir()]) == 1


def test_a_build_that_failed_leaves_the_old_index_and_goes_on(
    tmp_path: Path, tiny_encoder: TransformerEncoder, long_corpus: Path
) -> None:
    out = tmp_path / "index"
    old = build_index(jsonl(tmp_path / "old.jsonl", numbered(5)), out, encoder=tiny_encoder)
    with pytest.raises(RuntimeError, match="on fire"):
        build_index(long_corpus, out, encoder=Counting(tiny_encoder, fails_after=1))
    assert index_info(out) == old
    counting = Counting(tiny_encoder)
    build_index(long_corpus, out, encoder=counting)
    assert len(counting.texts) == 1100 - 512


def test_work_after_another_plan_is_begun_again(
    tmp_path: Path, tiny_encoder: TransformerEncoder, long_corpus: Path
) -> None:
    out = tmp_path / "index"
    with pytest.raises(RuntimeError):
        build_index(long_corpus, out, encoder=Counting(tiny_encoder, fails_after=1))
    jsonl(long_corpus, numbered(600, word="river"))
    counting = Counting(tiny_encoder)
    build_index(long_corpus, out, encoder=counting)
    assert len(counting.texts) == 600
    assert len([path for path in out.iterdir() if path.is_dir()]) == 1


def test_a_plan_from_outside_cannot_lead_the_builder_out_of_its_folder(
    tmp_path: Path, tiny_encoder: TransformerEncoder, long_corpus: Path
) -> None:
    out, victim = tmp_path / "index", tmp_path / "victim"
    victim.mkdir()
    with pytest.raises(RuntimeError):
        build_index(long_corpus, out, encoder=Counting(tiny_encoder, fails_after=1))
    plan = json.loads((out / "building" / "plan.json").read_text()) | {"data": "../victim"}
    (out / "building" / "plan.json").write_text(json.dumps(plan))
    build_index(long_corpus, out, encoder=tiny_encoder)
    assert list(victim.iterdir()) == []


def test_damaged_work_is_refused_once_and_then_begun_again(
    tmp_path: Path, tiny_encoder: TransformerEncoder, long_corpus: Path
) -> None:
    out = tmp_path / "index"
    with pytest.raises(RuntimeError):
        build_index(long_corpus, out, encoder=Counting(tiny_encoder, fails_after=1))
    (texts,) = out.glob("data-*/index.sqlite")
    texts.write_bytes(texts.read_bytes()[:5000])
    with pytest.raises(IndexCorruptError):
        build_index(long_corpus, out, encoder=tiny_encoder)
    counting = Counting(tiny_encoder)
    build_index(long_corpus, out, encoder=counting)
    assert len(counting.texts) == 1100


def test_a_finished_build_is_never_gone_on_with(
    tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path
) -> None:
    """A kill between publishing and tidying up leaves a plan that names the published data."""
    out = tmp_path / "index"
    before = build_index(corpus, out, encoder=tiny_encoder)
    with pytest.raises(RuntimeError):
        build_index(corpus, out, encoder=Counting(tiny_encoder, fails_after=0), force=True)
    plan = json.loads((out / "building" / "plan.json").read_text()) | {"data": before.manifest.data}
    (out / "building" / "plan.json").write_text(json.dumps(plan))
    (out / "building" / "read.json").write_text("torn")
    after = build_index(corpus, out, encoder=tiny_encoder, force=True)
    assert after.manifest.data != before.manifest.data
    assert len(list(out.glob("data-*"))) == 1


def test_readers_see_the_old_index_until_the_new_one_is_whole(
    tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path
) -> None:
    """Opening works at every moment of a rebuild; an index that is open goes on as it was."""
    out = tmp_path / "index"
    build_index(jsonl(tmp_path / "old.jsonl", numbered(5, word="castle")), out, encoder=tiny_encoder)
    before = LocalIndex.open(out, tiny_encoder)
    sizes: list[int] = []

    def look(step: Progress) -> None:
        if step.phase != "reading":
            with LocalIndex.open(out, tiny_encoder) as index:
                sizes.append(len(index))

    build_index(corpus, out, encoder=tiny_encoder, progress=look)
    assert set(sizes) == {5}
    with LocalIndex.open(out, tiny_encoder) as after:
        assert len(after) == 40
    with ThreadPoolExecutor(8) as pool:  # more readers than before: each opens the old files anew
        found = list(pool.map(lambda _: len(before.search("castle number", 9).hits), range(24)))
    assert found == [5] * 24
    before.close()
    build_index(corpus, out, encoder=tiny_encoder, force=True)
    assert len(list(out.glob("data-*"))) == 1


def test_a_second_builder_is_turned_away(tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path) -> None:
    out = tmp_path / "index"
    refused: list[BaseException] = []

    def build_too(_: Progress) -> None:
        if not refused:
            with pytest.raises(IndexBusyError, match="Another process") as caught:
                build_index(corpus, out, encoder=tiny_encoder)
            refused.append(caught.value)

    build_index(corpus, out, encoder=tiny_encoder, progress=build_too)
    assert len(refused) == 1
    build_index(corpus, out, encoder=tiny_encoder)

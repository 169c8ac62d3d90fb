"""Profiles that have not seen a family: `python -m benchmarks.folds --data DIR`.

For every family that is reported, the IDF table and the size statistics of the profile `small` are estimated again
without its files (and those that its questions were composed from, see `datasets.families`). Each becomes
`small-without-FAMILY.json` beside `small.json`; tables with `--held-out` use them. Reads files for fitting only;
writes numbers only.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rinse.profile import FOLDS, Profile, fold_name

from . import idf, scale
from .datasets import Fault
from .datasets.families import family_of, left_out_with
from .datasets.reading import stream_records
from .errors import DatasetError

WEIGHTS = Path(__file__).resolve().parent.parent / "rinse" / "weights"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.folds", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the *.jsonl.gz files")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="folder of small.json; the folds are put there")
    parser.add_argument("--family", action="append", choices=FOLDS, help="only this one; may be repeated")
    parser.add_argument(
        "--questions", type=int, default=60, help="questions of each file, for the size statistics"
    )
    options = parser.parse_args(arguments)
    for family in options.family or FOLDS:
        make_fold(family, data=options.data, out=options.out, questions=options.questions)


def make_fold(family: str, *, data: Path, out: Path, questions: int) -> Path:
    """Write one fold's two files; returns the profile's."""
    profile = out / f"{fold_name(family)}.json"
    table = out / f"idf-without-{family}.safetensors"
    idf.main(["--data", str(data), "--out", str(table), "--files", *_kept(idf.FILES, family, data)])
    base = Profile.load(out / "small.json").settings
    written = idf.read_origin(table)
    changed = base.model_copy(
        update={
            "name": fold_name(family),
            "idf_file": table.name,
            "idf_sha256": written.sha256,
            "average_passage_tokens": written.average_passage_tokens,
        }
    )
    profile.write_text(changed.model_dump_json(indent=2) + "\n", encoding="utf-8")
    arguments = ["--data", str(data), "--out", str(profile), "--questions", str(questions)]
    scale.main([*arguments, "--files", *_kept(scale.FILES, family, data)])
    return profile


def _kept(files: Sequence[str], family: str, data: Path) -> list[str]:
    gone = left_out_with(family)
    return [name for name in files if _family(data / f"{name}.jsonl.gz") not in gone]


def _family(file: Path) -> str:
    for item in stream_records(file):
        if not isinstance(item, Fault):
            return family_of(item.dataset)
    raise DatasetError(f"{file} holds no record. Expected JSON lines as `stream_records` reads them.")


if __name__ == "__main__":
    main()

"""`python -m benchmarks contrasts`: from files of records to a file of contrasts."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path

from ..datasets.reading import fault_counts, load_records
from ..datasets.sample import draw_groups
from ..errors import SettingsError
from ..output import Report
from .build import BuildOptions, build_contrasts, nothing_built
from .file import check_out, write_contrasts


def run_contrasts(data: Sequence[Path], out: Path, options: BuildOptions, *, limit: int | None) -> Report:
    """Build and write; the report counts what was eligible and what was kept. Progress goes to stderr.

    Raises:
        DatasetError: a file cannot be read or written, or no contrast could be built; says why.
        SettingsError: no file to read, or one that is read would be overwritten.
        CorpusError, IndexFolderError, BackboneError, RunFileError: see `build_contrasts`.
    """
    if not data:
        raise SettingsError("Nothing to build from. Give --data FILE, an official file or our JSON lines.")
    check_out(out, inputs=[*data, *filter(None, (options.corpus, options.index))])
    loaded = load_records(data)
    built = build_contrasts(draw_groups(loaded.records, limit, seed=options.seed), options)
    if not built.contrasts:
        raise nothing_built(built, len(loaded.records), loaded.faults)
    write_contrasts(out, built.contrasts)
    with out.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    named = {
        name: path.name if path else None for name, path in (("corpus", options.corpus), ("index", options.index))
    }
    return Report(
        benchmark="contrasts",
        settings=dataclasses.asdict(options)
        | {"constructions": options.chosen}
        | named
        | {"data": [path.name for path in data], "limit": limit, "out": str(out), "sha256": digest}
        | {"searched": built.searched},
        seed=options.seed,
        rows=built.rows,
        failures=fault_counts(loaded.faults),
    )

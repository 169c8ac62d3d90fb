"""`python -m benchmarks contrasts`: from files of records to a file of contrasts."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path

from ..datasets.reading import fault_counts, load_records
from ..datasets.sample import draw_groups
from ..errors import SettingsError
from ..output import Report, Row
from .build import BuildOptions, build_contrasts, nothing_built
from .disjoint import apart
from .file import check_out, write_contrasts


def run_contrasts(
    data: Sequence[Path],
    out: Path,
    options: BuildOptions,
    *,
    limit: int | None,
    disjoint_from: Sequence[Path] = (),
) -> Report:
    """Build and write; the report counts what was eligible and what was kept. Progress goes to stderr.

    Args:
        data: Files of records.
        out: The file of contrasts.
        options: What to build.
        limit: Groups of each dataset, drawn by the seed; None = all.
        disjoint_from: Records that share a question or a run of eight words with these files are left out, and
            counted in rows of their own.

    Raises:
        DatasetError: a file cannot be read or written, or no contrast could be built; says why.
        SettingsError: no file to read, or one that is read would be overwritten.
        CorpusError, IndexFolderError, BackboneError, RunFileError: see `build_contrasts`.
    """
    if not data:
        raise SettingsError("Nothing to build from. Give --data FILE, an official file or our JSON lines.")
    check_out(out, inputs=[*data, *disjoint_from, *filter(None, (options.corpus, options.index))])
    loaded = load_records(data)
    records, rows, faults = loaded.records, list[Row](), loaded.faults
    if disjoint_from:
        left = apart(records, disjoint_from)
        records, rows, faults = left.records, [*left.rows], (*faults, *left.faults)
    built = build_contrasts(draw_groups(records, limit, seed=options.seed), options)
    if not built.contrasts:
        raise nothing_built(built, len(records), faults)
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
        | {"disjoint_from": [path.name for path in disjoint_from], "searched": built.searched},
        seed=options.seed,
        rows=[*rows, *built.rows],
        failures=fault_counts(faults),
    )

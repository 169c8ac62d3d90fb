"""What `python -m benchmarks gate` measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rinse.local_generator import DEFAULT_GENERATOR

from ..errors import SettingsError
from ..pairwise.run import scores_folder
from ..pairwise.systems import REFERENCE
from .sources import FOLDER, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """What to measure. See `python -m benchmarks gate --help`.

    Raises:
        SettingsError: a number is out of range.
    """

    generators: tuple[str, ...] = (DEFAULT_GENERATOR,)
    scorer: str = REFERENCE
    judged: Source = field(default_factory=Source)
    training: Source = field(default_factory=Source)
    """Contrasts that thresholds are chosen on."""
    folder: Path = FOLDER
    """Where the default files lie."""
    corpus: Path | None = None
    """Where contrasts that are built take near misses and retrieved sets from; None = that of `folder`."""
    records: int = 60
    """Of each label."""
    train_records: int = 540
    """Of each label."""
    loss: float = 0.08
    """Most of the sufficient records that a threshold may stop, on average; in (0, 1)."""
    held_out: bool = False
    out: Path | None = None
    """The run file; None = nothing is kept."""
    scores: Path = field(default_factory=scores_folder)
    """Where scores of training records are kept."""
    processes: int = 1
    seconds: float = 600.0
    """Deadline of one record."""
    seed: int = 17
    draws: int = 2_000

    def __post_init__(self) -> None:
        if min(self.records, self.train_records, self.processes, self.draws) < 1 or not self.seconds > 0:
            raise SettingsError(
                "Expected at least 1 record, training record, process and draw and a deadline above 0, got "
                f"{self.records}, {self.train_records}, {self.processes}, {self.draws} and {self.seconds}."
            )
        if not 0 < self.loss < 1:
            raise SettingsError(f"--loss is a share between 0 and 1, e.g. 0.08, got {self.loss:g}.")
        if len(set(self.generators)) != len(self.generators) or not self.generators:
            raise SettingsError(f"Every generator once, at least one, got {', '.join(self.generators) or 'none'}.")

"""Settings: flags first, then `SUFFICIT_*` in the environment, then `sufficit.toml`, then defaults."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from policies import Budget

from .errors import ConfigError

PREFIX = "SUFFICIT_"
FILE = Path("sufficit.toml")


class Settings(BaseSettings):
    """Everything that a search can be told from outside. Unknown keys are refused.

    Use `load_settings`, which turns every fault into a `ConfigError`.
    """

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", frozen=True, toml_file=FILE
    )

    index: Path | None = Field(default=None, description="Folder of the local index.")
    k: int = Field(default=5, ge=1, le=1000, description="Passages that one call asks for.")
    policy: str = Field(default="band", description="When to stop: band, threshold, fixed-6 (any number).")
    answer_at: float | None = Field(
        default=None, allow_inf_nan=False, description="Score from which on to answer; default: the shipped one."
    )
    abstain_below: float | None = Field(
        default=None, allow_inf_nan=False, description="Score below which to give up; default: the shipped one."
    )
    min_turns: int | None = Field(
        default=None, ge=1, description="Turns before a score may end a search; default: the shipped ones."
    )
    patience: int = Field(default=2, ge=1, description="Turns without a new passage before a tier counts as dry.")
    max_turns: int | None = Field(default=4, ge=0)
    max_calls: int | None = Field(default=8, ge=0)
    max_seconds: float | None = Field(default=120.0, ge=0, allow_inf_nan=False)
    trace: Path | None = Field(default=None, description="File or folder for the record of a search.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, environment, file; no .env files and no secret folders."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @property
    def budget(self) -> Budget:
        """The budget of one search."""
        return Budget(max_turns=self.max_turns, max_calls=self.max_calls, max_seconds=self.max_seconds)


def load_settings(flags: Mapping[str, Any] | None = None) -> Settings:
    """Read all sources. A flag whose value is None was not given.

    Raises:
        ConfigError: an unknown key, a value out of range, or a `sufficit.toml` that is no TOML.
    """
    known = set(Settings.model_fields)
    for name in os.environ:
        key = name.removeprefix(PREFIX).lower()
        if name.startswith(PREFIX) and key not in known:
            raise ConfigError(f"Unknown setting {name} in the environment.{_hint(key, known)}")
    try:
        return Settings(**{key: value for key, value in (flags or {}).items() if value is not None})
    except ValidationError as error:
        raise ConfigError(_explain(error, known)) from error
    except (ValueError, OSError) as error:  # a file that is no TOML, or cannot be read
        raise ConfigError(f"Cannot read the settings ({FILE} or the environment): {error}") from error


def _explain(error: ValidationError, known: set[str]) -> str:
    lines = []
    for fault in error.errors():
        key = ".".join(str(part) for part in fault["loc"])
        hint = _hint(key, known) if fault["type"] == "extra_forbidden" else ""
        lines.append(f"Setting {key!r}: {fault['msg']}, got {fault['input']!r}.{hint}")
    return "\n".join(lines)


def _hint(key: str, known: set[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(sorted(known))}."

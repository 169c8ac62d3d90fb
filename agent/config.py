"""Settings: flags first, then `SUFFICIT_*` in the environment, then `sufficit.toml`, then defaults."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from policies import Budget

from .config_tiers import KEY_VARIABLE, CacheSection, OverrideSection, TierNames, WebSection, listed
from .errors import ConfigError
from .llm.endpoint import Endpoint, LimitField, OptionalField

PREFIX = "SUFFICIT_"
FILE = Path("sufficit.toml")


class LlmSettings(BaseModel):
    """The language model behind an endpoint, for the planner and the answerer that use one: `[llm]`."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str | None = Field(default=None, description="Base URL, e.g. http://127.0.0.1:8080/v1.")
    model: str | None = Field(default=None, description="The model's name on the server.")
    key: SecretStr | None = Field(default=None, description="From SUFFICIT_LLM_KEY only.")
    timeout_seconds: float = Field(
        default=30.0, gt=0, allow_inf_nan=False, description="Longest wait for one answer, all attempts together."
    )
    attempts: int = Field(default=3, ge=1, le=10, description="Most attempts for one reply.")
    max_tokens: int = Field(default=500, ge=1, description="Longest completion.")
    context_tokens: int = Field(default=3_000, ge=200, description="For the passages of one prompt.")
    seed: int = Field(default=0, description="Sent to the server.")
    without: Annotated[frozenset[OptionalField], NoDecode, BeforeValidator(listed)] = Field(
        default=frozenset(),
        description="Fields that the server refuses: logprobs, response_format, seed, temperature.",
    )
    limit_field: LimitField = Field(default="max_tokens", description="The server's name for the limit on tokens.")

    def endpoint(self) -> Endpoint:
        """Where to call.

        Raises:
            ConfigError: no url or no model is set, or one that cannot work.
        """
        if self.url is None or self.model is None:
            raise ConfigError(
                'A planner or answerer "llm", a policy llm-..., and a benchmark\'s generator or scorer "endpoint" '
                "need an endpoint. Set url and model under [llm] in sufficit.toml, or SUFFICIT_LLM_URL and "
                "SUFFICIT_LLM_MODEL; a key, if the server wants one, in SUFFICIT_LLM_KEY."
            )
        return Endpoint(
            url=self.url,
            model=self.model,
            key=self.key,
            timeout_seconds=self.timeout_seconds,
            attempts=self.attempts,
            seed=self.seed,
            without=self.without,
            limit_field=self.limit_field,
        )


class Settings(BaseSettings):
    """Everything that a search can be told from outside. Unknown keys are refused.

    Use `load_settings`, which turns every fault into a `ConfigError`.
    """

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="_",
        env_nested_max_split=1,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        toml_file=FILE,
    )

    tiers: TierNames = Field(default=("local",), description="Where to search, in order: local, cache, web.")
    index: Path | None = Field(default=None, description="Folder of the local index.")
    k: int = Field(default=5, ge=1, le=1000, description="Passages that one call asks for.")
    policy: str | None = Field(
        default=None,
        description="When to stop: bars (the default), band, threshold, fixed-6, see docs/policies.md.",
    )
    certificate: Path | None = Field(default=None, description="Of sufficit calibrate: its policy decides.")
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
    queries_per_turn: int = Field(
        default=1, ge=1, le=2, description="Queries that are asked before each decision."
    )
    max_turns: int | None = Field(default=6, ge=0)
    max_calls: int | None = Field(default=6, ge=0)
    max_seconds: float | None = Field(default=120.0, ge=0, allow_inf_nan=False)
    max_tokens: int | None = Field(default=None, ge=0, description="Tokens of language models in one search.")
    max_fetches: int | None = Field(default=None, ge=0, description="Requests to origins in one search.")
    max_age: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Oldest content of use from cache and web, in seconds.",
    )
    tenant: str | None = Field(default=None, min_length=1, description="Whose part of the cache is used.")
    planner: Literal["gap", "llm"] = Field(default="gap", description="What plans the queries.")
    answerer: Literal["extractive", "llm"] = Field(default="extractive", description="What answers.")
    llm: LlmSettings = Field(default_factory=LlmSettings)
    web: WebSection = Field(default_factory=WebSection)
    cache: CacheSection = Field(default_factory=CacheSection)
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
        return init_settings, env_settings, _File(settings_cls)

    @property
    def budget(self) -> Budget:
        """The budget of one search."""
        return Budget(
            max_turns=self.max_turns,
            max_calls=self.max_calls,
            max_seconds=self.max_seconds,
            max_tokens=self.max_tokens,
            max_fetches=self.max_fetches,
        )


class _File(TomlConfigSettingsSource):
    """`sufficit.toml`, in which a secret is refused: such files are shared and committed."""

    def __call__(self) -> dict[str, Any]:
        data = super().__call__()
        if isinstance(data.get("llm"), dict) and "key" in data["llm"]:
            raise ConfigError(
                f"{FILE} holds a key. Keys are read from the environment only: delete it there and set "
                "SUFFICIT_LLM_KEY; if the file was shared, replace the key too."
            )
        return data


_SECTIONS: Mapping[str, type[BaseModel]] = {"llm": LlmSettings, "web": WebSection, "cache": CacheSection}
_KEYS = frozenset({KEY_VARIABLE})
"""Secrets that are no settings: whoever needs one reads it from the environment at each use."""


def load_settings(flags: Mapping[str, Any] | None = None) -> Settings:
    """Read all sources. A flag whose value is None was not given.

    Raises:
        ConfigError: an unknown key, a value out of range, or a `sufficit.toml` that is no TOML.
    """
    _check_environment()
    try:
        return Settings(**{key: value for key, value in (flags or {}).items() if value is not None})
    except ConfigError:
        raise
    except ValidationError as error:
        raise ConfigError(_explain(error)) from error
    except (ValueError, OSError) as error:  # a file that is no TOML, or cannot be read
        raise ConfigError(f"Cannot read the settings ({FILE} or the environment): {error}") from error


def _check_environment() -> None:
    own = Settings.model_fields.keys() - _SECTIONS.keys()
    known = own | {f"{section}_{name}" for section, model in _SECTIONS.items() for name in model.model_fields}
    for name in os.environ:
        key = name.removeprefix(PREFIX).lower()
        if name.startswith(PREFIX) and key not in known and name not in _KEYS:
            section = next((one for one in _SECTIONS if key.startswith(f"{one}_")), "")
            names = _SECTIONS[section].model_fields.keys() if section else known
            start = f"{section}_" if section else ""
            hint = _hint(key.removeprefix(start), names, prefix=PREFIX + start.upper(), upper=True)
            raise ConfigError(f"Unknown setting {name} in the environment.{hint}")


def _explain(error: ValidationError) -> str:
    lines = []
    for fault in error.errors():
        key = ".".join(str(part) for part in fault["loc"])
        unknown = fault["type"] == "extra_forbidden"  # its value may be a key in the wrong place
        hint = _hint_in_file(key) if unknown else ""
        got = "" if unknown or _may_hold_key(key) else f", got {fault['input']!r}"
        lines.append(f"Setting {key!r}: {fault['msg']}{got}.{hint}")
    return "\n".join(lines)


def _hint_in_file(key: str) -> str:
    """What to write into the file in place of `key`, with `llm.` in front of one that stands under [llm]."""
    section, _, name = key.rpartition(".")
    for variable, names in {"SUFFICIT_LLM_KEY": {"key", "llm_key"}, KEY_VARIABLE: {"brave_key"}}.items():
        if name in names:
            return f" Delete it there: a key is read from {variable} in the environment only."
    if section in _SECTIONS:
        return _hint(name.removeprefix(f"{section}_"), _names_in(section))
    for other in () if section else _SECTIONS:
        if (bare := name.removeprefix(f"{other}_")) in _names_in(other):
            return f" Did you mean {bare} under [{other}]?"
    return _hint(name, OverrideSection.model_fields if section else Settings.model_fields)


def _names_in(section: str) -> set[str]:
    """What may stand in a section of the file."""
    return _SECTIONS[section].model_fields.keys() - {"key"}


def _may_hold_key(setting: str) -> bool:
    """Whether the value of a section, or of a setting in it that is not known, may be or hold a key."""
    section, _, name = setting.partition(".")
    if section not in _SECTIONS:
        return False
    return name in {"key", "brave"} or name.partition(".")[0] not in _SECTIONS[section].model_fields


def _hint(key: str, known: Iterable[str], *, prefix: str = "", upper: bool = False) -> str:
    """The nearest of the known names as it is to be written, else all of them."""
    near = difflib.get_close_matches(key, list(known), n=1)
    names = [prefix + (name.upper() if upper else name) for name in near or sorted(known)]
    return f" Did you mean {names[0]}?" if near else f" Known: {', '.join(names)}."

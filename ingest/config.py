"""handbook.toml: the sources of the handbook, its acronyms and its synonyms."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from ingest.errors import ConfigurationError
from ingest.settings import IngestSettings
from ingest.sources.configuration import (
    KINDS,
    AnySourceTable,
    FolderTable,
    SourceTable,
    Text,
    absolute,
)
from ingest.synonyms import COMMON_ACRONYMS, SynonymTable

FOLDER_PREFIX = "folder:"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SynonymsConfig(_Table):
    """The `[synonyms]` table: groups of expressions that count as each other."""

    groups: tuple[tuple[Text, ...], ...] = ()


class AudienceConfig(_Table):
    """One `[audiences.NAME]` table: who in Slack may read what is limited to this audience.

    Attributes:
        user_groups: Ids of user groups (S…): their members.
        users: Ids of people (U… or W…).
        channels: Ids of channels (C… or G…): what is said there may use these pages, so
            everybody there may read them.
    """

    user_groups: frozenset[Text] = frozenset()
    users: frozenset[Text] = frozenset()
    channels: frozenset[Text] = frozenset()


class PriceConfig(_Table):
    """One `[prices.MODEL]` table: what a million tokens of a chat model cost.

    Attributes:
        input: For tokens that the model reads.
        output: For those that it writes.
    """

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    currency: Text = "USD"


class HandbookConfig(_Table):
    """The whole file; an absent one is empty."""

    sources: tuple[AnySourceTable, ...] = ()
    audiences: dict[Text, AudienceConfig] = Field(default_factory=dict)
    acronyms: dict[Text, Text] = Field(default_factory=dict)
    synonyms: SynonymsConfig = SynonymsConfig()
    prices: dict[Text, PriceConfig] = Field(default_factory=dict)

    def synonym_table(self) -> SynonymTable:
        """Return the acronyms everybody uses, this handbook's own over them, and its synonyms."""
        return SynonymTable.of(
            acronyms={**COMMON_ACRONYMS, **self.acronyms}, groups=self.synonyms.groups
        )


def load_config(settings: IngestSettings) -> HandbookConfig:
    """Read the file that HANDBOOK_CONFIG names.

    Raises:
        ConfigurationError: Naming the file, the table and the key that is wrong.
    """
    path = settings.handbook_config
    try:
        content = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return HandbookConfig()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read {path}: {error}") from error
    try:
        config = HandbookConfig.model_validate(tomllib.loads(content))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}") from error
    except ValidationError as error:
        problems = "; ".join(_explain(detail) for detail in error.errors())
        raise ConfigurationError(f"{path}: {problems}") from error
    folder = path.resolve().parent
    sources = tuple(source.beside(folder) for source in config.sources)
    _check_names(sources, str(path))
    return config.model_copy(update={"sources": sources})


def select_sources(
    specs: Sequence[str], config: HandbookConfig, settings: IngestSettings
) -> tuple[SourceTable, ...]:
    """Choose the sources to sync.

    Args:
        specs: `folder:PATH` or names of configured sources; empty means every configured one.
        config: As loaded.
        settings: To name the configuration file in errors.

    Raises:
        ConfigurationError: If there is nothing to sync, a name is unknown, or two folders would
            be stored under one name.
    """
    if not specs:
        if config.sources:
            return config.sources
        where = settings.handbook_config
        state = "names no source" if where.exists() else "does not exist"
        raise ConfigurationError(
            f"there is nothing to ingest: {where} {state}; give --source folder:PATH, or add a"
            f" [[sources]] table to {where} (deploy/handbook.example.toml shows one)"
        )
    chosen = dict.fromkeys(source_from_spec(spec, config, settings) for spec in specs)
    _check_names((*config.sources, *(s for s in chosen if s not in config.sources)), "--source")
    return tuple(chosen)


def source_from_spec(spec: str, config: HandbookConfig, settings: IngestSettings) -> SourceTable:
    """Resolve one SPEC of the command line.

    A `folder:` that is the folder of a configured source means that source.

    Raises:
        ConfigurationError: If the name is unknown or the folder's path is empty.
    """
    if spec.startswith(FOLDER_PREFIX):
        given = spec.removeprefix(FOLDER_PREFIX)
        if not given:
            raise ConfigurationError("--source folder: needs a path, as in folder:handbook")
        path = absolute(Path(given), Path.cwd())
        folders = (source for source in config.sources if isinstance(source, FolderTable))
        configured = next((source for source in folders if source.path == path), None)
        return configured or FolderTable.model_construct(name=path.name or "root", path=path)
    for source in config.sources:
        if source.name == spec:
            return source
    names = ", ".join(source.name for source in config.sources) or "none"
    raise ConfigurationError(
        f"no source is named {spec!r} in {settings.handbook_config} (it has: {names}); a folder is"
        f" given as folder:{spec}"
    )


def _check_names(sources: Sequence[SourceTable], where: str) -> None:
    places: dict[str, str] = {}
    for source in sources:
        if source.name in places:
            raise ConfigurationError(
                f"{where}: two sources are named {source.name!r} ({places[source.name]} and"
                f" {source.place}); each would remove the other's pages: give one of them another"
                " name in handbook.toml"
            )
        places[source.name] = source.place


_NAMED_TABLES = ("audiences", "prices")
_SECRETS = ("token", "password", "secret", "api_key")


def _explain(detail: ErrorDetails) -> str:
    """Name the table and the key: `[[sources]] 2: pth is not a known key`."""
    location = list(detail["loc"])
    table = ""
    if location[0] == "sources" and len(location) > 1:
        table = f"[[sources]] {int(location[1]) + 1}: "
        location = location[2:]
        if location and location[0] in KINDS:  # pydantic names the kind it took the table for
            location = location[1:]
    elif len(location) > 1:
        parts = location[:-1] if location[0] in _NAMED_TABLES else location[:1]
        table = f"[{'.'.join(map(str, parts))}]: "
        location = location[len(parts) :]
    key = ".".join(str(part) for part in location)
    return f"{table}{key} {_wrong(detail)}".strip()


def _wrong(detail: ErrorDetails) -> str:
    key = str(detail["loc"][-1])
    match detail["type"]:
        case "extra_forbidden" if key in _SECRETS:
            return "is not a known key: secrets stand in the environment, see token_env"
        case "extra_forbidden":
            return "is not a known key"
        case "missing":
            return "is missing"
        case "union_tag_invalid" | "union_tag_not_found":
            return f"type is wrong: it is one of {', '.join(KINDS)}"
    message = detail["msg"]
    return f"is wrong: {message[0].lower()}{message[1:]}"

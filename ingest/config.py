"""handbook.toml: the sources of the handbook, its acronyms and its synonyms."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)
from pydantic_core import ErrorDetails

from ingest.errors import ConfigurationError
from ingest.records import EVERYONE
from ingest.settings import IngestSettings
from ingest.synonyms import COMMON_ACRONYMS, SynonymTable

FOLDER_PREFIX = "folder:"

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _one_or_many(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _without_separator(name: str) -> str:
    if ":" in name:
        raise ValueError("a name cannot contain `:`")
    return name


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceConfig(_Table):
    """One `[[sources]]` table.

    Attributes:
        name: Shown to people and stored with each page; unique.
        type: Kind of connector.
        path: Folder of the pages; relative paths start at handbook.toml.
        url: Template of the pages' links.
        include: Globs of the files to take; none: every readable kind.
        exclude: Globs of the files to leave out.
        audience: Who may read the pages; none: everyone.
    """

    name: Annotated[Text, AfterValidator(_without_separator)]
    type: Literal["folder"] = "folder"
    path: Path
    url: Text | None = None
    include: tuple[Text, ...] = ()
    exclude: tuple[Text, ...] = ()
    audience: Annotated[tuple[Text, ...], BeforeValidator(_one_or_many)] = (EVERYONE,)

    @property
    def fingerprint(self) -> str:
        """Return what changes whenever unchanged pages get another link or audience."""
        shown = f"{self.url}\n{sorted(self.audience)}"
        return hashlib.sha256(shown.encode()).hexdigest()[:8]


class SynonymsConfig(_Table):
    """The `[synonyms]` table: groups of expressions that count as each other."""

    groups: tuple[tuple[Text, ...], ...] = ()


class HandbookConfig(_Table):
    """The whole file; an absent one is empty."""

    sources: tuple[SourceConfig, ...] = ()
    acronyms: dict[Text, Text] = Field(default_factory=dict)
    synonyms: SynonymsConfig = SynonymsConfig()

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
    sources = tuple(
        source.model_copy(update={"path": _absolute(source.path, folder)})
        for source in config.sources
    )
    _check_names(sources, str(path))
    return config.model_copy(update={"sources": sources})


def select_sources(
    specs: Sequence[str], config: HandbookConfig, settings: IngestSettings
) -> tuple[SourceConfig, ...]:
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


def source_from_spec(spec: str, config: HandbookConfig, settings: IngestSettings) -> SourceConfig:
    """Resolve one SPEC of the command line.

    A `folder:` that is the folder of a configured source means that source.

    Raises:
        ConfigurationError: If the name is unknown or the folder's path is empty.
    """
    if spec.startswith(FOLDER_PREFIX):
        given = spec.removeprefix(FOLDER_PREFIX)
        if not given:
            raise ConfigurationError("--source folder: needs a path, as in folder:handbook")
        path = _absolute(Path(given), Path.cwd())
        configured = next((source for source in config.sources if source.path == path), None)
        return configured or SourceConfig.model_construct(name=path.name or "root", path=path)
    for source in config.sources:
        if source.name == spec:
            return source
    names = ", ".join(source.name for source in config.sources) or "none"
    raise ConfigurationError(
        f"no source is named {spec!r} in {settings.handbook_config} (it has: {names}); a folder is"
        f" given as folder:{spec}"
    )


def _absolute(path: Path, folder: Path) -> Path:
    return (folder / path.expanduser()).resolve()


def _check_names(sources: Sequence[SourceConfig], where: str) -> None:
    paths: dict[str, Path] = {}
    for source in sources:
        if source.name in paths:
            raise ConfigurationError(
                f"{where}: two sources are named {source.name!r} ({paths[source.name]} and"
                f" {source.path}); each would remove the other's pages: give one of them another"
                " name in handbook.toml"
            )
        paths[source.name] = source.path


def _explain(detail: ErrorDetails) -> str:
    """Name the table and the key: `[[sources]] 2: pth is not a known key`."""
    location = list(detail["loc"])
    table = ""
    if location[0] == "sources" and len(location) > 1:
        table = f"[[sources]] {int(location[1]) + 1}: "
        location = location[2:]
    elif len(location) > 1:
        table = f"[{location[0]}]: "
        location = location[1:]
    key = ".".join(str(part) for part in location)
    wrong = "is not a known key" if detail["type"] == "extra_forbidden" else _message(detail)
    return f"{table}{key} {wrong}".strip()


def _message(detail: ErrorDetails) -> str:
    if detail["type"] == "missing":
        return "is missing"
    message = detail["msg"]
    return f"is wrong: {message[0].lower()}{message[1:]}"

"""`manuel doctor`: checks each part of an installation and says what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from bot.settings import BotSettings
from ingest import (
    EVERYONE,
    ConfigurationError,
    HandbookError,
    IndexNotBuiltError,
    check_sources,
    load_config,
    open_embedder,
    open_reader,
)


class State(StrEnum):
    """Outcome of a check. Only `failed` makes the command fail."""

    OK = "ok"
    OFF = "off"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report: what was checked, how it is, and what to do if not ok."""

    name: str
    state: State
    detail: str
    remedy: str = ""


def examine(settings: BotSettings) -> list[Check]:
    """Run every check; one that raises is reported, never propagated."""
    checks: list[tuple[str, Callable[[BotSettings], list[Check]]]] = [
        ("configuration", _check_configuration),
        ("sources", _check_sources),
        ("index", _check_index),
        ("audiences", _check_audiences),
        ("encoder", _check_encoder),
        ("model", _check_model),
        ("slack", _check_slack),
    ]
    report: list[Check] = []
    for name, check in checks:
        try:
            report.extend(check(settings))
        except HandbookError as error:
            report.append(Check(name, State.FAILED, " ".join(str(error).split())))
    return report


def _check_configuration(settings: BotSettings) -> list[Check]:
    config = load_config(settings)
    path = settings.handbook_config
    if not config.sources:
        detail = f"{path} names no source" if path.exists() else f"{path} does not exist"
        remedy = (
            "add a [[sources]] table (deploy/handbook.example.toml shows one),"
            " or give `manuel ingest --source folder:PATH`"
        )
        return [Check("configuration", State.WARNING, detail, remedy)]
    names = ", ".join(source.name for source in config.sources)
    return [Check("configuration", State.OK, f"{path}: {names}")]


def _check_sources(settings: BotSettings) -> list[Check]:
    try:
        found = check_sources(settings)
    except ConfigurationError:
        return []  # the check of the configuration says so
    return [
        Check(
            f"source {source.name}",
            State.OK if source.ok else State.FAILED,
            source.detail,
            f"its owner is {source.owner}" if source.owner and not source.ok else "",
        )
        for source in found
    ]


def _check_index(settings: BotSettings) -> list[Check]:
    try:
        with open_reader(settings) as reader:
            status = reader.status()
    except IndexNotBuiltError:
        return [Check("index", State.WARNING, "not built yet", "run `manuel ingest`")]
    if not status.chunks:
        return [Check("index", State.WARNING, "empty", "run `manuel ingest`")]
    detail = f"{status.pages} pages, {status.chunks} chunks"
    if settings.embedding_model != "none" and status.embedded_chunks < status.chunks:
        missing = status.chunks - status.embedded_chunks
        return [
            Check(
                "index",
                State.WARNING,
                f"{detail}, {missing} without a vector",
                "run `manuel ingest` to complete them",
            )
        ]
    return [Check("index", State.OK, detail)]


def _check_audiences(settings: BotSettings) -> list[Check]:
    """Find pages that nobody in Slack can be shown, as nobody is named for their audience."""
    try:
        with open_reader(settings) as reader:
            pages = reader.pages_by_audience()
    except IndexNotBuiltError:
        return []
    known = {EVERYONE, *load_config(settings).audiences}
    unknown = [name for name in pages if name.rpartition("/")[2] not in known]
    if not unknown:
        return []
    counts = ", ".join(f"{pages[name]} for {name or 'nobody'}" for name in unknown)
    remedy = "name them in [audiences.NAME] of handbook.toml, or correct the pages"
    detail = f"pages that nobody in Slack is shown: {counts}"
    return [Check("audiences", State.WARNING, detail, remedy)]


def _check_encoder(settings: BotSettings) -> list[Check]:
    embedder = open_embedder(settings)
    if embedder is None:
        return [Check("encoder", State.OFF, "EMBEDDING_MODEL=none: keyword search alone")]
    embedder.embed_query("bonjour")
    try:
        with open_reader(settings) as reader:
            active = reader.status().fingerprint
    except IndexNotBuiltError:
        active = None
    if active is not None and active != embedder.fingerprint:
        return [
            Check(
                "encoder",
                State.WARNING,
                f"the index holds vectors of another model ({active})",
                "run `manuel ingest`: it embeds again, then switches",
            )
        ]
    return [
        Check("encoder", State.OK, f"{settings.embedding_model}, {embedder.dimension} dimensions")
    ]


def _check_model(settings: BotSettings) -> list[Check]:
    if not settings.answer_model:
        return [Check("model", State.OFF, "ANSWER_MODEL is empty: answers are quoted, not written")]
    # Imported on demand: nothing else here needs the openai package.
    from bot.answering.llm import check_endpoint

    return [Check("model", State.OK, check_endpoint(settings))]


def _check_slack(settings: BotSettings) -> list[Check]:
    tokens = (settings.slack_bot_token, settings.slack_app_token, settings.slack_client_id)
    if not any(tokens):
        return [
            Check(
                "slack",
                State.OFF,
                "no token set: the command line works without Slack",
                "to serve, create the app from deploy/ and set its tokens (docs/deployment.md)",
            )
        ]
    from bot.slack.connection.diagnosis import diagnose

    return [
        Check(found.name, State.OK if found.ok else State.FAILED, found.detail, found.remedy)
        for found in diagnose(settings)
    ]

"""The commands of `manuel`: each only translates between a person or script and the program."""

from __future__ import annotations

import asyncio
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from bot.batch import read_batch, to_json, write_line
from bot.records import Question
from bot.settings import BotSettings
from ingest import PUBLIC, Audiences, ConfigurationError, HandbookError

app = typer.Typer(
    name="manuel",
    help="Answers from the company handbook, with exact sources, or says it does not know.",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AudienceOption = Annotated[
    list[str] | None,
    typer.Option(help="Also read pages limited to this audience; may be repeated."),
]
BatchOption = Annotated[
    Path | None, typer.Option(help="Take questions from a JSON Lines file; `-` is standard input.")
]


class Mode(StrEnum):
    """Which legs a search uses."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    VECTOR = "vector"


@app.callback()
def _options(
    debug: Annotated[  # handled in __main__, declared here for --help
        bool, typer.Option("--debug", help="Show a traceback when something fails.")
    ] = False,
) -> None:
    pass


def load_settings() -> BotSettings:
    """Read the settings.

    Raises:
        ConfigurationError: Naming each variable that is wrong.
    """
    try:
        return BotSettings()
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc'])).upper()}: {e['msg']}" for e in error.errors()
        )
        raise ConfigurationError(f"wrong settings: {problems}") from error


@app.command()
def ingest(
    source: Annotated[
        list[str] | None,
        typer.Option(help="`folder:PATH` or a source's name; may be repeated. Default: all."),
    ] = None,
    dry_run: Annotated[bool, typer.Option(help="Say what would change, change nothing.")] = False,
    full: Annotated[bool, typer.Option(help="Read every page again.")] = False,
    allow_removals: Annotated[
        bool, typer.Option(help="Go on with a sync that removes a large part of a source.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Bring the index up to date with the handbook."""
    from ingest.console import ingest_command

    return ingest_command(
        load_settings(),
        specs=tuple(source or ()),
        dry_run=dry_run,
        full=full,
        allow_removals=allow_removals,
        as_json=json,
    )


@app.command()
def ask(
    question: Annotated[str | None, typer.Argument(help="What you want to know.")] = None,
    batch: BatchOption = None,
    audience: AudienceOption = None,
    context: Annotated[
        list[str] | None, typer.Option(help="An earlier question of the thread; may be repeated.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Answer a question, or a file of questions, with exact sources."""
    from bot.app import build_answerer
    from bot.console import print_outcome
    from bot.serialization import outcome_to_json

    audiences = _audiences(audience)
    if (question is None) == (batch is None):
        raise ConfigurationError("give either a question or --batch FILE")
    lines = read_batch(batch) if batch is not None else []
    with build_answerer(load_settings()) as answerer:
        if question is not None:
            asked = Question(question, tuple(context or ()))
            outcome = answerer.answer(asked, audiences=audiences)
            if json:
                sys.stdout.write(to_json(outcome_to_json(None, asked, outcome), indent=2) + "\n")
            else:
                print_outcome(outcome)
            return 0
        failures = 0
        for line in lines:
            try:
                outcome = answerer.answer(line.question, audiences=audiences)
            except HandbookError as error:
                failures += 1
                write_line(_failure(line.line_id, line.question, error), sys.stdout)
                continue
            write_line(outcome_to_json(line.line_id, line.question, outcome), sys.stdout)
    return _batch_status(failures, len(lines))


@app.command()
def search(
    terms: Annotated[str | None, typer.Argument(help="What to look for.")] = None,
    batch: BatchOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Passages to show.")] = 10,
    mode: Annotated[Mode, typer.Option(help="Which legs to use.")] = Mode.HYBRID,
    explain: Annotated[bool, typer.Option(help="Show what each leg and word contributed.")] = False,
    audience: AudienceOption = None,
    json: JsonOption = False,
) -> int:
    """Rank the passages that match."""
    from bot.app import build_searcher
    from bot.console import print_search
    from bot.serialization import search_to_json

    audiences = _audiences(audience)
    if (terms is None) == (batch is None):
        raise ConfigurationError("give either terms or --batch FILE")
    lines = read_batch(batch, text_keys=("query", "question", "terms")) if batch is not None else []
    failures = 0
    with build_searcher(load_settings()) as searcher:
        if terms is not None:
            found = searcher.search(
                Question(terms), mode=mode.value, limit=limit, explain=explain, audiences=audiences
            )
            if json:
                sys.stdout.write(to_json(search_to_json(found), indent=2) + "\n")
            else:
                print_search(found)
            return 0
        for line in lines:
            try:
                found = searcher.search(
                    line.question,
                    mode=mode.value,
                    limit=limit,
                    explain=explain,
                    audiences=audiences,
                )
            except HandbookError as error:
                failures += 1
                write_line(_failure(line.line_id, line.question, error), sys.stdout)
                continue
            write_line({"id": line.line_id, **search_to_json(found)}, sys.stdout)
    return _batch_status(failures, len(lines))


@app.command()
def serve() -> int:
    """Run the Slack app and the scheduled sync until stopped."""
    from bot.slack.app import serve as serve_slack

    asyncio.run(serve_slack(load_settings()))
    return 0


@app.command()
def status(json: JsonOption = False) -> int:
    """Show the index, its sources, their last runs and the schedule."""
    from ingest.console import status_command

    return status_command(load_settings(), as_json=json)


@app.command()
def doctor(json: JsonOption = False) -> int:
    """Check configuration, index, encoder, model and Slack, and say what to do."""
    from bot.console import print_checks
    from bot.doctor import State, examine

    checks = examine(load_settings())
    if json:
        records = [
            {"name": c.name, "state": c.state.value, "detail": c.detail, "remedy": c.remedy or None}
            for c in checks
        ]
        sys.stdout.write(to_json({"checks": records}, indent=2) + "\n")
    else:
        print_checks(checks)
    return 1 if any(check.state is State.FAILED for check in checks) else 0


@app.command(name="eval")
def evaluate(
    file: Annotated[Path, typer.Argument(help="Question file (JSON Lines with gold pages).")],
    json: JsonOption = False,
) -> int:
    """Score a question file on the current index, by kind."""
    from bot.app import build_answerer
    from bot.console import evaluation_progress, print_evaluation
    from bot.evaluation import evaluate as run_evaluation
    from bot.evaluation import read_questions

    questions = read_questions(file)
    with build_answerer(load_settings()) as answerer, evaluation_progress(len(questions)) as tick:
        report = run_evaluation(questions, answerer, progress=tick)
    if json:
        sys.stdout.write(to_json(report.to_json(), indent=2) + "\n")
    else:
        print_evaluation(report)
    return 0


def _audiences(names: list[str] | None) -> Audiences:
    return PUBLIC | frozenset(names or ())


def _failure(
    line_id: str | int | None, question: Question, error: HandbookError
) -> dict[str, object]:
    return {"id": line_id, "question": question.text, "error": " ".join(str(error).split())}


def _batch_status(failures: int, total: int) -> int:
    if failures:
        sys.stderr.write(f"manuel: {failures} of {total} questions failed; see their `error`\n")
        return 1
    return 0

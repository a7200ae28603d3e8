"""The commands of `manuel`: each only translates between a person or script and the program."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot.answering.usage import RunCost, RunMeter, TokenUsage
from bot.batch import BatchLine, read_batch, to_json, write_line
from bot.records import Question
from bot.settings import BotSettings
from ingest import (
    PUBLIC,
    Audiences,
    ConfigurationError,
    HandbookError,
    configure_logging,
    open_embedder,
    read_settings,
)

OPENAI_URL = "https://api.openai.com/v1"
"""Where models are, unless OPENAI_BASE_URL says otherwise."""

app = typer.Typer(
    name="manuel",
    help="Answers from the company handbook, with exact sources, or says it does not know.",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)

feedback_app = typer.Typer(no_args_is_help=True)
app.add_typer(feedback_app, name="feedback", help="What people thought of the answers.")

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


def load_settings(*, quiet: bool = True) -> BotSettings:
    """Read the settings and set up the log: warnings only when `quiet`, unless LOG_LEVEL is set.

    Raises:
        ConfigurationError: Naming each variable that is wrong.
    """
    settings = read_settings(BotSettings)
    chosen = "log_level" in settings.model_fields_set
    level = settings.log_level if chosen or not quiet else "WARNING"
    configure_logging(settings.log_format, level)
    return settings


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
    from ingest import ingest_command

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
    explain: Annotated[
        bool, typer.Option(help="Show what each step found, and why the outcome is what it is.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Answer a question, or a file of questions, with exact sources."""
    from bot.answering.explanation import explanation_to_json
    from bot.app import open_engine_room
    from bot.console import print_explanation, print_outcome
    from bot.serialization import outcome_to_json

    audiences = _audiences(audience)
    lines = _lines(question, batch)
    with open_engine_room(load_settings()) as engine_room:

        def answer(asked: Question, line_id: str | int | None = None) -> dict[str, object]:
            if not explain:
                return outcome_to_json(line_id, asked, engine_room.answer(asked, audiences))
            explanation = engine_room.explain(asked, audiences)
            outcome = outcome_to_json(line_id, asked, explanation.outcome)
            return {**outcome, "explanation": explanation_to_json(explanation)}

        if question is None:
            return _each(lines, answer)
        asked = Question(question, tuple(context or ()))
        if json:
            sys.stdout.write(to_json(answer(asked), indent=2) + "\n")
        elif explain:
            explanation = engine_room.explain(asked, audiences)
            print_outcome(explanation.outcome)
            print_explanation(explanation)
        else:
            print_outcome(engine_room.answer(asked, audiences))
    return 0


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
    from bot.retrieval.search import SearchResults
    from bot.serialization import search_to_json

    audiences = _audiences(audience)
    lines = _lines(terms, batch, text_keys=("query", "question", "terms"))
    with build_searcher(load_settings()) as searcher:

        def find(asked: Question) -> SearchResults:
            return searcher.search(
                asked, mode=mode.value, limit=limit, explain=explain, audiences=audiences
            )

        if terms is None:
            return _each(
                lines, lambda asked, line_id: {"id": line_id, **search_to_json(find(asked))}
            )
        if json:
            sys.stdout.write(to_json(search_to_json(find(Question(terms))), indent=2) + "\n")
        else:
            print_search(find(Question(terms)))
    return 0


@app.command()
def sandbox(
    source: Annotated[
        str, typer.Option(help="`folder:PATH` of a handbook. Default: the sample handbook.")
    ] = "",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page; 0: any free one.")
    ] = 8791,
) -> int:
    """Try the app in a browser, with a local stand-in for Slack."""
    # The only way from here to the stand-in; `serve` never loads it.
    from bot.sandbox.trial import try_folder

    path = Path(source.removeprefix("folder:")) if source else None
    if path is not None and not (source.startswith("folder:") and path.is_dir()):
        raise ConfigurationError(f"--source {source}: give an existing folder, as folder:PATH")
    settings = load_settings()
    model_url = (settings.openai_base_url or OPENAI_URL) if settings.answer_model else ""
    return try_folder(path, port=port, model_url=model_url)


@app.command()
def serve() -> int:
    """Run the Slack app and the scheduled sync until stopped."""
    from bot.slack.app import serve as serve_slack

    asyncio.run(serve_slack(load_settings(quiet=False)))
    return 0


@app.command()
def status(json: JsonOption = False) -> int:
    """Show the index, its sources, their last runs and the schedule."""
    from ingest import status_command

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
    from bot.app import build_answerer, token_price
    from bot.console import evaluation_progress, print_evaluation
    from bot.evaluation import evaluate as run_evaluation
    from bot.evaluation import read_questions

    questions = read_questions(file)
    settings = load_settings()
    meters: list[RunMeter] = []
    started = time.perf_counter()
    with (
        build_answerer(settings, metered=meters.append) as answerer,
        evaluation_progress(len(questions)) as tick,
    ):
        report = run_evaluation(questions, answerer, progress=tick)
    tokens, price = meters[0].usage if meters else TokenUsage(), token_price(settings)
    cost = RunCost(
        settings.answer_model or "extractive",
        tokens,
        time.perf_counter() - started,
        amount=price.of(tokens) if price else None,
        currency=price.currency if price else None,
    )
    if json:
        sys.stdout.write(to_json(report.to_json() | {"cost": asdict(cost)}, indent=2) + "\n")
    else:
        print_evaluation(report, cost)
    return 0


@app.command()
def calibrate(
    file: Annotated[
        Path | None,
        typer.Argument(help="Questions of your own with gold pages, some not answerable."),
    ] = None,
    max_false: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Unanswerable questions that may get an answer."),
    ] = 0.2,
    reset: Annotated[bool, typer.Option("--reset", help="Back to the shipped threshold.")] = False,
    json: JsonOption = False,
) -> int:
    """Fit how sure an answer must be, on your own questions, and keep it with the index."""
    from bot.app import build_answerer, support_model
    from bot.console import evaluation_progress, print_threshold
    from bot.evaluation import read_questions
    from bot.store import Calibration, CalibrationStore, opened
    from bot.thresholds import fit_threshold

    if (file is None) != reset:
        raise ConfigurationError("give either a question file or --reset")
    settings = load_settings()
    with opened(settings.database_url) as engine:
        store = CalibrationStore(engine)
        if file is None:
            gone = store.forget(settings.ranking_models)
            threshold = support_model(settings, open_embedder(settings)).answer_threshold
            if json:
                write_line({"reset": gone, "threshold": threshold}, sys.stdout)
            else:
                sys.stdout.write(f"the shipped threshold is in use: {threshold:.2f}\n")
            return 0
        questions = read_questions(file)
        model = support_model(settings, open_embedder(settings))
        with build_answerer(settings) as answerer, evaluation_progress(len(questions)) as tick:
            fit = fit_threshold(
                questions,
                answerer,
                max_false=max_false,
                current=model.answer_threshold,
                progress=tick,
            )
        store.save(
            Calibration(settings.ranking_models, model.version, fit.after.threshold, len(questions))
        )
    if json:
        write_line(asdict(fit), sys.stdout)
    else:
        print_threshold(fit)
    return 0


@feedback_app.command(name="export")
def export_feedback(
    json: Annotated[bool, typer.Option("--json", help="Print JSON Lines, one per thumb.")] = False,
) -> int:
    """List what people thought of the answers, with the passages that were cited."""
    from bot.console import print_feedback
    from bot.store import FeedbackStore, opened

    with opened(load_settings().database_url) as engine:
        given = FeedbackStore(engine).export()
    if json:
        for record in given:
            write_line(record, sys.stdout)
    else:
        print_feedback(given)
    return 0


@app.command(name="forget-user")
def forget_user(
    user_id: Annotated[str, typer.Argument(help="Their Slack user id (U…).")],
    json: JsonOption = False,
) -> int:
    """Delete what is kept of a person: questions, feedback, private answers."""
    from bot.store import forget_user as forget
    from bot.store import opened

    with opened(load_settings().database_url) as engine:
        gone = asdict(forget(engine, user_id))
    if json:
        write_line(gone, sys.stdout)
    else:
        counts = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in gone.items())
        sys.stdout.write(f"forgotten of {user_id}: {counts}\n")
    return 0


def _audiences(names: list[str] | None) -> Audiences:
    return PUBLIC | frozenset(names or ())


def _lines(
    text: str | None, batch: Path | None, *, text_keys: Sequence[str] = ("question",)
) -> list[BatchLine]:
    """Read the batch, where there is one; exactly one of the two must be given."""
    if (text is None) == (batch is None):
        raise ConfigurationError("give either a text or --batch FILE")
    return read_batch(batch, text_keys=text_keys) if batch is not None else []


def _each(
    lines: Sequence[BatchLine], work: Callable[[Question, str | int | None], dict[str, object]]
) -> int:
    """Write one line per question as soon as it is ready; a failure is a line too."""
    failures = 0
    for line in lines:
        try:
            record = work(line.question, line.line_id)
        except HandbookError as error:
            failures += 1
            reason = " ".join(str(error).split())
            record = {"id": line.line_id, "question": line.question.text, "error": reason}
        write_line(record, sys.stdout)
    if failures:
        sys.stderr.write(
            f"manuel: {failures} of {len(lines)} questions failed; see their `error`\n"
        )
        return 1
    return 0

"""What the commands print for people: answers, rankings, checks and evaluation tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from bot.answering.explanation import Explanation, named_words
from bot.answering.usage import RunCost
from bot.doctor import Check, State
from bot.evaluation import EvaluationReport, render_table
from bot.records import GroundedAnswer, Outcome
from bot.retrieval.search import SearchResults
from bot.thresholds import ThresholdFit

_MARKS = {
    State.OK: ("✓", "green"),
    State.OFF: ("–", "dim"),
    State.WARNING: ("!", "yellow"),
    State.FAILED: ("✗", "red"),
}


def print_outcome(outcome: Outcome) -> None:
    """Print an answer with its sources, or the abstention."""
    console = Console(highlight=False)
    console.print(Text(outcome.text))
    if isinstance(outcome, GroundedAnswer):
        console.print()
        for number, claim in enumerate(outcome.claims, start=1):
            chunk = claim.citation.passage.chunk
            where = " › ".join((chunk.title, *claim.citation.heading_path))
            date = f", {chunk.modified_at:%Y-%m-%d}" if chunk.modified_at else ""
            console.print(Text(f"[{number}] {where}{date}", style="dim"))
            console.print(Text(f"    {chunk.url or chunk.page}", style="dim"))
            if translation := outcome.translations.get(claim.citation.quote):
                said = f"    translated by {translation.model}: {translation.text}"
                console.print(Text(said, style="dim italic"))
    if isinstance(outcome, GroundedAnswer) and outcome.disagreement:
        console.print(Text("(these pages do not give the same figure)", style="yellow"))
    if outcome.degraded:
        console.print(Text(f"({outcome.degraded})", style="yellow"))


def print_explanation(explanation: Explanation) -> None:
    """Print everything behind an outcome, in the order in which it happened."""
    console = Console(highlight=False)

    def line(text: str, *, indent: int = 0, style: str = "") -> None:
        console.print(Padding(Text(text, style=style), (0, 0, 0, indent)))

    line(f"\nread as ({explanation.language}): {explanation.text}", style="bold")
    if (rewriting := explanation.rewriting) is not None:
        refusal = f"by rule, not by {rewriting.model}: {rewriting.refused}"
        line(f"rewritten by {rewriting.model}" if rewriting.text else refusal, indent=2)
    words = named_words(explanation.words, unknown="not indexed")
    line(f"words: {' · '.join(words) or 'none'}", style="cyan")
    for explained in explanation.passages:
        passage = explained.passage
        where = " › ".join((passage.chunk.title, *passage.chunk.heading_path))
        legs = ", ".join(f"{leg} {passage.legs.get(leg) or '–'}" for leg in ("keyword", "vector"))
        second = explained.second_stage
        stages = f"first stage {explained.first_stage:.3f}"
        stages += "" if second is None else f", second stage {second:.3f}"
        line(f"{passage.rank:>3}  {where}  {passage.chunk.page}", style="bold")
        line(f"{legs}, {stages}", indent=5)
        figures = (f"{name} {value:.3f}" for name, value in passage.signals.items())
        line(" · ".join(figures), indent=5, style="dim")
        line("  ".join(f"{w} {v:.2f}" for w, v in explained.terms.items()), indent=5, style="cyan")
    for attempt in explanation.attempts:
        line(f"\ndraft: {attempt.generator}", style="bold")
        for sentence in attempt.passed:
            line(f"passed: {sentence}", indent=2)
        for sentence, reason in attempt.refused:
            line(f"refused ({reason}): {sentence}", indent=2)
        threshold = "–" if attempt.threshold is None else f"{attempt.threshold:.2f}"
        line(f"support {attempt.probability:.2f}, threshold {threshold}: {attempt.support}")
        for reason in attempt.reasons:
            line(reason, indent=2)
        signals = (f"{s.name} {s.value:.3f} × {s.weight:g}" for s in attempt.signals)
        line(" · ".join(signals), indent=2, style="dim")


def print_search(found: SearchResults) -> None:
    """Print ranked passages, with each leg's rank and the words' contributions where known."""
    console = Console(highlight=False)
    if not found.results:
        console.print(Text("no passage matches"))
    for result in found.results:
        chunk = result.passage.chunk
        where = " › ".join((chunk.title, *chunk.heading_path))
        legs = ", ".join(f"{leg} {rank}" for leg, rank in result.passage.legs.items() if rank)
        console.print(
            Text.assemble(
                (f"{result.passage.rank:>3}  ", "bold"),
                (where, "bold"),
                (f"  {chunk.page}  score {result.passage.score:.3f}", "dim"),
                (f"  ({legs})" if legs else "", "dim"),
            )
        )
        excerpt = " ".join(chunk.text.split())
        console.print(
            Padding(Text(excerpt[:300] + ("…" if len(excerpt) > 300 else "")), (0, 0, 0, 5))
        )
        if result.terms:
            words = "  ".join(f"{word} {score:.2f}" for word, score in result.terms.items())
            console.print(Padding(Text(words, style="cyan"), (0, 0, 0, 5)))
    if found.degraded:
        console.print(Text(f"({found.degraded})", style="yellow"))


def print_feedback(given: Sequence[Mapping[str, Any]]) -> None:
    """Print feedback as a table, oldest first."""
    console = Console(highlight=False)
    table = Table("when", "verdict", "question", "outcome", "pages cited", "comment", box=None)
    for record in given:
        reasons = ", ".join(record["reasons"])
        verdict = f"{record['verdict']} ({reasons})" if reasons else record["verdict"]
        cited = dict.fromkeys(p["page"] for p in record["passages"] if p["cited"])
        cells = (
            record["given_at"],
            verdict,
            record["question"] or "",
            record["outcome"] or "",
            "\n".join(cited),
            record["comment"],
        )
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table if given else Text("no feedback yet"))


def print_checks(checks: Sequence[Check]) -> None:
    """Print the doctor's report."""
    console = Console(highlight=False)
    table = Table.grid(padding=(0, 2))
    for check in checks:
        mark, style = _MARKS[check.state]
        detail = check.detail + (f"\n→ {check.remedy}" if check.remedy else "")
        table.add_row(Text(mark, style=style), Text(check.name, style="bold"), Text(detail))
    console.print(table)


@contextmanager
def evaluation_progress(total: int) -> Iterator[Callable[[], None]]:
    """Show a bar on a terminal; yields the function to call after each question."""
    console = Console(stderr=True)
    columns = (TextColumn("questions"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("questions", total=total)
        yield lambda: bar.advance(task)


def print_evaluation(report: EvaluationReport, cost: RunCost) -> None:
    """Print the table by kind, and what it took."""
    console = Console(highlight=False)
    console.print(render_table(report))
    line = f"{cost.generator}: {cost.seconds:.0f} s"
    if cost.tokens.requests:
        tokens, questions = cost.tokens, report.total.n
        line += (
            f", {tokens.requests} requests, {tokens.prompt} tokens read and {tokens.completion}"
            f" written, {tokens.total / questions:.0f} a question"
        )
    if cost.amount is not None:
        line += f", {cost.amount:.4f} {cost.currency}"
    console.print(Text(line, style="dim"))


def print_threshold(fit: ThresholdFit) -> None:
    """Print what the fitted threshold changes on the questions it was fitted to."""
    console = Console(highlight=False)
    table = Table("", "threshold", "correct", "false answers", "right if answered", box=None)
    for name, effect in (("before", fit.before), ("now", fit.after)):
        right = effect.right_when_answering
        table.add_row(
            name,
            f"{effect.threshold:.2f}",
            f"{effect.correct:.0%}",
            f"{effect.false_answers:.0%}",
            "·" if right is None else f"{right:.0%}",
        )
    console.print(table)
    console.print(
        Text(
            f"measured on the {fit.answerable} answerable and {fit.unanswerable} unanswerable"
            " questions it was fitted to: expect a little less on others. A running `manuel serve`"
            " takes it over when it restarts."
        )
    )

"""Public question sets beside the project, as folders of pages and labelled questions."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.evaluation import GoldPassage, LabelledQuestion
from bot.records import Question
from bot.settings import BotSettings

SEED = 20_261_130

_TITLED = re.compile(r"\A---\n.*?\n---\n\s*(?:# [^\n]*\n)?", re.DOTALL)
"""Front matter and first heading of a page."""


@dataclass(frozen=True, slots=True)
class PublicSet:
    """One set of `shared/benchmarks` and how much of it is asked.

    Attributes:
        answerable: Answerable questions sampled, at most.
        unanswerable: Unanswerable questions sampled, at most.
        standalone_only: Leave out questions that only make sense beside their paragraph.
        language: Only pages of this language, and questions whose answer is in it.
        documents: Indexed, at most: those that answer the sample, then others by chance.
        candidates: Index what the set gives each question to choose from, and nothing else; which
            of it answers is not told, so that only abstention can be judged.
        handbook: Folder of `shared/corpora` that holds the documents, where the set has none. Their
            titles, which are the questions, are left out.
    """

    folder: str
    answerable: int
    unanswerable: int
    standalone_only: bool = False
    language: str | None = None
    documents: int | None = None
    candidates: bool = False
    handbook: str | None = None


PUBLIC_SETS = {
    "piaf": PublicSet("piaf-fr", 60, 60, standalone_only=True),
    "clapnq": PublicSet("clapnq-dev-en", 60, 60),
    "cnil": PublicSet("cnil-faq-fr", 60, 9),
    # The same question is answered for one agreement and not for another.
    "cdtn": PublicSet("cdtn-conventions-fr", 80, 60, documents=1_000),
    "spf": PublicSet(
        "service-public-questions-fr", 80, 60, documents=150, handbook="service-public"
    ),
    # Turns of conversations.
    "mtrag": PublicSet("mtrag-un-en", 60, 60, documents=600),
    "nomiracl-fr": PublicSet("nomiracl-fr", 60, 60, candidates=True),
    "nomiracl-en": PublicSet("nomiracl-en", 60, 60, candidates=True),
    # Asked in the other language than that of the pages.
    "gc-fr-to-en": PublicSet("gc-crosslingual-fr-en", 120, 0, language="en"),
    "gc-en-to-fr": PublicSet("gc-crosslingual-fr-en", 120, 0, language="fr"),
}


def index_settings(name: str, work: Path) -> BotSettings:
    """Return the settings of the index that a set or a handbook has in the work folder."""
    return BotSettings(
        database_url=f"sqlite:///{work / name}.db", handbook_config=work / "absent.toml"
    )


def write_pages(shared: Path, public_set: PublicSet, target: Path) -> None:
    """Write each indexed document of a set as a Markdown page under `target`."""
    target.mkdir(parents=True, exist_ok=True)
    documents = dict(_documents(shared, public_set))
    for document_id in _indexed(shared, public_set, list(documents)):
        path = target / page_name(document_id)
        path.write_text(f"{documents[document_id]}\n", encoding="utf-8")


def _documents(shared: Path, public_set: PublicSet) -> Iterator[tuple[str, str]]:
    """Read each document of a set: its id, and its Markdown."""
    if public_set.handbook is not None:
        folder = shared / "corpora" / public_set.handbook
        for path in sorted(folder.rglob("*.md")):
            page = _TITLED.sub("", path.read_text(encoding="utf-8"), count=1)
            yield path.relative_to(folder).as_posix(), page
        return
    for record in _records(shared / "benchmarks" / public_set.folder / "corpus.jsonl"):
        if public_set.language not in (None, record.get("lang")):
            continue
        title = record["title"].replace("\n", " ").strip()
        heading = f"# {title}\n\n" if title else ""
        yield record["id"], f"{heading}{record['text']}"


def _indexed(shared: Path, public_set: PublicSet, document_ids: Sequence[str]) -> Sequence[str]:
    if public_set.candidates:
        given = {d for record in _sample(shared, public_set) for d in record["candidate_doc_ids"]}
        return sorted(given.intersection(document_ids))
    if public_set.documents is None:
        return document_ids
    asked = {
        document_id
        for record in _sample(shared, public_set)
        for document_id in record["gold_doc_ids"]
    }
    others = [document_id for document_id in document_ids if document_id not in asked]
    random.Random(SEED).shuffle(others)  # noqa: S311 - see `_sample`
    return [*sorted(asked), *others][: max(len(asked), public_set.documents)]


def read_public_questions(shared: Path, public_set: PublicSet) -> list[LabelledQuestion]:
    """Sample the questions of a set, always the same ones."""
    return [_labelled(record) for record in _sample(shared, public_set)]


def gold_pages(shared: Path, public_set: PublicSet) -> frozenset[str]:
    """Return the pages that answer the sample of a set, by their file name."""
    questions = read_public_questions(shared, public_set)
    return frozenset(gold.page for question in questions for gold in question.gold)


def _sample(shared: Path, public_set: PublicSet) -> list[Mapping[str, Any]]:
    path = shared / "benchmarks" / public_set.folder / "queries.jsonl"
    records = [
        record
        for record in _records(path)
        if (not public_set.standalone_only or _stands_alone(record))
        and public_set.language in (None, record.get("gold_lang"))
    ]
    chosen: list[Mapping[str, Any]] = []
    for answerable, count in (
        (True, public_set.answerable),
        (False, public_set.unanswerable),
    ):
        pool = [r for r in records if r["answerable"] is answerable]
        # Sampling for a benchmark: repeatable, nothing to do with security.
        chosen += random.Random(SEED).sample(pool, min(count, len(pool)))  # noqa: S311
    return chosen


def page_name(document_id: str) -> str:
    """Return the file name of a document: its id, with what no file name takes replaced."""
    return re.sub(r"[^\w.-]", "_", document_id) + ".md"


def _labelled(record: Mapping[str, Any]) -> LabelledQuestion:
    sentences = [s for group in record.get("gold_sentences") or () for s in group]
    context = tuple(
        turn["text"] for turn in record.get("history") or () if turn.get("speaker") == "user"
    )
    return LabelledQuestion(
        question_id=str(record["id"]),
        question=Question(record["text"], context),
        answerable=record["answerable"],
        gold=tuple(GoldPassage(page_name(d), "") for d in record["gold_doc_ids"]),
        # Only short answers can be looked for; without one, citing the gold page is the test.
        answer_any=tuple(sentences or (a for a in record["answers"] if len(a.split()) <= 8)),
        kind="answerable" if record["answerable"] else "unanswerable",
    )


def _stands_alone(record: Mapping[str, Any]) -> bool:
    return bool(record.get("standalone_guess", True))


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)

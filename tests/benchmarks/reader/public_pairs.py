"""Makes pairs for a reader from the public question sets, one function a set.

Only `shared/benchmarks` is read, and the pages that its service-public set asks about. What a set's
questions teach differs: which kinds are made of each is told by its function.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ingest import fold
from tests.benchmarks.public_sets import PUBLIC_SETS, gold_pages, read_public_questions
from tests.benchmarks.reader.lookup import Document, Lookup
from tests.benchmarks.reader.near_misses import changed_condition, names_in
from tests.benchmarks.reader.pairs import Pair, records
from tests.benchmarks.reader.windows import Window, closest, sentences, stems, window_around

Record = Mapping[str, Any]

_SAYS_NOTHING = re.compile(
    r"ne prevoit rien|renvoie au code du travail|ne figure pas|ne prevoit pas"
)
_SYNTEC = "1486"
"""Agreement that one of the handbooks of the quality figures is made of."""
_TITLED = 0.3
"""Share of the entries that keep their title, where it may be the question itself."""
_LIKELY_ANSWER = 0.7
"""Share of a question's words from which a passage judged relevant is taken to answer it."""
_REPEATS = 0.6
"""Share of a gold sentence's words from which a sentence of the page is taken to be it."""
_TOO_LIKE_THE_ANSWER = 0.5
"""Share of an answer's words from which another passage may well answer too."""


@dataclass
class Maker:
    """Makes the pairs of one set.

    Attributes:
        name: Of the set.
        shared: Folder with the sets.
        limit: Questions taken, at most.
        rng: Seeded: the same pairs every time.
    """

    name: str
    shared: Path
    limit: int
    rng: random.Random

    def queries(self) -> list[Record]:
        """Read the questions, shuffled, without those of the support check and its figures."""
        asked = self._asked()
        kept = [q for q in self._read("queries.jsonl") if str(q["id"]) not in asked]
        self.rng.shuffle(kept)
        return kept

    def documents(self, *files: str) -> list[Document]:
        """Read the documents of the set."""
        return [
            Document(str(d["id"]), d.get("title") or "", d["text"])
            for file in files or ("corpus.jsonl",)
            for d in self._read(file)
        ]

    def answer(
        self,
        group: str,
        question: str,
        document: Document,
        centre: int,
        *,
        heading: str | None = None,
    ) -> Pair:
        """Return the pair of a question and the window around the sentence that answers it."""
        window = window_around(sentences(document.text), centre, self.rng)
        heading = document.title if heading is None else heading
        return self._pair(group, "answer", question, heading, window, answered=True)

    def near_miss(
        self,
        group: str,
        kind: str,
        question: str,
        document: Document,
        *,
        heading: str | None = None,
    ) -> Pair:
        """Return the pair of a question and the window of a document that looks most like it."""
        parts = sentences(document.text)
        window = window_around(parts, closest(parts, question), self.rng)
        heading = document.title if heading is None else heading
        return self._pair(group, kind, question, heading, Window(window.text), answered=False)

    def sentence_out(
        self, answer: Pair, parts: list[str], held: Callable[[str], bool]
    ) -> Pair | None:
        """Return the window of an answer without the sentences that hold it."""
        kept = [part for part in parts if not held(part)]
        if not kept:
            return None
        window = window_around(kept, closest(kept, answer.question), self.rng)
        return self._pair(
            answer.group,
            "sentence-out",
            answer.question,
            answer.heading,
            Window(window.text),
            answered=False,
        )

    def condition_changed(self, answer: Pair, names: Sequence[str]) -> Pair | None:
        """Return an answer's pair, its question changed so that it is none any more."""
        text = f"{answer.heading}\n{answer.text}"
        changed = changed_condition(answer.question, text, names, self.rng)
        if changed is None:
            return None
        window = Window(answer.text)
        return self._pair(
            answer.group, "condition-changed", changed, answer.heading, window, answered=False
        )

    def _pair(
        self, group: str, kind: str, question: str, heading: str, window: Window, *, answered: bool
    ) -> Pair:
        name = group if group.startswith(f"{self.name}:") else f"{self.name}:{group}"
        return Pair(self.name, name, kind, question, heading, window.text, answered, window.span)

    def _read(self, file: str) -> Iterator[Any]:
        return records(self.shared / "benchmarks" / self.name / file)

    def _asked(self) -> frozenset[str]:
        sets = [s for s in PUBLIC_SETS.values() if s.folder == self.name and s.language is None]
        return frozenset(q.question_id for s in sets for q in read_public_questions(self.shared, s))


def piaf(maker: Maker) -> Iterator[Pair]:
    """Short answers in paragraphs: the sentence out, other paragraphs, a condition changed."""
    lookup = Lookup(maker.documents("corpus.jsonl", "corpus_held_out.jsonl"))
    queries = [q for q in maker.queries() if q["standalone_guess"]][: maker.limit]
    names = [name for q in queries for name in names_in(q["text"])]
    for number, query in enumerate(queries):
        given = query["answers_if_full_corpus"][0]
        held = partial(_holds_one_of, [fold(a) for a in query["answers_if_full_corpus"]])
        gold = query["gold_if_full_corpus"]
        document = lookup.by_id[gold[0]]
        parts = sentences(document.text)
        holding = [i for i, part in enumerate(parts) if fold(given) in fold(part)]
        if not holding:
            continue
        best = max(holding, key=partial(_shared_stems, parts, query["text"]))
        answer = _with_short_span(maker.answer(query["id"], query["text"], document, best), given)
        yield answer
        misses = [
            maker.sentence_out(answer, parts, held),
            maker.condition_changed(answer, names),
            _other_page(maker, lookup, query["id"], query["text"], gold, held),
        ]
        turned = misses[number % 3 :] + misses[: number % 3]
        yield from [miss for miss in turned if miss is not None][:2]


def cdtn(maker: Maker) -> Iterator[Pair]:
    """One question for many agreements: the same on another agreement, another on the same."""
    documents = [d for d in maker.documents() if "-" in d.document_id and _SYNTEC not in d.title]
    told = [d for d in documents if _tells(d.text)]
    by_question: dict[str, list[Document]] = {}
    by_agreement: dict[str, list[Document]] = {}
    for document in told:
        question, agreement = document.document_id.split("-", 1)
        by_question.setdefault(question, []).append(document)
        by_agreement.setdefault(agreement, []).append(document)
    chosen = maker.rng.sample(told, min(maker.limit, len(told)))
    for number, document in enumerate(chosen):
        question_id, agreement_id = document.document_id.split("-", 1)
        asked, agreement = _question_and_agreement(document.title)
        question = maker.rng.choice(_PHRASINGS).format(question=asked, agreement=agreement)
        group = document.document_id
        heading = document.title if number % 3 == 0 else f"Convention collective {agreement}"
        parts = sentences(document.text)
        answer = maker.answer(group, question, document, closest(parts, asked), heading=heading)
        yield answer
        other = maker.rng.choice(by_question[question_id])
        if other is not document and (
            agreement not in ("", _question_and_agreement(other.title)[1])
        ):
            _, name = _question_and_agreement(other.title)
            above = other.title if number % 3 == 0 else f"Convention collective {name}"
            yield maker.near_miss(group, "other-agreement", question, other, heading=above)
        same = maker.rng.choice(by_agreement[agreement_id])
        if number % 2 and not same.document_id.startswith(f"{question_id}-"):
            yield maker.near_miss(group, "other-question", question, same)


def cnil(maker: Maker) -> Iterator[Pair]:
    """Titles that are questions: other entries, a condition changed, the sentence out."""
    pages = gold_pages(maker.shared, PUBLIC_SETS["cnil"])
    asked = {page.removesuffix(".md") for page in pages}
    documents = [d for d in maker.documents() if len(d.text.split()) > 8]
    lookup = Lookup(documents)
    queries = [(d.document_id, d.title, d) for d in documents if d.document_id not in asked]
    queries += [
        (str(q["id"]), q["text"], lookup.by_id[q["gold_doc_ids"][0]])
        for q in maker.queries()
        if q["answerable"]
        and q["gold_doc_ids"][0] in lookup.by_id
        and q["gold_doc_ids"][0] not in asked
    ]
    for group, question, document in queries[: maker.limit]:
        # The titles are the questions: they would give the answer away.
        titled = maker.rng.random() < _TITLED
        answer = maker.answer(group, question, document, 0, heading=None if titled else "")
        yield answer
        changed = maker.condition_changed(answer, ())
        if changed is not None:
            yield changed
        for other in lookup.closest(question, 2, but=(document.document_id,)):
            above = None if maker.rng.random() < _TITLED else ""
            yield maker.near_miss(group, "other-page", question, other, heading=above)


def service_public(maker: Maker) -> Iterator[Pair]:
    """Questions on official pages: other pages, further down the right page, unanswerable ones."""
    pages = maker.shared / "corpora" / "service-public"
    lookup = Lookup([_official_page(path, pages) for path in sorted(pages.rglob("F*.md"))])
    for query in maker.queries()[: maker.limit]:
        group, question = query["id"], query["text"]
        if not query["answerable"]:
            for other in lookup.closest(question, 2):
                yield maker.near_miss(group, "unanswerable", question, other)
            continue
        document = lookup.by_id.get(query["gold_doc_ids"][0])
        if document is None:
            continue
        parts = sentences(document.text)
        heading = document.title if maker.rng.random() < _TITLED else ""
        answer = maker.answer(
            group, question, document, closest(parts, query["answers"][0][:200]), heading=heading
        )
        yield answer
        changed = maker.condition_changed(answer, ())
        if changed is not None:
            yield changed
        for other in lookup.closest(question, 1, but=(document.document_id,)):
            yield maker.near_miss(group, "other-page", question, other)


def clapnq(maker: Maker) -> Iterator[Pair]:
    """Passages judged by people: on the subject without the answer; and the sentences out."""
    lookup = Lookup(maker.documents())
    queries = maker.queries()[: maker.limit]
    names = [name for q in queries for name in names_in(q["text"])]
    for query in queries:
        group, question = query["id"], query["text"]
        document = lookup.by_id[query["candidate_doc_ids"][0]]
        if not query["answerable"]:
            yield maker.near_miss(group, "unanswerable", question, document)
            continue
        gold = [s for sentence_group in query["gold_sentences"] for s in sentence_group]
        parts = sentences(document.text)
        answer = maker.answer(group, question, document, closest(parts, gold[0]))
        yield answer
        held = partial(_repeats_one_of, [stems(sentence) for sentence in gold])

        for miss in (
            maker.sentence_out(answer, parts, held),
            maker.condition_changed(answer, names),
        ):
            if miss is not None:
                yield miss


def mtrag(maker: Maker) -> Iterator[Pair]:
    """Turns of a conversation, the turn before in front: pages nearby, unanswerable ones."""
    lookup = Lookup(maker.documents())
    for query in maker.queries()[: maker.limit]:
        turns = [t["text"] for t in query.get("history") or () if t["speaker"] == "user"]
        question = " ".join((*turns[-1:], query["text"]))
        gold = [lookup.by_id[d] for d in query["gold_doc_ids"] if d in lookup.by_id]
        if query["class"] == "unanswerable":
            for other in lookup.closest(question, 3):
                yield maker.near_miss(query["id"], "unanswerable", question, other)
        elif query["class"] == "answerable" and gold and query["answers"]:
            wanted = stems(query["answers"][0])
            best = max(gold, key=lambda d: len(wanted & stems(d.text)) / len(stems(d.text)) ** 0.5)
            parts = sentences(best.text)
            yield maker.answer(query["id"], question, best, closest(parts, query["answers"][0]))
            others = lookup.closest(question, 2, but={d.document_id for d in gold})
            for other in others:
                if _share(wanted, stems(other.text)) < _TOO_LIKE_THE_ANSWER:
                    yield maker.near_miss(query["id"], "other-page", question, other)


def nomiracl(maker: Maker) -> Iterator[Pair]:
    """Passages that people judged not to answer: the closest of the ten of each question.

    Which of the ten does answer is not told: one that holds nearly all words of the question is
    taken to, so that not everything in this manner of writing is a near miss.
    """
    documents = {document.document_id: document for document in maker.documents()}
    for query in maker.queries()[: maker.limit]:
        candidates = [documents[d] for d in query["candidate_doc_ids"] if d in documents]
        question = query["text"]
        if not query["answerable"]:
            for document in Lookup(candidates).closest(question, 2):
                yield maker.near_miss(query["id"], "unanswerable", question, document)
            continue
        best, words = Lookup(candidates).closest(question, 1)[0], stems(question)
        if _share(words, stems(f"{best.title} {best.text}")) >= _LIKELY_ANSWER:
            centre = closest(sentences(best.text), question)
            yield maker.answer(query["id"], question, best, centre)


def crosslingual(maker: Maker) -> Iterator[Pair]:
    """Titles and summaries in one language, their page in the other; other pages beside it."""
    lookup = Lookup(maker.documents())
    languages = {str(d["id"]): d["lang"] for d in maker._read("corpus.jsonl")}
    for query in maker.queries()[: maker.limit]:
        document = lookup.by_id[query["gold_doc_ids"][0]]
        yield maker.answer(query["id"], query["text"], document, 0)
        others = [
            d
            for d in lookup.closest(f"{document.title}\n{document.text[:400]}", 8)
            if languages[d.document_id] == query["gold_lang"] and d is not document
        ]
        for other in others[:1]:
            yield maker.near_miss(query["id"], "other-page", query["text"], other)


SETS: Mapping[str, tuple[str, Callable[[Maker], Iterator[Pair]], int]] = {
    "piaf": ("piaf-fr", piaf, 1_000),
    "cdtn": ("cdtn-conventions-fr", cdtn, 450),
    "cnil": ("cnil-faq-fr", cnil, 350),
    "service-public": ("service-public-questions-fr", service_public, 600),
    "clapnq": ("clapnq-dev-en", clapnq, 600),
    "mtrag": ("mtrag-un-en", mtrag, 507),
    "nomiracl-fr": ("nomiracl-fr", nomiracl, 496),
    "nomiracl-en": ("nomiracl-en", nomiracl, 500),
    "gc": ("gc-crosslingual-fr-en", crosslingual, 218),
}
"""Name -> folder, what makes its pairs, and questions taken at most."""

_PHRASINGS = (
    "Convention collective {agreement} : {question}",
    "{question} (convention {agreement})",
    "Dans la convention collective {agreement}, {question}",
    "{question} Je dépends de la convention {agreement}.",
    "{agreement} - {question}",
)


def _tells(text: str) -> bool:
    return len(text.split()) > 14 and not _SAYS_NOTHING.search(fold(text))


def _question_and_agreement(title: str) -> tuple[str, str]:
    question, _, agreement = title.replace("\xa0", " ").partition(" — ")
    agreement = re.sub(r"\s*\(.*", "", agreement)
    return question, re.sub(r"^Convention collective (?:nationale )?(?:d[eu]s? )?", "", agreement)


def _official_page(path: Path, root: Path) -> Document:
    text = path.read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    title = re.search(r'^rubrique: "(.*)"$', front, re.MULTILINE)
    body = re.sub(r"^# .*\n", "", body.strip(), count=1)
    body = re.sub(r"\]\([^)]*\)|^→.*$|[\[*_>]|\^", "", body, flags=re.MULTILINE)
    return Document(
        path.relative_to(root).as_posix(), title.group(1) if title else "", body.strip()
    )


def _other_page(
    maker: Maker,
    lookup: Lookup,
    group: str,
    question: str,
    gold: Sequence[str],
    held: Callable[[str], bool],
) -> Pair | None:
    for other in lookup.closest(question, 3, but=gold):
        if not held(other.text):
            return maker.near_miss(group, "other-page", question, other)
    return None


def _with_short_span(pair: Pair, answer: str) -> Pair:
    start = pair.text.find(answer, pair.span[0] if pair.span else 0)
    return pair if start < 0 else replace(pair, span=(start, start + len(answer)))


def _holds_one_of(answers: Sequence[str], part: str) -> bool:
    return any(answer in fold(part) for answer in answers)


def _repeats_one_of(golden: Sequence[frozenset[str]], part: str) -> bool:
    return any(_share(words, stems(part)) > _REPEATS for words in golden)


def _shared_stems(parts: Sequence[str], question: str, index: int) -> int:
    return len(stems(parts[index]) & stems(question))


def _share(words: frozenset[str], of: frozenset[str]) -> float:
    return len(words & of) / len(words) if words else 0.0

"""The sample handbook and its questions keep what they promise to the demo and to the reader."""

import json
import re
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path

import yaml

from deploy.build_sample_documents import REVIEW, SAFETY, build_review, build_safety
from ingest.config import load_config
from ingest.language import detect_language
from ingest.parsing import parse
from ingest.parsing.media import MEDIA_TYPES
from ingest.records import RawPage
from ingest.settings import IngestSettings

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
HANDBOOK = DEPLOY / "sample-handbook"
PAGES = sorted(path for path in HANDBOOK.rglob("*") if path.is_file())
MARKDOWN = [path for path in PAGES if path.suffix == ".md"]
QUESTIONS = [
    json.loads(line)
    for line in (DEPLOY / "sample-questions.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE_KINDS = {
    "paraphrase",
    "keyword",
    "typo",
    "crosslingual",
    "table",
    "list",
    "multi",
    "section",
    "followup",
    "conflict",
}
UNANSWERABLE_KINDS = {"nearmiss", "offtopic", "falsepremise"}


def _parsed(path: Path, content: bytes) -> str:
    name = path.relative_to(HANDBOOK).as_posix()
    return parse(RawPage(name, content, MEDIA_TYPES[path.suffix])).text


@cache
def _text(path: Path) -> str:
    return " ".join(_parsed(path, path.read_bytes()).split())


def _front_matter(path: Path) -> dict[str, object]:
    _, header, _ = path.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(header)


def _links(path: Path) -> list[str]:
    if path.suffix not in (".md", ".html"):
        return []
    found = re.findall(
        r"\]\((?!https?:|mailto:)([^)#\s]+)|href=\"(\.[^\"#]+)\"", path.read_text(encoding="utf-8")
    )
    return [markdown or element for markdown, element in found]


def _is_labelled(question: dict[str, object]) -> bool:
    return (
        question["corpus"] == "sample-handbook"
        and bool(question["gold"]) == question["answerable"]
        and bool(question["answer_any"]) == question["answerable"]
        and bool(question.get("context")) == (question["kind"] == "followup")
        and bool(question["answerable"] or question["note"])
    )


def test_it_is_as_large_as_a_small_companys_handbook():
    assert len(PAGES) >= 36


def test_a_third_of_its_pages_is_in_english():
    english = [path for path in PAGES if detect_language(_text(path)) == "en"]
    assert english == [path for path in PAGES if HANDBOOK / "en" in path.parents]
    assert len(PAGES) / 3 <= len(english) <= len(PAGES) / 2


def test_it_has_every_kind_of_file_that_a_folder_source_reads():
    assert {path.suffix for path in PAGES} == {".md", ".html", ".txt", ".docx", ".pdf"}


def test_its_pages_are_short_enough_to_be_read():
    words = {path.name: len(_text(path).split()) for path in PAGES}
    assert {name: count for name, count in words.items() if not 50 < count <= 2_500} == {}


def test_its_markdown_pages_say_their_title_date_and_owner():
    headers = {path.name: _front_matter(path) for path in MARKDOWN}
    incomplete = [
        name
        for name, header in headers.items()
        if not (header["title"] and header["owner"] and isinstance(header["date"], date))
    ]
    assert incomplete == []


def test_links_between_its_pages_lead_somewhere():
    links = [(path, target) for path in PAGES for target in _links(path)]
    assert len(links) > 50
    assert [(p.name, target) for p, target in links if not (p.parent / target).is_file()] == []


def test_two_pages_of_different_dates_contradict_each_other_and_neither_says_so():
    note = HANDBOOK / "teletravail/note-teletravail-2023.md"
    agreement = HANDBOOK / "teletravail/accord-teletravail-2025.md"
    assert _front_matter(note)["date"] < _front_matter(agreement)["date"]
    assert "deux jours par semaine" in _text(note)
    assert "trois jours par semaine" in _text(agreement)
    assert "outdated" not in _front_matter(note)


def test_one_page_is_marked_outdated_and_one_is_for_managers():
    headers = {path.name: _front_matter(path) for path in MARKDOWN}
    assert [name for name, header in headers.items() if header.get("outdated")] == ["ancien-vpn.md"]
    restricted = {
        name: header["audience"] for name, header in headers.items() if "audience" in header
    }
    assert restricted == {"campagne-salariale-managers.md": ["managers"]}


def test_amounts_in_the_english_expenses_are_those_of_the_french_page():
    def amounts(page: str) -> list[list[str]]:
        rows = re.findall(r"^\|.*$", (HANDBOOK / page).read_text(encoding="utf-8"), re.MULTILINE)
        return [re.findall(r"\d+", row) for row in rows]

    assert amounts("en/expenses.md") == amounts("frais/notes-de-frais.md")


def test_generated_documents_are_what_the_script_makes():
    for path, build in ((HANDBOOK / REVIEW, build_review), (HANDBOOK / SAFETY, build_safety)):
        assert _parsed(path, path.read_bytes()) == _parsed(path, build())


def test_generated_documents_do_not_depend_on_the_clock():
    assert build_review() == build_review()
    assert build_safety() == build_safety()


def test_its_configuration_names_its_folder_acronyms_and_synonyms():
    settings = IngestSettings(handbook_config=DEPLOY / "sample-handbook.toml")
    config = load_config(settings)
    assert [source.path for source in config.sources] == [HANDBOOK]
    assert "FMD" in config.acronyms
    assert config.synonyms.groups


def test_questions_have_unique_ids():
    assert [i for i, n in Counter(question["id"] for question in QUESTIONS).items() if n > 1] == []


def test_questions_are_of_every_kind_and_of_both_languages():
    assert {q["kind"] for q in QUESTIONS if q["answerable"]} == ANSWERABLE_KINDS
    assert {q["kind"] for q in QUESTIONS if not q["answerable"]} == UNANSWERABLE_KINDS
    assert {question["lang"] for question in QUESTIONS} == {"fr", "en"}
    assert len(QUESTIONS) >= 60


def test_gold_quotes_stand_in_their_page_word_for_word():
    absent = [
        (question["id"], gold)
        for question in QUESTIONS
        for gold in question["gold"]
        if " ".join(gold["quote"].split()) not in _text(HANDBOOK / gold["page"])
    ]
    assert absent == []


def test_questions_are_labelled_completely():
    assert [question["id"] for question in QUESTIONS if not _is_labelled(question)] == []

"""Public question sets as folders of pages and labelled questions."""

import json

import pytest

from tests.benchmarks.public_sets import PublicSet, read_public_questions, write_pages


@pytest.fixture
def shared(tmp_path):
    folder = tmp_path / "benchmarks" / "small"
    folder.mkdir(parents=True)
    documents = [{"id": f"{n}#0", "title": f"Page {n}", "text": "Un texte."} for n in "abcd"]
    queries = [
        {
            "id": f"q{number}",
            "text": "Une question ?",
            "answerable": number % 2 == 0,
            "gold_doc_ids": [],
            "answers": [],
            "candidate_doc_ids": [f"{name}#0", "gone#0"],
        }
        for number, name in enumerate("ab")
    ]
    for file, records in (("corpus", documents), ("queries", queries)):
        lines = "\n".join(json.dumps(record) for record in records)
        (folder / f"{file}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_a_set_of_candidates_is_indexed_with_what_its_questions_choose_from(shared):
    target = shared / "pages"
    write_pages(shared, PublicSet("small", 1, 1, candidates=True), target)
    assert {path.name for path in target.iterdir()} == {"a_0.md", "b_0.md"}


def test_a_whole_set_is_indexed_and_asked_half_and_half(shared):
    target, small = shared / "pages", PublicSet("small", 9, 9)
    write_pages(shared, small, target)
    assert len(list(target.iterdir())) == 4
    assert [q.answerable for q in read_public_questions(shared, small)] == [True, False]

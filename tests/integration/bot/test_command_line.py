"""The commands of contract.md, run as a script would run them: in their own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.scripted_server import Scripted, scripted_server

ROOT = Path(__file__).resolve().parents[3]
PAGES = {
    "teletravail.md": "# Télétravail\n\nLe télétravail est possible deux jours par semaine.\n",
    "rh/conges.md": "# Congés\n\n## Mariage\n\nUn mariage donne droit à quatre jours de congé.\n",
    "rh/salaires.md": "---\naudience: [managers]\n---\n# Salaires\n\nLa prime de cooptation est"
    " de 1 500 euros.\n",
}


class Manuel:
    """Runs `manuel` with a database of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment = os.environ | {
            "DATABASE_URL": f"sqlite:///{folder / 'manuel.db'}",
            "HANDBOOK_CONFIG": str(folder / "handbook.toml"),
            "ANSWER_MODEL": "",
            "SLACK_BOT_TOKEN": "",
            "SLACK_APP_TOKEN": "",
        }

    def __call__(
        self, *arguments: str, stdin: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bot", *arguments],
            cwd=ROOT,
            env=self._environment | environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def json(self, *arguments: str) -> Any:
        done = self(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def manuel(tmp_path_factory: pytest.TempPathFactory) -> Manuel:
    """A handbook of three pages, one restricted, indexed by the command itself."""
    folder = tmp_path_factory.mktemp("cli")
    for name, text in PAGES.items():
        path = folder / "handbook" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    command = Manuel(folder)
    report = command.json("ingest", "--source", f"folder:{folder / 'handbook'}")["reports"][0]
    assert (report["added"], report["skipped"]) == (3, [])
    return command


def test_a_second_ingest_embeds_nothing(manuel):
    report = manuel.json("ingest", "--source", f"folder:{manuel.folder / 'handbook'}")["reports"][0]
    assert (report["unchanged"], report["embeddings"]["computed"]) == (3, 0)


def test_an_answer_has_the_fields_of_the_contract(manuel):
    answer = manuel.json("ask", "Combien de jours de télétravail par semaine ?")
    assert set(answer) == {
        "id", "question", "answer", "abstained", "language", "citations", "confidence",
        "generator", "degraded", "passages", "timings_ms",
    }  # fmt: skip
    assert (answer["abstained"], answer["generator"]) == (False, "extractive")
    citation = answer["citations"][0]
    assert set(citation) == {"chunk_id", "page", "source", "title", "heading", "url", "quote"}
    assert (citation["page"], citation["source"]) == ("teletravail.md", "handbook")
    assert citation["quote"] in PAGES["teletravail.md"]
    assert {"embed", "search", "answer", "total"} <= set(answer["timings_ms"])


def test_an_abstention_has_no_citation(manuel):
    answer = manuel.json("ask", "Quelle est la capitale du Pérou ?")
    assert (answer["answer"], answer["abstained"]) == ("je ne sais pas", True)
    assert answer["citations"] == []


def test_a_batch_keeps_ids_and_order(manuel):
    questions = [
        {"id": "b", "question": "Combien de jours pour un mariage ?"},
        {"id": 7, "question": "et le télétravail ?", "context": ["Combien de jours par semaine ?"]},
        {"id": None, "question": ""},
        {"question": 'NEAR("a" AND *:-)'},
    ]
    lines = "".join(json.dumps(q) + "\n" for q in questions)
    done = manuel("ask", "--batch", "-", stdin=lines)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["id"] for a in answers] == ["b", 7, None, None]
    assert [a["question"] for a in answers] == [q["question"] for q in questions]
    assert answers[2]["abstained"]


def test_an_answer_explains_itself_with_the_steps_that_made_it(manuel):
    question = "Combien de jours de télétravail par semaine ?"
    explained = manuel.json("ask", question, "--explain")
    why = explained.pop("explanation")
    plain = manuel.json("ask", question)

    assert explained | {"timings_ms": {}} == plain | {"timings_ms": {}}
    assert "télétravail" in [word["word"] for word in why["words"]]
    assert [p["chunk_id"] for p in why["passages"]] == [p["chunk_id"] for p in plain["passages"]]
    best = why["passages"][0]
    assert best["legs"] == {"keyword": 1, "vector": 1}
    assert best["terms"]["télétravail"] > 0
    assert best["second_stage"] == plain["passages"][0]["score"]
    [attempt] = why["attempts"]
    assert attempt["passed"] == [plain["answer"]]
    assert attempt["probability"] == plain["confidence"] >= attempt["threshold"]
    assert {signal["name"] for signal in attempt["signals"] if signal["weight"]}


def test_an_abstention_explains_itself_to_a_person(manuel):
    done = manuel("ask", "Quelle est la prime de cooptation ?", "--explain")

    assert done.returncode == 0
    assert done.stdout.startswith("je ne sais pas")
    assert "words: " in done.stdout
    assert "threshold 0." in done.stdout
    assert "1 500" not in done.stdout


def test_a_search_explains_each_leg_and_word(manuel):
    found = manuel.json("search", "congé mariage", "--explain")
    first = found["results"][0]
    assert (found["query"], found["mode"]) == ("congé mariage", "hybrid")
    assert (first["page"], first["rank"]) == ("rh/conges.md", 1)
    assert first["legs"] == {"keyword": 1, "vector": 1}
    assert first["terms"]["mariage"] > 0
    assert first["text"] in PAGES["rh/conges.md"]


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
def test_a_restricted_page_is_found_only_by_its_audience(manuel, mode):
    pages = [
        r["page"] for r in manuel.json("search", "prime cooptation", "--mode", mode)["results"]
    ]
    assert "rh/salaires.md" not in pages
    found = manuel.json("search", "prime cooptation", "--mode", mode, "--audience", "managers")
    assert found["results"][0]["page"] == "rh/salaires.md"


def test_a_restricted_page_is_explained_in_full_to_its_audience(manuel):
    found = manuel.json("search", "prime cooptation", "--explain", "--audience", "managers")
    first = found["results"][0]
    assert first["page"] == "rh/salaires.md"
    assert first["terms"]["cooptation"] > 0
    assert first["signals"]["cosine"] > 0


def test_a_dry_run_changes_nothing(manuel):
    new = manuel.folder / "handbook" / "new.md"
    new.write_text("# Cantine\n\nLa cantine ouvre à midi.\n", encoding="utf-8")
    source = f"folder:{manuel.folder / 'handbook'}"
    try:
        before = manuel.json("status")
        assert manuel.json("ingest", "--source", source, "--dry-run")["reports"][0]["added"] == 1
        assert manuel.json("status") == before
    finally:
        new.unlink()


def test_an_evaluation_counts_by_kind(manuel):
    file = manuel.folder / "questions.jsonl"
    record = {
        "id": "1", "corpus": "handbook", "lang": "fr", "answerable": True, "kind": "keyword",
        "question": "Combien de jours de congé pour un mariage ?",
        "gold": [{"page": "rh/conges.md", "quote": "quatre jours de congé"}],
        "answer_any": ["quatre jours"],
    }  # fmt: skip
    file.write_text(json.dumps(record) + "\n", encoding="utf-8")
    report = manuel.json("eval", str(file))
    assert "keyword" in json.dumps(report)
    assert manuel("eval", str(file)).stdout.strip()


def test_an_evaluation_with_a_model_tells_what_it_cost(manuel, tmp_path):
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": '{"language": "fr", "claims": []}'},
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
    questions = str(questions_of_our_own(tmp_path))
    with scripted_server(Scripted(200, body)) as server:
        done = manuel("eval", questions, "--json", ANSWER_MODEL="m", OPENAI_BASE_URL=server.url)
        assert done.returncode == 0, done.stderr
        cost = json.loads(done.stdout)["cost"]
        asked = len(server.requests)
        prices = tmp_path / "prices.toml"
        prices.write_text('[prices.m]\ninput = 1000\noutput = 5000\ncurrency = "EUR"\n')
        priced = {
            "ANSWER_MODEL": "m",
            "OPENAI_BASE_URL": server.url,
            "HANDBOOK_CONFIG": str(prices),
        }
        printed = " ".join(manuel("eval", questions, **priced).stdout.split())
    assert asked >= 10
    assert cost["amount"] is None
    assert f"{(100 * 1000 + 10 * 5000) * asked / 1_000_000:.4f} EUR" in printed
    assert cost["generator"] == "m"
    assert cost["tokens"] == {"requests": asked, "prompt": 100 * asked, "completion": 10 * asked}
    assert (
        json.loads(manuel("eval", questions, "--json").stdout)["cost"]["generator"] == "extractive"
    )


def questions_of_our_own(folder: Path, *, unanswerable: int = 10) -> Path:
    gold = [{"page": "teletravail.md", "quote": "deux jours par semaine"}]
    lines = [
        {
            "id": f"q{number}",
            "question": "Combien de jours de télétravail par semaine ?",
            "answerable": True,
            "gold": gold,
            "answer_any": ["deux jours"],
            "kind": "keyword",
        }
        for number in range(10)
    ] + [
        {
            "id": f"x{number}",
            "question": f"Quelle est la recette numéro {number} du gâteau au chocolat ?",
            "answerable": False,
            "gold": [],
            "answer_any": [],
            "kind": "offtopic",
        }
        for number in range(unanswerable)
    ]
    file = folder / f"questions-{unanswerable}.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return file


def test_a_calibration_is_kept_used_and_taken_back(manuel, tmp_path):
    question = "Combien de jours de télétravail par semaine ?"
    shipped = manuel.json("calibrate", "--reset")["threshold"]
    assert not manuel.json("ask", question)["abstained"]
    try:
        fit = manuel.json("calibrate", str(questions_of_our_own(tmp_path)), "--max-false", "0")
        assert fit["before"]["threshold"] == shipped
        assert (fit["answerable"], fit["unanswerable"]) == (10, 10)
        assert fit["after"]["correct"] == 1.0
        assert fit["after"]["false_answers"] == 0.0
        again = manuel.json("calibrate", str(questions_of_our_own(tmp_path)))
        assert again["before"]["threshold"] == fit["after"]["threshold"] != shipped
    finally:
        assert manuel.json("calibrate", "--reset") == {"reset": True, "threshold": shipped}


def test_too_few_questions_calibrate_nothing(manuel, tmp_path):
    done = manuel("calibrate", str(questions_of_our_own(tmp_path, unanswerable=9)))
    assert done.returncode == 2
    assert "at least 10" in done.stderr
    assert manuel.json("calibrate", "--reset")["reset"] is False


def test_the_doctor_reports_each_part(manuel):
    done = manuel("doctor", "--json")
    states = {c["name"]: c["state"] for c in json.loads(done.stdout)["checks"]}
    assert (states["index"], states["encoder"]) == ("ok", "ok")
    assert (states["model"], states["slack"]) == ("off", "off")
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("ask",), 2, "--batch"),
        (("ask", "a", "--batch", "b"), 2, "--batch"),
        (("ask", "--batch", "absent.jsonl"), 2, "absent.jsonl"),
        (("search", "a", "--mode", "magic"), 2, "magic"),
        (("search", "a", "--limit", "0"), 2, "limit"),
        (("ingest", "--source", "folder:/absent/folder"), 1, "/absent/folder"),
        (("ingest", "--source", "nothing-of-that-name"), 2, "nothing-of-that-name"),
        (("ingest",), 2, "--source"),
        (("eval", "absent.jsonl"), 2, "absent.jsonl"),
        (("nonsense",), 2, "nonsense"),
        (("serve",), 2, "SLACK_BOT_TOKEN"),
    ],
)
def test_wrong_use_gets_one_clear_line_and_a_status(manuel, arguments, status, words):
    done = manuel(*arguments)
    assert done.returncode == status, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "line", ['{"id": 1}', "not json", "[]", '{"question": 3}', '{"question": "a", "context": [1]}']
)
def test_a_bad_line_is_named_before_anything_is_answered(manuel, line):
    done = manuel("ask", "--batch", "-", stdin='{"question": "a"}\n' + line + "\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "line 2" in done.stderr


def test_a_question_before_any_ingest_says_what_to_do(manuel, tmp_path):
    done = manuel("ask", "quoi ?", DATABASE_URL=f"sqlite:///{tmp_path / 'none.db'}")
    assert done.returncode == 1
    assert "manuel ingest" in done.stderr


def test_a_wrong_setting_is_named(manuel):
    done = manuel("ask", "quoi ?", FUSION="magic")
    assert done.returncode == 2
    assert "FUSION" in done.stderr

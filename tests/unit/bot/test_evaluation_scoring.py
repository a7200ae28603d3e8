"""How questions with known answers are scored."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from bot.answering.answerer import Examination
from bot.answering.support import Support, SupportDecision
from bot.evaluation import (
    EvaluationReport,
    GoldPassage,
    LabelledQuestion,
    QuestionScore,
    read_questions,
    render_table,
    score,
)
from bot.grounding.verifier import Verification
from bot.records import (
    Abstention,
    AbstentionReason,
    Citation,
    Claim,
    Draft,
    GroundedAnswer,
    Passage,
    Question,
)
from bot.retrieval.hybrid import Retrieval
from bot.retrieval.query import Query
from ingest import ConfigurationError
from tests.fakes import stored_chunk

GOLD = stored_chunk("g", "Le délai est de Quarante-huit  heures, voir ici.", page="gold.md")
OTHER = stored_chunk("o", "Le délai est de quarante-huit heures.", page="other.md")


def labelled(*answer_any: str, answerable: bool = True) -> LabelledQuestion:
    gold = (GoldPassage("gold.md", "délai est de **Quarante-huit heures**, [voir ici](x.md)"),)
    return LabelledQuestion(
        "q", Question("?"), answerable, gold if answerable else (), answer_any, "kind"
    )


def scored(question: LabelledQuestion, *chunks, shown: bool = True) -> QuestionScore:
    passages = tuple(Passage(c, rank=i, score=1.0) for i, c in enumerate(chunks, 1))
    claims = tuple(Claim(p.chunk.text, Citation(p, p.chunk.text)) for p in passages[:1])
    outcome = (
        GroundedAnswer(claims, "fr", 0.9, "x", passages, timings_ms={"total": 5.0})
        if shown
        else Abstention(AbstentionReason.UNSUPPORTED, True, "fr", 0.1, "x", passages)
    )
    examination = Examination(
        outcome,
        Retrieval(Query(question.question, "?", "fr", (), "?"), passages),
        Draft((), "fr", 0.0),
        Verification(claims, ()),
        SupportDecision(Support.ANSWER if shown else Support.CLOSE, 0.9),
    )
    return score(question, examination)


def test_an_answer_that_holds_an_accepted_string_and_cites_a_gold_page_is_correct():
    result = scored(labelled("QUARANTE-HUIT HEURES"), GOLD)
    assert (result.correct, result.wrong, result.abstained) == (True, False, False)


def test_the_right_string_from_another_page_is_wrong():
    result = scored(labelled("quarante-huit heures"), OTHER, GOLD)
    assert (result.correct, result.wrong) == (False, True)
    assert (result.found_at_1, result.found_at_5) == (False, True)


def test_strings_match_at_word_borders_only():
    assert not scored(labelled("huit heure"), GOLD).correct
    assert scored(labelled("huit heures"), GOLD).correct


def test_an_abstention_is_neither_correct_nor_wrong_but_its_draft_is_still_judged():
    result = scored(labelled("quarante-huit heures"), GOLD, shown=False)
    assert (result.correct, result.wrong, result.abstained) == (False, False, True)
    assert result.correct_if_shown


def test_an_answer_to_an_unanswerable_question_is_false():
    question = labelled(answerable=False)
    assert scored(question, GOLD).false_answer
    assert not scored(question, GOLD, shown=False).false_answer


def test_a_gold_quote_is_found_whatever_its_markup_and_only_among_five():
    filler = [stored_chunk(f"f{i}", "Rien.", page=f"{i}.md") for i in range(5)]
    assert scored(labelled("x"), GOLD).quote_at_5
    assert not scored(labelled("x"), *filler, GOLD).quote_at_5
    assert not scored(labelled("x"), *filler, GOLD).found_at_5


def test_shares_are_over_the_questions_they_concern():
    report = EvaluationReport(
        (
            scored(labelled("quarante-huit heures"), GOLD),
            scored(labelled("jamais"), GOLD),
            scored(labelled(answerable=False), GOLD, shown=False),
        )
    )
    total = report.total
    assert (total.n, total.answerable) == (3, 2)
    assert total.correct == 0.5
    assert total.right_when_answering == 0.5
    assert total.false_answers == 0.0
    assert total.abstained == pytest.approx(1 / 3)
    record = json.loads(json.dumps(report.to_json()))
    assert record["total"]["correct"] == 0.5
    assert record["kinds"]["kind"]["n"] == 3
    assert len(record["questions"]) == 3


def test_the_table_has_a_row_per_kind_and_one_for_all():
    report = EvaluationReport((scored(labelled("quarante-huit heures"), GOLD),))
    stream = StringIO()
    Console(file=stream, width=120).print(render_table(report))
    lines = stream.getvalue().splitlines()
    assert any(line.split("│")[1].strip() == "kind" for line in lines if "│" in line)
    assert any("all" in line and "100" in line for line in lines)


def test_an_empty_question_file_gives_an_empty_table():
    stream = StringIO()
    Console(file=stream, width=120).print(render_table(EvaluationReport(())))
    assert "found@5" in stream.getvalue()


def test_questions_are_read_with_their_gold_and_context(tmp_path: Path):
    path = tmp_path / "q.jsonl"
    record = {
        "id": "a-1",
        "question": "Et là ?",
        "context": ["Avant ?"],
        "answerable": True,
        "gold": [{"page": "a.md", "quote": "Oui."}],
        "answer_any": ["oui"],
        "kind": "followup",
    }
    path.write_text(json.dumps(record) + "\n\n", encoding="utf-8")
    (question,) = read_questions(path)
    assert question.question == Question("Et là ?", ("Avant ?",))
    assert question.gold == (GoldPassage("a.md", "Oui."),)


@pytest.mark.parametrize("line", ["{", "[]", '{"question": "x"}', '"x"'])
def test_a_line_of_another_shape_is_named(tmp_path: Path, line: str):
    path = tmp_path / "q.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="line 2"):
        read_questions(path)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="nowhere"):
        read_questions(tmp_path / "nowhere.jsonl")

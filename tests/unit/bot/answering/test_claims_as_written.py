"""Claims read while the reply is being written, and let out while the answer is still open."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answering.replies import MAX_CLAIMS, ClaimReader, ReplyClaim, UnusableReply, parse_reply
from bot.answering.streaming import ClaimRelease
from bot.answering.support import hard_rules
from bot.grounding.disagreement import Disagreements
from bot.grounding.verifier import verify
from bot.records import Claim, Draft, DraftClaim, Passage, Question
from bot.retrieval.query import Query
from tests.fakes import stored_chunk

CLAIM = {"sentence": 'Deux "jours" \\ é\n.', "passage_id": "p1", "quote": "deux jours"}
OTHER = {"sentence": "Trois.", "passage_id": "p2", "quote": "{[trois]}"}
BOTH = {"language": "fr", "claims": [CLAIM, OTHER]}


def read(text: str, size: int = 1) -> list[ReplyClaim]:
    reader = ClaimReader()
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    return [claim for piece in pieces for claim in reader.feed(piece)]


@pytest.mark.parametrize("size", [1, 2, 7, 1_000])
@pytest.mark.parametrize(
    "text",
    [
        json.dumps(BOTH),
        json.dumps(BOTH, indent=2, ensure_ascii=False),
        json.dumps({"n": 12, "x": [{"claims": []}], "claims": [CLAIM, OTHER], "z": None}),
        f"```json\n{json.dumps(BOTH)}\n```",
        f'<think>{{"claims": [1]}}</think>\n{json.dumps(BOTH)}',
        f"{json.dumps(BOTH)} or rather {json.dumps({'claims': []})}",
        json.dumps(BOTH).replace("}]}", '}], "claims": []}'),
        json.dumps({"claims": [CLAIM, "x", {"sentence": " "}, [OTHER], OTHER]}),
    ],
    ids=["plain", "indented", "fields", "fenced", "thinking", "two", "key twice", "garbage"],
)
def test_claims_are_read_as_soon_as_they_are_complete(text: str, size: int) -> None:
    assert read(text, size) == list(parse_reply(text).claims)
    assert len(parse_reply(text).claims) == 2


def test_a_claim_is_read_when_its_object_closes_and_not_before() -> None:
    reader = ClaimReader()
    start, end = json.dumps(BOTH).split(json.dumps(OTHER))
    first = json.dumps(CLAIM)
    before, after = start.split(first)
    assert reader.feed(before + first[:-1]) == []
    assert [claim.sentence for claim in reader.feed("}")] == [CLAIM["sentence"].strip()]
    assert reader.feed(after + json.dumps(OTHER)[:-1]) == []
    assert [claim.sentence for claim in reader.feed("}" + end)] == ["Trois."]


@pytest.mark.parametrize(
    "text",
    [
        f"I could say {json.dumps(BOTH)}",
        json.dumps({"name": "answer", "arguments": BOTH}),
        json.dumps([BOTH]),
        f"<think>{json.dumps(BOTH)}",
        '{"claims": "none"}',
        '{"language": "fr"}',
        "{" * 3_000,
        "",
    ],
)
def test_nothing_is_read_early_of_a_reply_that_may_still_turn_out_otherwise(text: str) -> None:
    assert read(text, 50) == []


def test_of_a_flood_as_many_claims_are_read_as_count() -> None:
    flood = json.dumps({"claims": [CLAIM] * 50})
    assert len(read(flood, 100)) == MAX_CLAIMS


@given(st.text(alphabet='{}[]",: \\ntclaims<>think/`12'), st.integers(1, 5))
def test_what_is_read_early_is_what_is_read_at_the_end(text: str, size: int) -> None:
    early = read('{"claims": [' + json.dumps(CLAIM) + text, size)
    with contextlib.suppress(UnusableReply):
        final = list(parse_reply('{"claims": [' + json.dumps(CLAIM) + text).claims)
        assert early == final


LEAVE = stored_chunk("leave", "Un mariage donne droit à quatre jours de congé.", page="a.md")
BADGE = stored_chunk("badge", "Le badge visiteur est remis à l'accueil.", page="b.md")
OLD = stored_chunk("old", "Le parking ferme à 20 heures.", page="c.md", outdated=True)
TRAVEL = stored_chunk("travel", "La nuit d'hôtel est remboursée 120 euros.", page="d.md")
NEWER = stored_chunk("newer", "La nuit d'hôtel est remboursée 150 euros.", page="e.md")
PASSAGES = [
    Passage(chunk, rank=rank, score=1.0) for rank, chunk in enumerate([LEAVE, BADGE, OLD], start=1)
]


def word_for_word(*chunks: object) -> list[DraftClaim]:
    return [DraftClaim(c.text, c.chunk_id, c.text) for c in chunks]  # type: ignore[attr-defined]


def let_out(
    question: str, claims: list[DraftClaim], passages: list[Passage] = PASSAGES
) -> list[list[str]]:
    """Return the sentences that each claim brings out."""
    out: list[Claim] = []
    query = Query(Question(question), question, "fr", (), question)
    release = ClaimRelease(query, passages, None, out.append)
    steps = []
    for claim in claims:
        before = len(out)
        release.take(claim)
        steps.append([let.sentence for let in out[before:]])
    return steps


def test_a_claim_that_passes_the_gate_comes_out_at_once_and_no_other() -> None:
    leave, badge = word_for_word(LEAVE, BADGE)
    invented = DraftClaim("Le badge coûte 30 €.", "badge", BADGE.text)
    steps = let_out("badge et mariage ?", [invented, badge, badge, leave])
    assert steps == [[], [badge.sentence], [], [leave.sentence]]


def test_claims_wait_until_the_rules_on_the_whole_answer_are_met() -> None:
    leave, badge = word_for_word(LEAVE, BADGE)
    steps = let_out("Combien de jours de congé pour un mariage ?", [badge, leave])
    assert steps == [[], [badge.sentence, leave.sentence]]


def test_what_an_outdated_page_says_and_what_follows_wait_for_the_whole_answer() -> None:
    badge, old, leave = word_for_word(BADGE, OLD, LEAVE)
    assert let_out("badge ?", [badge, old, leave]) == [[badge.sentence], [], []]


def test_what_another_page_contradicts_waits_for_the_whole_answer() -> None:
    passages = [Passage(c, rank=r, score=1.0) for r, c in enumerate([TRAVEL, NEWER], start=1)]
    assert let_out("la nuit d'hôtel ?", word_for_word(TRAVEL), passages) == [[]]
    assert let_out("la nuit d'hôtel ?", word_for_word(TRAVEL), passages[:1]) != [[]]


@given(
    st.lists(
        st.sampled_from(
            [
                *word_for_word(LEAVE, BADGE, OLD, TRAVEL, NEWER),
                DraftClaim("Le badge coûte 30 €.", "badge", BADGE.text),
                DraftClaim("Quatre jours.", "leave", LEAVE.text),
                DraftClaim("Quatre jours.", "nowhere", LEAVE.text),
            ]
        ),
        max_size=8,
    ),
    st.sampled_from(["Combien de jours de congé ?", "le badge ?", "En 2024, l'hôtel ?"]),
)
def test_whatever_is_let_out_is_in_the_answer(claims: list[DraftClaim], question: str) -> None:
    passages = [*PASSAGES, *(Passage(c, rank=9, score=0.1) for c in (TRAVEL, NEWER))]
    out = [sentence for step in let_out(question, claims, passages) for sentence in step]
    verified = verify(Draft(tuple(claims), "fr", 1.0), passages, question=question).claims
    shown, _ = Disagreements(passages).among(verified)
    assert out == [claim.sentence for claim in verified][: len(out)]
    assert set(out) <= {claim.sentence for claim in shown}
    if out:
        assert not hard_rules(Query(Question(question), question, "fr", (), question), verified)

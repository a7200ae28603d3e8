"""The gate against claims made to deceive it, and for those that only use other words."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from bot.answering.replies import MAX_CLAIMS
from bot.grounding.closeness import encoder_closeness
from bot.grounding.verifier import verify
from bot.grounding.wording import Closeness
from bot.records import Draft, DraftClaim
from bot.settings import BotSettings
from ingest import open_embedder
from tests.integration.bot.grounding.claim_cases import (
    Case,
    Place,
    attacks,
    faithful,
    read_places,
)
from tests.integration.bot.grounding.free_hand import ATTACKS, FAITHFUL
from tests.integration.bot.grounding.gate_run import (
    Tally,
    free_hand_cases,
    hand_cases,
    run,
    share,
)
from tests.integration.bot.grounding.hand_written import SAME_LANGUAGE, TRANSLATED

NEVER_THROUGH = (
    "changed number",
    "changed number in words",
    "changed unit",
    "changed currency",
    "changed date",
    "homoglyphs",
    "invisible characters",
    "markup",
    "stitched quote",
    "right quote, wrong page",
    "invented id",
    "page that was not retrieved",
    "injection in a page",
    "injection in the question",
    "injection in a title",
    "wrong language",
    "empty claim",
)
MOSTLY_REFUSED = 0.9
"""Of the kinds that take understanding: negations, limits, exceptions, invented sentences."""


@pytest.fixture(scope="module")
def corpora(shared_dir: Path) -> Path:
    return shared_dir / "corpora"


@pytest.fixture(scope="module")
def places(corpora: Path) -> list[Place]:
    return read_places(corpora, sample=1)


@pytest.fixture(scope="module")
def attacked(places: list[Place]) -> dict[str, Tally]:
    return run(attacks(places))


@pytest.fixture(scope="module")
def hand_places(corpora: Path) -> list[Place]:
    return read_places(corpora, sample=2)


@pytest.fixture(scope="module")
def closeness(tmp_path_factory: pytest.TempPathFactory) -> Closeness:
    database = tmp_path_factory.mktemp("encoder") / "unused.db"
    embedder = open_embedder(
        BotSettings(_env_file=None, database_url=f"sqlite:///{database}", embedding_model="bundled")
    )
    if embedder is None:
        pytest.skip("the bundled encoder is not available here")
    return encoder_closeness(embedder)


def test_at_least_99_in_100_attacks_are_refused(attacked: dict[str, Tally]):
    assert sum(tally.n for tally in attacked.values()) >= 300
    assert share(attacked, passed=False) >= 0.99


@pytest.mark.parametrize("kind", NEVER_THROUGH)
def test_none_of_these_attacks_gets_through(kind: str, attacked: dict[str, Tally]):
    assert attacked[kind].n >= 20
    assert [case.claim.sentence for case in attacked[kind].passed] == []


def test_nearly_all_attacks_that_take_understanding_are_refused(attacked: dict[str, Tally]):
    judged = {kind: tally for kind, tally in attacked.items() if kind not in NEVER_THROUGH}
    assert judged
    weak = [k for k, t in judged.items() if len(t.refused) < MOSTLY_REFUSED * t.n]
    assert weak == []


def test_at_most_3_in_100_faithful_claims_are_dropped(
    places: list[Place], hand_places: list[Place]
):
    by_hand = hand_cases("by hand", SAME_LANGUAGE, hand_places)
    kept = run([*faithful(places), *by_hand])
    assert sum(tally.n for tally in kept.values()) >= 300
    assert share(kept, passed=False) <= 0.03


def test_faithful_translations_pass_and_other_sentences_do_not(
    hand_places: list[Place], closeness: Closeness
):
    faithful_ones = list(hand_cases("translated", TRANSLATED, hand_places))
    assert len(faithful_ones) >= 12
    kept = run(faithful_ones, closeness=closeness)
    assert share(kept, passed=True) >= 0.9
    unrelated = run(
        (
            Case("unrelated", _quoting(case.claim, other.claim), other.passages)
            for case, other in pairwise(faithful_ones)
        ),
        closeness=closeness,
    )
    assert share(unrelated, passed=True) == 0


def test_of_lies_written_freely_those_about_facts_are_refused_and_most_others(
    corpora: Path, closeness: Closeness
):
    tallies = run(free_hand_cases(corpora, ATTACKS), closeness=closeness)
    factual = ("number", "date", "unit", "limit", "currency", "id", "link", "phone", "rate")
    assert {kind: tally.passed for kind, tally in tallies.items() if kind in factual} == {
        kind: () for kind in factual
    }
    assert share(tallies, passed=False) >= 0.9


def test_most_free_rewordings_pass_where_an_encoder_compares_them(
    corpora: Path, closeness: Closeness
):
    claims = [("freely", *claim) for claim in FAITHFUL]
    assert share(run(free_hand_cases(corpora, claims), closeness=closeness), passed=True) >= 0.92


def test_a_flood_of_claims_is_cut_short(places: list[Place]):
    claim = DraftClaim("Texte inventé.", places[0].chunk_id, places[0].text)
    result = verify(Draft((claim,) * 10_000, "fr", 1.0), [places[0].passage])
    assert result.claims == ()
    assert [r.reason for r in result.rejected].count("one claim too many") == 10_000 - MAX_CLAIMS


def _quoting(claim: DraftClaim, other: DraftClaim) -> DraftClaim:
    return DraftClaim(claim.sentence, other.chunk_id, other.quote)

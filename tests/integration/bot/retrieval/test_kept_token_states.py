"""The second stage reads the token states that the index keeps, instead of encoding again."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from bot.records import Passage, Question
from bot.retrieval.query import QueryBuilder
from bot.retrieval.reranker import UnitReranker
from bot.retrieval.retrievers import EmbeddingRetriever
from ingest.index import open_reader, open_writer
from ingest.pipeline import sync
from ingest.settings import IngestSettings
from tests.fakes import FakeEmbedder, FakeSource, FakeTokenEmbedder


@dataclass
class Watched(FakeTokenEmbedder):
    """Remembers which passages, and which questions, were read token by token."""

    dimension: int = 256
    read: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def token_states(self, texts, *, kind="passage"):
        (self.read if kind == "passage" else self.asked).extend(texts)
        return super().token_states(texts, kind=kind)


@pytest.fixture
def settings(tmp_path):
    return IngestSettings(database_url=f"sqlite:///{tmp_path / 'index.db'}", _env_file=None)


def ingest(settings, encoder):
    source = FakeSource()
    source.put(
        "conges.md", "# Congés\n\nLe mariage donne quatre jours. Le deuil donne trois jours."
    )
    source.put("badge.md", "# Badge\n\nLe badge se demande au poste de garde.\n")
    with open_writer(settings) as writer:
        writer.migrate()
        sync(source, writer, encoder)


def reranked(settings, encoder) -> list[Passage]:
    with open_reader(settings) as reader:
        queries = QueryBuilder(reader)
        leg = EmbeddingRetriever(reader, encoder, queries)
        query = leg.embed(queries.build(Question("combien de jours pour un mariage ?")))
        ranking = leg.rank(query, limit=5)
        chunks = reader.chunks([scored.chunk_id for scored in ranking])
        passages = [
            Passage(chunk=chunks[scored.chunk_id], rank=rank, score=scored.score)
            for rank, scored in enumerate(ranking, start=1)
        ]
        return UnitReranker(reader, encoder).rerank(query, passages)


def test_kept_states_are_read_and_nothing_is_encoded(settings):
    ingest(settings, Watched())
    encoder = Watched()
    best, other = reranked(settings, encoder)
    assert best.chunk.page == "conges.md"
    assert best.unit_cosines[0] > best.unit_cosines[1]
    assert best.unit_interactions[0] > best.unit_interactions[1]
    assert not {best.chunk.embedding_text, other.chunk.embedding_text} & set(encoder.read)


def test_an_index_that_kept_none_gives_the_same_figures(settings):
    ingest(settings, Watched())
    kept = reranked(settings, Watched())
    older = settings.model_copy(update={"database_url": f"{settings.database_url}.older"})
    ingest(older, FakeEmbedder(dimension=256))
    encoder = Watched()
    assert [p.unit_cosines for p in reranked(older, encoder)] == [p.unit_cosines for p in kept]
    assert kept[0].chunk.embedding_text in encoder.read


def test_a_question_is_encoded_once(settings):
    ingest(settings, Watched())
    encoder = Watched()
    reranked(settings, encoder)
    assert len(encoder.asked) + len(encoder.queries) == 1

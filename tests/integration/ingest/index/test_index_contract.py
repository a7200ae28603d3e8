"""What every index must do, whatever the database behind it."""

from __future__ import annotations

import multiprocessing
import threading
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from ingest.analysis import KeywordQuery, QueryWord, analyze_query
from ingest.errors import EmbeddingMismatchError, IndexNotBuiltError, LeaseHeldError
from ingest.index import open_reader
from ingest.records import (
    EVERYONE,
    PUBLIC,
    Chunk,
    IngestReport,
    Page,
    SkippedPage,
    Unit,
    UnitKind,
    text_hash,
)
from ingest.settings import IngestSettings
from tests.fakes import FakeEmbedder

EMBEDDER = FakeEmbedder()
MANAGERS = frozenset({EVERYONE, "managers"})


def make_page(path, *paragraphs, title="Guide", source="kb", language="fr", **fields):
    text = "\n".join(paragraphs)
    fields = {"content_hash": f"hash of {text}", "version": "1", **fields}
    return Page(source, path, title, language, text, (), **fields)


def make_chunks(page, headings=("Règles",), context="", anchor=None):
    chunks, start = [], 0
    for position, text in enumerate(page.text.split("\n")):
        end = start + len(text)
        unit = Unit(UnitKind.SENTENCE, 0, len(text), context)
        chunks.append(
            Chunk(
                chunk_id=f"{page.source}:{page.path}#{position}",
                position=position,
                heading_path=headings,
                anchor=anchor,
                start=start,
                end=end,
                text=text,
                context=context,
                units=(unit,),
            )
        )
        start = end + 1
    return chunks


def embed(writer, page, chunks, embedder=EMBEDDER):
    texts = [chunk.embedding_text(page.title) for chunk in chunks]
    vectors = embedder.embed_passages(texts)
    keys = [text_hash(text) for text in texts]
    writer.store_embeddings(embedder.fingerprint, dict(zip(keys, vectors, strict=True)))


def put(writer, path, *paragraphs, embedded=True, source_version=None, **fields):
    page = make_page(path, *paragraphs, **fields)
    chunks = make_chunks(page)
    if embedded:
        embed(writer, page, chunks)
        if writer.active_fingerprint() is None:
            writer.activate_model(EMBEDDER.fingerprint, EMBEDDER.dimension)
    writer.replace_page(page, chunks, source_version=source_version)


def ids(ranking):
    return [scored.chunk_id for scored in ranking]


def keyword_ids(reader, question, **options):
    return ids(reader.keyword_ranking(analyze_query(question), **options))


def vector_ids(reader, text, **options):
    return ids(reader.vector_ranking(EMBEDDER.embed_query(text), **options))


# Before the first ingest


def test_a_reader_without_a_database_says_that_nothing_is_built(backend):
    reader = backend.reader()
    for call in (
        reader.status,
        reader.vocabulary,
        reader.public_vocabulary,
        reader.public_acronyms,
        reader.pages_by_audience,
        reader.languages,
        lambda: reader.chunks(["a"]),
        lambda: reader.keyword_ranking(analyze_query("congés")),
        lambda: reader.vector_ranking(EMBEDDER.embed_query("congés")),
    ):
        with pytest.raises(IndexNotBuiltError, match="manuel ingest"):
            call()


def test_a_reader_opened_before_the_first_ingest_sees_it(backend):
    reader = backend.reader()
    with pytest.raises(IndexNotBuiltError):
        reader.status()
    put(backend.writer(), "a.md", "Les congés")
    assert keyword_ids(reader, "congés") == ["kb:a.md#0"]


def test_a_migrated_database_without_a_page_or_a_run_is_not_built_but_can_be_searched(backend):
    backend.writer()
    reader = backend.reader()
    with pytest.raises(IndexNotBuiltError):
        reader.status()
    assert keyword_ids(reader, "congés") == []
    assert vector_ids(reader, "congés") == []


def test_migrating_again_changes_nothing(backend):
    writer = backend.writer()
    put(writer, "a.md", "Les congés")
    before = backend.reader().status()
    writer.migrate()
    assert backend.reader().status() == before


# Pages


def test_a_page_comes_back_as_it_was_stored(backend):
    page = make_page(
        "rh/congés.md",
        "Vous avez 25 jours.",
        title="Congés",
        url="https://kb.example/conges",
        modified_at=datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=2))),
        outdated=True,
    )
    units = (
        Unit(UnitKind.HEADING, 0, 4),
        Unit(UnitKind.ROW, 5, 12, "| Type | Jours |"),
        Unit(UnitKind.ROW, 13, 19, "| Type | Jours |"),
        Unit(UnitKind.ITEM, 0, 19, "Il faut :"),
    )
    chunk = Chunk("c1", 3, ("Absences", "Payées"), "payees", 0, 19, page.text, "Avant", units)
    backend.writer().replace_page(page, [chunk])
    stored = backend.reader().chunks(["c1"])["c1"]
    assert stored.text == "Vous avez 25 jours."
    assert stored.units == units
    assert (stored.source, stored.page, stored.title) == ("kb", "rh/congés.md", "Congés")
    assert (stored.heading_path, stored.heading) == (("Absences", "Payées"), "Absences › Payées")
    assert (stored.context, stored.position, stored.language) == ("Avant", 3, "fr")
    assert stored.url == "https://kb.example/conges#payees"
    assert stored.modified_at == page.modified_at
    assert stored.modified_at.tzinfo is UTC
    assert stored.outdated
    assert stored.page_version == page.content_hash


@pytest.mark.parametrize(
    ("url", "anchor", "shown"),
    [
        (None, "conges", None),
        ("https://kb.example/a", None, "https://kb.example/a"),
        ("https://kb.example/a#b", "conges", "https://kb.example/a#b"),
    ],
)
def test_the_fragment_is_added_only_where_it_can_be(backend, url, anchor, shown):
    page = make_page("a.md", "texte", url=url)
    chunks = make_chunks(page, anchor=anchor)
    backend.writer().replace_page(page, chunks)
    assert backend.reader().chunks(["kb:a.md#0"])["kb:a.md#0"].url == shown


def test_unknown_chunks_are_absent(backend):
    put(backend.writer(), "a.md", "Les congés")
    assert set(backend.reader().chunks(["kb:a.md#0", "nope", "kb:a.md#0"])) == {"kb:a.md#0"}


def test_replacing_a_page_leaves_nothing_of_the_old_one(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés", "La mutuelle")
    put(writer, "a.md", "Le salaire")
    assert keyword_ids(reader, "congés mutuelle salaire") == ["kb:a.md#0"]
    assert vector_ids(reader, "congés") == ["kb:a.md#0"]
    assert "mutuelle" not in reader.vocabulary()
    assert reader.status().chunks == writer.chunk_count("kb") == 1


def test_two_sources_may_have_the_same_path(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés", source="kb")
    put(writer, "a.md", "Les congés", source="wiki")
    assert keyword_ids(reader, "congés") == ["kb:a.md#0", "wiki:a.md#0"]
    assert keyword_ids(reader, "congés", sources=["wiki"]) == ["wiki:a.md#0"]
    assert vector_ids(reader, "congés", sources=["wiki"]) == ["wiki:a.md#0"]
    assert keyword_ids(reader, "congés", sources=[]) == []
    assert vector_ids(reader, "congés", sources=[]) == []


def test_removed_pages_disappear_and_only_they(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés")
    put(writer, "b.md", "Les congés")
    assert vector_ids(reader, "congés") == ["kb:a.md#0", "kb:b.md#0"]
    assert writer.remove_pages("kb", ["a.md", "never.md"]) == 1
    assert keyword_ids(reader, "congés") == vector_ids(reader, "congés") == ["kb:b.md#0"]
    assert reader.chunks(["kb:a.md#0"]) == {}
    assert set(writer.page_states("kb")) == {"b.md"}
    assert writer.remove_pages("wiki", ["b.md"]) == 0


def test_renaming_a_page_needs_no_new_vector(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "old.md", "Les congés")
    writer.remove_pages("kb", ["old.md"])
    put(writer, "new.md", "Les congés", embedded=False)
    assert writer.missing_embeddings(EMBEDDER.fingerprint, limit=10) == []
    assert vector_ids(reader, "congés") == ["kb:new.md#0"]


def test_page_states_tell_what_decides_whether_a_page_changed(backend):
    writer = backend.writer()
    modified = datetime(2026, 5, 1, tzinfo=UTC)
    put(writer, "a.md", "un", "deux", source_version="v7", url="https://x", modified_at=modified)
    put(writer, "b.md", "trois", audiences=MANAGERS)
    put(writer, "c.md", "quatre", source="wiki")
    states = writer.page_states("kb")
    assert set(states) == {"a.md", "b.md"}
    state = states["a.md"]
    assert (state.content_hash, state.version) == ("hash of un\ndeux", "1")
    assert (state.source_version, state.url) == ("v7", "https://x")
    assert (state.modified_at, state.chunks) == (modified, 2)
    assert states["b.md"].audiences == MANAGERS


def test_a_page_without_chunks_is_remembered(backend):
    writer = backend.writer()
    writer.replace_page(make_page("a.md", ""), [])
    assert writer.page_states("kb")["a.md"].chunks == 0
    assert backend.reader().status().pages == 1


def test_touching_a_page_changes_what_is_shown_without_a_new_text(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés", url="https://old")
    modified = datetime(2026, 6, 1, tzinfo=UTC)
    writer.touch_page(
        "kb",
        "a.md",
        source_version="v8",
        modified_at=modified,
        url="https://new",
        audiences=frozenset({"managers"}),
    )
    state = writer.page_states("kb")["a.md"]
    assert (state.source_version, state.modified_at) == ("v8", modified)
    assert reader.chunks(["kb:a.md#0"]) == {}
    assert reader.chunks(["kb:a.md#0"], audiences=MANAGERS)["kb:a.md#0"].url == "https://new"


def test_texts_that_databases_refuse_are_stored_with_their_length(backend):
    writer, reader = backend.writer(), backend.reader()
    page = make_page("bad \ud800.md", "a\x00b \udfff congés", title="T\x00", url="u\ud800")
    chunks = make_chunks(page, headings=("H\ud800",), context="c\x00")
    embed(writer, page, chunks)
    writer.activate_model(EMBEDDER.fingerprint, EMBEDDER.dimension)
    writer.replace_page(page, chunks)
    (stored,) = reader.chunks(keyword_ids(reader, "congés")).values()
    assert stored.text == "a\ufffdb \ufffd congés"
    assert stored.units[0].context == stored.context == "c\ufffd"
    assert writer.missing_embeddings(EMBEDDER.fingerprint, limit=5) == []
    assert reader.chunks(["\x00\ud800"]) == {}


def test_the_generation_grows_with_visible_changes_only(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés")
    seen = [reader.status().generation]

    def grew():
        seen.append(reader.status().generation)
        return seen[-1] > seen[-2]

    put(writer, "a.md", "Le salaire")
    assert grew()
    writer.record_run(IngestReport("kb"), started_at=datetime.now(UTC))
    writer.store_embeddings("other model", {"x": EMBEDDER.embed_query("x")})
    writer.remove_pages("kb", ["never.md"])
    writer.prune_embeddings(unused_for_days=0)
    assert not grew()
    writer.remove_pages("kb", ["a.md"])
    assert grew()


# Keywords


def test_ranking_puts_the_best_match_first_with_positive_scores(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés payés et le télétravail sont décrits ici en peu de mots")
    put(writer, "b.md", "Les congés payés")
    put(writer, "c.md", "La cantine")
    put(writer, "d.md", "Le parking")
    put(writer, "e.md", "Le badge")
    ranking = reader.keyword_ranking(analyze_query("congé payé"))
    assert ids(ranking) == ["kb:b.md#0", "kb:a.md#0"]
    assert ranking[0].score > ranking[1].score > 0


def test_ties_are_ordered_by_id_and_cut_there(backend):
    writer, reader = backend.writer(), backend.reader()
    for path in ("c.md", "a.md", "d.md", "b.md"):
        put(writer, path, "Les congés")
    assert keyword_ids(reader, "congés", limit=3) == [f"kb:{name}.md#0" for name in "abc"]
    assert vector_ids(reader, "congés", limit=3) == [f"kb:{name}.md#0" for name in "abc"]
    assert keyword_ids(reader, "congés", limit=0) == vector_ids(reader, "congés", limit=0) == []


def test_mode_all_wants_every_word_and_mode_any_one_of_them(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Le congé maternité", "Le congé", "La maternité")
    assert keyword_ids(reader, "congé maternité", mode="all") == ["kb:a.md#0"]
    assert set(keyword_ids(reader, "congé maternité", mode="any")) == {
        "kb:a.md#0",
        "kb:a.md#1",
        "kb:a.md#2",
    }


def test_words_are_found_in_title_headings_and_context(backend):
    writer, reader = backend.writer(), backend.reader()
    page = make_page("a.md", "| 12 | 4 |", title="Restauration")
    writer.replace_page(page, make_chunks(page, headings=("Tickets",), context="| Midi | Soir |"))
    for word in ("restauration", "ticket", "midi"):
        assert keyword_ids(reader, word) == ["kb:a.md#0"]


def test_column_weights_decide_what_counts(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Autre chose de la même longueur", title="Salaire")
    put(writer, "b.md", "Le salaire est versé ici", title="Autre")
    put(writer, "c.md", "Rien", title="Rien")
    put(writer, "d.md", "Rien", title="Rien")
    put(writer, "e.md", "Rien", title="Rien")
    query = analyze_query("salaire")
    by_title = reader.keyword_ranking(query, column_weights=(10, 1, 1, 1))
    by_body = reader.keyword_ranking(query, column_weights=(1, 1, 10, 1))
    assert ids(by_title) == ["kb:a.md#0", "kb:b.md#0"]
    assert ids(by_body) == ["kb:b.md#0", "kb:a.md#0"]


def test_an_alternative_counts_as_the_word_and_a_phrase_needs_its_order(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les ressources humaines", "Les humaines ressources")
    word = QueryWord("RH", "rh", ("rh",), (QueryWord("rh", "ressources humaines", ()),))
    assert ids(reader.keyword_ranking(KeywordQuery((word,)), mode="all")) == ["kb:a.md#0"]


def test_contributions_of_the_words_add_up_to_the_score(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Le télé-travail et les congés payés", "Les congés", title="Congés")
    put(writer, "b.md", "Le télétravail des salariés en congé", "La cantine")
    query = analyze_query("congés payés en télé-travail pour un salarié du Groupe Zed")
    for weights in (None, (10.0, 1.0, 1.0, 1.0)):
        ranking = reader.keyword_ranking(query, column_weights=weights)
        explained = reader.explain_keywords(query, ids(ranking), column_weights=weights)
        assert set(explained) == set(ids(ranking)) == {"kb:a.md#0", "kb:a.md#1", "kb:b.md#0"}
        for scored in ranking:
            assert sum(explained[scored.chunk_id].values()) == pytest.approx(scored.score)
    assert set(explained["kb:a.md#1"]) == {"congés"}
    assert reader.explain_keywords(query, ["kb:b.md#1", "unknown"]) == {}
    assert reader.explain_keywords(query, []) == {}


def test_a_query_without_words_matches_nothing(backend):
    put(backend.writer(), "a.md", "Les congés")
    reader = backend.reader()
    assert reader.keyword_ranking(KeywordQuery(())) == []
    assert reader.explain_keywords(KeywordQuery(()), ["kb:a.md#0"]) == {}


def test_the_vocabulary_counts_chunks_and_follows_changes(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "congés congés", "congés", "3,80 C++ 会社")
    vocabulary = reader.vocabulary()
    assert vocabulary["conges"] == 2
    assert vocabulary.keys() >= {"cong", "3.80", "c++", "会社"}
    assert reader.vocabulary() is vocabulary
    put(writer, "b.md", "congés")
    assert reader.vocabulary()["conges"] == 3


RESTRICTED = frozenset({"managers"})


def test_pages_are_counted_by_audience(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "open.md", "un")
    put(writer, "both.md", "deux", audiences=frozenset({"managers", "rh"}))
    put(writer, "closed.md", "trois", audiences=RESTRICTED)
    put(writer, "nobody.md", "quatre", audiences=frozenset())

    assert reader.pages_by_audience() == {"": 1, "everyone": 1, "managers": 2, "rh": 1}


def test_the_public_vocabulary_has_no_word_of_restricted_pages_alone(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "open.md", "Les congés de tous, à 3,80 euros")
    assert reader.public_vocabulary() is reader.vocabulary()
    put(writer, "closed.md", "Les congés secrets c++ 12.50 été 会社", audiences=RESTRICTED)

    public, everything = reader.public_vocabulary(), reader.vocabulary()

    assert everything.keys() - public.keys() >= {"secrets", "secret", "c++", "12.50", "ete", "会社"}
    assert (everything["conges"], public["conges"]) == (2, 1)
    assert reader.public_vocabulary() is public


def test_acronyms_are_learned_from_what_everybody_may_read(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "open.md", "La réduction du temps de travail (RTT) se pose par demi-journée.")
    put(
        writer,
        "closed.md",
        "Le plan de départs volontaires (PDV) est secret.",
        audiences=RESTRICTED,
    )

    assert reader.public_acronyms() == {
        "RTT": "réduction du temps de travail",
        "rtt": "réduction du temps de travail",
    }
    put(writer, "other.md", "Human Resources (HR) answers.")
    assert reader.public_acronyms()["HR"] == "Human Resources"


def test_languages_count_chunks_and_follow_changes(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "un", "deux", language="fr")
    assert reader.languages() == {"fr": 2}
    put(writer, "b.md", "three", language="en")
    assert reader.languages() == {"fr": 2, "en": 1}


# Vectors


def test_cosines_are_those_of_the_embedder(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés payés", "Le parking")
    query = EMBEDDER.embed_query("les congés")
    texts = [
        c.embedding_text("Guide")
        for c in make_chunks(make_page("a", "Les congés payés", "Le parking"))
    ]
    exact = EMBEDDER.embed_passages(texts) @ query
    ranking = {scored.chunk_id: scored.score for scored in reader.vector_ranking(query)}
    assert ranking["kb:a.md#0"] == pytest.approx(exact[0], abs=1e-3)
    assert ranking["kb:a.md#1"] == pytest.approx(exact[1], abs=1e-3)
    assert reader.cosines(query, ["kb:a.md#1", "unknown"]) == {
        "kb:a.md#1": pytest.approx(ranking["kb:a.md#1"])
    }


def test_a_refreshed_reader_ranks_like_a_new_one(backend):
    writer, reader = backend.writer(), backend.reader()
    random = np.random.default_rng(7)
    topics = ["congés", "paie", "badge", "cantine", "télétravail", "mutuelle"]
    for step in range(60):
        path = f"{random.integers(12)}.md"
        roll = random.random()
        if roll < 0.2:
            writer.remove_pages("kb", [path])
        elif roll < 0.3 and path in writer.page_states("kb"):
            writer.touch_page(
                "kb", path, source_version=None, modified_at=None, url=None, audiences=MANAGERS
            )
        else:
            paragraphs = [
                " ".join(random.choice(topics, 4)) for _ in range(int(random.integers(1, 5)))
            ]
            audiences = PUBLIC if random.random() < 0.7 else frozenset({"managers"})
            put(writer, path, *paragraphs, audiences=audiences, embedded=step % 4 != 0)
        if step % 3 == 0:
            query = EMBEDDER.embed_query(" ".join(random.choice(topics, 2)))
            for audiences in (PUBLIC, MANAGERS):
                refreshed = reader.vector_ranking(query, audiences=audiences)
                whole = backend.reader().vector_ranking(query, audiences=audiences)
                assert ids(refreshed) == ids(whole)
                assert [s.score for s in refreshed] == pytest.approx([s.score for s in whole])


def test_vectors_that_come_after_their_page_are_used(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés")
    put(writer, "b.md", "Les congés spéciaux", embedded=False)
    assert vector_ids(reader, "congés") == ["kb:a.md#0"]
    ((key, text),) = writer.missing_embeddings(EMBEDDER.fingerprint, limit=10)
    assert text == "Guide > Règles\nLes congés spéciaux"
    assert key == text_hash(text)
    writer.store_embeddings(EMBEDDER.fingerprint, {key: EMBEDDER.embed_query(text)})
    assert set(vector_ids(reader, "congés")) == {"kb:a.md#0", "kb:b.md#0"}
    assert reader.status().embedded_chunks == 2


def test_missing_embeddings_are_listed_once_per_text_and_up_to_a_limit(backend):
    writer = backend.writer()
    put(writer, "a.md", "un", "deux", "trois", embedded=False)
    put(writer, "b.md", "un", embedded=False)
    missing = writer.missing_embeddings("m", limit=10)
    assert len(missing) == len({key for key, _ in missing}) == 3
    assert writer.missing_embeddings("m", limit=2) == missing[:2]


def test_known_embeddings_are_those_of_the_model(backend):
    writer = backend.writer()
    writer.store_embeddings("m1", {"a": EMBEDDER.embed_query("a"), "b": EMBEDDER.embed_query("b")})
    writer.store_embeddings("m2", {"c": EMBEDDER.embed_query("c")})
    writer.store_embeddings("m2", {})
    assert writer.known_embeddings("m1", ["a", "b", "c"]) == {"a", "b"}
    assert writer.known_embeddings("m3", ["a"]) == set()
    assert writer.known_embeddings("m1", []) == set()


def test_storing_a_vector_twice_is_harmless(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés")
    before = reader.vector_ranking(EMBEDDER.embed_query("congés"))
    put(writer, "a.md", "Les congés")
    assert reader.vector_ranking(EMBEDDER.embed_query("congés")) == before
    assert reader.status().embedded_chunks == 1


def code_of(writer, path, *paragraphs, code, fingerprint=EMBEDDER.fingerprint, **fields):
    """Store token codes with the vectors of a page's chunks."""
    page = make_page(path, *paragraphs, **fields)
    keys = [text_hash(chunk.embedding_text(page.title)) for chunk in make_chunks(page)]
    vectors = {key: EMBEDDER.embed_query(key) for key in keys}
    writer.store_embeddings(fingerprint, vectors, codes=dict.fromkeys(keys, code))


def test_token_codes_come_back_for_the_chunks_that_have_some(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés")
    put(writer, "b.md", "Le salaire")
    code_of(writer, "a.md", "Les congés", code=b"first")
    code_of(writer, "a.md", "Les congés", code=b"second")
    assert reader.token_codes(["kb:a.md#0", "kb:b.md#0", "never"]) == {"kb:a.md#0": b"second"}


def test_token_codes_are_those_of_the_active_model(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés")
    code_of(writer, "a.md", "Les congés", code=b"other", fingerprint="other")
    assert reader.token_codes(["kb:a.md#0"]) == {}
    writer.activate_model("other", EMBEDDER.dimension)
    assert reader.token_codes(["kb:a.md#0"]) == {"kb:a.md#0": b"other"}


def test_token_codes_of_a_restricted_page_stay_with_its_audience(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les primes", audiences=frozenset({"rh"}))
    code_of(writer, "a.md", "Les primes", code=b"code", audiences=frozenset({"rh"}))
    assert reader.token_codes(["kb:a.md#0"]) == {}
    assert reader.token_codes(["kb:a.md#0"], audiences=frozenset({"rh"})) == {"kb:a.md#0": b"code"}


def test_a_vector_without_token_codes_is_missing_where_they_are_wanted(backend):
    writer = backend.writer()
    put(writer, "a.md", "Les congés")
    put(writer, "b.md", "Le salaire")
    code_of(writer, "a.md", "Les congés", code=b"code")
    name = EMBEDDER.fingerprint
    assert writer.missing_embeddings(name, limit=10) == []
    ((key, text),) = writer.missing_embeddings(name, limit=10, coded=True)
    assert "Le salaire" in text
    known = writer.known_embeddings(name, [key], coded=True)
    assert known == set()
    assert writer.known_embeddings(name, [key]) == {key}


def test_token_codes_go_with_their_vector(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés")
    code_of(writer, "a.md", "Les congés", code=b"code")
    writer.remove_pages("kb", ["a.md"])
    writer.prune_embeddings(unused_for_days=0)
    put(writer, "a.md", "Les congés")
    assert reader.token_codes(["kb:a.md#0"]) == {}


def test_another_model_grows_beside_the_active_one_until_it_is_activated(backend):
    writer, reader = backend.writer(), backend.reader()
    other = FakeEmbedder(fingerprint="fake-2", dimension=32)
    put(writer, "a.md", "Les congés", "Le parking")
    page = make_page("a.md", "Les congés", "Le parking")
    embed(writer, page, make_chunks(page), other)
    assert writer.active_fingerprint() == reader.status().fingerprint == "fake-1"
    assert vector_ids(reader, "congés")[0] == "kb:a.md#0"
    with pytest.raises(EmbeddingMismatchError, match="64"):
        reader.vector_ranking(other.embed_query("congés"))
    writer.activate_model("fake-2", 32)
    assert writer.active_fingerprint() == reader.status().fingerprint == "fake-2"
    assert reader.active_fingerprint() == "fake-2"
    assert ids(reader.vector_ranking(other.embed_query("congés")))[0] == "kb:a.md#0"
    with pytest.raises(EmbeddingMismatchError):
        reader.cosines(EMBEDDER.embed_query("congés"), ["kb:a.md#0"])
    writer.activate_model("fake-1", 64)
    assert vector_ids(reader, "congés")[0] == "kb:a.md#0"


def test_a_model_cannot_change_its_dimension(backend):
    writer = backend.writer()
    writer.store_embeddings("m", {"a": np.ones(4, dtype=np.float32)})
    with pytest.raises(EmbeddingMismatchError):
        writer.store_embeddings("m", {"b": np.ones(5, dtype=np.float32)})
    with pytest.raises(EmbeddingMismatchError):
        writer.activate_model("m", 5)
    assert writer.known_embeddings("m", ["a", "b"]) == {"a"}


def test_without_a_model_there_is_no_vector_to_rank(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés", embedded=False)
    assert writer.active_fingerprint() is reader.active_fingerprint() is None
    assert vector_ids(reader, "congés") == []
    assert reader.cosines(EMBEDDER.embed_query("congés"), ["kb:a.md#0"]) == {}
    assert reader.status().embedded_chunks == 0


def test_pruning_drops_what_no_chunk_uses_and_keeps_the_rest(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "Les congés")
    put(writer, "b.md", "Le parking")
    writer.remove_pages("kb", ["b.md"])
    assert writer.prune_embeddings(unused_for_days=1) == 0
    assert writer.prune_embeddings(unused_for_days=0) == 1
    assert vector_ids(reader, "congés") == ["kb:a.md#0"]
    assert writer.missing_embeddings(EMBEDDER.fingerprint, limit=5) == []


def test_pruning_drops_a_model_that_is_no_longer_active(backend):
    writer = backend.writer()
    put(writer, "a.md", "Les congés")
    page = make_page("a.md", "Les congés")
    embed(writer, page, make_chunks(page), FakeEmbedder(fingerprint="fake-2"))
    writer.activate_model("fake-2", 64)
    assert writer.prune_embeddings(unused_for_days=30) == 0
    assert writer.prune_embeddings(unused_for_days=0) == 1
    assert writer.missing_embeddings("fake-2", limit=5) == []
    assert len(writer.missing_embeddings("fake-1", limit=5)) == 1


# Audiences


@pytest.fixture
def restricted(backend):
    writer = backend.writer()
    put(writer, "open.md", "Les congés de tous")
    put(writer, "closed.md", "Les congés des managers", audiences=frozenset({"managers"}))
    put(writer, "nobody.md", "Les congés de personne", audiences=frozenset())
    return backend.reader()


def test_a_restricted_chunk_is_never_returned_to_others(restricted):
    closed = "kb:closed.md#0"
    query = analyze_query("congés managers")
    vector = EMBEDDER.embed_query("les congés des managers")
    assert ids(restricted.keyword_ranking(query)) == ["kb:open.md#0"]
    assert ids(restricted.keyword_ranking(query, mode="all")) == []
    assert ids(restricted.vector_ranking(vector)) == ["kb:open.md#0"]
    assert restricted.chunks([closed]) == {}
    assert restricted.cosines(vector, [closed]) == {}
    assert restricted.explain_keywords(query, [closed]) == {}


def test_a_reader_with_the_audience_gets_the_restricted_chunk(restricted):
    closed = "kb:closed.md#0"
    query = analyze_query("congés managers")
    vector = EMBEDDER.embed_query("les congés des managers")
    assert ids(restricted.keyword_ranking(query, audiences=MANAGERS))[0] == closed
    assert ids(restricted.vector_ranking(vector, audiences=MANAGERS))[0] == closed
    assert set(restricted.chunks([closed], audiences=MANAGERS)) == {closed}
    assert set(restricted.cosines(vector, [closed], audiences=MANAGERS)) == {closed}
    assert set(restricted.explain_keywords(query, [closed], audiences=MANAGERS)) == {closed}


def test_audiences_are_filtered_before_the_cut(backend):
    writer, reader = backend.writer(), backend.reader()
    for number in range(10):
        put(writer, f"{number}.md", "congés congés", audiences=frozenset({"managers"}))
    put(writer, "z.md", "Les congés et beaucoup d'autres choses de tous les jours")
    assert keyword_ids(reader, "congés", limit=1) == ["kb:z.md#0"]
    assert vector_ids(reader, "congés", limit=1) == ["kb:z.md#0"]


def test_a_page_without_an_audience_is_seen_by_nobody(restricted):
    everybody = frozenset({EVERYONE, "managers", "admins"})
    assert "kb:nobody.md#0" not in keyword_ids(restricted, "congés", audiences=everybody)
    assert "kb:nobody.md#0" not in vector_ids(restricted, "congés", audiences=everybody)
    assert restricted.chunks(["kb:nobody.md#0"], audiences=everybody) == {}


def test_somebody_without_an_audience_sees_nothing(restricted):
    nobody = frozenset()
    assert keyword_ids(restricted, "congés", audiences=nobody) == []
    assert vector_ids(restricted, "congés", audiences=nobody) == []
    assert restricted.chunks(["kb:open.md#0"], audiences=nobody) == {}


# Runs


def test_status_tells_the_last_run_of_each_source(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", "un", "deux", language="fr")
    put(writer, "b.md", "three", language="en", embedded=False)
    first = datetime(2026, 1, 1, tzinfo=UTC)
    second = datetime(2026, 1, 2, tzinfo=UTC)
    report = IngestReport(
        source="kb",
        added=("a.md", "b.md"),
        skipped=(SkippedPage("c.pdf", "chiffré", kept_previous=True),),
        chunks=3,
        seconds=1.5,
        problems=("un souci",),
    )
    failed = IngestReport("kb", complete=False, problems=("source down",))
    writer.record_run(report, started_at=first)
    writer.record_run(failed, started_at=second)
    writer.record_run(IngestReport("wiki", complete=False), started_at=first)
    status = reader.status()
    kb, wiki = status.sources
    assert (status.pages, status.chunks, status.embedded_chunks) == (2, 3, 2)
    assert (kb.name, kb.pages, kb.chunks, kb.languages) == ("kb", 2, 3, {"fr": 1, "en": 1})
    assert (kb.last_run_at, kb.last_success_at, kb.last_report) == (second, first, failed)
    assert (wiki.pages, wiki.last_run_at, wiki.last_success_at) == (0, first, None)
    writer.record_run(report, started_at=second)
    assert reader.status().sources[0].last_report == report


# Readers while somebody writes


def _versions_seen(reader, path):
    stored = reader.chunks([f"kb:{path}#{position}" for position in range(4)])
    return {chunk.page_version for chunk in stored.values()}, len(stored)


def _watch(database_url, path, started, stop, bad):
    settings = IngestSettings(database_url=database_url, _env_file=None)
    with open_reader(settings) as reader:
        while not stop.is_set():
            versions, count = _versions_seen(reader, path)
            if len(versions) != 1 or count != 4:
                bad.put((sorted(versions), count))
            started.set()


def test_a_reader_in_another_process_never_sees_half_a_page(backend):
    writer = backend.writer()
    put(writer, "a.md", *["version 0"] * 4)
    context = multiprocessing.get_context("spawn")
    started, stop, bad = context.Event(), context.Event(), context.Queue()
    watcher = context.Process(
        target=_watch, args=(backend.database_url, "a.md", started, stop, bad)
    )
    watcher.start()
    try:
        assert started.wait(60)
        for version in range(1, 60):
            put(writer, "a.md", *[f"version {version}"] * 4)
    finally:
        stop.set()
        watcher.join(60)
    assert watcher.exitcode == 0
    assert bad.empty()


def test_threads_share_a_reader_while_pages_are_replaced(backend):
    writer, reader = backend.writer(), backend.reader()
    put(writer, "a.md", *["congés version 0"] * 4)
    stop, problems = threading.Event(), []

    def ask():
        query, vector = analyze_query("congés"), EMBEDDER.embed_query("congés")
        while not stop.is_set():
            versions, count = _versions_seen(reader, "a.md")
            rankings = (reader.keyword_ranking(query), reader.vector_ranking(vector))
            sizes = {len(ranking) for ranking in rankings}
            if len(versions) != 1 or count != 4 or sizes != {4}:
                problems.append((versions, count, sizes))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for version in range(1, 40):
        put(writer, "a.md", *[f"congés version {version}"] * 4)
    stop.set()
    for thread in threads:
        thread.join(60)
    assert problems == []
    assert "version 39" in reader.chunks(["kb:a.md#0"])["kb:a.md#0"].text


# Leases


def test_a_lease_has_one_holder_at_a_time(backend):
    writer, other = backend.writer(), backend.writer()
    with writer.lease("sync", ttl_s=60) as lease:
        lease.check()
        refusal = pytest.raises(LeaseHeldError, match=r"sync.*process \d+ on .* since 20")
        with refusal, other.lease("sync", ttl_s=60):
            pytest.fail("two holders")
        with other.lease("another", ttl_s=60):
            pass
    with other.lease("sync", ttl_s=60):
        pass


def test_a_lease_is_given_back_when_its_body_fails(backend):
    writer = backend.writer()
    with pytest.raises(ZeroDivisionError), writer.lease("sync", ttl_s=60):
        raise ZeroDivisionError
    with writer.lease("sync", ttl_s=60):
        pass

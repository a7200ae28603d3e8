"""Whatever somebody types, the keyword index answers and nothing of it becomes syntax."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ingest.analysis import KeywordQuery, QueryWord, SynonymTable, analyze_passage, analyze_query
from ingest.index.sqlite_reader import SqliteIndexReader
from ingest.index.sqlite_writer import SqliteIndexWriter
from ingest.records import Chunk, Page
from ingest.spelling import Respeller

PASSAGES = [
    "Les congés payés et le télé-travail AND OR NOT NEAR",
    "Remboursement de 1 500,00 € : voir title headings body stems",
    "C++ C# R.T.T. 3,80 会社規則 नीति",
]
FTS_SYNTAX = st.sampled_from(
    [
        '"',
        "'",
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        ")",
        "*",
        ":",
        "-",
        "^",
        "+",
        "{title}",
        "stems:",
        "(",
        "\x00",
        "\ud800",
        "🦊",
        "congés",
        "--",
        ";",
        "%",
        "\\",
        "\n",
    ]
)
ANY_TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=())),
    st.lists(FTS_SYNTAX, max_size=12).map(" ".join),
    st.lists(FTS_SYNTAX, max_size=12).map("".join),
)
EXAMPLES = [
    '"',
    "AND",
    "NEAR(a b)",
    "*",
    "title:",
    "-x",
    "^x",
    "\x00",
    "\ud800",
    "🦊",
    "a" * 20_000,
]


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('index')}/index.db"
    with SqliteIndexWriter(url) as writer:
        writer.migrate()
        for number, text in enumerate(PASSAGES):
            page = Page("kb", f"{number}.md", "Guide", "fr", text, (), "h", "1")
            chunk = Chunk(f"c{number}", 0, ("Règles",), None, 0, len(text), text, "", ())
            writer.replace_page(page, [chunk])
    with SqliteIndexReader(url) as reader:
        yield reader


quick = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def with_examples(test):
    for text in EXAMPLES:
        test = example(text=text)(test)
    return test


@quick
@with_examples
@given(text=ANY_TEXT)
def test_any_text_is_a_legal_query(reader, text):
    table = SynonymTable.of(acronyms={"RTT": text}, groups=[[text, "congés"]])
    for query in (analyze_query(text), analyze_query(f"RTT congés {text}", synonyms=table)):
        everywhere = {scored.chunk_id for scored in reader.keyword_ranking(query, mode="all")}
        anywhere = {scored.chunk_id for scored in reader.keyword_ranking(query, mode="any")}
        assert everywhere <= anywhere <= {"c0", "c1", "c2"}


@quick
@with_examples
@given(text=ANY_TEXT)
def test_words_made_by_hand_are_never_syntax(reader, text):
    word = QueryWord(text, text, (text,), (QueryWord("", f"{text} x", ()),))
    for mode in ("all", "any"):
        reader.keyword_ranking(KeywordQuery((word, word)), mode=mode)


@quick
@given(text=ANY_TEXT)
def test_contributions_add_up_to_the_score(reader, text):
    query = analyze_query(f"{text} congés 1500")
    ranking = reader.keyword_ranking(query)
    explained = reader.explain_keywords(query, [scored.chunk_id for scored in ranking])
    for scored in ranking:
        assert sum(explained[scored.chunk_id].values()) == pytest.approx(scored.score)


@quick
@given(text=ANY_TEXT)
def test_any_text_is_a_legal_page_that_its_own_words_find(text):
    words = analyze_query(text).words
    analyzed = analyze_passage(text, "fr")
    indexed = set(analyzed.folded.split()) | set(analyzed.stems.split())
    for word in words:
        assert any(
            set(form.folded.split()) <= indexed
            or any(set(s.split()) <= indexed for s in form.stems)
            for form in (word, *word.alternatives)
        )


@quick
@given(text=ANY_TEXT)
def test_any_word_may_be_respelled(reader, text):
    respell = Respeller(reader.vocabulary)
    for word in analyze_query(text).words:
        assert all(form.folded in reader.vocabulary() for form in respell(word))


@quick
@given(text=ANY_TEXT, language=st.sampled_from(["fr", "en", "de", "und", "zh", ""]))
def test_analysed_text_survives_the_tokenizer_of_the_index(text, language):
    # What analysis calls one token must not be cut by the separators that FTS5 knows.
    analyzed = analyze_passage(text, language)
    for token in f"{analyzed.folded} {analyzed.stems}".split(" "):
        assert all(c.isalnum() or c in ".+#" or ord(c) > 127 for c in token)

"""FTS5 expressions made of query words."""

from ingest.analysis import KeywordQuery, QueryWord
from ingest.index.fts import match_expression, word_expression


def test_a_word_is_looked_for_as_written_and_by_its_stems():
    word = QueryWord("Congés", "conges", ("cong", "conges"))
    assert word_expression(word) == (
        '(({title headings body} : ("conges")) OR ({stems} : ("cong" OR "conges")))'
    )


def test_alternatives_join_their_word_and_nothing_is_listed_twice():
    word = QueryWord(
        "RH", "rh", ("rh",), (QueryWord("", "ressources humaines", ("rh", "ressourc humain")),)
    )
    assert word_expression(word) == (
        '(({title headings body} : ("rh" OR "ressources humaines"))'
        ' OR ({stems} : ("rh" OR "ressourc humain")))'
    )


def test_quotes_nul_and_surrogates_stay_inside_the_string():
    word = QueryWord("", 'a" OR b\x00\ud800', ())
    assert word_expression(word) == '(({title headings body} : ("a"" OR b\ufffd\ufffd")))'


def test_the_mode_decides_how_words_are_joined():
    query = KeywordQuery((QueryWord("a", "a", ()), QueryWord("b", "b", ())))
    assert " AND " in match_expression(query, "all")
    assert " AND " not in match_expression(query, "any")

"""The table of synonyms."""

from ingest.synonyms import COMMON_ACRONYMS, SynonymTable
from ingest.tokens import scan


def test_expressions_without_words_are_harmless():
    table = SynonymTable.of(acronyms={"?": "!"}, groups=[[], ["", "paie"]])
    assert list(table.alternatives(tuple(scan("la paie")))) == [(1, 2, ("",))]


def test_the_common_acronyms_build_a_table():
    table = SynonymTable.of(acronyms=COMMON_ACRONYMS)
    found = list(table.alternatives(tuple(scan("combien de RTT"))))
    assert found == [(2, 3, ("réduction du temps de travail",))]

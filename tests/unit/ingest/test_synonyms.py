"""The table of synonyms as handbook.toml holds it."""

import pytest

from ingest.errors import ConfigurationError
from ingest.synonyms import COMMON_ACRONYMS, EMPTY, SynonymTable
from ingest.tokens import scan


def test_both_tables_of_the_configuration_are_read():
    table = SynonymTable.from_config(
        {"acronyms": {"RH": "ressources humaines"}, "synonyms": {"groups": [["salaire", "paie"]]}}
    )
    assert table.groups == (("RH", "ressources humaines"), ("salaire", "paie"))
    assert table.acronyms == {"rh"}


def test_both_tables_may_be_absent():
    assert SynonymTable.from_config({}) == EMPTY


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"acronyms": ["RH"]}, "acronyms"),
        ({"acronyms": {"RH": 1}}, "acronyms"),
        ({"synonyms": ["a", "b"]}, "synonyms"),
        ({"synonyms": {"groups": "a"}}, "synonyms"),
        ({"synonyms": {"groups": [["a", 1]]}}, "synonyms"),
    ],
)
def test_a_table_of_another_shape_is_refused_by_its_name(config, named):
    with pytest.raises(ConfigurationError, match=named):
        SynonymTable.from_config(config)


def test_expressions_without_words_are_harmless():
    table = SynonymTable.of(acronyms={"?": "!"}, groups=[[], ["", "paie"]])
    assert list(table.alternatives(tuple(scan("la paie")))) == [(1, 2, ("",))]


def test_the_common_acronyms_build_a_table():
    table = SynonymTable.of(acronyms=COMMON_ACRONYMS)
    found = list(table.alternatives(tuple(scan("combien de RTT"))))
    assert found == [(2, 3, ("réduction du temps de travail",))]

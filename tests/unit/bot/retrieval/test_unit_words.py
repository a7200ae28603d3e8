"""Where the units of a chunk stand among the words of what is embedded of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bot.retrieval.unit_words import unit_words, within
from ingest import Unit, UnitKind
from tests.fakes import stored_chunk

TEXT = "Une phrase. Outils Il sert à : - suivre les dossiers"
UNITS = (
    Unit(UnitKind.SENTENCE, 0, 11),
    Unit(UnitKind.HEADING, 12, 18),
    Unit(UnitKind.ITEM, 31, len(TEXT), "Il sert à :"),
)


def read(chunk, index):
    words = chunk.embedding_text.split()
    return [" ".join(words[start:end]) for start, end in unit_words(chunk)[index]]


def test_a_unit_is_read_with_title_path_heading_and_lead_in():
    chunk = replace(stored_chunk("c", TEXT), title="Guide", heading_path=("RH",), units=UNITS)
    assert read(chunk, 0) == ["Une phrase.", "Guide > RH"]
    assert read(chunk, 1) == ["Outils"]
    assert read(chunk, 2) == ["- suivre les dossiers", "Guide > RH", "Outils", "Il sert à :"]


def test_a_lead_in_may_stand_before_the_chunk():
    chunk = replace(
        stored_chunk("c", "Mariage 4 jours"),
        title="Guide",
        heading_path=(),
        context="Motif Durée",
        units=(Unit(UnitKind.ROW, 0, 15, "Motif Durée"),),
    )
    assert read(chunk, 0) == ["Mariage 4 jours", "Guide", "Motif Durée"]


def test_tokens_are_told_by_their_word():
    words = np.array([0, 1, 1, 2, 5], dtype=np.uint16)
    assert within(words, [(1, 2), (5, 6)]).tolist() == [False, True, True, False, True]
    assert not within(words, []).any()

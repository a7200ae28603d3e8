"""How values are kept in the tables."""

import json

import numpy as np
import pytest

from ingest.index.tables import (
    decode_units,
    decode_vectors,
    encode_units,
    encode_vector,
    storable,
)
from ingest.records import Unit, UnitKind


def test_units_survive_and_share_their_contexts():
    units = tuple(Unit(UnitKind.ROW, n, n + 5, "| a | b |") for n in range(50))
    units += (Unit(UnitKind.SENTENCE, 60, 70), Unit(UnitKind.ITEM, 70, 80, "Il faut :"))
    encoded = json.loads(json.dumps(encode_units(units)))
    assert decode_units(encoded) == units
    assert encoded["contexts"] == ["| a | b |", "Il faut :"]


def test_no_units_survive():
    assert decode_units(encode_units(())) == ()


def test_vectors_survive_within_the_precision_of_half_floats():
    rows = np.random.default_rng(0).standard_normal((5, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    stored = decode_vectors([encode_vector(row) for row in rows], 384)
    assert stored.dtype == np.float32
    assert np.abs(stored @ rows.T - rows @ rows.T).max() < 1e-3


def test_no_vectors_make_an_empty_matrix():
    assert decode_vectors([], 8).shape == (0, 8)


@pytest.mark.parametrize(
    ("text", "stored"), [("é🦊\n", "é🦊\n"), ("a\x00b", "a\ufffdb"), ("\ud83d\ude00", "\ufffd" * 2)]
)
def test_storable_text_keeps_its_length(text, stored):
    assert storable(text) == stored
    assert len(storable(text)) == len(text)

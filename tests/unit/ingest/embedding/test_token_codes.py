"""Token states in two bits a dimension, on states made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ingest.embedding.base import TokenStates
from ingest.embedding.token_codes import FORMAT, TokenCodec
from ingest.embedding.vectors import unit_rows

DIMENSION = 384
COMMON = unit_rows(np.ones((1, DIMENSION), np.float32))[0]


class TokenEncoder:
    """Shows token states: those of every text are near the common direction."""

    fingerprint = "tokens"
    dimension = DIMENSION

    def __init__(self) -> None:
        self.asked = 0

    def token_states(self, texts, *, kind="passage"):
        self.asked += 1
        return [states(len(text.split()), seed=number) for number, text in enumerate(texts)]


def states(count: int, *, seed: int = 0, words: tuple[int, ...] | None = None) -> TokenStates:
    noise = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    rows = unit_rows(COMMON + 0.7 * unit_rows(noise)) if count else noise
    return TokenStates("", rows, ((0, 0),) * count, words or tuple(range(count)))


@pytest.fixture
def codec() -> TokenCodec:
    return TokenCodec(TokenEncoder())


def test_what_comes_back_points_where_the_states_pointed(codec):
    original = states(40, seed=9)
    (code,) = codec.encode([original])
    tokens = codec.decode(code)
    restored = codec.center + tokens.lengths[:, np.newaxis] * tokens.directions
    differences = unit_rows(original.states - codec.center)
    # Two bits keep .88 of the variance of a normal distribution: a cosine of .94.
    assert (tokens.directions * differences).sum(axis=1) == pytest.approx(0.94, abs=0.03)
    assert np.linalg.norm(tokens.directions, axis=1) == pytest.approx(1.0)
    mean, kept = original.states.mean(axis=0), restored.mean(axis=0)
    assert mean @ kept / np.linalg.norm(mean) / np.linalg.norm(kept) > 0.99


def test_a_code_takes_a_quarter_of_a_byte_for_each_dimension(codec):
    (code,) = codec.encode([states(100)])
    assert len(code) == 5 + 100 * (2 + 1 + DIMENSION // 4)


def test_each_token_keeps_its_word_up_to_what_two_bytes_hold(codec):
    (code,) = codec.encode([states(3, words=(0, 0, 70_000))])
    assert codec.decode(code).words.tolist() == [0, 0, 65_535]


def test_a_text_without_tokens_has_an_empty_code(codec):
    (code,) = codec.encode([states(0)])
    tokens = codec.decode(code)
    assert tokens.directions.shape == (0, DIMENSION)
    assert len(tokens.words) == len(tokens.lengths) == 0


def test_a_code_of_another_format_is_not_read(codec):
    (code,) = codec.encode([states(2)])
    assert codec.reads(code)
    assert not codec.reads(bytes([FORMAT + 1]) + code[1:])
    assert not codec.reads(b"")


def test_the_common_state_is_asked_for_once():
    encoder = TokenEncoder()
    codec = TokenCodec(encoder)
    codec.encode([states(2)])
    codec.encode([states(2)])
    assert encoder.asked == 1
    assert codec.center @ COMMON / np.linalg.norm(codec.center) > 0.99

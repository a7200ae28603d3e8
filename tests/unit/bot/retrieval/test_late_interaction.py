"""Words of a question against tokens of texts, on states made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bot.records import Question
from bot.retrieval.interaction import QuestionTokens, best_match, word_matches
from bot.retrieval.query import QueryBuilder
from ingest import CodedTokens, TokenStates
from tests.fakes import FakeIndexReader, stored_chunk

AXES = np.eye(4, dtype=np.float32)


def tokens(text: str, words: tuple[int, ...], *states: np.ndarray) -> TokenStates:
    rows = np.stack(states) if states else np.zeros((0, 4), np.float32)
    return TokenStates(text, rows.astype(np.float32), tuple((0, 0) for _ in words), words)


def question(text: str, words: tuple[int, ...], *states: np.ndarray) -> QuestionTokens:
    texts = ["badge ici", "badge là", "badge prime", "autre chose"]
    reader = FakeIndexReader([stored_chunk(text, text) for text in texts])
    query = QueryBuilder(reader).build(Question(text))
    return QuestionTokens.of(query, tokens(text, words, *states))


def test_stop_words_do_not_count_and_rare_words_count_more():
    grouped = question("le badge prime", (0, 1, 2), *AXES[:3])
    assert grouped.states.tolist() == AXES[1:3].tolist()
    assert grouped.weights[1] > grouped.weights[0]
    assert grouped.weights.sum() == pytest.approx(1.0)


def test_the_pieces_of_a_word_are_averaged():
    grouped = question("prime", (0, 0), AXES[0], AXES[1])
    assert grouped.states.tolist() == [[0.5, 0.5, 0.0, 0.0]]


def test_a_question_without_words_has_no_weights():
    assert len(question("?", (0,), AXES[0]).weights) == 0


def coded(*directions: np.ndarray) -> CodedTokens:
    rows = np.stack(directions) if directions else np.zeros((0, 4))
    count = len(rows)
    return CodedTokens(
        rows.astype(np.float32), np.ones(count, np.float32), np.arange(count, dtype=np.uint16)
    )


NOTHING_IN_COMMON = np.zeros(4, np.float32)


def test_a_word_is_matched_by_its_nearest_token():
    asked = question("prime", (0,), AXES[0])
    near = word_matches(asked, coded(AXES[0], AXES[1]), NOTHING_IN_COMMON)
    far = word_matches(asked, coded(AXES[2]), NOTHING_IN_COMMON)
    assert near.shape == (2, 1)
    assert best_match(near, asked.weights) == pytest.approx(1.0)
    assert best_match(far, asked.weights) == pytest.approx(0.0)


def test_a_text_without_tokens_matches_nothing():
    asked = question("prime", (0,), AXES[0])
    assert best_match(word_matches(asked, coded(), NOTHING_IN_COMMON), asked.weights) == 0.0


def test_a_question_without_words_is_matched_by_nothing():
    asked = question("?", (0,), AXES[0])
    assert best_match(word_matches(asked, coded(AXES[0]), NOTHING_IN_COMMON), asked.weights) == 0.0


def test_what_all_states_have_in_common_counts_for_nothing():
    common = 10 * AXES[3]
    asked = question("prime", (0,), AXES[0] + common)
    matches = word_matches(asked, coded(AXES[0], AXES[3]), common)
    assert matches[:, 0].tolist() == pytest.approx([1.0, 0.0])

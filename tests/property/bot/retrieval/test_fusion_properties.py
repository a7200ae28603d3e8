"""Fusion, for any rankings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.retrieval.fusion import reciprocal_rank_fusion, score_fusion

ids = st.text("abcdef", min_size=1, max_size=2)
rankings = st.lists(st.lists(ids, unique=True, max_size=8), max_size=4)
shares = st.dictionaries(ids, st.floats(0, 3))
cosines = st.dictionaries(ids, st.floats(-1, 1))


@given(rankings, st.randoms())
def test_the_order_of_the_rankings_changes_nothing(lists, random):
    shuffled = list(lists)
    random.shuffle(shuffled)
    assert reciprocal_rank_fusion(lists) == reciprocal_rank_fusion(shuffled)


@given(rankings, st.integers(0, 200))
def test_rrf_keeps_every_id_once_within_bounds_and_sorted_by_score_then_id(lists, k):
    fused = reciprocal_rank_fusion(lists, k=k)
    assert sorted(i for i, _ in fused) == sorted({i for ranking in lists for i in ranking})
    assert fused == sorted(fused, key=lambda item: (-item[1], item[0]))
    # Fewer than 10 float additions: one part in 10**12 is far above their error.
    assert all(0 < score <= len(lists) / (k + 1) * (1 + 1e-12) for _, score in fused)


@given(st.lists(ids, unique=True, max_size=8))
def test_a_single_ranking_keeps_its_order(ranking):
    assert [i for i, _ in reciprocal_rank_fusion([ranking, []])] == ranking


def test_ties_go_by_id():
    assert [i for i, _ in reciprocal_rank_fusion([["b", "a"], ["a", "b"]])] == ["a", "b"]


def test_nothing_fused_is_nothing():
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([[], []]) == []


def test_a_larger_k_brings_an_agreement_above_a_single_first_place():
    lists = [["x", "y", "z", "a"], ["b", "c", "d", "a"]]
    assert reciprocal_rank_fusion(lists, k=0)[0][0] == "b"
    assert reciprocal_rank_fusion(lists, k=60)[0][0] == "a"


def test_a_negative_k_is_refused():
    with pytest.raises(ValueError, match="k must be"):
        reciprocal_rank_fusion([["a"]], k=-1)


@given(cosines, shares)
def test_score_fusion_adds_a_bounded_keyword_share_to_the_cosine(by_cosine, by_share):
    fused = score_fusion(by_cosine, by_share, lexical_weight=0.5)
    assert fused == sorted(fused, key=lambda item: (-item[1], item[0]))
    for chunk_id, score in fused:
        base = by_cosine.get(chunk_id, 0.0)
        assert base <= score <= base + 0.5 + 1e-9

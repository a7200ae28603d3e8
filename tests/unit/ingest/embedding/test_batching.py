from hypothesis import given
from hypothesis import strategies as st

from ingest.embedding.batching import length_batches


@given(
    st.lists(st.integers(0, 600), max_size=60),
    st.integers(1, 2000),
    st.integers(1, 12),
    st.integers(0, 100),
)
def test_every_text_is_in_one_batch_and_batches_are_bounded(
    lengths, max_tokens, max_texts, batch_cost
):
    batches = length_batches(
        lengths, max_tokens=max_tokens, max_texts=max_texts, batch_cost=batch_cost
    )

    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[position] for position in batch)
        assert len(batch) <= max_texts
        assert len(batch) == 1 or longest * len(batch) <= max_tokens


def test_texts_of_like_length_share_a_batch():
    batches = length_batches([5, 100, 6, 99], max_tokens=1000, max_texts=2)
    assert batches == [[1, 3], [2, 0]]


def test_a_text_longer_than_a_batch_is_encoded_alone():
    assert length_batches([900, 10], max_tokens=512, max_texts=8) == [[0], [1]]


def test_a_long_text_is_not_what_short_ones_are_padded_to():
    lengths = [30, 120, 35, 28]
    assert length_batches(lengths, max_tokens=1024, max_texts=8, batch_cost=48) == [[1], [2, 0, 3]]


def test_texts_share_a_batch_where_padding_costs_less_than_another():
    lengths = [30, 45, 35, 28]
    assert length_batches(lengths, max_tokens=1024, max_texts=8, batch_cost=48) == [[1, 2, 0, 3]]

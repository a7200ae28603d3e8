from hypothesis import given
from hypothesis import strategies as st

from ingest.embedding.batching import length_batches


@given(
    st.lists(st.integers(0, 600), max_size=60),
    st.integers(1, 2000),
    st.integers(1, 12),
)
def test_every_text_is_in_one_batch_and_batches_are_bounded(lengths, max_tokens, max_texts):
    batches = list(length_batches(lengths, max_tokens=max_tokens, max_texts=max_texts))

    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[position] for position in batch)
        assert len(batch) <= max_texts
        assert len(batch) == 1 or longest * len(batch) <= max_tokens


def test_texts_of_like_length_share_a_batch():
    batches = list(length_batches([5, 100, 6, 99], max_tokens=1000, max_texts=2))
    assert batches == [[1, 3], [2, 0]]


def test_a_text_longer_than_a_batch_is_encoded_alone():
    assert list(length_batches([900, 10], max_tokens=512, max_texts=8)) == [[0], [1]]

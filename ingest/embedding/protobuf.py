"""Writes protocol buffer messages field by field: enough for an ONNX or a SentencePiece model."""

from __future__ import annotations

import struct

_VARINT, _LENGTH_DELIMITED, _FIXED32 = 0, 2, 5  # wire types


def varint(value: int) -> bytes:
    """Return a non-negative integer in the variable-length form: 7 bits a byte, low bits first."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def integer_field(number: int, value: int) -> bytes:
    """Return an int32, int64, bool or enum field; negative values as their two's complement."""
    return varint(number << 3 | _VARINT) + varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def float_field(number: int, value: float) -> bytes:
    """Return a float field."""
    return varint(number << 3 | _FIXED32) + struct.pack("<f", value)


def bytes_field(number: int, payload: bytes) -> bytes:
    """Return a bytes field, or an embedded message already written."""
    return varint(number << 3 | _LENGTH_DELIMITED) + varint(len(payload)) + payload


def string_field(number: int, text: str) -> bytes:
    """Return a string field."""
    return bytes_field(number, text.encode())

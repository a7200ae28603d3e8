"""Writes an ONNX model into bytes: the few protocol buffer messages it takes, and nothing else.

Field numbers are those of `onnx.proto3` (IR version 9, operator set 20: onnx 1.15). Written by
hand because two hundred nodes do not make up for depending on the `onnx` package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingest.embedding.protobuf import bytes_field, float_field, integer_field, string_field

Attribute = int | float

CONTRIB_DOMAIN = "com.microsoft"
"""Domain of the operators that onnxruntime adds to the standard."""

_IR_VERSION = 9
_OPSETS = {"": 20, CONTRIB_DOMAIN: 1}
_ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int32": 6}  # TensorProto.DataType
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT = 1, 2  # AttributeProto.AttributeType


@dataclass
class OnnxModel:
    """A graph under construction: add tensors and nodes in order of use, then `serialize`."""

    name: str
    _nodes: list[bytes] = field(default_factory=list)
    _initializers: list[bytes] = field(default_factory=list)
    _inputs: list[bytes] = field(default_factory=list)
    _outputs: list[bytes] = field(default_factory=list)
    _names: int = 0

    def add_input(self, name: str, dtype: str, shape: Sequence[int | str]) -> str:
        """Declare an input; dimensions given as strings vary from run to run."""
        self._inputs.append(_value_info(name, dtype, shape))
        return name

    def add_output(self, name: str, dtype: str, shape: Sequence[int | str]) -> None:
        """Declare the value of that name as an output."""
        self._outputs.append(_value_info(name, dtype, shape))

    def add_tensor(self, name: str, values: NDArray[Any]) -> str:
        """Add a constant (float32, uint8 or int32) and return its name."""
        dims = b"".join(integer_field(1, size) for size in values.shape)
        kind = integer_field(2, _ELEMENT_TYPES[str(values.dtype)])
        little_endian = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        self._initializers.append(
            dims + kind + string_field(8, name) + bytes_field(9, little_endian.tobytes())
        )
        return name

    def add_node(
        self,
        operator: str,
        inputs: Sequence[str],
        attributes: Mapping[str, Attribute] | None = None,
        *,
        domain: str = "",
        output: str | None = None,
    ) -> str:
        """Add a node with one output and return the output's name; "" skips an optional input."""
        self._names += 1
        result = output or f"{operator}_{self._names}"
        message = b"".join(string_field(1, name) for name in inputs)
        message += (
            string_field(2, result)
            + string_field(3, f"node_{self._names}")
            + string_field(4, operator)
        )
        message += b"".join(
            bytes_field(5, _attribute(key, value)) for key, value in (attributes or {}).items()
        )
        self._nodes.append(message + (string_field(7, domain) if domain else b""))
        return result

    def serialize(self) -> bytes:
        """Return the model as the bytes of a ModelProto."""
        parts = [bytes_field(1, node) for node in self._nodes]
        parts.append(string_field(2, self.name))
        parts += [bytes_field(5, tensor) for tensor in self._initializers]
        parts += [bytes_field(11, value) for value in self._inputs]
        parts += [bytes_field(12, value) for value in self._outputs]
        opsets = [
            bytes_field(8, string_field(1, domain) + integer_field(2, version))
            for domain, version in _OPSETS.items()
        ]
        return b"".join((integer_field(1, _IR_VERSION), bytes_field(7, b"".join(parts)), *opsets))


def _attribute(name: str, value: Attribute) -> bytes:
    head = string_field(1, name)
    if isinstance(value, float):
        return head + float_field(2, value) + integer_field(20, _ATTRIBUTE_FLOAT)
    return head + integer_field(3, value) + integer_field(20, _ATTRIBUTE_INT)


def _value_info(name: str, dtype: str, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(
        bytes_field(1, integer_field(1, size) if isinstance(size, int) else string_field(2, size))
        for size in shape
    )
    tensor = integer_field(1, _ELEMENT_TYPES[dtype]) + bytes_field(2, dims)
    return string_field(1, name) + bytes_field(2, bytes_field(1, tensor))

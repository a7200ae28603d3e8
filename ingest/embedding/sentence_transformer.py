"""Any sentence-transformers model, by name or by path: the extra `sentence-transformers`."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

import numpy as np

from ingest.embedding.base import TextKind, Vector
from ingest.embedding.batching import length_batches
from ingest.embedding.cleaning import clean_text
from ingest.embedding.vectors import unit_rows
from ingest.errors import EmbeddingError, EncodingFailed

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

logger = logging.getLogger(__name__)

Backend = Literal["torch", "onnx"]

INSTALL = "install 'manuel[sentence-transformers]'"

_PROMPT_NAMES: Mapping[TextKind, Sequence[str]] = {
    "query": ("query",),
    "passage": ("passage", "document", "corpus"),
}
"""Names models keep their prompts under (SentenceTransformer.encode_query, encode_document)."""

_E5_PREFIXES: Mapping[TextKind, str] = {"query": "query: ", "passage": "passage: "}
_E5_NAME = re.compile(r"(?:^|[/_-])e5-(?!.*(?:instruct|mistral))", re.IGNORECASE)
"""E5 models publish no prompts but need these (their model cards); the instructed ones differ."""

_BATCH_TEXTS = 32
_CHARS_PER_TOKEN = 3
"""Fewer than most tokenizers put in a token of French or English: batches err on the small side."""

_SAMPLE_BYTES = 1 << 20
"""What is read at each end of a large file to tell it from another version of itself."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: SentenceTransformer
    dimension: int
    prefixes: Mapping[TextKind, str]
    fingerprint: str


class SentenceTransformerEmbedder:
    """`Embedder` over `sentence_transformers.SentenceTransformer`, float32 on the CPU.

    Cheap to construct: torch and the model are loaded on first use, which includes asking for
    `dimension` or `fingerprint`. A model that is in the local cache is used without any network.
    Safe to use from several threads; encodes for one at a time.
    """

    def __init__(
        self,
        name: str,
        *,
        backend: Backend = "torch",
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        batch_tokens: int = 4096,
        device: str = "cpu",
    ) -> None:
        """Check that the packages are there.

        Args:
            name: Name on the Hugging Face hub, or path of a directory.
            backend: What runs the model.
            query_prefix: Put before each question; None is what the model asks for.
            passage_prefix: Put before each passage; None is what the model asks for.
            batch_tokens: Most tokens of a batch, roughly; bounds the memory.
            device: As torch names it.

        Raises:
            EmbeddingError: If sentence-transformers, or what the backend needs, is not installed.
        """
        _require("sentence_transformers", f"EMBEDDING_MODEL={name} needs it: {INSTALL}")
        if backend == "onnx":
            advice = "pip install 'sentence-transformers[onnx]', or set EMBEDDING_BACKEND=torch"
            _require("optimum", f"EMBEDDING_BACKEND=onnx needs it: {advice}")
        self._name = name
        self._backend = backend
        self._configured: Mapping[TextKind, str | None] = {
            "query": query_prefix,
            "passage": passage_prefix,
        }
        self._batch_tokens = batch_tokens
        self._device = device
        self._lock = Lock()
        self._loaded: _Loaded | None = None
        self._failure: str | None = None

    @property
    def fingerprint(self) -> str:
        """Name, revision on the hub or contents of the directory, prefixes, dimension."""
        return self._load().fingerprint

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._load().dimension

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Encode passages (see `Embedder.embed_passages`), each cut at the model's own limit."""
        return self._embed(texts, "passage")

    def embed_query(self, text: str) -> Vector:
        """Encode one question (see `Embedder.embed_query`)."""
        vector: Vector = self._embed([text], "query")[0]
        return vector

    def _embed(self, texts: Sequence[str], kind: TextKind) -> Vector:
        loaded = self._load()
        cleaned = [clean_text(text) for text in texts]
        limit = loaded.model.max_seq_length or self._batch_tokens
        lengths = [min(len(text) // _CHARS_PER_TOKEN + 1, limit) for text in cleaned]
        vectors = np.empty((len(texts), loaded.dimension), dtype=np.float32)
        for batch in length_batches(lengths, max_tokens=self._batch_tokens, max_texts=_BATCH_TEXTS):
            encoded = self._encode(
                loaded.model, [cleaned[position] for position in batch], loaded.prefixes[kind]
            )
            vectors[batch] = unit_rows(encoded)
        return vectors

    def _encode(self, model: SentenceTransformer, texts: Sequence[str], prefix: str) -> Vector:
        try:
            with self._lock:  # Hugging Face tokenizers may not be shared by threads
                encoded = model.encode(
                    list(texts), prompt=prefix, batch_size=len(texts), show_progress_bar=False
                )
        except (RuntimeError, ValueError, IndexError, MemoryError) as exc:
            raise EncodingFailed(
                f"the model {self._name} could not encode {len(texts)} texts: {exc}"
            ) from exc
        return np.asarray(encoded, dtype=np.float32)

    def _load(self) -> _Loaded:
        """Return the model, loaded once: that takes long, and a failure does not mend itself."""
        with self._lock:
            if self._failure is not None:
                raise EncodingFailed(self._failure)
            if self._loaded is None:
                try:
                    model = _open_model(self._name, self._backend, self._device)
                    self._loaded = self._describe(model)
                except (OSError, ValueError, RuntimeError, ImportError, KeyError) as exc:
                    self._failure = (
                        f"EMBEDDING_MODEL={self._name} cannot be loaded: {_first_line(exc)}"
                        f" {_ADVICE}"
                    )
                    raise EncodingFailed(self._failure) from exc
            return self._loaded

    def _describe(self, model: SentenceTransformer) -> _Loaded:
        dimension = int(model.encode(["dimension"], prompt="", show_progress_bar=False).shape[1])
        prefixes = {
            kind: _model_prefix(self._name, model.prompts, kind)
            if configured is None
            else configured
            for kind, configured in self._configured.items()
        }
        suffix = "" if self._backend == "torch" else f":{self._backend}"
        fingerprint = (
            f"sentence-transformers:{_identity(self._name)}"
            f":{prefixes['query']}|{prefixes['passage']}:{dimension}{suffix}"
        )
        return _Loaded(model, dimension, prefixes, fingerprint)


_ADVICE = (
    "Check the name or the path; without a network, download the model elsewhere and give the path"
    " of its directory. EMBEDDING_MODEL=bundled needs no download, EMBEDDING_MODEL=none no model."
)


def _require(module: str, advice: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise EmbeddingError(f"the package {module.replace('_', '-')} is not installed. {advice}")


def _open_model(name: str, backend: Backend, device: str) -> SentenceTransformer:
    # Imported on first use: torch takes seconds to import.
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]  # has no type information
    try:
        model = SentenceTransformer(name, device=device, backend=backend, local_files_only=True)
    except (OSError, ValueError):
        if Path(name).exists():
            raise
        logger.info("downloading a model", extra={"model": name})
        model = SentenceTransformer(name, device=device, backend=backend)
    # Models published in half precision would be slower on a CPU, and less exact.
    return model.float() if backend == "torch" and device == "cpu" else model


def _model_prefix(name: str, prompts: Mapping[str, str | None], kind: TextKind) -> str:
    """Return the prompt that the model publishes, or what its family is known to need."""
    if any(prompts.values()):
        return next(filter(None, map(prompts.get, _PROMPT_NAMES[kind])), "")
    return _E5_PREFIXES[kind] if _E5_NAME.search(name) else ""


def _identity(name: str) -> str:
    """Return what tells the model from every other: name and commit, or a digest of its files."""
    directory = Path(name)
    if directory.is_dir():
        return f"{directory.resolve().name}@{_directory_digest(directory)}"
    return f"{name}@{_cached_commit(name)}"


def _cached_commit(name: str) -> str:
    """Return the commit of a hub model in the local cache, where loading has just put it."""
    from huggingface_hub import try_to_load_from_cache

    repository = name if "/" in name else f"sentence-transformers/{name}"
    for file in ("modules.json", "config.json"):
        path = try_to_load_from_cache(repository, file)
        if isinstance(path, str):
            return Path(path).parent.name[:12]  # …/snapshots/<commit>/<file>
    return "unknown"


def _directory_digest(directory: Path) -> str:
    """Digest the files of a model: whole, or both ends of large ones."""
    digest = hashlib.sha256()
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(directory).as_posix()}\0{size}\0".encode())
        with path.open("rb") as stream:
            digest.update(stream.read(_SAMPLE_BYTES))
            stream.seek(max(size - _SAMPLE_BYTES, 0))
            digest.update(stream.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:12]


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]

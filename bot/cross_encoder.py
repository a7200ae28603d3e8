"""Any sentence-transformers cross-encoder or NLI model as a reader, by name or by path."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bot.errors import ReadingFailed
from ingest import ConfigurationError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

logger = logging.getLogger(__name__)

_INSTALL = "install 'manuel[sentence-transformers]', or leave it empty"
_ENTAILS = ("entailment", "entails", "yes", "true")
"""What models call the class "the first text says the second"; one class alone is the score."""


class CrossEncoderReader:
    """`Reader` over `sentence_transformers.CrossEncoder`, float32 on the CPU.

    Cheap to construct: torch and the model are loaded on first use. A model in the local cache is
    used without any network. A model of one class scores (question, passage); one of several is
    taken for natural language inference: does the passage entail the question?
    """

    def __init__(self, name: str, *, setting: str = "READER_MODEL") -> None:
        """Check that the package is there.

        Args:
            name: Name on the Hugging Face hub, or path of a directory.
            setting: That names it, for what errors say.

        Raises:
            ConfigurationError: If sentence-transformers is not installed.
        """
        if importlib.util.find_spec("sentence_transformers") is None:
            raise ConfigurationError(f"{setting}={name} needs sentence-transformers: {_INSTALL}")
        self._name = name
        self._setting = setting
        self._lock = Lock()
        self._model: CrossEncoder | None = None
        self._failure: str | None = None

    @property
    def name(self) -> str:
        """Return the name or the path."""
        return self._name

    def read(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score every text (see `Reader.read`), each cut at the model's own limit."""
        if not texts:
            return []
        with self._lock:  # Hugging Face tokenizers may not be shared by threads
            model = self._load()
            entails = _entailment(model)
            asked = _readable(question)
            pairs = [
                (asked, text) if entails is None else (text, asked)
                for text in map(_readable, texts)
            ]
            try:
                logits = _logits(model, pairs)
            except (RuntimeError, ValueError, IndexError, MemoryError) as exc:
                raise ReadingFailed(
                    f"the reader {self._name} could not read {len(texts)} passages: {exc}"
                ) from exc
        return _probabilities(logits, entails)

    def _load(self) -> CrossEncoder:
        """Return the model, loaded once: that takes long, and a failure does not mend itself."""
        if self._failure is not None:
            raise ReadingFailed(self._failure)
        if self._model is None:
            try:
                self._model = _open_model(self._name)
            except (OSError, ValueError, RuntimeError, ImportError, KeyError) as exc:
                self._failure = f"{self._setting}={self._name} cannot be loaded: {exc}"
                raise ReadingFailed(self._failure) from exc
        return self._model


def _open_model(name: str) -> CrossEncoder:
    # Imported on first use: torch takes seconds to import.
    from sentence_transformers import CrossEncoder

    model: CrossEncoder
    try:
        model = CrossEncoder(name, device="cpu", local_files_only=True)
    except (OSError, ValueError):
        if Path(name).exists():
            raise
        logger.info("downloading a model", extra={"model": name})
        model = CrossEncoder(name, device="cpu")
    return model


def _logits(model: CrossEncoder, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
    from torch.nn import Identity

    # What a model does to its logits by default differs from one to the next.
    logits = model.predict(pairs, activation_fn=Identity(), show_progress_bar=False)
    return np.asarray(logits, dtype=np.float64)


def _entailment(model: CrossEncoder) -> int | None:
    """Return which class says that one text entails the other; None where there is one class.

    Raises:
        ReadingFailed: If there are several classes and none is known to say so.
    """
    if model.num_labels == 1:
        return None
    classes = (model.config.id2label if model.config else None) or {}
    names = {str(name).casefold(): int(number) for number, name in classes.items()}
    for name in _ENTAILS:
        if name in names:
            return names[name]
    raise ReadingFailed(
        f"the reader has the classes {', '.join(names)}, none of which is one of"
        f" {', '.join(_ENTAILS)}: what is wanted is a cross-encoder or an NLI model"
    )


def _probabilities(logits: NDArray[np.float64], entails: int | None) -> list[float]:
    if entails is None:
        scores = 1.0 / (1.0 + np.exp(-logits.ravel()))
    else:
        exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
        scores = exponents[:, entails] / exponents.sum(axis=1)
    return [float(score) for score in scores]


def _readable(text: str) -> str:
    """Replace lone surrogates, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")

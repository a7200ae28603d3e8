"""The gate's thresholds with encoders whose cosines lie elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bot.grounding.closeness import PAIRS, EncoderCloseness, Scale
from bot.grounding.verifier import verify
from bot.grounding.wording import MIN_CLOSENESS
from bot.records import Draft, DraftClaim, Passage
from bot.settings import BotSettings
from ingest import Embedder, Vector, open_embedder
from tests.fakes import FakeEmbedder, stored_chunk

QUOTE = "Le responsable des achats valide chaque commande de matériel avant son envoi."
FAITHFUL = "The purchasing manager approves each order of equipment before it is sent."
INVENTED = "The garden behind the building is watered by volunteers in summer."


class Stretched(FakeEmbedder):
    """An encoder like the bundled one but for its name and its cosines, from some 0.3 to 1."""

    def __init__(self, inner: Embedder) -> None:
        super().__init__(fingerprint="another", dimension=inner.dimension)
        self._inner = inner
        self._common = inner.embed_passages([text for pair in PAIRS for text in pair]).mean(axis=0)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        apart = self._inner.embed_passages(texts) - 0.9 * self._common
        vectors: Vector = apart / np.linalg.norm(apart, axis=1, keepdims=True)
        return vectors


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    database = tmp_path_factory.mktemp("encoder") / "unused.db"
    settings = BotSettings(
        _env_file=None, database_url=f"sqlite:///{database}", embedding_model="bundled"
    )
    embedder = open_embedder(settings)
    if embedder is None:
        pytest.skip("the bundled encoder is not available here")
    return embedder


def shown(sentence: str, embedder: Embedder) -> bool:
    passage = Passage(stored_chunk("c1", QUOTE), rank=1, score=1.0)
    draft = Draft((DraftClaim(sentence, "c1", QUOTE),), "en", 1.0)
    return bool(verify(draft, [passage], closeness=EncoderCloseness(embedder)).claims)


def test_the_bundled_encoder_is_read_as_it_is(bundled: Embedder):
    one, other = bundled.embed_passages([QUOTE, FAITHFUL])
    assert EncoderCloseness(bundled)(QUOTE, FAITHFUL) == pytest.approx(float(np.dot(one, other)))


def test_another_scale_of_cosines_gives_the_same_verdicts(bundled: Embedder):
    other = Stretched(bundled)
    vectors = other.embed_passages([QUOTE, FAITHFUL])
    assert float(np.dot(*vectors)) < MIN_CLOSENESS  # its own cosines would refuse everything
    for embedder in (bundled, other):
        assert shown(FAITHFUL, embedder)
        assert not shown(INVENTED, embedder)


def test_an_encoder_that_cannot_tell_languages_apart_lets_no_translation_through():
    embedder = FakeEmbedder()
    assert Scale.of(embedder) is None
    assert EncoderCloseness(embedder)(QUOTE, FAITHFUL) is None
    assert not shown(FAITHFUL, embedder)


def test_an_encoder_that_is_down_lets_none_through_and_is_asked_again():
    embedder = FakeEmbedder(failing=True)
    closeness = EncoderCloseness(embedder)
    assert closeness(QUOTE, FAITHFUL) is None
    embedder.failing = False
    closeness(QUOTE, FAITHFUL)
    assert embedder.embedded

import sys

import pytest

from ingest.embedding.factory import open_embedder
from ingest.errors import ConfigurationError, EmbeddingError
from ingest.settings import IngestSettings


def _settings(**values: object) -> IngestSettings:
    return IngestSettings(_env_file=None, **values)


def test_none_means_keyword_search_alone():
    assert open_embedder(_settings(embedding_model="none")) is None


def test_the_default_is_the_bundled_model_with_the_prefixes_it_was_trained_with():
    embedder = open_embedder(_settings())
    assert embedder.fingerprint.startswith("bundled:multilingual-e5-small-q4@")
    assert embedder.fingerprint.endswith(":query: |passage: :384")


def test_prefixes_can_be_set_and_change_the_fingerprint():
    embedder = open_embedder(
        _settings(embedding_query_prefix="Q: ", embedding_passage_prefix="P: ")
    )
    assert embedder.fingerprint.endswith(":Q: |P: :384")


def test_an_openai_model_needs_a_key_or_an_address():
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        open_embedder(_settings(embedding_model="openai:text-embedding-3-small"))


def test_an_openai_fingerprint_names_model_and_host_but_no_secret():
    embedder = open_embedder(
        _settings(
            embedding_model="openai:nomic",
            openai_base_url="https://user:pass@models.example/v1",
            openai_api_key="sk-secret",
        )
    )
    assert embedder.fingerprint == "openai:nomic@models.example:|"


@pytest.mark.parametrize("model", ["openai:", "", "  "])
def test_a_model_without_a_name_is_a_configuration_error(model):
    with pytest.raises(ConfigurationError, match="EMBEDDING_MODEL"):
        open_embedder(_settings(embedding_model=model, openai_api_key="k"))


def test_any_other_name_is_a_sentence_transformers_model(monkeypatch):
    embedder = open_embedder(_settings(embedding_model="intfloat/multilingual-e5-base"))
    assert type(embedder).__name__ == "SentenceTransformerEmbedder"


def test_a_missing_extra_is_an_error_that_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbeddingError, match=r"manuel\[sentence-transformers\]"):
        open_embedder(_settings(embedding_model="some/model"))

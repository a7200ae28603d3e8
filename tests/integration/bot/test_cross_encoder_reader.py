"""A reader of READER_MODEL: a real sentence-transformers CrossEncoder, two layers of it."""

import json
import shutil

import pytest

pytest.importorskip("sentence_transformers", reason="the extra is not installed")

from safetensors.torch import load_file, save_file

from bot.app import build_answerer
from bot.cross_encoder import CrossEncoderReader
from bot.errors import ReadingFailed
from bot.records import Question
from bot.settings import BotSettings
from ingest import ConfigurationError, run_ingest
from tests.unpacked_e5 import unpack_e5

QUESTION = "Combien de jours de congés ?"
TEXTS = ["Vingt-cinq jours par an.", "Le bureau est à Lyon.", "Deux jours de télétravail."]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return unpack_e5(tmp_path_factory.mktemp("models") / "e5")


def _cross_encoder(encoder, target, labels):
    """Turn the bundled encoder into a classifier of two layers, its head the first dimensions."""
    import torch

    shutil.copytree(encoder, target)
    for left_over in ("modules.json", "sentence_bert_config.json"):
        (target / left_over).unlink()
    config = json.loads((target / "config.json").read_text(encoding="utf-8"))
    config |= {
        "architectures": ["BertForSequenceClassification"],
        "num_hidden_layers": 2,
        "id2label": dict(enumerate(labels)),
        "label2id": {label: number for number, label in enumerate(labels)},
    }
    (target / "config.json").write_text(json.dumps(config), encoding="utf-8")
    kept = {
        f"bert.{name}": value for name, value in load_file(target / "model.safetensors").items()
    }
    width = config["hidden_size"]
    kept["bert.pooler.dense.weight"] = torch.eye(width, dtype=torch.float16)
    kept["bert.pooler.dense.bias"] = torch.zeros(width, dtype=torch.float16)
    kept["classifier.weight"] = 3 * torch.eye(len(labels), width, dtype=torch.float16)
    kept["classifier.bias"] = torch.zeros(len(labels), dtype=torch.float16)
    kept = {n: v for n, v in kept.items() if not any(f"layer.{i}." in n for i in range(2, 12))}
    save_file(kept, target / "model.safetensors", metadata={"format": "pt"})
    return str(target)


@pytest.fixture(scope="module")
def scorer(encoder, tmp_path_factory):
    path = tmp_path_factory.mktemp("readers") / "scorer"
    return CrossEncoderReader(_cross_encoder(encoder, path, ["LABEL_0"]))


def test_each_passage_gets_a_probability_whatever_is_read_beside_it(scorer):
    together = scorer.read(QUESTION, TEXTS)
    assert len(set(together)) == len(TEXTS)
    assert all(0 < probability < 1 for probability in together)
    apart = [scorer.read(QUESTION, [text])[0] for text in TEXTS]
    assert together == pytest.approx(apart, abs=1e-3)


def test_the_question_counts(scorer):
    assert scorer.read("Où est le bureau ?", TEXTS) != scorer.read(QUESTION, TEXTS)


def test_any_text_can_be_read(scorer):
    assert len(scorer.read("\ud800 ?", ["", "\udfff", "mot " * 2_000])) == 3
    assert scorer.read(QUESTION, []) == []


def test_an_inference_model_is_asked_for_entailment(encoder, tmp_path):
    labels = ["contradiction", "neutral", "entailment"]
    first = CrossEncoderReader(_cross_encoder(encoder, tmp_path / "a", labels))
    last = CrossEncoderReader(_cross_encoder(encoder, tmp_path / "b", labels[::-1]))
    sums = [
        one + other
        for one, other in zip(first.read(QUESTION, TEXTS), last.read(QUESTION, TEXTS), strict=True)
    ]
    # The classes of one are those of the other turned round: their shares leave room for neutral.
    assert all(0 < total < 1 for total in sums)


def test_a_model_that_tells_something_else_is_refused(encoder, tmp_path):
    reader = CrossEncoderReader(_cross_encoder(encoder, tmp_path / "a", ["happy", "sad"]))
    with pytest.raises(ReadingFailed, match="happy, sad"):
        reader.read(QUESTION, TEXTS)


def test_a_model_that_is_not_there_is_named(tmp_path):
    reader = CrossEncoderReader(str(tmp_path))
    for _ in range(2):
        with pytest.raises(ReadingFailed, match=f"READER_MODEL={tmp_path}"):
            reader.read(QUESTION, TEXTS)


def test_a_missing_package_is_said_at_once(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="manuel\\[sentence-transformers\\]"):
        CrossEncoderReader("some/model")


def test_a_real_cross_encoder_orders_the_passages_of_an_answerer(encoder, tmp_path):
    (tmp_path / "pages").mkdir()
    for number, text in enumerate(TEXTS):
        (tmp_path / "pages" / f"{number}.md").write_text(f"# Page {number}\n\n{text}\n", "utf-8")
    model = _cross_encoder(encoder, tmp_path / "model", ["LABEL_0"])
    settings = BotSettings(
        database_url=f"sqlite:///{tmp_path / 'manuel.db'}",
        handbook_config=tmp_path / "absent.toml",
        embedding_model="none",
        reranker_model=model,
    )
    run_ingest(settings, specs=(f"folder:{tmp_path / 'pages'}",))

    with build_answerer(settings) as answerer:
        found = answerer.examine(Question("jours de congés ou de télétravail")).retrieval.passages

    read = [passage.signals["read"] for passage in found]
    assert len(read) == 2
    assert all(0 < probability < 1 for probability in read)
    assert [p.score for p in found] == sorted((p.score for p in found), reverse=True)


def test_a_reranker_that_cannot_be_had_is_named_by_its_setting(tmp_path):
    with pytest.raises(ReadingFailed, match=f"RERANKER_MODEL={tmp_path}"):
        CrossEncoderReader(str(tmp_path), setting="RERANKER_MODEL").read(QUESTION, TEXTS)

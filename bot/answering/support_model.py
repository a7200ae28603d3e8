"""The numbers of the support check, with where they come from.

Weights are logits per unit of a signal. Cosines of the bundled encoder lie within some 0.8 to 0.95,
which is why their weights are large; another encoder needs its own fit.
"""

from __future__ import annotations

from dataclasses import replace

from bot.answering.reader_signal import signal_name
from bot.answering.support import SupportModel

_KEYWORDS_ALONE = SupportModel(
    origin=(
        "fit_logistic (ridge 3) on 169 hand-made questions of five handbooks, keyword leg alone;"
        " held out by handbook: 17 % correct at 20 % false answers"
    ),
    intercept=-2.8,
    weights={
        "quote_coverage": 1.9,
        "margin": 2.3,
        "typed_gap": 5.5,
        "entity_missing": -1.1,
    },
    answer_threshold=0.25,
    close_threshold=0.5,
    close_signal="quote_coverage",
)

DEFAULT_MODEL = SupportModel(
    origin=(
        "fit_logistic (ridge 3, every set weighing the same) on clapnq, cnil, piaf, service-public,"
        " cdtn and mtrag (709 questions) and 251 hand-made questions of seven handbooks, drafts"
        " right or not; each handbook judged by the fit without it: 36 % correct, 88 % right when"
        " answering, at 13 % false answers"
    ),
    intercept=-15.03,
    weights={
        "unit_cosine": 17.1,
        "lift": 18.5,
        "margin": 5.16,
        "typed_gap": 4.13,
        "entity_missing": -1.73,
        "same_language": -1.09,
    },
    answer_threshold=0.5,
    close_threshold=0.84,
    without_encoder=_KEYWORDS_ALONE,
)

READER_WEIGHT = 0.3
"""Logits for each logit of a reader. Not fitted to any one model: `manuel calibrate` is."""


def with_reader(model: SupportModel, reader: str) -> SupportModel:
    """Return a model that weighs the word of a reader beside its own signals."""
    alone = model.without_encoder
    return replace(
        model,
        weights={**model.weights, signal_name(reader): READER_WEIGHT},
        without_encoder=with_reader(alone, reader) if alone else None,
    )

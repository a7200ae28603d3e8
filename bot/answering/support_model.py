"""The numbers of the support check, with where they come from.

Weights are logits per unit of a signal. Cosines of the bundled encoder lie within some 0.8 to 0.95,
which is why their weights are large; another encoder needs its own fit.
"""

from __future__ import annotations

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
        "fit_logistic (ridge 3) on 169 hand-made questions of five handbooks, drafts right or not;"
        " held out by handbook: 53 % correct at 14 % false answers"
    ),
    intercept=-21.82,
    weights={
        "unit_cosine": 14.5,
        "cosine": 11.9,
        "typed_gap": 10.8,
        "margin": 6.9,
        "interaction": -0.87,
        "entity_missing": -0.76,
        "same_page": 0.56,
        "same_language": -1.32,
    },
    answer_threshold=0.5,
    close_threshold=0.84,
    without_encoder=_KEYWORDS_ALONE,
)

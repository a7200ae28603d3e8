"""The numbers of the support check, with where they come from."""

from __future__ import annotations

from bot.answering.support import SupportModel

DEFAULT_MODEL = SupportModel(
    origin="hand-set starting point, before calibration",
    intercept=-12.0,
    weights={
        "unit_cosine": 14.0,
        "typed_gap": 8.0,
        "entity_missing": -1.0,
        "same_page": 0.3,
    },
    answer_threshold=0.3,
    close_threshold=0.82,
)

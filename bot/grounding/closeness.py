"""How close two texts are in meaning, on the scale that the gate's thresholds were measured on.

The thresholds are cosines of the bundled encoder, which lie within some 0.75 to 1. Another encoder
has another scale: it is shown pairs of sentences first, and its cosines are read by how it sees
those. One that cannot tell translations from other sentences compares nothing.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bot.grounding.wording import MIN_CLOSENESS, Closeness
from ingest import Embedder, EncodingFailed

logger = logging.getLogger(__name__)

MEASURED_WITH = "multilingual-e5-small"
"""Part of the fingerprints of encoders whose cosines the thresholds are."""

PAIRS = (
    ("Le mariage donne droit à quatre jours de congé.", "A wedding gives four days of leave."),
    ("Envoyez vos notes de frais avant la fin du mois.", "Send expense claims by month end."),
    ("Le parking est réservé aux visiteurs.", "The car park is for visitors only."),
    ("Tout accident doit être signalé à l'infirmerie.", "Report every accident to the nurse."),
    ("Le mot de passe change tous les trois mois.", "The password changes every three months."),
    ("La cantine est ouverte de midi à quatorze heures.", "The canteen is open from noon to two."),
    ("Une mutuelle est proposée à tous les salariés.", "Health cover is offered to all staff."),
    ("L'entretien annuel a lieu en janvier.", "The annual review takes place in January."),
    ("Les badges perdus coûtent dix euros.", "Lost badges cost ten euros."),
    ("Le télétravail se demande au responsable.", "Ask your manager for remote work."),
    ("Fermez les fenêtres en quittant le bureau.", "Close the windows when leaving the office."),
    ("Les stagiaires reçoivent un ordinateur portable.", "Interns are given a laptop."),
)
"""Sentences and their translations: any two of different pairs are about different things."""

SAME = 0.910
"""Mean cosine of the translations, for the bundled encoder."""
_MARGIN = 0.03
"""Below the gate's threshold, for what 99 % of the other pairs stay under."""

_TOLD_APART = 0.9
"""Share of the translations that must be closer than nearly all other pairs."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How an encoder sees the pairs.

    Attributes:
        apart: Cosine that 99 % of the pairs that do not belong together stay below.
        same: Mean cosine of those that do; above `apart`.
    """

    apart: float
    same: float

    @classmethod
    def of(cls, embedder: Embedder) -> Scale | None:
        """Measure an encoder; None where it cannot tell translations from other sentences.

        Raises:
            EncodingFailed: If it is down.
        """
        french = embedder.embed_passages([pair[0] for pair in PAIRS])
        english = embedder.embed_passages([pair[1] for pair in PAIRS])
        cosines = french @ english.T
        together = np.diagonal(cosines)
        apart = float(np.quantile(cosines[~np.eye(len(PAIRS), dtype=bool)], 0.99))
        if float(np.mean(together > apart)) < _TOLD_APART:
            return None
        return cls(apart, float(np.mean(together)))

    def read(self, cosine: float) -> float:
        """Return what the bundled encoder would call this close, in [-1, 1].

        The gate's threshold is half-way between the two: rather a translation too few.
        """
        seen = (-1.0, self.apart, (self.apart + self.same) / 2, self.same, 1.0)
        meant = (-1.0, MIN_CLOSENESS - _MARGIN, MIN_CLOSENESS, SAME, 1.0)
        return float(np.interp(cosine, seen, meant))


class EncoderCloseness:
    """Compares texts with an encoder; None while it is down, or where it cannot tell.

    Safe to share between threads.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._read: Callable[[float], float | None] | None = None

    def __call__(self, one: str, other: str) -> float | None:
        """Return the cosine of two texts, as the bundled encoder would have it."""
        try:
            read = self._reading()
            a, b = self._embedder.embed_passages([one, other])
        except EncodingFailed:
            return None
        return read(float(np.dot(a, b)))

    def _reading(self) -> Callable[[float], float | None]:
        """Measure the encoder at the first comparison: before, it may not be loaded."""
        with self._lock:
            if self._read is None:
                self._read = self._measured()
            return self._read

    def _measured(self) -> Callable[[float], float | None]:
        if MEASURED_WITH in self._embedder.fingerprint:
            return lambda cosine: cosine
        scale = Scale.of(self._embedder)
        if scale is None:
            logger.warning("the encoder does not tell translations from other sentences")
            return lambda cosine: None
        return scale.read


def encoder_closeness(embedder: Embedder) -> Closeness:
    """Compare texts with an encoder, on the scale of the gate's thresholds."""
    return EncoderCloseness(embedder)
